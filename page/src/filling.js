/** The page's fixed words, put where `data-w` names them, with the glossary at the terms. */
import { w } from "./lang.js";
import { allOf, byId, html } from "./marks.js";

/** A term in a text: [as it is written|key of the glossary], and a mark right behind it. */
const TERM = /\[([^|\]]+)\|(\w+)\]([.,:;?]?)/;

let terms = 0;

/** A term that shows its meaning when pointed at or reached by keys. */
function termOf(shown, key, mark) {
  const id = `term-${terms++}`;
  const button = html("button", { type: "button", class: "term", "aria-describedby": id }, shown);
  const tip = html("span", { class: "tip", role: "tooltip", id }, w.glossary[key][1]);
  button.addEventListener("keydown", (event) => event.key === "Escape" && button.blur());
  return html("span", { class: "explained" }, button, tip, mark);
}

/** Text and terms, ready to be put into an element. */
function pieces(text) {
  const match = TERM.exec(text);
  if (!match) return [text];
  const rest = pieces(text.slice(match.index + match[0].length));
  return [text.slice(0, match.index), termOf(match[1], match[2], match[3]), ...rest];
}

function wordOf(key, metadata) {
  const word = w[key];
  return typeof word === "function" ? word(metadata) : word;
}

/** Fill every element that names a word; `metadata` are {cases, outcome, ownRate}. */
export function fillWords(metadata) {
  for (const element of allOf("[data-w]")) {
    element.replaceChildren(...pieces(wordOf(element.dataset.w, metadata)));
  }
  for (const element of allOf("[data-w-label]")) {
    element.setAttribute("aria-label", wordOf(element.dataset.wLabel, metadata));
  }
  const entries = Object.values(w.glossary).flatMap(([term, meaning]) => [
    html("dt", {}, term),
    html("dd", {}, meaning),
  ]);
  byId("glossary").replaceChildren(...entries);
}
