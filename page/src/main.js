/** Where the script begins: as a page, or as the worker of one. */
import { attachResamples, openPage, settingNow } from "./app.js";
import { bindWorker } from "./background.js";
import { fillWords } from "./filling.js";
import { LANGUAGES, setLanguage, w, wordsOf } from "./lang.js";
import { bindLoader } from "./loader.js";
import { byId, html } from "./marks.js";

/** Offer every language; `changed()` is called once another is in force. */
function bindLanguages(changed) {
  const [root, list] = [document.documentElement, byId("language")];
  const entries = Object.entries(LANGUAGES);
  list.append(...entries.map(([name, { language }]) => html("option", { value: name }, language)));
  list.value = root.lang;
  setLanguage(root.lang);
  list.addEventListener("change", () => {
    root.lang = list.value;
    setLanguage(list.value);
    changed();
  });
}

function showTitle({ title, words }) {
  const text = title || w.pageTitle(wordsOf(words).outcome);
  document.querySelector("h1").textContent = document.title = text;
}

function startPage() {
  const source = `<!doctype html>\n${document.documentElement.outerHTML}`;
  const payload = JSON.parse(byId("payload").textContent);
  const layout = byId("layout").cloneNode(true);
  let shown = payload;

  function show(setting = null) {
    byId("layout").replaceWith(layout.cloneNode(true));
    showTitle(shown);
    if (shown.models.length) openPage(shown, setting);
    else fillWords({ ...wordsOf(shown.words), ownRate: "" });
  }

  bindLanguages(() => show(settingNow()));
  show();
  if (payload.models.length) return;
  bindLoader(source, payload, (counted, stay = false) => {
    shown = counted;
    if (stay) attachResamples(counted);
    else show();
  });
}

if (typeof document === "undefined") bindWorker(self);
else startPage();
