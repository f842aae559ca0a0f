/** ROC space: the allowed region, every curve, its usable part, and the threshold in use. */
import { shownMisses } from "./area_chart.js";
import { axes, clip, linearScale, plotBox } from "./axes.js";
import { cursorChart } from "./cursor.js";
import { badge, fill, svg } from "./marks.js";
import { w } from "./lang.js";
import { bestAt, feasible, usedVertices } from "./voros.js";
import { percent } from "./wording.js";

/** Space around the region when zoomed in. */
const ZOOM_MARGIN = 1.12;

/** Steps shorter than this, in ROC space, are not drawn. */
const SMALLEST_STEP = 5e-4;

/** Places of points as text, written once: a slider draws the same ones again and again. */
const placeTexts = new WeakMap();

function placeTextsOf({ tp, fp, nPositive, nNegative }) {
  if (!placeTexts.has(tp)) {
    placeTexts.set(tp, Array.from(tp, (hits, i) => `${(fp[i] / nNegative).toFixed(5)} ${(hits / nPositive).toFixed(5)}`));
  }
  return placeTexts.get(tp);
}

/** Join the points that `wanted` marks by lines, lifting the pen where one is not. */
export function runPath(points, wanted) {
  const { tp, fp, nPositive, nNegative } = points;
  const [parts, texts] = [[], placeTextsOf(points)];
  let down = false;
  let [lastX, lastY] = [-1, -1];
  for (let i = 0; i < tp.length; i++) {
    if (!wanted(i)) {
      down = false;
      continue;
    }
    const [x, y] = [fp[i] / nNegative, tp[i] / nPositive];
    const near = Math.abs(x - lastX) + Math.abs(y - lastY) < SMALLEST_STEP;
    if (near && (down || i < tp.length - 1)) {
      down = true;
      continue;
    }
    parts.push(`${down ? "L" : "M"}${texts[i]}${down ? "" : "h0"}`);
    [lastX, lastY, down] = [x, y, true];
  }
  return parts.join("");
}

function zoomOf(region, zoom, mostRate) {
  if (!zoom || !region) return [mostRate, 1];
  const most = (axis) => Math.max(...region.corners.map((corner) => corner[axis]), 0.01);
  return [Math.min(mostRate, most(0) * ZOOM_MARGIN), Math.min(1, most(1) * ZOOM_MARGIN)];
}

/** Curves are drawn once in ROC space; a zoom only changes this transform. */
function transformTo(x, y) {
  const [x0, y0] = [x.at(0), y.at(0)];
  return `translate(${x0} ${y0}) scale(${x.at(1) - x0} ${y.at(1) - y0})`;
}

function curve(model, usablePath) {
  const { hue, dash } = model.mark;
  const line = (className, d, extra = {}) =>
    svg("path", { class: `${className} stroke ${hue}`, d, ...extra });
  return [
    line("curve", model.wholeCurve, { "stroke-dasharray": dash }),
    line("usable", usablePath),
  ];
}

function usablePath({ points, result }, setting) {
  const flags = feasible(points, setting, result.allowedAlarms, result.last);
  return runPath(points, (i) => i > 0 && flags[i] === 1);
}

function chosenDots({ points, result, mark }, [low, high], x, y) {
  const [first, last] = usedVertices(result.hull, low, high);
  return result.hull.index.slice(first, last + 1).map((i) =>
    svg("circle", {
      class: `choice filled ${mark.hue}`,
      cx: x.at(points.fp[i] / points.nNegative),
      cy: y.at(points.tp[i] / points.nPositive),
      r: 3.5,
    }),
  );
}

function currentBadge({ points, result, mark }, ratio, x, y) {
  const i = result.hull.index[bestAt(result.hull, ratio)];
  return badge(mark, x.at(points.fp[i] / points.nNegative), y.at(points.tp[i] / points.nPositive));
}

function regionShape(region, x, y) {
  const corners = region.corners.map(([fpr, tpr]) => `${x.at(fpr)},${y.at(tpr)}`).join(" ");
  return svg("polygon", { class: "region", points: corners });
}

/** Rates of a model's best threshold where a miss has a worth. */
function ratesAt({ points, result: { hull } }, miss) {
  const i = hull.index[bestAt(hull, 1 / miss)];
  return [points.fp[i] / points.nNegative, points.tp[i] / points.nPositive];
}

/** What the cursor needs: it goes to the cost at which the nearest threshold is the best. */
function rocFrame(scored, view, x, y) {
  const misses = shownMisses(view.setting);
  const steps = Array.from({ length: 101 }, (_, i) => misses[0] * (misses[1] / misses[0]) ** (i / 100));
  const spot = (model, miss) => {
    const [fpr, tpr] = ratesAt(model, miss);
    return [x.at(fpr), y.at(tpr)];
  };
  const away = (px, py, miss) =>
    Math.min(...scored.map((model) => Math.hypot(...spot(model, miss).map((at, i) => at - [px, py][i]))));
  return {
    misses,
    missAt: (px, py) =>
      scored.length ? steps.reduce((best, miss) => (away(px, py, miss) < away(px, py, best) ? miss : best)) : null,
    shapes: (miss) =>
      scored.map((model) => {
        const [cx, cy] = spot(model, miss);
        return svg("circle", { class: "pointer", cx, cy, r: 8 });
      }),
    read: (miss) =>
      scored.map((model) => {
        const [fpr, tpr] = ratesAt(model, miss).map((rate) => percent(rate));
        return w.rocRead(model.name, tpr, fpr);
      }),
  };
}

/** The chart; returns a function that draws a view. */
export function rocChart(place, clipName = "roc-plot") {
  return cursorChart(place, (state, view) => {
    const { width } = state;
    const height = Math.min(Math.max(width * 0.8, 280), 720);
    const box = plotBox(width, height);
    const scored = view.drawn.filter((model) => model.result.hull);
    const region = scored[0]?.result.region;
    const [xMost, yMost] = zoomOf(region, view.setting.zoom, view.mostRate);
    const x = linearScale(0, xMost, box.left, box.right);
    const y = linearScale(0, yMost, box.bottom, box.top);
    const label = (share) => percent(share, 3);
    const usable = (model) => (model.result.hull ? usablePath(model, view.setting) : "");
    state.frame = rocFrame(scored, view, x, y);
    const inPlot = { "clip-path": `url(#${clipName})` };
    fill(state, width, height, [
      svg("defs", {}, clip(clipName, box)),
      svg("g", inPlot, ...(region ? [regionShape(region, x, y)] : [])),
      axes(box, x, y, {
        xTitle: view.titles.fpr,
        yTitle: view.titles.tpr,
        xLabel: label,
        yLabel: label,
      }),
      svg(
        "g",
        inPlot,
        svg(
          "g",
          { transform: transformTo(x, y) },
          ...view.drawn.flatMap((model) => curve(model, usable(model))),
        ),
      ),
      ...scored.flatMap((model) => chosenDots(model, view.ratios, x, y)),
      ...[...scored].reverse().map((model) => currentBadge(model, view.ratioAt, x, y)),
    ]);
  });
}
