/** Counts in resamples of the cases: drawn as in Python, from the same counter and hash. */

/** How many resamples, and at how many thresholds of each model they are counted. */
export const RESAMPLES = 200;
const MOST_THRESHOLDS = 150;

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
 * Positions of thresholds, of {tp, fp} by rising alarms, that are evenly spaced in the log-odds of
 * both rates: close together where few alarms are admitted, and where few cases are missed.
 */
export function spreadPositions({ tp, fp }, { nPositive, nNegative }, atMost = MOST_THRESHOLDS) {
  if (tp.length <= atMost) return Array.from(tp, (_, i) => i);
  const logOdds = (count, of) => Math.log((count + 0.5) / (of - count + 0.5));
  const place = (i) => logOdds(tp[i], nPositive) + logOdds(fp[i], nNegative);
  const [first, last] = [place(0), place(tp.length - 1)];
  const kept = [0];
  for (let i = 1; i < tp.length - 1; i++) {
    const step = Math.floor(((place(i) - first) / (last - first)) * (atMost - 1));
    const before = Math.floor(((place(i - 1) - first) / (last - first)) * (atMost - 1));
    if (step > before) kept.push(i);
  }
  return [...kept, tp.length - 1];
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

/** The rows of each patient. */
function membersOf(patients) {
  const rows = new Map();
  patients.forEach((patient, row) => {
    if (!rows.has(patient)) rows.set(patient, []);
    rows.get(patient).push(row);
  });
  return [...rows.values()];
}

/**
 * Draw resamples of cases and count each model in them. `labels` are 0 or 1, `scores(model)` a
 * model's scores, `models` its counts at every useful threshold. With `patients`, whose each case
 * is, whole patients are drawn.
 */
export function resampledCounts(labels, scores, models, cases, { patients = null, resamples = RESAMPLES } = {}) {
  const members = patients && membersOf(patients);
  const nDrawn = members ? members.length : labels.length;
  const plans = models.map((model, j) => {
    const kept = spreadPositions(model, cases);
    const thresholds = kept.map((i) => model.thresholds[i]);
    const held = scores(j);
    const codes = Uint16Array.from(labels, (label, i) =>
      codeOf(Math.min(held[i], Number.MAX_VALUE), label, thresholds),
    );
    const size = 2 * (kept.length + 1);
    return { kept, codes, size, counts: new Uint32Array(resamples * size) };
  });
  for (let resample = 0; resample < resamples; resample++) {
    for (let place = 0; place < nDrawn; place++) {
      const drawn = drawnCase(resample, place, nDrawn);
      for (const { codes, size, counts } of plans) {
        if (!members) counts[resample * size + codes[drawn]]++;
        else for (const row of members[drawn]) counts[resample * size + codes[row]]++;
      }
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
