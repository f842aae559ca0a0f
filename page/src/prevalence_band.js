/** What the threshold in use does where positives are more or less common: label shift. */
import { axes, clip, linearScale, logScale, plotBox } from "./axes.js";
import { exactLimits } from "./binomial.js";
import { w } from "./lang.js";
import { chartIn, fill, svg } from "./marks.js";
import { consequences } from "./people.js";
import { bestAt, evaluate, atPrevalence } from "./voros.js";
import { percent, plain, thresholdText } from "./wording.js";

/** Prevalences from this part of the data's own to this multiple of it, and how many. */
const [PREVALENCE_REACH, PREVALENCE_STEPS, BAND_CONFIDENCE] = [8, 60, 0.95];

/** The same where the chart is not zoomed in. */
const WHOLE_REACH = 64;

const MOST_PREVALENCE = 0.95;

/** Prevalences on both sides of the data's own, evenly on a logarithmic scale. */
export function prevalencesAround(own, reach = PREVALENCE_REACH) {
  const [low, high] = [own / reach, Math.min(own * reach, MOST_PREVALENCE)];
  return Array.from({ length: PREVALENCE_STEPS + 1 }, (_, i) => low * (high / low) ** (i / PREVALENCE_STEPS));
}

const precisionAt = (p, tpr, fpr) => (p * tpr) / (p * tpr + (1 - p) * fpr);

/**
 * At each prevalence: precision and alarms of one threshold with their limits, both rates within
 * exact limits of half the error each, and what the cases cost, in false alarms per 1,000.
 */
export function bandOf({ tp, fp, nPositive, nNegative }, i, miss, prevalences) {
  const [tpr, fpr] = [tp[i] / nPositive, fp[i] / nNegative];
  const confidence = 1 - (1 - BAND_CONFIDENCE) / 2;
  const [tprs, fprs] = [exactLimits(tp[i], nPositive, confidence), exactLimits(fp[i], nNegative, confidence)];
  return prevalences.map((p) => ({
    prevalence: p,
    precision: precisionAt(p, tpr, fpr),
    low: precisionAt(p, tprs[0], fprs[1]),
    high: precisionAt(p, tprs[1], fprs[0]),
    alarms: p * tpr + (1 - p) * fpr,
    mostAlarms: p * tprs[1] + (1 - p) * fprs[1],
    recall: tpr,
    leastRecall: tprs[0],
    cost: 1000 * ((1 - p) * fpr + p * (1 - tpr) * miss),
  }));
}

/** Where the limits are kept: by the rates as they are, and by the whole band; null for nowhere. */
export function keptBetween(band, { minPrecision, minRecall = 0 }, share) {
  const ends = (kept) => {
    const prevalences = band.filter(kept).map(({ prevalence }) => prevalence);
    return prevalences.length ? [prevalences[0], prevalences.at(-1)] : null;
  };
  return {
    rates: ends(({ precision, recall, alarms }) => precision >= minPrecision && recall >= minRecall && alarms <= share),
    band: ends(({ low, leastRecall, mostAlarms }) => low >= minPrecision && leastRecall >= minRecall && mostAlarms <= share),
  };
}

function prevalenceRange(range) {
  return range ? w.fromTo(percent(range[0]), percent(range[1])) : w.nowhere;
}

/** The threshold in use and its band; null where it never alarms, or rows have weights. */
export function bandView(view) {
  const { base, points, result } = view.focus;
  const { chosen } = consequences(view);
  const same = points.thresholds[chosen] === base.thresholds[chosen];
  // The band is one of independent cases.
  if (chosen === 0 || !base.wholeCounts || !same || view.repeated) return null;
  const own = base.nPositive / (base.nPositive + base.nNegative);
  const band = bandOf(base, chosen, view.missAt, prevalencesAround(own, view.setting.zoom ? PREVALENCE_REACH : WHOLE_REACH));
  const share = result.allowedAlarms / (base.nPositive + base.nNegative);
  const kept = keptBetween(band, view.setting, share);
  return { band, own, kept, threshold: base.thresholds[chosen] };
}

