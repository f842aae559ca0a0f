/** The words in use; every other module takes them from here. */
import { GERMAN } from "./lang_de.js";
import { ENGLISH } from "./lang_en.js";

/** To add a language: a file with the keys of the English one, and its line here. */
export const LANGUAGES = { en: ENGLISH, de: GERMAN };

/** The words of the language in force, by key. */
export const w = { ...ENGLISH };

export function setLanguage(name) {
  Object.assign(w, LANGUAGES[name] ?? ENGLISH);
}

/** The words of a page for its cases and outcome; those that nobody chose are translated. */
export function wordsOf({ outcome, cases }) {
  const own = ["theOutcome", "theCases", "anEvent", "patientDays"];
  const translated = (text) => w[own.find((name) => ENGLISH[name] === text)] ?? text;
  return { outcome: translated(outcome), cases: translated(cases) };
}
