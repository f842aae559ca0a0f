/** How sure the scores are: their intervals, and which models cannot be told apart. */
import { normalBelow, studentAt } from "./binomial.js";
import { countedCurve, curveInterval } from "./curve_limits.js";
import { PARTS_OF_A_GAP, unpacked, unpackedSums } from "./resampling.js";
import { atPrevalence, bestAt, evaluate, maxAlarms, ratioRange, rowsAllowed } from "./voros.js";

/** Share of intervals that hold the true value. */
const CONFIDENCE = 0.95;

const WHOLE = { oneCase: 1, wholeCounts: true, wholeCases: true };

/** Points from counts within each range of scores: [negative, positive, ...], lowest last. */
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

/** The periods of the cases, for points at some places among the thresholds of a model. */
function onCases({ n, breaks }, position, places) {
  const lastWithin = (count, may) => {
    const broken = breaks[position][count - 1]?.[may];
    const row = broken === undefined ? -1 : places.findIndex((place) => place >= broken);
    if (row === -1) return undefined;
    return row + (broken - 1 - places[row - 1]) / (places[row] - places[row - 1]);
  };
  return { nPeriods: n, lastWithin };
}

/** The periods of each resample: how many thresholds a rule leaves was counted when it was drawn. */
function inResamples({ periods, models }, position) {
  if (!periods) return () => ({});
  const { n, most, shares } = periods;
  const raw = Uint8Array.from(atob(models[position].lastRows), (mark) => mark.charCodeAt(0));
  const rows = new Uint16Array(raw.buffer);
  return (b) => ({
    nPeriods: n,
    lastWithin: (count, _, exceed) =>
      count > most ? undefined : rows[(b * most + count - 1) * shares.length + shares.indexOf(exceed)] / PARTS_OF_A_GAP + 1,
  });
}

/**
 * Make models ready to be scored: the counts of each, and where `replicates` holds what a page
 * knows of resamples, those too. Of cases that are `grouped` the limits of a curve come with them.
 */
export function prepared({ models, cases, replicates, grouped = false, periods = null }) {
  return models.map((model, j) => {
    const inTime = (places) => periods && onCases(periods, j, places);
    const { clusters = null } = replicates ?? {};
    const spread = clusters && unpackedSums(replicates.models[j].spread);
    const curve = grouped && !clusters ? null : countedCurve(model, cases, clusters, spread);
    if (curve) curve.inTime = inTime(curve.places);
    if (!replicates) return { curve, drawn: null };
    const { kept } = replicates.models[j];
    const inDraw = inResamples(replicates, j);
    const [counts, size] = [unpacked(replicates.models[j]), 2 * (kept.length + 1)];
    const gaps = gapsOf(kept);
    const drawn = Array.from({ length: replicates.resamples }, (_, b) =>
      ({ ...pointsOf(counts, b * size, size), gaps, ...inDraw(b) }),
    );
    const whole = { ...keptPoints(model, kept, cases), gaps, ...inTime([0, ...kept.map((i) => i + 1)]) };
    return { curve, whole, drawn, shares: replicates.periods?.shares };
  });
}

/** Where thresholds were left out: before each of the kept ones, no alarm first. */
const gapsOf = (kept) => Uint8Array.from([0, ...kept.map((i, j) => Number(j > 0 && i - kept[j - 1] > 1))]);

/**
 * Points with one more in each gap in which a limit is reached, on the line between its ends. Without
 * it a resample would use the next kept threshold, and spread by whole gaps.
 */
