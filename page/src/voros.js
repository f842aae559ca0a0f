/**
 * Partial VOROS in the browser, by the same closed forms as the Python package.
 *
 * Pure functions on plain objects and typed arrays: no page, no network, no state. Each formula is
 * derived in voros.core.geometry, voros.core.decision or voros.core.volume.
 *
 * Points    {thresholds, tp, fp, alarms, nPositive, nNegative, oneCase, wholeCounts, wholeCases}
 *           by rising alarms; the first raises no alarm. Over stays {patientDays, mostRate} too, and
 *           {capacityAlarms}, those that count for the capacity, where they are others than `alarms`.
 * Capacity  {share: 0.5} of the cases, or {count: 40} of them; over stays alarms per patient-day.
 * Limits    {minPrecision, minRecall, capacity}; a recall floor may be left out, and 0 is none.
 * Costs     {over: "ratio" | "miss" | "t", low, high}: uniform in that unit, known if low == high.
 */

/** Limits are read as the nearest fraction with at most this denominator: 0.15 means 3/20. */
const LARGEST_DENOMINATOR = 10n ** 9n;

/** Relative slack when limits meet sums of weights; whole counts are compared exactly. */
const WEIGHT_ROUNDING = 1e-12;

/** Above this relative distance two products of doubles cannot be told apart wrongly. */
const PRODUCT_ROUNDING = 2 ** -50;

/** Where phi turns from its closed form, which cancels near 0, to its power series. */
const SERIES_BELOW = 0.1;

/** Terms of that series: the next one is below 1e-19. */
const SERIES_TERMS = 9;

/** Keeps atanh finite where v vanishes at one end; its factor vanishes there as well. */
const ALMOST_ONE = 1 - 2 ** -53;

/** A corner this near to a limit, against the limit's terms, lies on it: rounding put it aside. */
const ON_THE_LINE = 8 * Number.EPSILON;

// ------------------------------------------------------------------ limits, read exactly

function exactFraction(value) {
  let denominator = 1n;
  while (!Number.isInteger(value)) {
    value *= 2;
    denominator *= 2n;
  }
  return [BigInt(value), denominator];
}

/** The simple fraction a typed decimal stands for, as {numerator, denominator}. */
export function asFraction(limit) {
  const [wholeNumerator, wholeDenominator] = exactFraction(limit);
  let [n, d] = [wholeNumerator, wholeDenominator];
  let [p0, q0, p1, q1] = [0n, 1n, 1n, 0n];
  while (d !== 0n) {
    const a = n / d;
    const q2 = q0 + a * q1;
    if (q2 > LARGEST_DENOMINATOR) break;
    [p0, q0, p1, q1] = [p1, q1, p0 + a * p1, q2];
    [n, d] = [d, n - a * d];
  }
  const k = (LARGEST_DENOMINATOR - q0) / q1;
  const nearer = 2n * d * (q0 + k * q1) <= wholeDenominator;
  const [p, q] = nearer ? [p1, q1] : [p0 + k * p1, q0 + k * q1];
  return { numerator: Number(p), denominator: Number(q) };
}

/** The capacity as a number of alarms among these points' cases. */
export function maxAlarms(points, capacity) {
  const nCases = points.nPositive + points.nNegative;
  const { patientDays } = points;
  if (capacity.count !== undefined) {
    return patientDays ? capacity.count : Math.min(capacity.count * (points.nPeriods ?? 1), nCases);
  }
  if (!points.wholeCases && !patientDays) return capacity.share * nCases;
  const [rate, base] = [capacity.share, patientDays ?? nCases].map(asFraction);
  const [product, divisor] = [rate.numerator * base.numerator, rate.denominator * base.denominator];
  if (Math.max(product, divisor) <= Number.MAX_SAFE_INTEGER) return product / divisor;
  const exact = BigInt(rate.numerator) * BigInt(base.numerator);
  const by = BigInt(rate.denominator) * BigInt(base.denominator);
  return Number(exact / by) + Number(exact % by) / Number(by);
}

