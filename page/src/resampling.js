/** Counts in resamples of the cases: drawn as in Python, from the same counter and hash. */
import { asFraction } from "./voros.js";

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
const codeOf = (score, positive, thresholds) => 2 * placeOf(score, thresholds) + positive;

/** The rows of each patient. */
export function membersOf(patients) {
  const rows = new Map();
  patients.forEach((patient, row) => {
    if (!rows.has(patient)) rows.set(patient, []);
    rows.get(patient).push(row);
  });
  return [...rows.values()];
}

/** Count the codes of some cases, from a place in the counts on. */
function tally(codes, cases, counts, from) {
  for (let i = 0; i < cases.length; i++) counts[from + codes[cases[i]]]++;
}

/**
 * Draw resamples of cases and count each model in them. `labels` are 0 or 1, `scores(model)` a
 * model's scores, `models` its counts at every useful threshold. With `members`, the rows of each
 * patient or day, these are drawn whole.
 */
export function resampledCounts(labels, scores, models, cases, { members = null, resamples = RESAMPLES } = {}) {
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
  const places = new Uint32Array(nDrawn);
  for (let resample = 0; resample < resamples; resample++) {
    for (let place = 0; place < nDrawn; place++) places[place] = drawnCase(resample, place, nDrawn);
    const cases = members ? Uint32Array.from(Array.from(places, (unit) => members[unit]).flat()) : places;
    for (const { codes, size, counts } of plans) tally(codes, cases, counts, resample * size);
  }
  const drawn = plans.map(({ kept, counts }) => ({ kept, ...packed(counts) }));
  if (!members) return { resamples, models: drawn };
  const sizes = unitSizes(labels, members);
  const spreads = models.map(({ thresholds }, j) => clusterSpread(labels, scores(j), thresholds, sizes));
  return {
    resamples,
    models: drawn.map((model, j) => ({ ...model, spread: spreads[j] })),
    clusters: clusterSizes(sizes),
  };
}

// ------------------------------------------------------------------ periods

/** Shares of the periods that may have more alarms than the capacity, as a page offers them. */
export const EXCEEDED_SHARES = [0, 0.01, 0.02, 0.05, 0.1, 0.2];

/** Parts into which the thresholds between two counted ones are divided. */
export const PARTS_OF_A_GAP = 256;

/** How many counted thresholds are stricter than a score, and how far it is towards the next. */
function partsBefore(score, kept, counted, all) {
  const place = placeOf(score, counted);
  if (place === 0 || place === kept.length) return PARTS_OF_A_GAP * place;
  const further = (placeOf(score, all) - 1 - kept[place - 1]) / (kept[place] - kept[place - 1]);
  return Math.floor(PARTS_OF_A_GAP * (place + further));
}

/**
 * Add, to resamples of periods, how many thresholds each rule on periods leaves: for every resample,
 * capacity and share of the periods that may pass it, as bytes.
 */
export function withLastRows(drawn, members, scores, models) {
  const [n, shares] = [members.length, EXCEEDED_SHARES];
  const most = members.reduce((largest, { length }) => Math.max(largest, length), 0);
  const may = shares.map((share) => {
    const { numerator, denominator } = asFraction(share);
    return Math.floor((numerator * n) / denominator);
  });
  const times = Array.from({ length: drawn.resamples }, (_, b) => {
    const counts = new Uint32Array(n);
    for (let place = 0; place < n; place++) counts[drawnCase(b, place, n)]++;
    return counts;
  });
  const counted = drawn.models.map((model, j) => {
    const thresholds = model.kept.map((i) => models[j].thresholds[i]);
    const values = scores(j);
    const falling = members.map((rows) => Float64Array.from(rows, (row) => values[row]).sort().reverse());
    const rows = new Uint16Array(drawn.resamples * most * shares.length);
    for (let capacity = 1; capacity <= most; capacity++) {
      const passing = falling.flatMap((ranked, unit) =>
        ranked.length > capacity
          ? [{ unit, place: partsBefore(ranked[capacity], model.kept, thresholds, models[j].thresholds) }]
          : [],
      );
      passing.sort((a, b) => a.place - b.place);
      times.forEach((counts, b) => {
        const at = (b * most + capacity - 1) * shares.length;
        rows.set(lastRowsOf(passing, counts, may, PARTS_OF_A_GAP * thresholds.length), at);
      });
    }
    return { ...model, lastRows: asText(rows) };
  });
  return { ...drawn, models: counted, periods: { n, most, shares } };
}

/** How many thresholds are left before more periods than may pass the capacity do. */
function lastRowsOf(passing, counts, may, all) {
  return may.map((allowed) => {
    let passed = 0;
    const tooMany = passing.find(({ unit }) => (passed += counts[unit]) > allowed);
    return tooMany?.place ?? all;
  });
}

/** The first of falling thresholds that a score reaches. */
export function placeOf(score, thresholds) {
  let [low, high] = [0, thresholds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (thresholds[middle] <= score) high = middle;
    else low = middle + 1;
  }
  return low;
}

