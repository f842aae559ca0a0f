/** SVG and HTML to draw models with; their styles come with the page. */

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

/** A to Z, then AA, AB and so on, as spreadsheets name columns. */
export function letterOf(position) {
  const rest = Math.floor(position / 26);
  return (rest ? letterOf(rest - 1) : "") + String.fromCharCode(65 + (position % 26));
}

/**
 * The style of a model by its position, so that it does not change with the ranking: its letter, dashes
 * and the class with its colours. Every round of colours begins one step further in the dashes.
 */
export function markOf(position, { hues, dashes }) {
  const dash = dashes[(position + Math.floor(position / hues)) % dashes.length];
  return { dash, letter: letterOf(position), hue: `model-${position % hues}` };
}

/**
 * The element of the page that has an id.
 * @type {(id: string) => any}
 */
export const byId = (id) => document.getElementById(id);

/**
 * The elements of the page that a selector matches.
 * @type {(selector: string) => any}
 */
export const allOf = (selector) => document.querySelectorAll(selector);

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
    { class: `badge ${mark.hue}`, transform: `translate(${x} ${y})` },
    svg("circle", { r: radius }),
    svg("text", { "text-anchor": "middle", dy: "0.35em" }, mark.letter),
  );
}

/** A short stroke of the model's line with its letter, for tables and legends. */
export function swatch(mark) {
  return svg(
    "svg",
    {
      class: `swatch ${mark.hue}`,
      viewBox: "0 0 52 20",
      preserveAspectRatio: "xMinYMid slice",
      "aria-hidden": "true",
    },
    svg("line", {
      class: "stroke",
      x1: 20,
      x2: 51,
      y1: 10,
      y2: 10,
      "stroke-width": 3,
      "stroke-dasharray": mark.dash,
    }),
    badge(mark, 10, 10, 8),
  );
}

/** Pixels across a place; none where it is folded away, which some browsers lay out all the same. */
function shownWidth(place) {
  return place.closest("details:not([open])") ? 0 : Math.round(place.clientWidth);
}

/** Keep a picture as wide as its place, and call `redraw(width)` whenever that changes. */
export function pictureIn(place, redraw) {
  const picture = svg("svg", { class: "picture", "aria-hidden": "true" });
  place.append(picture);
  const state = { picture, width: shownWidth(place) };
  place.closest("details")?.addEventListener("toggle", () => {
    state.width = shownWidth(place);
    if (state.width > 0) redraw();
  });
  new ResizeObserver(([entry]) => {
    const width = Math.min(Math.round(entry.contentRect.width), shownWidth(place));
    if (width === state.width) return;
    state.width = width;
    if (width > 0) redraw();
  }).observe(place);
  return state;
}

/** A chart that shows the view it is given, drawn again whenever its place changes its width. */
export function chartIn(place, draw) {
  let view = null;
  const state = pictureIn(place, () => view && draw(state, view));
  return (next) => {
    view = next;
    // Folded away, it is drawn once it is opened.
    if (state.width > 0) draw(state, view);
  };
}

/** Set the size of a picture and replace what it shows. */
export function fill({ picture }, width, height, children) {
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.replaceChildren(...children);
}