/** Whether `tp` is at least a share, the floor, of a count: of the alarms precision, of the positives recall. */
export function keepsFloor(tp, of, floor, wholeCounts) {
  if (floor.numerator === 0) return true;
  const reached = tp * floor.denominator;
  const needed = of * floor.numerator;
  if (!wholeCounts) return reached >= needed * (1 - WEIGHT_ROUNDING);
  if (Math.abs(reached - needed) > PRODUCT_ROUNDING * needed) return reached > needed;
  return BigInt(tp) * BigInt(floor.denominator) >= BigInt(of) * BigInt(floor.numerator);
}

/** The alarms that count for the capacity. */
export const countedAlarms = ({ alarms, capacityAlarms = alarms }) => capacityAlarms;

/** A function that says whether the threshold at `i`, which raises an alarm, meets the limits. */
function limitTest(points, { minPrecision, minRecall = 0 }, allowedAlarms) {
  const { tp, alarms, nPositive, wholeCounts } = points;
  const counted = countedAlarms(points);
  const [floor, recallFloor] = [asFraction(minPrecision), asFraction(minRecall)];
  const most = wholeCounts ? allowedAlarms : allowedAlarms + WEIGHT_ROUNDING * allowedAlarms;
  return (i) =>
    counted[i] <= most &&
    keepsFloor(tp[i], nPositive, recallFloor, wholeCounts) &&
    keepsFloor(tp[i], alarms[i], floor, wholeCounts);
}

/** Which thresholds meet the limits, one flag each; with a recall floor no alarm stands in for none. */
export function feasible(points, limits, allowedAlarms, last = points.alarms.length) {
  const meets = limitTest(points, limits, allowedAlarms);
  const flags = new Uint8Array(points.alarms.length);
  for (let i = 1; i < last; i++) flags[i] = Number(meets(i));
  flags[0] = Number(!(limits.minRecall > 0) || !flags.includes(1));
  return flags;
}

// ------------------------------------------------------------------ operating points

/** Points from counts by rising alarms, without the threshold +inf, which is put first. */
export function operatingPoints({ thresholds, tp, fp, capacityAlarms = null }, cases) {
  return withAlarms({
    ...(capacityAlarms && { capacityAlarms: Float64Array.from([0, ...capacityAlarms]) }),
    thresholds: Float64Array.from([Infinity, ...thresholds]),
    tp: Float64Array.from([0, ...tp]),
    fp: Float64Array.from([0, ...fp]),
    ...cases,
  });
}

/** Count the alarms, and order by them; a published curve can need it at another prevalence. */
function withAlarms(points) {
  const alarms = points.tp.map((tp, i) => tp + points.fp[i]);
  if (alarms.every((count, i) => i === 0 || count >= alarms[i - 1])) return { ...points, alarms };
  const order = [...alarms.keys()].sort(
    (a, b) => alarms[a] - alarms[b] || points.tp[a] - points.tp[b],
  );
  const ordered = (values) => Float64Array.from(order, (i) => values[i]);
  const [thresholds, tp, fp] = [points.thresholds, points.tp, points.fp].map(ordered);
  return { ...points, thresholds, tp, fp, alarms: ordered(alarms) };
}

/** Reweight the classes to another prevalence, keeping the number of cases. */
export function atPrevalence(points, prevalence) {
  if (prevalence === null) return points;
  const nCases = points.nPositive + points.nNegative;
  const nPositive = prevalence * nCases;
  const nNegative = nCases - nPositive;
  const perPositive = nPositive / points.nPositive;
  const perNegative = nNegative / points.nNegative;
  return withAlarms({
    ...points,
    reweighted: true,
    thresholds: points.thresholds,
    tp: points.tp.map((tp) => tp * perPositive),
    fp: points.fp.map((fp) => fp * perNegative),
    nPositive,
    nNegative,
    oneCase: points.oneCase * Math.min(perPositive, perNegative),
    wholeCounts: false,
    wholeCases: false,
  });
}

