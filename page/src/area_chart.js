/** The area curve: what share of the allowed region is worse than each model, over the costs. */
import { axes, clip, linearScale, logScale, plotBox } from "./axes.js";
import { cursorChart } from "./cursor.js";
import { badge, fill, svg } from "./marks.js";
import { normalisedArea } from "./voros.js";
import { percent, plain } from "./wording.js";

const SAMPLES = 160;

/** How far the pictures reach beyond the range of costs, on either side: zoomed in, and not. */
const [BEYOND, FAR_BEYOND] = [3, 30];

/** What a miss can be worth in the pictures over costs. */
export function shownMisses({ miss: [low, high], zoom }) {
  const reach = zoom ? BEYOND : FAR_BEYOND;
  return [low / reach, high * reach];
}

/** What the cursor of a chart over costs needs; `read(miss)` gives the values. */
export function costFrame(box, x, misses, read) {
  const inside = (px, py) => px >= box.left && px <= box.right && py >= box.top && py <= box.bottom;
  return {
    misses,
    missAt: (px, py) => (inside(px, py) ? x.invert(px) : null),
    shapes: (miss) => {
      const at = x.at(miss);
      return [svg("line", { class: "pointer", x1: at, x2: at, y1: box.top, y2: box.bottom })];
    },
    read,
  };
}

/** The band of the costs in force, and the line at which consequences are shown. */
export function costBand(box, x, view) {
  const [low, high] = view.setting.miss.map(x.at).sort((a, b) => a - b);
  const at = x.at(view.missAt);
  const height = box.bottom - box.top;
  return [
    svg("rect", { class: "band", x: low, y: box.top, width: Math.max(high - low, 1), height }),
    svg("line", { class: "here", x1: at, x2: at, y1: box.top, y2: box.bottom }),
  ];
}

function line({ points, result, mark }, x, y, misses) {
  const d = misses
    .map((miss, i) => {
      const share = normalisedArea(points, result, 1 / miss);
      return `${i ? "L" : "M"}${x.at(miss).toFixed(1)} ${y.at(share).toFixed(1)}`;
    })
    .join("");
  return svg("path", { class: `line stroke ${mark.hue}`, d, "stroke-dasharray": mark.dash });
}

/** The chart; returns a function that draws a view. */
export function areaChart(place) {
  return cursorChart(place, (state, view) => {
    const { width } = state;
    const height = Math.min(Math.max(width * 0.6, 240), 520);
    const box = plotBox(width, height);
    const [low, high] = shownMisses(view.setting);
    const x = logScale(low, high, box.left, box.right);
    const y = linearScale(0, 1, box.bottom, box.top);
    const misses = Array.from(
      { length: SAMPLES + 1 },
      (_, i) => low * (high / low) ** (i / SAMPLES),
    );
    const scored = view.drawn.filter((model) => model.result.hull);
    const share = ({ points, result }, ratio = view.ratioAt) => normalisedArea(points, result, ratio);
    state.frame = costFrame(box, x, [low, high], (miss) =>
      scored.map((model) => `${model.name} ${percent(share(model, 1 / miss))}`),
    );
    fill(state, width, height, [
      svg("defs", {}, clip("area-plot", box)),
      ...costBand(box, x, view),
      axes(box, x, y, {
        xTitle: view.titles.miss,
        yTitle: view.titles.area,
        xLabel: (value) => plain(value),
        yLabel: (value) => percent(value),
      }),
      svg("g", { "clip-path": "url(#area-plot)" }, ...scored.map((m) => line(m, x, y, misses))),
      ...[...scored].reverse().map((m) => badge(m.mark, x.at(view.missAt), y.at(share(m)))),
    ]);
  });
}
