/**
 * Intervals of scores from the exact limits of their curve, as in `voros.inference.curve_limits`,
 * where they are derived: at every threshold both rates move to their limits, each by its part, and
 * the scores of the two curves are the ends. Nothing is resampled; counts are enough.
 */
import { FARTHEST, deviationAt, lowerLimit, normalBelow, rootBetween, studentAt } from "./binomial.js";
import { atPrevalence, evaluate, feasible, lastAllowed, lineWeights, maxAlarms, meanQuotient } from "./voros.js";

/** Of longer curves this many evenly spaced thresholds are moved. */
const MOST_MOVED = 2000;

/** Prevalences between their limits at which a curve is scored. */
const SCORED_PREVALENCES = 9;

/** Thresholds compete where their limits, this many times as far, reach those of the best. */
const COMPETING = 1.0;

const LEAST_PART = 1e-300;

/**
 * A model's counts from no alarm to an alarm for everybody; the second row is above all scores.
 * Of cases that belong together, `clusters` says what `clusterSizes` does, and `spread` holds the
 * sums of `clusterSpread` at each threshold.
 */
export function countedCurve({ tp, fp }, { nPositive, nNegative }, clusters = null, spread = null) {
  const n = Math.min(tp.length, MOST_MOVED);
  const rows = Array.from({ length: n }, (_, i) =>
    n === 1 ? 0 : Math.round((i * (tp.length - 1)) / (n - 1)),
  );
  const all = (counts, total) => Float64Array.from([0, 0, ...rows.map((row) => counts[row]), total]);
  const [caught, falseAlarms] = [all(tp, nPositive), all(fp, nNegative)];
  const sums = spread?.map((values) => all(values, 0));
  return {
    nPositive,
    nNegative,
    tp: caught,
    fp: falseAlarms,
    tpr: caught.map((count) => count / nPositive),
    fpr: falseAlarms.map((count) => count / nNegative),
    clusters: clusters && { ...clusters, sums },
    // Where each row stands among the thresholds, no alarm being the first of them.
    places: [0, 0, ...rows.map((row) => row + 1), Infinity],
    known: new Map(),
  };
}

// ------------------------------------------------------------------ cases that belong together

/** With fewer degrees of freedom Student's deviations are not taken. */
const MIN_DEGREES = 1;

/** The share of the cases that is left where their variance comes from few groups. */
function allowance({ effective }, tail) {
  return (deviationAt(tail) / studentAt(tail, Math.max(effective - 1, MIN_DEGREES))) ** 2;
}

/** How many times more tpr - slope fpr varies at a row than that of independent cases. */
function designEffect({ tpr, fpr, nPositive, nNegative, clusters }, slope, i) {
  const { n, sure, squares, sums } = clusters;
  const steep = slope ** 2;
  const spread = sums[0][i] - 2 * slope * sums[1][i] + steep * sums[2][i];
  const varied = (spread * n) / Math.max(n - 1, 1) + squares[0] / sure[0] + (steep * squares[1]) / sure[1];
  const alone = (rate, k) => rate * (1 - rate) + 1 / sure[k];
  const independent = alone(tpr[i], 0) / nPositive + (steep * alone(fpr[i], 1)) / nNegative;
  return Math.max(varied / independent, 1);
}

/** The share of the cases at each row that counts as independent. */
function independentShares(curve, slope, tail) {
  if (!curve.clusters) return curve.tp.map(() => 1);
  const allowed = allowance(curve.clusters, tail);
  return curve.tp.map((_, i) => allowed / designEffect(curve, slope, i));
}

// ------------------------------------------------------------------ the moved curves

/** How far both rates are from their limits at each row, on the better side or the worse. */
function distances(curve, slope, tail, up) {
  // Independent cases vary alike at every slope.
  const key = `${tail} ${up} ${curve.clusters ? slope : ""}`;
  if (!curve.known.has(key)) {
    // The limits at a tail that a setting selected serve that setting alone.
    if (curve.known.size > (curve.clusters ? 6 : 2)) curve.known.clear();
    const { tp, fp, tpr, fpr, nPositive, nNegative } = curve;
    const [limit, shares] = [lowerLimit(tail), independentShares(curve, slope, tail)];
    const below = (rate, count, of, i) => rate - limit(count * shares[i], of * shares[i]);
    const above = (rate, count, of, i) => 1 - limit((of - count) * shares[i], of * shares[i]) - rate;
    curve.known.set(key, {
      onTpr: tpr.map((rate, i) => (up ? above : below)(rate, tp[i], nPositive, i)),
      onFpr: fpr.map((rate, i) => (up ? below : above)(rate, fp[i], nNegative, i)),
    });
  }
  return curve.known.get(key);
}