// ------------------------------------------------------------------ hull

/**
 * Upper hull of the feasible points: the thresholds that are best at some cost.
 *
 * Returns {index, enter}: positions by rising alarms, and the cost ratio at which each takes over
 * from the one before; the first enters at infinity. It raises no alarm, unless there is a recall floor.
 */
export function costHull(points, limits, allowedAlarms, last = points.alarms.length) {
  const meets = limitTest(points, limits, allowedAlarms);
  const hull = limits.minRecall > 0 ? [] : [0];
  for (let i = 1; i < last; i++) {
    if (meets(i)) extendHull(hull, points, i);
  }
  if (hull.length === 0) hull.push(0);
  const { tp, fp } = points;
  const enter = hull.map((i, j) =>
    j === 0 ? Infinity : (tp[i] - tp[hull[j - 1]]) / (fp[i] - fp[hull[j - 1]]),
  );
  return { index: hull, enter };
}

/** Whether a hull holds a threshold that raises an alarm. */
export const canAlarm = ({ index }) => index.at(-1) > 0;

function extendHull(hull, { tp, alarms }, i) {
  if (hull.length && tp[i] <= tp[hull[hull.length - 1]]) return;
  if (alarms[i] === alarms[hull[hull.length - 1]]) hull.pop();
  while (hull.length > 1) {
    const b = hull[hull.length - 1];
    const a = hull[hull.length - 2];
    const turnsDown =
      (tp[i] - tp[b]) * (alarms[b] - alarms[a]) < (tp[b] - tp[a]) * (alarms[i] - alarms[b]);
    if (turnsDown) break;
    hull.pop();
  }
  hull.push(i);
}

/** Position within the hull of the best threshold at a cost ratio; of equals, fewer alarms. */
export function bestAt(hull, ratio) {
  let j = 0;
  while (j + 1 < hull.enter.length && hull.enter[j + 1] > ratio) j++;
  return j;
}

/** First and last position in the hull of the thresholds used on a range of cost ratios. */
export function usedVertices(hull, low, high) {
  const first = bestAt(hull, high);
  let last = bestAt(hull, low);
  if (low < high && hull.enter[last] === low && last > first) last--;
  return [first, last];
}

// ------------------------------------------------------------------ region

/** False alarms over stays have no end but the limits: the most of them, as a multiple of the negatives. */
function widthOverStays({ patientDays, nPositive, nNegative }, { minPrecision }, allowedAlarms) {
  if (!patientDays) return 1;
  const precise = (nPositive * (1 - minPrecision)) / minPrecision;
  return Math.max(Math.min(precise, allowedAlarms) / nNegative, 1);
}

/** The unit square, or one as wide, cut by the limits: {corners: [[x, y], ...], area}, counter-clockwise. */
export function feasibleRegion(nPositive, nNegative, { minPrecision, minRecall = 0 }, allowedAlarms, width = 1) {
  let corners = [
    [0, 0],
    [width, 0],
    [width, 1],
    [0, 1],
  ];
  if (minPrecision > 0) {
    corners = cut(corners, -minPrecision * nNegative, (1 - minPrecision) * nPositive, 0);
  }
  if (allowedAlarms < nPositive + width * nNegative) {
    corners = cut(corners, -nNegative, -nPositive, allowedAlarms);
  }
  if (minRecall > 0) corners = cut(corners, 0, 1, -minRecall);
  return { corners, area: polygonArea(corners) };
}

