/** Numbers as people read them, and the consequences of a threshold in plain words. */
import { w } from "./lang.js";
import { countedAlarms } from "./voros.js";

/** Making a format takes far longer than using it. */
const FORMATS = new Map();

function formatOf(options) {
  const key = `${w.locale} ${JSON.stringify(options)}`;
  if (!FORMATS.has(key)) FORMATS.set(key, new Intl.NumberFormat(w.locale, options));
  return FORMATS.get(key);
}

/** A number with a given number of decimals. */
export function fixed(value, decimals) {
  return formatOf({ minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value);
}

/** Sizes beyond which a number is written with an exponent. */
const LEAST_WRITTEN_OUT = 1e-7;
const MOST_WRITTEN_OUT = 1e15;

/** Most digits that keep a number apart from another; what differs beyond them is rounding. */
const MOST_DIGITS = 9;

/** How many digits keep a number from reading as a limit that it is not: 0.9996 is not 1. */
function digitsApart(value, digits, limit) {
  while (digits < MOST_DIGITS && value < limit && Number(value.toPrecision(digits)) === limit) digits++;
  return digits;
}

/** A number with few digits: 0.0513, 7.25, 1,240, 3e100. */
export function plain(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < LEAST_WRITTEN_OUT || size >= MOST_WRITTEN_OUT)) {
    return Number(value.toPrecision(digits)).toExponential().replace("e+", "e");
  }
  return formatOf({ maximumSignificantDigits: digitsApart(value, digits, 1) }).format(value);
}

/** A count in full; a sum of weights or of patient-days without decimals from 100 on. */
export function countText(count) {
  return plain(count, Number.isInteger(count) ? MOST_DIGITS : Math.max(3, `${Math.round(count)}`.length));
}

/** Smaller measurements say no more than 0 does. */
const LEAST_MEASURED = 1e-9;

/** A measurement with three significant digits, as Python writes it: 0.700, 0.0513, 1. */
export function measured(value) {
  const shown = Math.abs(value) < LEAST_MEASURED ? 0 : Number(value.toPrecision(MOST_DIGITS));
  if (Number.isInteger(shown) || Math.abs(shown) < LEAST_WRITTEN_OUT) return plain(shown);
  const digits = digitsApart(shown, 3, 1);
  return formatOf({ minimumSignificantDigits: digits, maximumSignificantDigits: digits }).format(shown);
}

/**
 * A count with its noun: 1 model, 4 models. What is shown decides, not what was rounded away.
 * @param {number} count
 * @param {string[]} nouns The singular and, where it is irregular, the plural.
 */
export function several(count, [one, many = `${one}s`], digits = 3) {
  const shown = plain(count, digits);
  return `${shown} ${shown === "1" ? one : many}`;
}

/** What a miss is worth: 1 false alarm, 7.25 false alarms. */
export function falseAlarms(miss) {
  return several(miss, w.falseAlarm);
}

export function percent(share, digits = 3) {
  return w.percent(plain(share * 100, digitsApart(share * 100, digits, 100)));
}

/** A threshold of at most this many digits is written in full. */
const FULL_DIGITS = 6;

/** Where digits of a threshold are left out; rounded either way it could raise other alarms. */
const CUT = "…";

/** A threshold in full, as it is set in another system. */
export function fullThreshold(threshold) {
  return String(threshold).replace(".", w.decimalMark);
}

/** A threshold as people read it: 0.7012, 105, 0.747…; an unknown one is said to be so. */
export function thresholdText(threshold) {
  if (threshold === Infinity) return w.never;
  if (Number.isNaN(threshold)) return w.notRecorded;
  if (threshold === -Infinity) return "−∞";
  const whole = String(Math.trunc(Math.abs(threshold))).length;
  const short = Number(threshold.toPrecision(Math.min(Math.max(FULL_DIGITS, whole), 15)));
  return short === threshold ? fullThreshold(threshold) : fullThreshold(cutOff(threshold, Math.max(3, whole))) + CUT;
}

/** The first digits of a number, not rounded. */
function cutOff(value, digits) {
  const size = Math.abs(value);
  const near = Number(size.toPrecision(digits));
  const unit = 10 ** (Math.floor(Math.log10(size)) - digits + 1);
  return Math.sign(value) * (near <= size ? near : Number((near - unit).toPrecision(digits)));
}

/** Shares of the cases that are caught, missed, false alarms and correctly left alone. */
export function outcomeShares({ tp, fp, nPositive, nNegative }, i) {
  const nCases = nPositive + nNegative;
  return {
    caught: tp[i] / nCases,
    // Reweighted counts carry rounding: all but a hair of a class is all of it.
    missed: Math.max(nPositive - tp[i], 0) / nCases,
    falseAlarm: fp[i] / nCases,
    quiet: Math.max(nNegative - fp[i], 0) / nCases,
  };
}

/**
 * Whole numbers nearest to the shares that add up to `total`: largest remainders go up.
 * @param {number} total
 * @param {Record<string, number>} shares
 */
