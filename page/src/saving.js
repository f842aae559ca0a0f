/** Files to keep: made here, and handed to the browser's own way of saving. */
import { w, wordsOf } from "./lang.js";
import { jsonText } from "./python_text.js";

/** Offer a text or Blob as a file. */
export function saveFile(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  [link.href, link.download] = [address, name];
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

const escapedText = (text) => text.replace(/[&<>"']/g, (mark) => ENTITIES[mark]);

/** Put `content` between the first `opening` and the `closing` that follows it. */
function replaced(text, opening, closing, content) {
  const start = text.indexOf(opening) + opening.length;
  return text.slice(0, start) + content + text.slice(text.indexOf(closing, start));
}

/** Put together here, for written out it would end the script that says it. */
const END_OF_SCRIPT = ["<", "/script>"].join("");

/** The page that `voros explore` writes for these counts; `source` is that of a page without any. */
export function pageText(source, payload) {
  const title = payload.title || w.pageTitle(wordsOf(payload.words).outcome);
  const titled = replaced(source, "<title>", "</title>", escapedText(title));
  const headed = replaced(titled, "<h1>", "</h1>", escapedText(title));
  const opening = '<script type="application/json" id="payload">';
  return replaced(headed, opening, END_OF_SCRIPT, jsonText(payload));
}
