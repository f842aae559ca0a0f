/** The words in use; every other module takes them from here. */
import { ENGLISH } from "./lang_en.js";

export const LANGUAGES = { en: ENGLISH };

/** The words of the language in force, by key. */
export const w = { ...ENGLISH };

export function setLanguage(name) {
  Object.assign(w, LANGUAGES[name] ?? ENGLISH);
}