// ------------------------------------------------------------------ patients with several cases

/** The unit of each case, and how many positives and negatives each unit has. */
function unitSizes(labels, members) {
  const unitOf = new Int32Array(labels.length);
  const sizes = [new Float64Array(members.length), new Float64Array(members.length)];
  members.forEach((rows, unit) => {
    for (const row of rows) {
      unitOf[row] = unit;
      sizes[labels[row] ? 0 : 1][unit]++;
    }
  });
  return { unitOf, sizes };
}

const sumOf = (values, power = 1) => values.reduce((sum, value) => sum + value ** power, 0);

/** What no threshold changes, as `voros.present.explorer.clusters` has it. */
function clusterSizes({ sizes }) {
  const n = sizes[0].length;
  const effective = Math.min(...sizes.map((size) => sumOf(size) ** 2 / sumOf(size, 2)));
  const sure = sizes.map((size) => sumOf(size, 2) ** 2 / sumOf(size, 4));
  const squares = sizes.map((size) => sumOf(size, 2) / sumOf(size) ** 2);
  const all = sizes[0].map((positive, unit) => positive + sizes[1][unit]);
  const total = sumOf(all);
  const rate = sumOf(sizes[0]) / total;
  const off = sumOf(sizes[0].map((positive, unit) => positive - rate * all[unit]), 2);
  const sureOfAll = sumOf(all, 2) ** 2 / sumOf(all, 4);
  const varied = (off * n) / Math.max(n - 1, 1) + sumOf(all, 2) / sureOfAll;
  const prevalence = Math.max(varied / (total * rate * (1 - rate) + total / sureOfAll), 1);
  return { n, effective, sure, squares, prevalence };
}

/**
 * Sums over units, at each threshold, of the squares and products of what a unit has more true and
 * false positives than its share: one sum after the other, as text.
 */
function clusterSpread(labels, scores, thresholds, { unitOf, sizes }) {
  const order = Uint32Array.from(labels, (_, row) => row).sort((a, b) => scores[b] - scores[a]);
  const totals = sizes.map((size) => sumOf(size));
  const products = [[0, 0], [0, 1], [1, 1]].map(([k, l]) => sumOf(sizes[k].map((size, unit) => size * sizes[l][unit])));
  const flagged = sizes.map((size) => new Float64Array(size.length));
  const [count, squares] = [[0, 0], [0, 0, 0]];
  // Of flagged cases of class k: the sizes in class l of their units.
  const sizesOf = [[0, 0], [0, 0]];
  const sums = [0, 1, 2].map(() => new Float64Array(thresholds.length));
  let next = 0;
  thresholds.forEach((threshold, i) => {
    for (; next < order.length && Math.min(scores[order[next]], Number.MAX_VALUE) >= threshold; next++) {
      const row = order[next];
      const [unit, k] = [unitOf[row], labels[row] ? 0 : 1];
      squares[2 * k] += 2 * flagged[k][unit] + 1;
      squares[1] += flagged[1 - k][unit];
      flagged[k][unit]++;
      count[k]++;
      for (const l of [0, 1]) sizesOf[k][l] += sizes[l][unit];
    }
    const rates = count.map((flaggedCases, k) => flaggedCases / totals[k]);
    [[0, 0], [0, 1], [1, 1]].forEach(([k, l], at) => {
      const crossed = rates[l] * sizesOf[k][l] + rates[k] * sizesOf[l][k];
      sums[at][i] = (squares[at] - crossed + rates[k] * rates[l] * products[at]) / (totals[k] * totals[l]);
    });
  });
  return asText(Float32Array.from(sums.flatMap((values) => [...values])));
}

// ------------------------------------------------------------------ as text

const WHOLE_NUMBERS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

function packed(counts) {
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  const bytes = most < 2 ** 8 ? 1 : most < 2 ** 16 ? 2 : 4;
  return { bytes, counts: asText(WHOLE_NUMBERS[bytes].from(counts)) };
}

/** The bytes of an array, as text. */
function asText(values) {
  const raw = new Uint8Array(values.buffer);
  let text = "";
  for (let i = 0; i < raw.length; i += 0x8000) {
    text += String.fromCharCode.apply(null, raw.subarray(i, i + 0x8000));
  }
  return btoa(text);
}

/** The three sums of `clusterSpread`. */
export function unpackedSums(spread) {
  const raw = Uint8Array.from(atob(spread), (mark) => mark.charCodeAt(0));
  const sums = new Float32Array(raw.buffer);
  const n = sums.length / 3;
  return [0, 1, 2].map((k) => sums.subarray(k * n, (k + 1) * n));
}

/** The counts of a model, a row of 2 (thresholds + 1) for each resample. */
export function unpacked({ bytes, counts }) {
  const text = atob(counts);
  const raw = Uint8Array.from(text, (mark) => mark.charCodeAt(0));
  return new WHOLE_NUMBERS[bytes](raw.buffer);
}