/** Keep the part of a convex polygon where onX x + onY y + constant >= 0. */
function cut(corners, onX, onY, constant) {
  const rounding = ON_THE_LINE * (Math.abs(onX) + Math.abs(onY) + Math.abs(constant));
  const height = corners.map(([x, y]) => {
    const level = onX * x + onY * y + constant;
    return Math.abs(level) <= rounding ? 0 : level;
  });
  const kept = [];
  corners.forEach((corner, i) => {
    const j = (i + 1) % corners.length;
    const [here, there] = [height[i], height[j]];
    if (here >= 0) kept.push(corner);
    if (here * there < 0) {
      const share = here / (here - there);
      const next = corners[j];
      kept.push(corner.map((value, axis) => value + share * (next[axis] - value)));
    }
  });
  return kept;
}

function polygonArea(corners) {
  let forward = 0;
  let backward = 0;
  corners.forEach(([x, y], i) => {
    const [xNext, yNext] = corners[(i + 1) % corners.length];
    forward += x * yNext;
    backward += xNext * y;
  });
  return (forward - backward) / 2;
}

/** The greatest recall any feasible classifier could have. */
export function highestRecall(region) {
  return Math.max(...region.corners.map(([, y]) => y));
}

// ------------------------------------------------------------------ units of cost

/** Express a cost ratio C_FP / C_FN in a unit. */
export function fromRatio(over, ratio, odds) {
  if (over === "ratio") return ratio;
  return over === "miss" ? 1 / ratio : 1 / (1 + 1 / (ratio * odds));
}

/** Express a value of a unit as the cost ratio C_FP / C_FN. */
export function toRatio(over, value, odds) {
  if (over === "ratio") return value;
  return over === "miss" ? 1 / value : value / (1 - value) / odds;
}

/** a, b such that a point's cost falls with a tpr - b fpr; both linear in the value. */
export function lineWeights(over, value, odds) {
  if (over === "ratio") return [1, value * odds];
  return over === "miss" ? [value, odds] : [1 - value, value];
}

/** Smallest and largest cost ratio of a range of costs. */
export function ratioRange(costs, odds) {
  const ends = [toRatio(costs.over, costs.low, odds), toRatio(costs.over, costs.high, odds)];
  return [Math.min(...ends), Math.max(...ends)];
}

// ------------------------------------------------------------------ area and volume

/** Mean of u/v over an interval, for u and v linear with the given end values, v >= 0. */
export function meanQuotient(u0, u1, v0, v1) {
  const vSum = v0 + v1;
  if (!(vSum > 0)) return 0;
  const delta = Math.min(Math.max((v1 - v0) / vSum, -ALMOST_ONE), ALMOST_ONE);
  const uSum = u0 + u1;
  return (uSum - delta * phi(delta) * (u1 - u0 - delta * uSum)) / vSum;
}

/** (artanh(d)/d - 1) / d^2. */
export function phi(delta) {
  const square = delta * delta;
  if (square >= SERIES_BELOW ** 2) return (Math.atanh(delta) / delta - 1) / square;
  let series = 1 / (2 * SERIES_TERMS + 1);
  for (let term = SERIES_TERMS - 1; term > 0; term--) {
    series = series * square + 1 / (2 * term + 1);
  }
  return series;
}

/** How much costlier each corner of the region is than the point (h, k). */
function costExcess(region, h, k, onTpr, onFpr) {
  return region.corners.map(([x, y]) => onTpr * (k - y) - onFpr * (h - x));
}

/** Areas of the triangles that join the point (h, k) to the sides of the region. */
function fan(region, h, k) {
  const { corners } = region;
  return corners.map(([x, y], i) => {
    const [xNext, yNext] = corners[(i + 1) % corners.length];
    return ((h - x) * (k - yNext) - (k - y) * (h - xNext)) / 2;
  });
}

/** Share that is costlier than a point where the limits leave a segment or one point, as in Python. */
function shareWithoutArea({ corners }, h, k) {
  const ends = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
  const [[left, right], [low, high]] = ends.map((values) => [Math.min(...values), Math.max(...values)]);
  if (high > low) return (k ** 2 - low ** 2) / (high ** 2 - low ** 2);
  return right > left ? (right - h) / (right - left) : 1;
}

