/** Decision curves: net benefit within the limits and without them, and of an alarm for everybody. */
import { costBand, costFrame, shownMisses } from "./area_chart.js";
import { axes, clip, linearScale, plotBox } from "./axes.js";
import { RISKS } from "./counting.js";
import { w } from "./lang.js";
import { cursorChart } from "./cursor.js";
import { badge, fill, svg } from "./marks.js";
import { PER_CASES, gainsOf, priceAt, probabilityAt, scoredBenefit, treatAll } from "./net_benefit.js";
import { falseAlarms, percent, plain } from "./wording.js";

/** Threshold probabilities of a curve. */
const PROBABILITIES = 100;

/** The highest threshold probability shown; at 1 no alarm would be worth it. */
const MOST_PROBABLE = 0.99;

/** A narrower picture would have no scale. */
const LEAST_WIDTH = 1e-6;

/** How far the picture reaches below zero, as a share of its height above. */
const BELOW = 0.15;

/** The threshold probabilities between which the curves are drawn: those of the other pictures. */
function shownProbabilities(setting) {
  const [high, low] = shownMisses(setting).map((worth) => Math.min(probabilityAt(worth), MOST_PROBABLE));
  return high - low < LEAST_WIDTH ? [0, MOST_PROBABLE] : [low, high];
}

/** Where the curves are computed: evenly, and at the risks that scores were counted at. */
export function probabilitiesOf({ setting }) {
  const [low, high] = shownProbabilities(setting);
  const steps = Array.from({ length: PROBABILITIES + 1 }, (_, i) => i / PROBABILITIES);
  const risks = RISKS.filter((risk) => risk >= low && risk <= high);
  const all = new Set([...steps.map((share) => low + share * (high - low)), ...risks]);
  return [...all].sort((a, b) => a - b);
}

/** The curves of some models: [{model, within, free, scored}], one value for each probability. */
export function decisionCurves(models, probabilities) {
  return models.map((model) => {
    const gains = probabilities.map((p) => gainsOf(model, priceAt(p)));
    const scored = probabilities.map((p) => scoredBenefit(model, p));
    return { model, within: gains.map((at) => at.within), free: gains.map((at) => at.free), scored };
  });
}

/** A line through the values that there are. */
function curvePath(values, probabilities, x, y) {
  const places = probabilities.map((p, i) => [p, values[i]]).filter(([, value]) => !Number.isNaN(value));
  const joints = places.map(([p, value]) => `${x.at(p).toFixed(1)} ${y.at(value).toFixed(1)}`);
  return joints.length ? `M${joints.join("L")}` : "";
}

function shapes(curves, focus, probabilities, x, y) {
  const draw = ({ mark }, values, look) =>
    svg("path", {
      class: `line stroke ${look} ${mark.hue}`,
      d: curvePath(values, probabilities, x, y),
      "stroke-dasharray": look === "scored" ? "2 4" : mark.dash,
    });
  return [
    ...curves.map(({ model, free }) => draw(model, free, "faint")),
    ...curves.map(({ model, within }) => draw(model, within, "gain")),
    ...curves.filter(({ model }) => model === focus).map(({ model, scored }) => draw(model, scored, "scored")),
  ];
}

/** The decision curves; returns a function that draws a view. */
export function decisionChart(place) {
  return cursorChart(place, (state, view) => {
    const { width } = state;
    const height = Math.min(Math.max(width * 0.6, 240), 520);
    const box = plotBox(width, height);
    const probabilities = probabilitiesOf(view);
    const curves = decisionCurves(view.drawn, probabilities);
    const all = probabilities.map((p) => treatAll(view.points[0], priceAt(p)));
    const top = Math.max(...curves.flatMap(({ free }) => free), 1e-12);
    const x = linearScale(probabilities[0], probabilities.at(-1), box.left, box.right);
    const y = linearScale(-BELOW * top, 1.05 * top, box.bottom, box.top);
    const missScale = {
      at: (miss) => x.at(probabilityAt(miss)),
      invert: (px) => (1 - x.invert(px)) / x.invert(px),
    };
    const misses = [probabilities.at(-1), Math.max(probabilities[0], 1e-9)].map((p) => (1 - p) / p);
    const keeping = view.drawn.filter(({ result }) => !result.scoresNothing);
    state.frame = costFrame(box, missScale, misses, (miss) =>
      keeping.map((model) => `${model.name} ${plain(gainsOf(model, 1 / miss).within)}`),
    );
    const [at, zero] = [probabilityAt(view.missAt), y.at(0)];
    fill(state, width, height, [
      svg("defs", {}, clip("decision-plot", box)),
      ...costBand(box, missScale, view),
      axes(box, x, y, {
        xTitle: w.probabilityAxis,
        yTitle: view.titles.net_benefit,
        xLabel: (value) => percent(value),
        yLabel: (value) => plain(value),
      }),
      svg("line", { class: "zero", x1: box.left, x2: box.right, y1: zero, y2: zero }),
      svg(
        "g",
        { "clip-path": "url(#decision-plot)" },
        svg("path", { class: "line everybody", d: curvePath(all, probabilities, x, y) }),
        ...shapes(curves, view.focus, probabilities, x, y),
      ),
      ...[...keeping]
        .reverse()
        .map((model) => badge(model.mark, x.at(at), y.at(gainsOf(model, view.ratioAt).within))),
    ]);
  });
}

/** What the model in view gains at the cost in view, and what the limits cost it, in a sentence. */
export function gainText({ focus, missAt, ratioAt, setting: { price }, words }) {
  if (focus.result.scoresNothing) return w.noAlarmAtAll(focus.name);
  const gains = gainsOf(focus, ratioAt);
  const [within, limits] = [gains.within, gains.limits].map((gain) => plain(PER_CASES * gain));
  // A true positive is worth a miss less.
  const money = price === null ? null : plain(PER_CASES * gains.within * missAt * price, 4);
  const at = { worth: falseAlarms(missAt), risk: percent(probabilityAt(missAt)) };
  return w.gain({ model: focus.name, within, limits, money, ...at }, words);
}