function withLimitsReached(points, { minPrecision, minRecall = 0, capacity }) {
  const { tp, alarms, gaps, nPositive } = points;
  const rows = rowsAllowed(points, capacity) ?? Infinity;
  const [last, further] = [Math.floor(rows), rows % 1];
  const most = maxAlarms(points, capacity);
  const above = [
    (i) => most - alarms[i],
    (i) => tp[i] - minPrecision * alarms[i],
    (i) => tp[i] - minRecall * nPositive,
  ];
  const reached = [];
  for (let i = 1; i < gaps.length; i++) {
    if (!gaps[i]) continue;
    const shares = above
      .map((slack) => [slack(i - 1), slack(i)])
      .filter(([from, to]) => from * to < 0)
      .map(([from, to]) => from / (from - to));
    if (i === last && further > 0) shares.push(further);
    for (const share of shares.sort((a, b) => a - b)) reached.push([i, share]);
  }
  if (reached.length === 0) return points;
  const between = (values) => {
    const added = new Float64Array(values.length + reached.length);
    let next = 0;
    for (let i = 0; i < values.length; i++) {
      for (; reached[next]?.[0] === i; next++) {
        added[i + next] = values[i - 1] + reached[next][1] * (values[i] - values[i - 1]);
      }
      added[i + next] = values[i];
    }
    return added;
  };
  const before = reached.filter(([i, share]) => i < last || (i === last && share <= further)).length;
  const inTime = points.lastWithin && { lastWithin: () => last + before };
  const [fp, ...others] = [points.fp, tp, alarms].map(between);
  return { ...points, fp, tp: others[0], alarms: others[1], wholeCounts: false, ...inTime };
}

function scoreOf(points, setting) {
  const { prevalence, costs, exceed = null } = setting;
  if (points.nPositive === 0 || points.nNegative === 0) return NaN;
  const placed = { ...atPrevalence(points, prevalence), exceed };
  return evaluate(withLimitsReached(placed, setting), setting, costs).score ?? 0;
}

/** How much each resample's score is above that of the cases, by model. */
export function deviations(ready, setting) {
  return ready.map(({ whole, drawn }) => {
    const expected = scoreOf(whole, setting);
    return drawn.map((points) => scoreOf(points, setting) - expected);
  });
}

/** Fewer resamples with both classes place no end of an interval. */
const FEWEST_VALUES = 100;

/** Resamples in which every model has a score. */
function scoredResamples(moved) {
  const complete = moved[0].map((_, b) => b).filter((b) => moved.every((of) => !Number.isNaN(of[b])));
  return complete.length < FEWEST_VALUES ? null : complete;
}

/** The value that a share of the values is at or below, by order statistics. */
function quantile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(Math.ceil(share * (sorted.length + 1)), sorted.length) - 1];
}

/** With fewer degrees of freedom Student's deviations are larger than needed in simulations. */
const FEWEST_DEGREES = 4;

/**
 * How many independent events the spread of a score rests on, by Satterthwaite's formula: where few
 * cases are missed, or few false alarms raised, resamples vary too little.
 */
function degreesOf({ whole: points, curve }, setting) {
  const { prevalence, costs, exceed = null } = setting;
  const placed = { ...atPrevalence(points, prevalence), exceed };
  const { hull } = evaluate(placed, setting, costs);
  if (!hull) return FEWEST_DEGREES;
  const odds = placed.nNegative / placed.nPositive;
  const [low, high] = ratioRange(costs, odds);
  const ratio = Math.sqrt(low * high);
  const i = hull.index[bestAt(hull, ratio)];
  const varied = (count, of, weight) => {
    const rate = (count + 0.5) / (of + 1);
    return [(weight ** 2 * rate * (1 - rate)) / of, Math.min(count, of - count) + 0.5];
  };
  const parts = [
    varied(points.tp[i], points.nPositive, 1),
    varied(points.fp[i], points.nNegative, ratio * odds),
  ];
  const total = parts.reduce((sum, [variance]) => sum + variance, 0);
  const events = total ** 2 / parts.reduce((sum, [v, count]) => sum + v ** 2 / count, 0);
  return Math.max(Math.min(events, (curve?.clusters?.effective ?? Infinity) - 1), FEWEST_DEGREES);
}

/**
 * How far the scores of any two models may be apart by chance, all pairs together: a function of
 * two positions. The largest of all differences between resamples and cases, each in units of its
 * own spread, is below one number in 95 % of the resamples; with few events Student's deviation of
 * the same probability stands in for it. Null where resamples are too few.
 */
function chanceOf(ready, setting) {
  const moved = deviations(ready, setting);
  const used = scoredResamples(moved);
  if (used === null) return null;
  const largest = new Float64Array(used.length);
  const spreads = moved.map((one, i) =>
    moved.slice(0, i).map((other) => {
      const apart = used.map((b) => one[b] - other[b]);
      const spread = Math.sqrt(apart.reduce((sum, value) => sum + value * value, 0) / used.length);
      if (spread > 0) apart.forEach((d, b) => (largest[b] = Math.max(largest[b], Math.abs(d) / spread)));
      return spread;
    }),
  );
  const tail = normalBelow(-quantile(largest, CONFIDENCE));
  const most = ready.map((model) => studentAt(tail, degreesOf(model, setting)));
  return (i, j) =>
    i === j ? 0 : Math.max(most[i], most[j]) * spreads[Math.max(i, j)][Math.min(i, j)];
}