/** Share of the region that is costlier than the point (h, k), at given line weights. */
export function dominatedShare(region, h, k, onTpr, onFpr) {
  if (region.area === 0) return shareWithoutArea(region, h, k);
  const excess = costExcess(region, h, k, onTpr, onFpr);
  const triangles = fan(region, h, k);
  let area = 0;
  triangles.forEach((triangle, i) => {
    const next = excess[(i + 1) % excess.length];
    const [most, least] = [Math.max(excess[i], next), Math.min(excess[i], next)];
    if (most > 0) area += triangle * (least >= 0 ? 1 : most / (most - least));
  });
  return area / region.area;
}

/** Mean share of side i on the costlier side of the line, on a piece without a turn. */
function meanShare(start, end, i) {
  const j = (i + 1) % start.length;
  const below = start[i] + end[i] > 0;
  const belowNext = start[j] + end[j] > 0;
  if (below === belowNext) return below ? 1 : 0;
  const sign = below ? 1 : -1;
  const costlier = below ? i : j;
  return meanQuotient(
    start[costlier],
    end[costlier],
    Math.max(sign * (start[i] - start[j]), 0),
    Math.max(sign * (end[i] - end[j]), 0),
  );
}

/** Values between low and high where the line through (h, k) passes a corner, with both ends. */
function pieceEnds(region, h, k, over, odds, low, high) {
  const turns = region.corners
    .map(([x, y]) => fromRatio(over, (k - y) / (h - x) / odds, odds))
    .filter((turn) => turn > low && turn < high);
  return [low, ...turns.sort((a, b) => a - b), high];
}

/** Integral of the area of lesser classifiers of one point, over one range of costs. */
function areaOverRange(region, h, k, over, odds, low, high) {
  const triangles = fan(region, h, k);
  const ends = pieceEnds(region, h, k, over, odds, low, high);
  let start = costExcess(region, h, k, ...lineWeights(over, ends[0], odds));
  let total = 0;
  for (let e = 1; e < ends.length; e++) {
    const end = costExcess(region, h, k, ...lineWeights(over, ends[e], odds));
    let area = 0;
    for (let i = 0; i < start.length; i++) area += triangles[i] * meanShare(start, end, i);
    total += area * (ends[e] - ends[e - 1]);
    start = end;
  }
  return total;
}

function clipToUnit(value) {
  return Math.min(Math.max(value, 0), 1);
}

/** Mean over the costs of the best normalised area: partial VOROS of a feasible hull. */
export function partialVolume(points, hull, region, costs) {
  const { tp, fp, nPositive, nNegative } = points;
  const odds = nNegative / nPositive;
  if (region.area === 0) {
    const i = hull.index.at(-1);
    return shareWithoutArea(region, fp[i] / nNegative, tp[i] / nPositive);
  }
  if (costs.low === costs.high) {
    const chosen = hull.index[bestAt(hull, toRatio(costs.over, costs.low, odds))];
    const weights = lineWeights(costs.over, costs.low, odds);
    return clipToUnit(
      dominatedShare(region, fp[chosen] / nNegative, tp[chosen] / nPositive, ...weights),
    );
  }
  let total = 0;
  hull.index.forEach((i, j) => {
    const [low, high] = costRange(hull, j, costs, odds);
    if (high > low) {
      const [h, k] = [fp[i] / nNegative, tp[i] / nPositive];
      total += areaOverRange(region, h, k, costs.over, odds, low, high);
    }
  });
  return clipToUnit(total / (costs.high - costs.low) / region.area);
}

/** The values, within the range of costs, at which the hull's j-th threshold is best. */
export function costRange(hull, j, costs, odds) {
  const ends = [hull.enter[j], hull.enter[j + 1] ?? 0].map((ratio) =>
    Math.min(Math.max(fromRatio(costs.over, ratio, odds), costs.low), costs.high),
  );
  return [Math.min(...ends), Math.max(...ends)];
}

// ------------------------------------------------------------------ everything together

