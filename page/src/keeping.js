/** Buttons under each chart that save it: as a picture for a slide, or its numbers. */
import { CHART_DATA, csvOf } from "./chart_data.js";
import { w } from "./lang.js";
import { allOf, byId, html } from "./marks.js";
import { saveFile } from "./saving.js";

/** What a drawing looks like by the style sheet, which a saved file does not have. */
const LOOKS = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight",
  "text-anchor", "vector-effect",
];

/** Pixels of a saved picture for one on the screen. */
const SHARPNESS = 2;

/** The chart as a file of its own: every look written into the element that has it. */
export function svgText(picture) {
  const copy = picture.cloneNode(true);
  const [drawn, copied] = [picture, copy].map((each) => [each, ...each.querySelectorAll("*")]);
  drawn.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const look of LOOKS) copied[i].setAttribute(look, style.getPropertyValue(look));
    copied[i].removeAttribute("class");
  });
  const { width, height } = picture.getBoundingClientRect();
  const sizes = { xmlns: "http://www.w3.org/2000/svg", width, height };
  for (const [name, value] of Object.entries(sizes)) copy.setAttribute(name, value);
  const paper = document.createElementNS(sizes.xmlns, "rect");
  const [, , across, down] = (picture.getAttribute("viewBox") ?? "0 0 1 1").split(" ");
  const colour = getComputedStyle(picture.closest(".card")).backgroundColor;
  const looks = { width: across, height: down, fill: colour };
  for (const [name, value] of Object.entries(looks)) paper.setAttribute(name, value);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

async function pngOf(picture) {
  const { width, height } = picture.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await image.decode();
  const canvas = html("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** A table has numbers, and no picture. */
const isDrawn = (name) => byId(name).tagName !== "TBODY";

const pictureOf = (name) => document.querySelector(`#${name} svg`);

const WAYS = {
  SVG: (name) => saveFile(`${name}.svg`, svgText(pictureOf(name)), "image/svg+xml"),
  PNG: async (name) => saveFile(`${name}.png`, await pngOf(pictureOf(name)), "image/png"),
  CSV: (name, view) => saveFile(`${name}.csv`, csvOf(CHART_DATA[name](view)), "text/csv"),
};

/** Put the buttons below the charts; `view()` gives what they show. */
export function bindKeeping(view) {
  for (const place of allOf("[data-keep]")) {
    const name = place.dataset.keep;
    const title = place.closest(".card").querySelector("h2").textContent;
    const ways = Object.entries(WAYS).filter(([kind]) => kind === "CSV" || isDrawn(name));
    const buttons = ways.map(([kind, save]) => {
      const said = `${w.keepPicture(kind)}: ${title}`;
      const button = html("button", { type: "button", "aria-label": said }, w.keepPicture(kind));
      button.addEventListener("click", () => save(name, view()));
      return button;
    });
    place.replaceChildren(...buttons);
  }
}
