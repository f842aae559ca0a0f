/** Charts as separate files: every style written into the element that has it. */
import { html } from "./marks.js";

/** What a drawing looks like by the style sheet, which a saved file does not have. */
const LOOKS = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight",
  "text-anchor", "vector-effect",
];

/** Pixels of a saved picture for one on the screen. */
const SHARPNESS = 2;

/** A copy of a picture that needs no style sheet, on the colour of its card. */
export function detached(picture) {
  const copy = picture.cloneNode(true);
  const [drawn, copied] = [picture, copy].map((svg) => [svg, ...svg.querySelectorAll("*")]);
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
  const attributes = { width: across, height: down, fill: colour };
  for (const [name, value] of Object.entries(attributes)) paper.setAttribute(name, value);
  copy.prepend(paper);
  return copy;
}

export const serialised = (element) => new XMLSerializer().serializeToString(element);

/** A drawing with its sizes written into it, as a PNG. */
export async function pngOf(drawing) {
  const [width, height] = ["width", "height"].map((side) => Number(drawing.getAttribute(side)));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(serialised(drawing))}`;
  await image.decode();
  const canvas = html("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