/**
 * How many of the points a rule on periods leaves: `points.breaks[k - 1]` are the places, in rising
 * order, at which one period more exceeds a capacity of k, and a share `points.exceed` of them may.
 * At another prevalence it is not known which do, so only raising no alarm is left. Of points at
 * some thresholds only, the fraction says how far the rule reaches towards the next of them.
 */
export function rowsAllowed(points, { count }) {
  const inTime = points.breaks || points.lastWithin;
  if (!inTime || points.exceed === undefined || points.exceed === null) return undefined;
  if (points.reweighted) return 1;
  const { numerator, denominator } = asFraction(points.exceed);
  const may = Math.floor((numerator * points.nPeriods) / denominator);
  if (points.lastWithin) return points.lastWithin(count, may, points.exceed);
  // No period has more cases than there are lists.
  return points.breaks[count - 1]?.[may];
}

/** How many of the points a rule on periods leaves, whole. */
export function lastAllowed(points, capacity) {
  const rows = rowsAllowed(points, capacity);
  return rows === undefined ? undefined : Math.floor(rows);
}

/**
 * Score points, already at the prevalence wanted, within limits.
 *
 * Returns {score, hull, region, allowedAlarms}; the score is null where the capacity does not
 * admit a single case, or not as many as a recall floor needs, and 0 where no threshold keeps one.
 */
export function evaluate(points, limits, costs) {
  const { minRecall = 0, capacity } = limits;
  const allowedAlarms = maxAlarms(points, capacity);
  const needed = minRecall * points.nPositive * (1 - WEIGHT_ROUNDING);
  if (allowedAlarms < Math.max(points.oneCase, needed)) {
    return { score: null, allowedAlarms, scoresNothing: minRecall > 0 };
  }
  const width = widthOverStays(points, limits, allowedAlarms);
  const region = feasibleRegion(points.nPositive, points.nNegative, limits, allowedAlarms, width);
  const last = lastAllowed(points, capacity);
  const hull = costHull(points, limits, allowedAlarms, last);
  const scoresNothing = minRecall > 0 && !canAlarm(hull);
  const score = scoresNothing ? 0 : partialVolume(points, hull, region, costs);
  return { score, hull, region, allowedAlarms, last, scoresNothing };
}

/** No floor at all. */
export const NO_FLOORS = { minPrecision: 0, minRecall: 0 };

/**
 * The limits, "precision", "recall" and "capacity", without which other thresholds would be chosen
 * on a range of cost ratios. Where lifting any one changes nothing but lifting all does, all bind.
 */
export function bindingLimits(points, { minPrecision, minRecall = 0 }, allowedAlarms, [low, high]) {
  const chosen = (floors, most) => {
    const hull = costHull(points, { minPrecision, minRecall, ...floors }, most);
    const [first, last] = usedVertices(hull, low, high);
    return hull.index.slice(first, last + 1).join();
  };
  const withinAll = chosen({}, allowedAlarms);
  if (chosen(NO_FLOORS, Infinity) === withinAll) return [];
  const lifted = {
    precision: () => chosen({ minPrecision: 0 }, allowedAlarms),
    ...(minRecall > 0 && { recall: () => chosen({ minRecall: 0 }, allowedAlarms) }),
    capacity: () => chosen({}, Infinity),
  };
  const bound = Object.keys(lifted).filter((limit) => lifted[limit]() !== withinAll);
  return bound.length ? bound : Object.keys(lifted);
}

/** Share of the region that is costlier than the best threshold at a cost ratio. */
export function normalisedArea(points, { hull, region, scoresNothing = false }, ratio) {
  if (scoresNothing) return 0;
  const { tp, fp, nPositive, nNegative } = points;
  const chosen = hull.index[bestAt(hull, ratio)];
  const t = fromRatio("t", ratio, nNegative / nPositive);
  return dominatedShare(region, fp[chosen] / nNegative, tp[chosen] / nPositive, 1 - t, t);
}
