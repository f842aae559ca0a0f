/** Probabilities of binomial counts, and the exact limits of a share by Clopper and Pearson. */

/** Lanczos' coefficients of the logarithm of the gamma function. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

function logGamma(x) {
  const sum = LANCZOS.slice(1).reduce((total, c, i) => total + c / (x + i), LANCZOS[0]);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Steps of a continued fraction, and where it has converged. */
const MOST_STEPS = 10_000;
const CONVERGED = 1e-15;
const TINY = 1e-300;

/** The continued fraction of the incomplete beta function, by Lentz' method. */
function betaFraction(a, b, x) {
  const nonzero = (value) => (Math.abs(value) < TINY ? TINY : value);
  let [c, d] = [1, 1 / nonzero(1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m <= MOST_STEPS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    const step = d * c;
    fraction *= step;
    if (Math.abs(step - 1) < CONVERGED) break;
  }
  return fraction;
}

/** The regularised incomplete beta function. */
function incompleteBeta(a, b, x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return x < (a + 1) / (a + b + 2)
    ? (Math.exp(front) * betaFraction(a, b, x)) / a
    : 1 - (Math.exp(front) * betaFraction(b, a, 1 - x)) / b;
}

/** Probability of at least `count` of `trials`. */
export function atLeast(count, trials, chance) {
  if (count < 1) return 1;
  return count > trials ? 0 : incompleteBeta(count, trials - count + 1, chance);
}

/** The least count with a probability of at most `alpha` to be reached. */
export function fewestAt(alpha, trials, chance) {
  let [low, high] = [0, trials + 1];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (atLeast(middle, trials, chance) <= alpha) high = middle;
    else low = middle;
  }
  return high;
}

// ------------------------------------------------------------------ the normal distribution

/** Probability of a normal deviation below z, by its power series. */
export function normalBelow(z) {
  let [term, sum] = [z, z];
  for (let k = 3; Math.abs(term) > CONVERGED * Math.abs(sum); k += 2) {
    term *= (z * z) / k;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
}

/** Halvings after which an interval is down to rounding. */
const HALVINGS = 60;

/** Where a falling function passes 0 between two places. */
export function rootBetween(low, high, value) {
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (value(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Deviations are solved for up to this many standard errors. */
export const FARTHEST = 9;

/** The deviation that is exceeded with a probability of `tail`. */
export const deviationAt = (tail) =>
  rootBetween(-FARTHEST, FARTHEST, (z) => normalBelow(-z) - tail);

/** Student's deviation that is exceeded with a probability of `tail`. */
export function studentAt(tail, degrees) {
  const beyond = (t) => incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2;
  let farthest = FARTHEST;
  while (beyond(farthest) > tail) farthest *= 2;
  return rootBetween(0, farthest, (t) => beyond(t) - tail);
}

// ------------------------------------------------------------------ limits of a share

/** Newton's steps, each kept within what is known, and where they have converged. */
const [MOST_NEWTON_STEPS, SMALL_STEP] = [100, 1e-12];

/** The quantile of a beta distribution, from a first guess. */
function betaQuantile(probability, a, b, guess) {
  const scale = logGamma(a + b) - logGamma(a) - logGamma(b);
  let [low, high, x] = [0, 1, Math.min(Math.max(guess, TINY), 1 - CONVERGED)];
  for (let step = 0; step < MOST_NEWTON_STEPS; step++) {
    const excess = incompleteBeta(a, b, x) - probability;
    if (excess > 0) high = x;
    else low = x;
    const density = Math.exp(scale + (a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x));
    const newton = x - excess / density;
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - x) <= SMALL_STEP * x) return next;
    x = next;
  }
  return x;
}

/**
 * Lower limits of shares among `of` cases, each of which errs with a probability of `tail`: returns
 * a function of the count.
 */
export function lowerLimits(of, tail) {
  const limit = lowerLimit(tail);
  return (count) => limit(count, of);
}

/** As `lowerLimits`, a function of the count and of the number of cases, which need not be whole. */
export function lowerLimit(tail) {
  const z = deviationAt(tail);
  return (count, of) => {
    if (count <= 0 || of <= 0) return 0;
    // Wilson's limit is near enough to start from.
    const rate = (count - Math.min(count / 2, 0.5)) / of;
    const spread = z * Math.sqrt((rate * (1 - rate)) / of + (z / of / 2) ** 2);
    const guess = (rate + (z * z) / of / 2 - spread) / (1 + (z * z) / of);
    return betaQuantile(tail, count, of - count + 1, guess);
  };
}

/** The limits of Clopper and Pearson for `count` of `of`; all of [0, 1] where there are none. */
export function exactLimits(count, of, confidence) {
  const limit = lowerLimits(of, (1 - confidence) / 2);
  return [limit(count), 1 - limit(of - count)];
}