export function wholeOutOf(total, shares) {
  /** @type {[string, number][]} */
  const exact = Object.entries(shares).map(([key, share]) => [key, share * total]);
  const counts = Object.fromEntries(exact.map(([key, value]) => [key, Math.floor(value)]));
  const left = total - Object.values(counts).reduce((sum, count) => sum + count, 0);
  const byRemainder = [...exact].sort((a, b) => (b[1] % 1) - (a[1] % 1));
  byRemainder.slice(0, Math.max(left, 0)).forEach(([key]) => counts[key]++);
  return counts;
}

/** Number of cases to speak of: 100, or more where alarms or positives would be fewer than one. */
export function tellingTotal({ caught, missed, falseAlarm }) {
  const told = [caught + falseAlarm, caught + missed].filter((share) => share > 0);
  return [100, 1000, 10000].find((total) => told.every((share) => share * total >= 1)) ?? 100000;
}

/** "of 100 patients, 9 raise an alarm, 5 of them correctly; 3 of the 8 with ... are missed." */
export function consequenceText(shares, words) {
  const total = tellingTotal(shares);
  const { caught, falseAlarm, missed } = wholeOutOf(total, shares);
  const told = { alarms: caught + falseAlarm, correct: caught, missed, positives: caught + missed };
  return w.consequence({ total: plain(total, 6), ...told }, words);
}

/** What to set, and what comes of it: the threshold at position `i`. */
export function deployText(points, i, words) {
  const threshold = points.thresholds[i];
  const shown = Number.isNaN(threshold) ? null : thresholdText(threshold);
  const precision = percent(points.tp[i] / points.alarms[i]);
  const deploy = w.deploy(shown, precision, percent(points.tp[i] / points.nPositive), words);
  if (!points.patientDays) return deploy;
  return `${deploy} ${w.rateSaid(plain(countedAlarms(points)[i] / points.patientDays))}`;
}

/** Which limits stand between a model and a better threshold. */
export function bindingText(binding) {
  const names = { precision: w.precisionFloor, recall: w.recallFloor, capacity: w.theCapacity };
  return binding.length === 0 ? w.notBound : w.heldBack(binding.map((limit) => names[limit]));
}

/** The rule of a capacity per period: on average, in every one, or in all but a share of them. */
export function ruleText({ per, exceed }) {
  if (exceed === null) return w.periodMean(per);
  return exceed === 0 ? w.periodNever(per) : w.periodExceed(per, percent(exceed, 6));
}

/** Limits and costs in one sentence, for print and for screen readers. */
export function settingText(setting, words) {
  const { capacity, miss, prevalence } = setting;
  const known = miss[0] === miss[1];
  const rate = () => w.settingRate(plain(capacity.share, 6));
  return w.settingText({
    floor: percent(setting.minPrecision, 6),
    caught: setting.minRecall > 0 ? percent(setting.minRecall, 6) : null,
    most:
      capacity.count === undefined
        ? words.stays ? rate() : w.settingShare(percent(capacity.share, 6), words.cases)
        : w.settingCount(several(capacity.count, w.alarm, 16)) +
          (setting.per === undefined ? "" : ` ${ruleText(setting)}`),
    worth: known ? falseAlarms(miss[1]) : w.settingRange(plain(miss[0]), falseAlarms(miss[1])),
    even: known ? "" : w.settingEven(setting.spread),
    rate: prevalence === null ? w.asInData : w.reweighted(percent(prevalence, 6)),
  });
}

/** What is known of the leading models before, or without, a comparison of all of them. */
export const [CHECKING, UNKNOWN] = ["checking", "unknown"];

/** More names than these are counted, not listed. */
const MOST_NAMED = 6;

/** "A, C and F", or "A, C and 12 others". */
export function namesText(names) {
  const shown = names.length > MOST_NAMED ? names.slice(0, MOST_NAMED - 1) : names;
  const rest = names.length - shown.length;
  const parts = rest ? [...shown, w.others(plain(rest, 9))] : shown;
  return parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} ${w.and} ${parts.at(-1)}`;
}

/**
 * What can be said of all models, given results sorted from the best. `leaders` are the positions of
 * those that cannot be told apart from the best, or says why there are none.
 */
export function verdictText(ranked, leaders) {
  const [first, second] = ranked;
  if (!first.usable) return w.noModel;
  if (!second) return w.oneModel(first.name, measured(first.score));
  if (!second.usable) return w.onlyModel(first.name);
  const names = [first.name, second.name, measured(first.score - second.score)];
  if (leaders === CHECKING) return w.checking(first.name);
  if (leaders === UNKNOWN) return w.unknownLead(...names);
  if (leaders.length === 1) return w.bestModel(...names);
  const tied = ranked.filter(({ position }) => leaders.includes(position)).map(({ name }) => name);
  const behind = ranked.filter(({ usable }) => usable).length - tied.length;
  return w.notToldApart(namesText(tied), behind && plain(behind, 9), behind === 1);
}