const unit = (value) => Math.min(Math.max(value, 0), 1);

/** Rates rise along a curve, and so do their limits: lower each to those after it, or raise it. */
function rising(rates, lowered) {
  if (lowered) for (let i = rates.length - 2; i >= 0; i--) rates[i] = Math.min(rates[i], rates[i + 1]);
  else for (let i = 1; i < rates.length; i++) rates[i] = Math.max(rates[i], rates[i - 1]);
  [rates[0], rates[rates.length - 1]] = [0, 1];
  return rates.map(unit);
}

/** The rates of the optimistic curve, or of the pessimistic one. */
function moved(curve, slope, tail, up) {
  const { onTpr, onFpr } = distances(curve, slope, tail, up);
  const sign = up ? 1 : -1;
  const both = (i) => Math.max(Math.hypot(onTpr[i], slope * onFpr[i]), LEAST_PART);
  const tpr = curve.tpr.map((rate, i) => rate + (sign * onTpr[i] ** 2) / both(i));
  const fpr = curve.fpr.map((rate, i) => rate - (sign * slope * onFpr[i] ** 2) / both(i));
  return { tpr: rising(tpr, up), fpr: rising(fpr, !up) };
}

/** Points of these rates among as many cases with a given share of positives. */
function pointsOfRates(curve, { tpr, fpr }, prevalence) {
  const nCases = curve.nPositive + curve.nNegative;
  const [nPositive, nNegative] = [prevalence * nCases, (1 - prevalence) * nCases];
  const [tp, fp] = [tpr.map((rate) => rate * nPositive), fpr.map((rate) => rate * nNegative)];
  const alarms = tp.map((count, i) => count + fp[i]);
  const kind = { oneCase: 0, wholeCounts: false, wholeCases: false };
  return { thresholds: tp, tp, fp, alarms, nPositive, nNegative, ...kind, ...curve.inTime };
}

const ownPrevalence = ({ nPositive, nNegative }) => nPositive / (nPositive + nNegative);

// ------------------------------------------------------------------ thresholds that compete

/** First and last row that may be best, and half their distance in log-odds. */
function competition(curve, setting, slope, tail) {
  const { tpr, fpr } = curve;
  const last = tpr.length - 1;
  const [worse, better] = [false, true].map((up) => {
    const { onTpr, onFpr } = distances(curve, slope, tail, up);
    const near = onTpr.map((far, i) => COMPETING * Math.hypot(far, slope * onFpr[i]));
    [near[0], near[last]] = [0, 0];
    const rates = moved(curve, slope, tail, up);
    const points = atPrevalence(pointsOfRates(curve, rates, ownPrevalence(curve)), setting.prevalence);
    const allowed = maxAlarms(points, setting.capacity);
    const end = lastAllowed({ ...points, exceed: setting.exceed }, setting.capacity);
    return { near, within: feasible(points, setting, allowed, end) };
  });
  const worth = tpr.map((rate, i) => rate - slope * fpr[i]);
  let surely = -Infinity;
  worth.forEach((gain, i) => {
    if (worse.within[i]) surely = Math.max(surely, gain - worse.near[i]);
  });
  const rows = [];
  for (let i = 2; i < last; i++) {
    if (better.within[i] && worth[i] + better.near[i] >= surely) rows.push(i);
  }
  if (rows.length === 0) return { first: 0, last: 0, length: 0 };
  const [from, to] = [rows[0], rows.at(-1)];
  return { first: from, last: to, length: logOddsBetween(curve, slope, tail, from, to) / 2 };
}

/** How far rows are apart in log-odds, each rate by its part in the distance to the limits. */
function logOddsBetween(curve, slope, tail, from, to) {
  const { onTpr, onFpr } = distances(curve, slope, tail, false);
  const logOdds = (count, of) => Math.log((count + 0.5) / (of - count + 0.5));
  const partOfTpr = (i) => {
    const [one, other] = [onTpr[i] ** 2, (slope * onFpr[i]) ** 2];
    const total = Math.max(one + other, LEAST_PART);
    return [one / total, other / total];
  };
  const at = (i) => [logOdds(curve.tp[i], curve.nPositive), logOdds(curve.fp[i], curve.nNegative)];
  let total = 0;
  for (let i = from; i < to; i++) {
    const [here, there, before, after] = [at(i), at(i + 1), partOfTpr(i), partOfTpr(i + 1)];
    for (const k of [0, 1]) total += ((there[k] - here[k]) * (before[k] + after[k])) / 2;
  }
  return total;
}

