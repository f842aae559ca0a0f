/**
 * Which thresholds keep the limits in the population, by exact binomial tests.
 *
 * The tests and their shares of alpha are those of voros.guarantee, where they are derived: one
 * tail probability for the capacity, one for a recall floor, and for the precision floor tests in
 * sequence, from strict to lenient. A page holds only the thresholds at positives' scores. The others
 * lie between them, and add one negative each if no scores are tied: so they are tested here. Where
 * scores are tied this tests more than Python does, and certifies no more.
 */
import { atLeast, fewestAt } from "./binomial.js";
import { asFraction, feasible } from "./voros.js";

// ------------------------------------------------------------------ shares of alpha

const [CAPACITY_SHARE, LEAST_SHARE_OF_ALPHA, LARGEST_SHARE_OF_ALPHA] = [0.5, 0.02, 0.5];
const RECALL_SHARE = 0.5;
const [EARLY_SHARE, LATER_SHARE, START_POWER] = [0.06, 0.28, 0.8];

/** How late the main sequence may start: times its first rank, and as a part of all alarms. */
const [LATEST_MAIN, MAIN_LENGTH] = [1.5, 3];

/** How far the power can fall when one alarm is added. */
const SAW_TOOTH = 0.2;

const MOST_SEARCHED = 1_000_000;

/** Shares of alpha for the other limits and a recall floor; one that is alone has all of it. */
function recallShares(alpha, { minPrecision, minRecall = 0 }, most, nCases) {
  if (!(minRecall > 0)) return [alpha, 0];
  const share = minPrecision === 0 && most >= nCases ? 1 : RECALL_SHARE;
  return [(1 - share) * alpha, share * alpha];
}

/** Shares of alpha for the precision floor and the capacity. */
function alphaShares(alpha, minPrecision, most, nCases) {
  if (minPrecision === 0) return [0, alpha];
  if (most >= nCases) return [alpha, 0];
  const share = Math.min(
    Math.max(CAPACITY_SHARE * most ** -0.5, LEAST_SHARE_OF_ALPHA),
    LARGEST_SHARE_OF_ALPHA,
  );
  return [(1 - share) * alpha, share * alpha];
}

/** The most alarms at which the capacity is at risk by at most `alpha`. */
export function mostCounted(nCases, most, alpha) {
  return most < nCases ? nCases - fewestAt(alpha, nCases, 1 - most / nCases) : nCases;
}

const KNOWN_RANKS = new Map();

/** The rank at which a precision half-way from the floor to 1 would probably pass. */
export function firstRank(minPrecision, alpha) {
  const key = `${minPrecision} ${alpha}`;
  if (!KNOWN_RANKS.has(key)) KNOWN_RANKS.set(key, searchedRank(minPrecision, alpha));
  return KNOWN_RANKS.get(key);
}

function searchedRank(floor, alpha) {
  const hoped = (1 + floor) / 2;
  const power = (alarms) => atLeast(fewestAt(alpha, alarms, floor), alarms, hoped);
  for (let low = 1; low < MOST_SEARCHED; low *= 2) {
    if (power(2 * low) < START_POWER - SAW_TOOTH) continue;
    for (let alarms = low; alarms < 2 * low; alarms++) {
      if (power(alarms) >= START_POWER) return alarms + 1;
    }
  }
  return Infinity;
}

/** The first rank above which a perfect precision passes. */
function smallestRank(minPrecision, alpha) {
  const above = Math.max(Math.trunc(Math.log(alpha) / Math.log(minPrecision)), 1);
  return above + 1 + Number(minPrecision ** above > alpha);
}

/** Ranks at which sequences start, with their shares of alpha. */
export function startsOf(minPrecision, alpha, most) {
  if (minPrecision === 1) return [{ rank: 1, share: alpha }];
  let latest = Math.trunc(most / MAIN_LENGTH);
  const first = Math.max(
    Math.min(smallestRank(minPrecision, EARLY_SHARE * alpha), latest),
    smallestRank(minPrecision, (1 - LATER_SHARE) * alpha),
  );
  const ranks = [first];
  while (2 * ranks[ranks.length - 1] <= most) ranks.push(2 * ranks[ranks.length - 1]);
  if (2 * first <= latest) {
    latest = Math.min(latest, Math.trunc(LATEST_MAIN * firstRank(minPrecision, alpha)));
  }
  const main = Math.max(ranks.filter((rank) => rank <= latest).length - 1, 0);
  const nLater = ranks.length - main - 1;
  const mainShare = 1 - EARLY_SHARE * main - (nLater ? LATER_SHARE : 0);
  const shareOf = (i) => (i === main ? mainShare : i < main ? EARLY_SHARE : LATER_SHARE / nLater);
  return ranks.map((rank, i) => ({ rank, share: alpha * shareOf(i) }));
}

