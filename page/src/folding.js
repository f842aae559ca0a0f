/** Sections that are folded away; which of them are open is kept for the next visit. */
import { allOf } from "./marks.js";

const KEPT = "voros.open";

/** What is open, for browsers that keep nothing for a file. */
let openNow = [];

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "null") ?? openNow;
  } catch {
    return openNow;
  }
}

function keep(names) {
  openNow = names;
  try {
    localStorage.setItem(KEPT, JSON.stringify(names));
  } catch {
    // A private window: the sections stay as they are until the page is closed.
  }
}

/** The details that fold, by id. */
const folds = () => [...allOf("details.fold")];

/** Open what was open before, and note what is opened and closed from now on. */
export function bindFolds() {
  const before = kept();
  for (const fold of folds()) {
    fold.open = before.includes(fold.id);
    fold.addEventListener("toggle", () => {
      if (!fold.dataset.printing) keep(folds().filter((other) => other.open).map(({ id }) => id));
    });
  }
}

/** Paper has no folds: open all of them, and close them again afterwards. */
export function unfoldForPrint(redraw) {
  window.addEventListener("beforeprint", () => {
    for (const fold of folds().filter((other) => !other.open)) {
      [fold.dataset.printing, fold.open] = ["yes", true];
      // Charts draw once their section is opened, which is told too late for paper.
      fold.dispatchEvent(new Event("toggle"));
    }
    redraw();
  });
  window.addEventListener("afterprint", () => {
    for (const fold of folds().filter((other) => other.dataset.printing)) {
      fold.open = false;
      setTimeout(() => delete fold.dataset.printing, 0);
    }
  });
}
