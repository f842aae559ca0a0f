/** Scales from values to pixels, and the axes that explain them. */
import { svg } from "./marks.js";

/** Room for labels around a plot, and the least distance between ticks, in letter sizes. */
const MARGIN = { left: 4.3, right: 1, top: 0.8, bottom: 3 };
const TICK_GAP = { x: 3.6, y: 2.3 };

let letterPixels = 0;

/** Pixels of the page's letter size, which grows with the screen; asking costs a layout. */
function letterSize() {
  if (letterPixels === 0) {
    letterPixels = parseFloat(getComputedStyle(document.documentElement).fontSize);
    window.addEventListener("resize", () => (letterPixels = 0), { once: true });
  }
  return letterPixels;
}

/** A scale {at(value), invert(pixel), ticks} from [low, high] to [from, to] pixels. */
export function linearScale(low, high, from, to) {
  // Halves, for the distance between the largest numbers is beyond them.
  const half = high / 2 - low / 2 || 0.5;
  return {
    at: (value) => from + ((value / 2 - low / 2) / half) * (to - from),
    invert: (pixel) => low + ((pixel - from) / (to - from)) * half * 2,
    ticks: (gap) => linearTicks(low, high, Math.abs(to - from) / gap),
  };
}

export function logScale(low, high, from, to) {
  const inner = linearScale(Math.log(low), Math.log(high), from, to);
  return {
    at: (value) => inner.at(Math.log(value)),
    invert: (pixel) => Math.exp(inner.invert(pixel)),
    ticks: (gap) => logTicks(low, high, Math.abs(to - from) / gap),
  };
}

function linearTicks(low, high, most) {
  const rough = high / Math.max(most, 1) - low / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step - first + 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Powers of ten from one tick to the next, where the scale is too long for each of them. */
const LONG_STRIDES = [1, 2, 5, 10, 20, 50, 100];

function logTicks(low, high, most) {
  const within = (units, stride = 1) => {
    const ticks = [];
    const first = Math.ceil(Math.floor(Math.log10(low)) / stride) * stride;
    for (let p = first; p <= Math.log10(high); p += stride) {
      for (const unit of units) ticks.push(Number((unit * 10 ** p).toPrecision(3)));
    }
    return ticks.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  };
  const choices = [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 3, 5, 7], [1, 2, 5], [1, 3]].map((units) =>
    within(units),
  );
  const strides = LONG_STRIDES.map((stride) => within([1], stride));
  return [...choices, ...strides].find((ticks) => ticks.length <= most) ?? strides.at(-1);
}

/** The frame of a plot: grid lines, tick labels and axis titles. */
export function axes(box, x, y, { xTitle, yTitle, xLabel, yLabel }) {
  const { left, right, top, bottom, letter } = box;
  const xTicks = x.ticks(TICK_GAP.x * letter).map((value) => [value, x.at(value)]);
  const yTicks = y.ticks(TICK_GAP.y * letter).map((value) => [value, y.at(value)]);
  const label = (attributes, text) => svg("text", { class: "tick", ...attributes }, text);
  return svg(
    "g",
    { class: "axes" },
    ...xTicks.map(([, at]) => svg("line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom })),
    ...yTicks.map(([, at]) => svg("line", { class: "grid", x1: left, x2: right, y1: at, y2: at })),
    ...xTicks.map(([value, at]) =>
      label({ x: at, y: bottom + 1.1 * letter, "text-anchor": "middle" }, xLabel(value)),
    ),
    ...yTicks.map(([value, at]) =>
      label({ x: left - 0.4 * letter, y: at, dy: "0.35em", "text-anchor": "end" }, yLabel(value)),
    ),
    svg(
      "text",
      {
        class: "axis-title",
        x: (left + right) / 2,
        y: bottom + 2.5 * letter,
        "text-anchor": "middle",
      },
      xTitle,
    ),
    svg(
      "text",
      {
        class: "axis-title",
        transform: `translate(${0.9 * letter} ${(top + bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle",
      },
      yTitle,
    ),
  );
}

/** The plot's rectangle inside a picture of the given size. */
export function plotBox(width, height) {
  const letter = letterSize();
  return {
    letter,
    left: MARGIN.left * letter,
    // A window dragged narrower than the labels leaves no plot, but no error either.
    right: Math.max(width - MARGIN.right * letter, MARGIN.left * letter + 1),
    top: MARGIN.top * letter,
    bottom: height - MARGIN.bottom * letter,
  };
}

/** A clip path of the plot's rectangle, to keep lines inside it. */
export function clip(id, { left, right, top, bottom }) {
  return svg(
    "clipPath",
    { id },
    svg("rect", { x: left, y: top, width: right - left, height: bottom - top }),
  );
}