/** The tail of one threshold that leaves the best of all within twice this one. */
function selectedTail(curve, setting, slope, tail) {
  const { first, last, length } = competition(curve, setting, slope, tail);
  if (last === first) return tail;
  const excess = (z) =>
    normalBelow(-z) + (length * z * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI) - 2 * tail;
  const widest = rootBetween(deviationAt(2 * tail), FARTHEST, excess);
  return Math.min(tail, Math.max(normalBelow(-widest), (2 * tail) / (last - first + 1)));
}

// ------------------------------------------------------------------ the interval

/** Slopes of the lines of equal cost at the mean cost, and of the floors. */
function slopesOf({ minPrecision, minRecall = 0, costs }, odds) {
  const [start, end] = [costs.low, costs.high].map((value) => lineWeights(costs.over, value, odds));
  const t = meanQuotient(start[1], end[1], start[0] + start[1], end[0] + end[1]);
  const ofCosts = t / Math.max(1 - t, LEAST_PART);
  const steep = minPrecision > 0 && minPrecision < 1 ? [(minPrecision / (1 - minPrecision)) * odds] : [];
  return [ofCosts, ...steep, ...(minRecall > 0 ? [0] : [])];
}

/** The prevalence, and where it is an estimate others within its limits. */
function prevalencesOf(curve, known, tail, breakEven) {
  const own = ownPrevalence(curve);
  if (known) return [own];
  const [positive, nCases] = [curve.nPositive, curve.nPositive + curve.nNegative];
  const { clusters } = curve;
  const share = clusters ? allowance(clusters, tail) / clusters.prevalence : 1;
  const limit = lowerLimit(tail);
  const [low, high] = [limit(positive * share, nCases * share), 1 - limit((nCases - positive) * share, nCases * share)];
  const steps = Array.from({ length: SCORED_PREVALENCES }, (_, i) => low + (i / (SCORED_PREVALENCES - 1)) * (high - low));
  return [own, Math.min(Math.max(breakEven, low), high), ...steps];
}

/** How far the first score may rise: by the curve, and over the prevalences. */
function reach(asIs, changed) {
  const over = Math.max(Math.max(...asIs) - asIs[0], Math.max(...changed) - changed[0]);
  return Math.hypot(Math.max(changed[0] - asIs[0], 0), over);
}

const negated = (values) => values.map((value) => -value);

/** The interval [low, high] of a model's score at a setting with its costs. */
export function curveInterval(curve, setting, confidence) {
  const { costs, prevalence, exceed = null } = setting;
  const [tail, own] = [(1 - confidence) / 2, prevalence ?? ownPrevalence(curve)];
  const odds = (1 - own) / own;
  const slopes = slopesOf(setting, odds);
  const lowTail = selectedTail(curve, setting, slopes[0], tail);
  // There an alarm for everybody costs as much as one for nobody, and a score is lowest.
  const here = prevalencesOf(curve, prevalence !== null, tail, slopes[0] / (slopes[0] + odds));
  const scores = (rates) =>
    here.map((p) => {
      const points = atPrevalence(pointsOfRates(curve, rates, p), prevalence);
      return evaluate({ ...points, exceed }, setting, costs).score ?? 0;
    });
  const movedScores = (up) => slopes.map((slope) => scores(moved(curve, slope, up ? tail : lowTail, up)));
  const asIs = scores(curve);
  const [worst, best] = [movedScores(false), movedScores(true)];
  const least = here.map((_, i) => Math.min(...worst.map((scored) => scored[i])));
  const most = here.map((_, i) => Math.max(...best.map((scored) => scored[i])));
  const nothing = Float64Array.from(curve.tpr, (_, i) => Number(i === curve.tpr.length - 1));
  const trivial = scores({ tpr: nothing, fpr: nothing });
  let low = asIs[0] - reach(negated(asIs), negated(least));
  // No threshold is certain to be better than an alarm for nobody or for everybody.
  if (least[0] <= trivial[0]) low = Math.min(low, ...trivial);
  return [unit(low), unit(asIs[0] + reach(asIs, most))];
}
