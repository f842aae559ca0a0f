/** Where the script begins: as a page, or as the worker of one. */
import { openPage } from "./app.js";
import { bindWorker } from "./background.js";
import { bindLoader } from "./loader.js";

function startPage() {
  const source = `<!doctype html>\n${document.documentElement.outerHTML}`;
  const payload = JSON.parse(document.getElementById("payload").textContent);
  if (payload.models.length) return openPage(payload);
  const layout = document.getElementById("layout").cloneNode(true);
  return bindLoader(source, payload, (counted, title) => {
    document.getElementById("layout").replaceWith(layout.cloneNode(true));
    document.querySelector("h1").textContent = document.title = title;
    openPage(counted);
  });
}

if (typeof document === "undefined") bindWorker(self);
else startPage();
