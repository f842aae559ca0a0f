/** How sure the scores are: intervals from resamples, and whether one model is really ahead. */
import { unpacked } from "./resampling.js";
import { atPrevalence, evaluate } from "./voros.js";

/** Share of intervals that hold the true value. */
const CONFIDENCE = 0.95;

const WHOLE = { oneCase: 1, wholeCounts: true, wholeCases: true };

/** Points from counts within each stretch of scores: [negative, positive, ...], lowest last. */
function pointsOf(counts, from, size) {
  const n = size / 2;
  /** @type {Record<string, any>} */
  const points = { thresholds: new Float64Array(n), ...WHOLE };
  for (const key of ["tp", "fp", "alarms"]) points[key] = new Float64Array(n);
  let [tp, fp] = [0, 0];
  for (let i = 0; i < n - 1; i++) {
    fp += counts[from + 2 * i];
    tp += counts[from + 2 * i + 1];
    [points.tp[i + 1], points.fp[i + 1], points.alarms[i + 1]] = [tp, fp, tp + fp];
  }
  points.nPositive = tp + counts[from + size - 1];
  points.nNegative = fp + counts[from + size - 2];
  return points;
}

/** The kept thresholds of a model, counted on the cases themselves. */
function keptPoints({ tp, fp }, kept, { nPositive, nNegative }) {
  const pick = (values) => Float64Array.from([0, ...kept.map((i) => values[i])]);
  /** @type {Record<string, any>} */
  const points = { tp: pick(tp), fp: pick(fp), nPositive, nNegative, ...WHOLE };
  points.alarms = points.tp.map((right, i) => right + points.fp[i]);
  return { ...points, thresholds: new Float64Array(points.tp.length) };
}

/** Make ready to score resamples; `replicates` is what a page holds of them. */
export function prepared({ models, cases, replicates }) {
  return models.map((model, j) => {
    const { kept } = replicates.models[j];
    const [counts, size] = [unpacked(replicates.models[j]), 2 * (kept.length + 1)];
    const drawn = Array.from({ length: replicates.resamples }, (_, b) =>
      pointsOf(counts, b * size, size),
    );
    return { whole: keptPoints(model, kept, cases), drawn };
  });
}

function scoreOf(points, { minPrecision, capacity, prevalence, costs }) {
  if (points.nPositive === 0 || points.nNegative === 0) return NaN;
  return evaluate(atPrevalence(points, prevalence), minPrecision, capacity, costs).score ?? 0;
}

/** How much each resample's score is above that of the cases, by model. */
export function deviations(ready, setting) {
  return ready.map(({ whole, drawn }) => {
    const expected = scoreOf(whole, setting);
    return drawn.map((points) => scoreOf(points, setting) - expected);
  });
}

/** Fewer values place no end of an interval. */
const FEWEST_VALUES = 100;

/** The ends between which the middle of the values lies, by order statistics; null if they are few. */
export function middle(values, confidence = CONFIDENCE) {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  if (sorted.length < FEWEST_VALUES) return null;
  const cut = Math.max(Math.floor(((1 - confidence) / 2) * (sorted.length + 1)), 1);
  return [sorted[cut - 1], sorted[sorted.length - cut]];
}

/**
 * Whether it is too close to call which of two models is ahead, at each of some limits: the first
 * leads by `lead`, and the interval of that holds 0. Models are given by their positions.
 */
export function closeCalls(ready, places, { prevalence, costs }) {
  return places.map(({ limits, winner, second, lead }) => {
    const pair = [ready[winner], ready[second]];
    const [ahead, behind] = deviations(pair, { ...limits, prevalence, costs });
    const ends = middle(ahead.map((value, b) => value - behind[b]));
    return ends !== null && lead + ends[0] <= 0;
  });
}

const unit = (value) => Math.min(Math.max(value, 0), 1);

/**
 * Intervals for scores and for how far each model is behind the best, given the exact scores in the
 * order of the models: [{low, high, behind: [low, high]}], null where too many resamples hold one
 * class only.
 */
export function intervalsOf(found, scores, best) {
  return scores.map((score, j) => {
    const ends = middle(found[j]);
    if (ends === null) return null;
    const [low, high] = ends.map((end) => unit(score + end));
    const behind = middle(found[best].map((value, b) => value - found[j][b]));
    return { low, high, behind: behind.map((end) => scores[best] - score + end) };
  });
}
