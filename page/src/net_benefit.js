/** What alarms gain and cost: net benefit at a price, and expected cost over a range of them. */
import { RISKS } from "./counting.js";
import { NO_FLOORS, bestAt, costHull, costRange } from "./voros.js";

/** The risk from which an alarm is worth it, where a miss is worth this number of false alarms. */
export const probabilityAt = (miss) => 1 / (1 + miss);

/** The cost ratio that a threshold probability stands for. */
export const priceAt = (probability) => probability / (1 - probability);

/** Cases for which costs are said. */
export const PER_CASES = 1000;

/** The hull where no alarm is possible. */
const NEVER = { index: [0], enter: [Infinity] };

const total = ({ nPositive, nNegative }) => nPositive + nNegative;

/** True positives per case less the false ones at their price, at the best threshold of a hull. */
export function netBenefit(points, hull, ratio) {
  const i = hull.index[bestAt(hull, ratio)];
  return (points.tp[i] - ratio * points.fp[i]) / total(points);
}

/** The net benefit of an alarm for everybody. */
export function treatAll(points, ratio) {
  return (points.nPositive - ratio * points.nNegative) / total(points);
}

const RISK_PLACES = new Map(RISKS.map((risk, i) => [risk, i]));

/**
 * The net benefit of alarms where the score is at least a risk, by the risks it was counted at; NaN
 * for others and where scores are no probabilities. Counts are of `base`, and weighed as `points`.
 */
export function scoredBenefit({ asScored, base, points }, probability) {
  const i = RISK_PLACES.get(probability);
  if (!asScored || i === undefined) return NaN;
  const tp = (asScored.tp[i] * points.nPositive) / base.nPositive;
  const fp = (asScored.fp[i] * points.nNegative) / base.nNegative;
  return (tp - priceAt(probability) * fp) / total(points);
}

const FREE_HULLS = new WeakMap();

/** The thresholds that are best at some cost without any limit; the same counts are asked often. */
export function freeHull(points) {
  if (!FREE_HULLS.has(points.tp)) FREE_HULLS.set(points.tp, costHull(points, NO_FLOORS, Infinity));
  return FREE_HULLS.get(points.tp);
}

/** The mean of what a miss is worth over a range of costs. */
function meanMiss(over, low, high) {
  if (over === "miss") return (low + high) / 2;
  return low === high ? 1 / low : Math.log1p((high - low) / low) / (high - low);
}

/** The ranges of costs of a hull, as {i, share, miss}: the threshold and the mean worth of a miss. */
function costRanges(hull, costs) {
  const width = costs.high - costs.low;
  if (width === 0) {
    const ratio = costs.over === "miss" ? 1 / costs.low : costs.low;
    return [{ i: hull.index[bestAt(hull, ratio)], share: 1, miss: 1 / ratio }];
  }
  return hull.index
    .map((i, j) => {
      const [low, high] = costRange(hull, j, costs);
      return { i, share: (high - low) / width, miss: meanMiss(costs.over, low, high) };
    })
    .filter(({ share }) => share > 0);
}

/**
 * Expected cost of 1,000 cases in false alarms, the mean over the costs of false alarms and, at what
 * they are worth, misses; at each cost the best threshold of the hull is in use.
 */
export function expectedCost(points, hull, costs) {
  const { tp, fp, nPositive } = points;
  const cost = ({ i, share, miss }) => share * (fp[i] + miss * (nPositive - tp[i]));
  const sum = costRanges(hull, costs).reduce((total, range) => total + cost(range), 0);
  return (PER_CASES * sum) / total(points);
}

/** What 1,000 cases cost with no alarm at all, and with one for everybody. */
export function costsOfNone(points, costs) {
  return {
    none: expectedCost(points, NEVER, costs),
    all: (PER_CASES * points.nNegative) / total(points),
  };
}

/** Expected costs of a model: within the limits, without them, and what the limits cost. */
export function costsOfModel({ points, result }, costs) {
  const within = expectedCost(points, result.hull ?? NEVER, costs);
  const free = expectedCost(points, freeHull(points), costs);
  return { within, free, limits: within - free };
}

/**
 * The net benefit of a model at a price: within the limits, without them, and what they cost; NaN
 * where no threshold keeps a recall floor.
 */
export function gainsOf({ points, result }, ratio) {
  const within = result.scoresNothing ? NaN : netBenefit(points, result.hull ?? NEVER, ratio);
  const free = netBenefit(points, freeHull(points), ratio);
  return { within, free, limits: free - within };
}