/** Rows of the table: every tenth prevalence, and the threshold that would be chosen there. */
function bandRows(view, { band }) {
  const rows = band.filter((_, i) => i % 10 === 0).map((at) => {
    const points = { ...atPrevalence(view.focus.base, at.prevalence), exceed: null };
    const { hull } = evaluate(points, view.setting, view.costs);
    const best = hull ? points.thresholds[hull.index[bestAt(hull, view.ratioAt)]] : Infinity;
    return [
      percent(at.prevalence),
      `${percent(at.precision)} (${w.fromTo(percent(at.low), percent(at.high))})`,
      percent(at.alarms),
      plain(at.cost * (view.setting.price ?? 1)),
      thresholdText(best),
    ];
  });
  const head = [w.prevalenceHead, w.rightHead, w.alarmsHead, w.costHead(view.setting.price !== null), w.bestThereHead];
  return { head, rows };
}

function bandArea(band, x, y) {
  const [there, back] = [band, [...band].reverse()];
  const path = (rows, of) => rows.map((at) => `${x.at(at.prevalence).toFixed(1)} ${y.at(of(at)).toFixed(1)}`);
  return `M${[...path(there, ({ low }) => low), ...path(back, ({ high }) => high)].join("L")}Z`;
}

/** Say what the band is under the pointer. */
function readUnder({ picture }, reading, bandAt) {
  picture.onpointermove = ({ clientX }) => {
    const at = bandAt(clientX - picture.getBoundingClientRect().left);
    const range = w.fromTo(percent(at.low), percent(at.high));
    reading.textContent = `${w.prevalenceHead} ${percent(at.prevalence)}: ${w.rightHead} ${percent(at.precision)} (${range})`;
  };
  picture.onpointerleave = () => (reading.textContent = "");
}

/** Draw the band, say where the limits are kept, and fill the table; returns what draws a view. */
export function prevalenceBand(place, tabulate) {
  const draw = chartIn(place("prevalence"), (state, view) => {
    const { width } = state;
    const shown = bandView(view);
    const height = shown ? Math.min(Math.max(width * 0.45, 220), 420) : 0;
    if (!shown) return fill(state, width, 0, []);
    const box = plotBox(width, height);
    const { band, own } = shown;
    const x = logScale(band[0].prevalence, band.at(-1).prevalence, box.left, box.right);
    const y = linearScale(0, 1, box.bottom, box.top);
    const floor = y.at(view.setting.minPrecision);
    const line = band.map((at) => `${x.at(at.prevalence).toFixed(1)} ${y.at(at.precision).toFixed(1)}`);
    readUnder(state, place("prevalence-reading"), (px) => {
      const there = x.invert(px);
      return band.reduce((best, at) => (Math.abs(at.prevalence - there) < Math.abs(best.prevalence - there) ? at : best));
    });
    return fill(state, width, height, [
      svg("defs", {}, clip("prevalence-clip", box)),
      axes(box, x, y, {
        xTitle: w.prevalenceHead,
        yTitle: w.rightHead,
        xLabel: (value) => percent(value),
        yLabel: (value) => percent(value),
      }),
      svg(
        "g",
        { "clip-path": "url(#prevalence-clip)", class: view.focus.mark.hue },
        svg("path", { class: "prevalence-band", d: bandArea(band, x, y) }),
        svg("line", { class: "limit", x1: box.left, x2: box.right, y1: floor, y2: floor }),
        svg("line", { class: "limit own", x1: x.at(own), x2: x.at(own), y1: box.top, y2: box.bottom }),
        svg("path", { class: "line stroke", d: `M${line.join("L")}` }),
      ),
    ]);
  });
  return (view) => {
    const shown = bandView(view);
    place("prevalence-card").hidden = !shown;
    draw(view);
    if (!shown) return;
    const { kept, threshold } = shown;
    const ranges = [prevalenceRange(kept.rates), prevalenceRange(kept.band)];
    place("prevalence-text").textContent = w.prevalenceBand(thresholdText(threshold), ...ranges);
    tabulate(() => bandRows(view, shown));
  };
}