/** Positions of the models that no other one beats by more than chance; the best is among them. */
function undecided(scores, chance) {
  const beaten = (j) => scores.some((score, i) => score - scores[j] > chance(i, j));
  return scores.map((_, j) => j).filter((j) => !beaten(j));
}

/** Models that can raise an alarm: their positions, what is ready of them, and their scores. */
function usableOf(ready, scores) {
  const positions = scores.map((_, i) => i).filter((i) => scores[i] !== null);
  return {
    positions,
    models: positions.map((i) => ready[i]),
    values: positions.map((i) => scores[i]),
  };
}

/** Whether resamples of periods were counted for the rule of a setting. */
function knowsRule({ shares, curve }, { exceed = null }) {
  return !curve?.inTime || exceed === null || (shares?.includes(exceed) ?? false);
}

/** The interval of a score by the quantiles of its resamples, wider where units are few. */
function resampledEnds(model, setting, score) {
  const [moved] = deviations([model], setting);
  const used = scoredResamples([moved])?.map((b) => moved[b]);
  if (!used) return null;
  const n = Math.max(model.curve.clusters.effective, 2);
  const tail = normalBelow(-studentAt((1 - CONFIDENCE) / 2, n - 1) * Math.sqrt(n / (n - 1)));
  const sorted = Float64Array.from(used).sort();
  const at = (share) => sorted[Math.min(Math.max(Math.round(share * (sorted.length + 1)), 1), sorted.length) - 1];
  return [tail, 1 - tail].map((share) => Math.min(Math.max(score + at(share), 0), 1));
}

/** The interval [low, high] of every score at a setting; null where a model cannot raise an alarm. */
export function intervalsOf(ready, setting, scores) {
  return ready.map((model, i) => {
    if (scores[i] === null || model.curve === null || !knowsRule(model, setting)) return null;
    const ends = curveInterval(model.curve, setting, CONFIDENCE);
    if (!model.curve.inTime) return ends;
    // Periods vary in more than their cases: no narrower than what their resamples say.
    const [low, high] = resampledEnds(model, setting, scores[i]) ?? ends;
    return [Math.min(ends[0], low), Math.max(ends[1], high)];
  });
}

/**
 * Which models may be the best at a setting; `scores` are in the order of the models, null for those
 * that cannot raise an alarm. Returns {tied, behind}: positions of the models that cannot be told
 * apart from the best, and how far each is behind it, [low, high], all of them together. Both are
 * null where there are no resamples, or too few with both classes.
 */
export function leadersOf(ready, setting, scores) {
  const { positions, models, values } = usableOf(ready, scores);
  const known = models[0]?.drawn && knowsRule(models[0], setting);
  const chance = known ? chanceOf(models, setting) : null;
  if (chance === null) return { tied: null, behind: null };
  const best = values.indexOf(Math.max(...values));
  const behind = scores.map(() => null);
  positions.forEach((position, i) => {
    const [lead, apart] = [values[best] - values[i], chance(best, i)];
    behind[position] = [lead - apart, lead + apart];
  });
  return { tied: undecided(values, chance).map((i) => positions[i]), behind };
}

/**
 * Whether several models cannot be told apart from the best, at each of some limits with the scores
 * there: [{limits, winner, second, lead, scores}].
 */
export function closeCalls(ready, places, { prevalence, costs, exceed = null }) {
  return places.map(({ limits, winner, second, lead, scores }) => {
    const setting = { ...limits, prevalence, costs, exceed };
    const pair = chanceOf([ready[winner], ready[second]], setting);
    // The chance difference of two models is no smaller among more of them.
    if (pair === null || lead <= pair(0, 1)) return true;
    const { models, values } = usableOf(ready, scores);
    return models.length > 2 && undecided(values, chanceOf(models, setting)).length > 1;
  });
}
