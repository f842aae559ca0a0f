/** A setting to keep: as a link, as TOML, as Python, or on paper. */
import { w } from "./lang.js";
import { allOf, byId } from "./marks.js";
import { holdsSetting, toHash, toPython, toToml } from "./setting.js";

/** Moves within this many milliseconds are one change of the address. */
const SETTLED = 250;

async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.value);
    return true;
  } catch {
    // A page opened from a mail program may not write to the clipboard; a selection always works.
    source.focus();
    source.select();
    return document.execCommand("copy");
  }
}

const isLocal = () => window.location.protocol === "file:";

/** Write the address, unless it was changed since `before`: what it asks for comes first. */
function writeAddress(setting, before) {
  const now = window.location.hash;
  if (now !== before && holdsSetting(now)) return;
  const hash = `#${toHash(setting)}`;
  if (window.location.hash !== hash) window.history.replaceState(null, "", hash);
  // The address of a local file leads nowhere on another machine; the code goes with the file.
  byId("as-link").value = isLocal() ? hash : window.location.href;
}

/** Bind the buttons; returns a function that writes a setting in every form. */
export function bindSharing() {
  allOf("[data-copy]").forEach((button) =>
    button.addEventListener("click", async () => {
      const done = await copy(byId(button.dataset.copy));
      const copied = button.dataset.copy === "as-link" && isLocal() ? w.copiedCode : w.copied;
      byId(button.dataset.says).textContent = done ? copied : w.selected;
    }),
  );
  byId("print").addEventListener("click", () => window.print());
  let waiting = null;
  return (setting) => {
    byId("as-toml").value = toToml(setting);
    byId("as-python").value = toPython(setting);
    for (const id of ["copied", "copied-threshold"]) byId(id).textContent = "";
    clearTimeout(waiting);
    waiting = setTimeout(writeAddress, SETTLED, setting, window.location.hash);
  };
}
