/** Numbers as people read them, and the consequences of a threshold in plain words. */

/** Making a format takes far longer than using it. */
const FORMATS = new Map();

function formatOf(maximumSignificantDigits) {
  if (!FORMATS.has(maximumSignificantDigits)) {
    FORMATS.set(
      maximumSignificantDigits,
      new Intl.NumberFormat("en", { maximumSignificantDigits }),
    );
  }
  return FORMATS.get(maximumSignificantDigits);
}

/** Sizes beyond which a number is written with an exponent. */
const LEAST_WRITTEN_OUT = 1e-7;
const MOST_WRITTEN_OUT = 1e15;

/** A number with few digits: 0.0513, 7.25, 1,240, 3e100. */
export function plain(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size !== 0 && (size < LEAST_WRITTEN_OUT || size >= MOST_WRITTEN_OUT)) {
    return Number(value.toPrecision(digits)).toExponential().replace("e+", "e");
  }
  return formatOf(digits).format(value);
}

/** A count with its noun: 1 model, 4 models. What is shown decides, not what was rounded away. */
export function several(count, one, many = `${one}s`, digits = 3) {
  const shown = plain(count, digits);
  return `${shown} ${shown === "1" ? one : many}`;
}

/** What a miss is worth: 1 false alarm, 7.25 false alarms. */
export function falseAlarms(miss) {
  return several(miss, "false alarm");
}

export function percent(share, digits = 3) {
  return `${plain(share * 100, digits)}%`;
}

/** Digits of a threshold: enough to set it by. */
const THRESHOLD_DIGITS = 10;

/** A number rounded down: a threshold rounded up would leave out the very case it is for. */
export function roundedDown(value, digits = THRESHOLD_DIGITS) {
  const near = Number(value.toPrecision(digits));
  if (near <= value) return near;
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  return Number((near - unit).toPrecision(digits));
}

/** A threshold as it can be set; an unknown one is said to be so. */
export function thresholdText(threshold) {
  if (threshold === Infinity) return "never";
  if (Number.isNaN(threshold)) return "not recorded";
  return threshold === -Infinity ? "−∞" : String(roundedDown(threshold));
}

/** Shares of the cases that are caught, missed, falsely alarmed and rightly left alone. */
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

/** Whole numbers nearest to the shares that add up to `total`: largest remainders go up. */
export function wholeOutOf(total, shares) {
  const exact = Object.entries(shares).map(([key, share]) => [key, share * total]);
  const counts = Object.fromEntries(exact.map(([key, value]) => [key, Math.floor(value)]));
  const left = total - Object.values(counts).reduce((sum, count) => sum + count, 0);
  const byRemainder = [...exact].sort((a, b) => (b[1] % 1) - (a[1] % 1));
  byRemainder.slice(0, Math.max(left, 0)).forEach(([key]) => counts[key]++);
  return counts;
}

/** How many cases to speak of: 100, or more where neither alarms nor ill would make up one. */
export function tellingTotal({ caught, missed, falseAlarm }) {
  const told = [caught + falseAlarm, caught + missed].filter((share) => share > 0);
  return [100, 1000, 10000].find((total) => told.every((share) => share * total >= 1)) ?? 100000;
}

/** "of 100 patients, 9 raise an alarm, 5 of them rightly; 3 of the 8 with ... are missed." */
export function consequenceText(shares, words) {
  const total = tellingTotal(shares);
  const counts = wholeOutOf(total, shares);
  const alarms = counts.caught + counts.falseAlarm;
  const ill = counts.caught + counts.missed;
  const right = counts.caught === 0 ? "none" : counts.caught;
  const alarmed =
    alarms === 0 ? "none raises an alarm" : several(alarms, "raises", "raise", 6) + " an alarm";
  const rightly = alarms === 0 ? "" : `, ${right} of them rightly`;
  const missed =
    ill === 0
      ? `fewer than one has ${words.outcome}`
      : `${counts.missed === 0 ? "none" : counts.missed} of the ${ill} with ${words.outcome} ` +
        `${counts.missed === 1 ? "is" : "are"} missed`;
  return `of ${plain(total, 6)} ${words.cases}, ${alarmed}${rightly}; ${missed}.`;
}

/** What to set, and what comes of it: the threshold at position `i`. */
export function deployText(points, i, words) {
  const threshold = points.thresholds[i];
  const setting = Number.isNaN(threshold)
    ? ""
    : `alarm when the score is at least ${thresholdText(threshold)}; then `;
  const precision = percent(points.tp[i] / points.alarms[i]);
  const recall = percent(points.tp[i] / points.nPositive);
  return (
    `${setting}${precision} of alarms are right, and ${recall} of those with ${words.outcome} ` +
    `are caught.`
  );
}

/** Which limits stand between a model and a better threshold. */
export function bindingText(binding) {
  const names = { precision: "the precision floor", capacity: "the capacity" };
  if (binding.length === 0) return "Without the limits it would be the same.";
  return `Held back by ${binding.map((limit) => names[limit]).join(" and ")}.`;
}

/** Limits and costs in one sentence, for print and for screen readers. */
export function settingText(setting, words) {
  const { capacity, miss, prevalence } = setting;
  const most =
    capacity.count === undefined
      ? `alarms for at most ${percent(capacity.share, 6)} of ${words.cases}`
      : `at most ${several(capacity.count, "alarm", "alarms", 16)}`;
  const worth = `${miss[0] === miss[1] ? "" : `${plain(miss[0])} to `}${falseAlarms(miss[1])}`;
  const unit = setting.spread === "miss" ? "in false alarms" : "in the cost ratio";
  const even = miss[0] === miss[1] ? "" : ` (uniform ${unit})`;
  const rate = prevalence === null ? "as in the data" : `reweighted to ${percent(prevalence, 6)}`;
  return (
    `At least ${percent(setting.minPrecision, 6)} of alarms right; ${most}; ` +
    `a miss worth ${worth}${even}; ${words.outcome} ${rate}.`
  );
}

/** Who ranks first and by how much, given results sorted from the best. */
export function verdictText(ranked, closeCall) {
  const [first, second] = ranked;
  if (!first.usable) return "No model can raise an alarm within these limits.";
  if (!second) return `${first.name}: a score of ${first.score.toFixed(3)}.`;
  if (!second.usable) return `Only ${first.name} can raise alarms within these limits.`;
  const distance = first.score - second.score;
  if (distance <= closeCall) {
    return `${first.name} and ${second.name} are too close to call: ${distance.toFixed(4)} apart.`;
  }
  return `First: ${first.name}, ${distance.toFixed(3)} ahead of ${second.name}.`;
}
