/** How a model looks in every picture: a colour, a dash and a letter, and SVG to draw them with. */

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** Okabe and Ito's colours, less yellow, which is too pale on white. */
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 2", "1 4"];
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** The look of the model at a position; colour and dash part ways after the first seven. */
export function markOf(position) {
  const round = Math.floor(position / COLOURS.length);
  return {
    colour: COLOURS[position % COLOURS.length],
    dash: DASHES[(position + round) % DASHES.length],
    letter: LETTERS[position] ?? String(position + 1),
  };
}

/** Make an SVG element with attributes and children; a text child is escaped by the browser. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Make an HTML element with attributes and children. */
export function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A disc with the model's letter. */
export function badge(mark, x, y, radius = 9) {
  return svg(
    "g",
    { class: "badge", transform: `translate(${x} ${y})` },
    svg("circle", { r: radius, fill: "#fff", stroke: mark.colour, "stroke-width": 2.5 }),
    svg("text", { "text-anchor": "middle", dy: "0.35em" }, mark.letter),
  );
}

/** A short stroke of the model's line with its letter, for tables and legends. */
export function swatch(mark) {
  return svg(
    "svg",
    {
      class: "swatch",
      viewBox: "0 0 52 20",
      preserveAspectRatio: "xMinYMid slice",
      "aria-hidden": "true",
    },
    svg("line", {
      x1: 20,
      x2: 51,
      y1: 10,
      y2: 10,
      stroke: mark.colour,
      "stroke-width": 3,
      "stroke-dasharray": mark.dash,
    }),
    badge(mark, 10, 10, 8),
  );
}

/** Keep a picture as wide as its place, and call `redraw(width)` whenever that changes. */
export function pictureIn(place, redraw) {
  const picture = svg("svg", { class: "picture", "aria-hidden": "true" });
  place.append(picture);
  const state = { picture, width: place.clientWidth };
  new ResizeObserver(([entry]) => {
    const width = Math.round(entry.contentRect.width);
    if (width === state.width || width === 0) return;
    state.width = width;
    redraw();
  }).observe(place);
  return state;
}

/** Set the size of a picture and replace what it shows. */
export function fill({ picture }, width, height, children) {
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.replaceChildren(...children);
}
