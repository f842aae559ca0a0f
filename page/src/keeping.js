/** One menu under each chart that saves it: as a picture, or its numbers; and all of it as a slide. */
import { CHART_DATA, csvOf } from "./chart_data.js";
import { detached, pngOf, serialised } from "./keeping_svg.js";
import { w } from "./lang.js";
import { allOf, byId, html } from "./marks.js";
import { saveFile } from "./saving.js";
import { slideOf } from "./slide.js";

const WHOLE_RESULT = "slide";

/** A table has numbers, and no picture; the slide is a picture, and no numbers. */
const OFFERED = {
  SVG: (name) => name === WHOLE_RESULT || byId(name).tagName !== "TBODY",
  PNG: (name) => name === WHOLE_RESULT || byId(name).tagName !== "TBODY",
  CSV: (name) => name !== WHOLE_RESULT,
};

const drawingOf = (name, view) =>
  name === WHOLE_RESULT ? slideOf(view) : detached(document.querySelector(`#${name} svg`));

const WAYS = {
  SVG: (name, view) => saveFile(`${name}.svg`, serialised(drawingOf(name, view)), "image/svg+xml"),
  PNG: async (name, view) => saveFile(`${name}.png`, await pngOf(drawingOf(name, view)), "image/png"),
  CSV: (name, view) => saveFile(`${name}.csv`, csvOf(CHART_DATA[name](view)), "text/csv"),
};

/** Put the menus into the cards; `view()` gives what they show. */
export function bindKeeping(view) {
  for (const place of allOf("[data-keep]")) {
    const name = place.dataset.keep;
    const title = place.closest(".card").querySelector("h2").textContent;
    const buttons = Object.keys(WAYS).filter((kind) => OFFERED[kind](name)).map((kind) => {
      const said = `${w.keepPicture(kind)}: ${title}`;
      const button = html("button", { type: "button", "aria-label": said }, kind);
      button.addEventListener("click", () => WAYS[kind](name, view()));
      return button;
    });
    const summary = html("summary", {}, name === WHOLE_RESULT ? w.keepSlide : w.keep);
    place.replaceChildren(html("details", { class: "menu" }, summary, html("p", {}, ...buttons)));
  }
}
