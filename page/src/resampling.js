/** Counts in resamples of the cases: drawn as in Python, from the same counter and hash. */

/** How many resamples, and at how many thresholds of each model they are counted. */
export const RESAMPLES = 200;
const MOST_THRESHOLDS = 100;

/** Thresholds are chosen well for capacities that admit at least this share of the positives. */
const CHOSEN_RECALL = 0.25;

/** Halvings of the tolerance when looking for the best one that a number of points allows. */
const BISECTIONS = 40;

const STEP = 0x6d2b79f5;

/** A number from 0 to 2^32 for each count. */
function hashed(count) {
  let mixed = Math.imul(count, STEP);
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

/** The case that is drawn at a place of a resample. */
export function drawnCase(resample, place, nCases) {
  // Math.imul takes the product modulo 2^32 of any two whole numbers below 2^53.
  return Math.floor(hashed((resample * nCases + place + 1) % 2 ** 32) * (nCases / 2 ** 32));
}

// ------------------------------------------------------------------ few thresholds

/**
 * Positions of the thresholds, of {tp, fp} by rising alarms without never alarm, that stand for all
 * others within the least change that `atMost` of them allow. The rule is that of Python's
 * `thin_points`, where it is explained.
 */
export function thinPositions({ tp, fp }, nPositive, atMost = MOST_THRESHOLDS) {
  if (tp.length <= atMost) return Array.from(tp, (_, i) => i);
  let [low, high] = [0, 2];
  for (let i = 0; i < BISECTIONS; i++) {
    const middle = (low + high) / 2;
    if (keptWithin(tp, fp, nPositive, middle).length <= atMost) high = middle;
    else low = middle;
  }
  return keptWithin(tp, fp, nPositive, high);
}

/** The first position, with never alarm before 0, whose recall is at least `least`. */
function firstReaching(tp, least) {
  if (least <= 0) return -1;
  let [low, high] = [0, tp.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tp[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keptWithin(tp, fp, nPositive, change) {
  const kept = [];
  let current = tp.length - 1;
  while (current >= 0) {
    const allowed = Math.max(tp[current], CHOSEN_RECALL * nPositive);
    const start = firstReaching(tp, tp[current] - (change / 2) * allowed);
    // Never alarm is the most precise of all, and always kept.
    if (start < 0) break;
    let best = start;
    for (let i = start + 1; i <= current; i++) {
      if (tp[i] / fp[i] > tp[best] / fp[best]) best = i;
    }
    kept.push(best);
    current = best - 1;
  }
  return kept.reverse();
}

// ------------------------------------------------------------------ counting

/** Twice the position of the strictest threshold that a score reaches, plus the label. */
function codeOf(score, positive, thresholds) {
  let [low, high] = [0, thresholds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (thresholds[middle] <= score) high = middle;
    else low = middle + 1;
  }
  return 2 * low + positive;
}

/**
 * Draw resamples of cases and count each model in them. `labels` are 0 or 1, `scores(model)` a
 * model's scores, `models` its counts at every useful threshold.
 */
export function resampledCounts(labels, scores, models, nPositive, resamples = RESAMPLES) {
  const nCases = labels.length;
  const plans = models.map((model, j) => {
    const kept = thinPositions(model, nPositive);
    const thresholds = kept.map((i) => model.thresholds[i]);
    const held = scores(j);
    const codes = Uint16Array.from(labels, (label, i) =>
      codeOf(Math.min(held[i], Number.MAX_VALUE), label, thresholds),
    );
    const size = 2 * (kept.length + 1);
    return { kept, codes, size, counts: new Uint32Array(resamples * size) };
  });
  for (let resample = 0; resample < resamples; resample++) {
    for (let place = 0; place < nCases; place++) {
      const drawn = drawnCase(resample, place, nCases);
      for (const { codes, size, counts } of plans) counts[resample * size + codes[drawn]]++;
    }
  }
  return { resamples, models: plans.map(({ kept, counts }) => ({ kept, ...packed(counts) })) };
}

// ------------------------------------------------------------------ as text

const WHOLE_NUMBERS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

function packed(counts) {
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  const bytes = most < 2 ** 8 ? 1 : most < 2 ** 16 ? 2 : 4;
  const raw = new Uint8Array(WHOLE_NUMBERS[bytes].from(counts).buffer);
  let text = "";
  for (let i = 0; i < raw.length; i += 0x8000) {
    text += String.fromCharCode.apply(null, raw.subarray(i, i + 0x8000));
  }
  return { bytes, counts: btoa(text) };
}

/** The counts of a model, a row of 2 (thresholds + 1) for each resample. */
export function unpacked({ bytes, counts }) {
  const text = atob(counts);
  const raw = Uint8Array.from(text, (mark) => mark.charCodeAt(0));
  return new WHOLE_NUMBERS[bytes](raw.buffer);
}