// ------------------------------------------------------------------ the sequence of tests

/** A sequence of tests under way: `test(tp, alarms)` from strict to lenient, true if it passes. */
function sequence(starts, minPrecision) {
  let [next, level, before] = [0, 0, { tp: 0, alarms: 0 }];
  const risk = (tp, alarms) => atLeast(tp, alarms, minPrecision);
  // Of several starts within one group of ties the first that passes collects those after it.
  const startAt = (tp, alarms) => {
    for (; starts[next]?.rank <= alarms; next++) {
      const { rank, share } = starts[next];
      const caught = Math.min(tp, before.tp + rank - 1 - before.alarms);
      if (level > 0 || risk(caught, rank - 1) <= share) level += share;
    }
  };
  return {
    nextRank: () => starts[next]?.rank ?? Infinity,
    isOver: () => level === 0 && next === starts.length,
    test(tp, alarms) {
      startAt(tp, alarms);
      const passed = level > 0 && risk(tp, alarms) <= level;
      if (!passed) level = 0;
      before = { tp, alarms };
      return passed;
    },
  };
}

/** Go through the negatives before a threshold; only a start and the last of them can matter. */
function passNegatives(floorTests, tp, from, to) {
  for (let alarms = from + 1; alarms <= to; ) {
    const rank = floorTests.nextRank();
    const stop = rank > alarms && rank <= to ? rank - 1 : rank <= alarms ? alarms : to;
    floorTests.test(tp, stop);
    alarms = stop + 1;
  }
}

/**
 * Which points, by rising alarms and no alarm first, keep the limits in the population with an
 * error of at most `alpha`; one flag each. The points must hold every threshold at a positive's
 * score, on whole counts.
 */
export function certified({ tp, fp, alarms, nPositive, nNegative }, limits, allowedAlarms, alpha) {
  const [nCases, { minPrecision, minRecall = 0 }] = [nPositive + nNegative, limits];
  const [forOthers, forRecall] = recallShares(alpha, limits, allowedAlarms, nCases);
  const [forFloor, forCapacity] = alphaShares(forOthers, minPrecision, allowedAlarms, nCases);
  const most = mostCounted(nCases, allowedAlarms, forCapacity);
  // Recall falls as the threshold rises, so a recall floor is a capacity of misses.
  const { numerator, denominator } = asFraction(minRecall);
  const misses = ((denominator - numerator) * nPositive) / denominator;
  const mostMissed = minRecall > 0 ? mostCounted(nPositive, misses, forRecall) : nPositive;
  const flags = new Uint8Array(tp.length);
  flags[0] = Number(!(minRecall > 0));
  const floorTests = minPrecision === 0 ? null : sequence(startsOf(minPrecision, forFloor, most), minPrecision);
  for (let i = 1; i < tp.length && alarms[i] <= most; i++) {
    if (floorTests) passNegatives(floorTests, tp[i - 1], alarms[i - 1], alarms[i - 1] + fp[i] - fp[i - 1]);
    const precise = floorTests === null || floorTests.test(tp[i], alarms[i]);
    flags[i] = Number(precise && nPositive - tp[i] <= mostMissed);
    if (floorTests?.isOver()) break;
  }
  return flags;
}

/**
 * Whether the counts allow a guarantee: whole ones, all of them, at the prevalence of the data, with a
 * capacity of all cases, and a limit to keep. Reweighted or thinned counts have no exact test, and for
 * patients with several cases counts alone are not enough.
 */
export function canGuarantee({ focus, setting, thinning, repeated }) {
  const { points, result } = focus;
  const wholeSample =
    points.wholeCounts && points.nPeriods === undefined && !thinning && !repeated;
  const { minPrecision, minRecall = 0 } = setting;
  const limited = result.allowedAlarms < points.nPositive + points.nNegative;
  const promises = limited || minPrecision > 0 || minRecall > 0;
  return wholeSample && promises && setting.prevalence === null && Boolean(result.hull);
}

/** How sure a guarantee is of all models together. */
const CERTAINTY = 0.95;

/** Whether the threshold in use is certified, and the most lenient that is; Infinity for none. */
export function guaranteeOf({ focus, models, setting }, chosen) {
  const { points, result } = focus;
  const alpha = (1 - CERTAINTY) / models.length;
  const flags = certified(points, setting, result.allowedAlarms, alpha);
  const within = feasible(points, setting, result.allowedAlarms);
  let last = 0;
  flags.forEach((flag, i) => {
    if (flag && within[i]) last = i;
  });
  const [lowest, alarms] = [points.thresholds[last], points.alarms[last]];
  return { sure: flags[chosen] === 1, lowest, alarms, confidence: CERTAINTY };
}
