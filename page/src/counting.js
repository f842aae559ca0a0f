/** Counts at each threshold, from the scores of the two classes. */

/** Risks at which models that predict risks are counted, for decision curves. */
export const RISKS = Array.from({ length: 99 }, (_, i) => (i + 1) / 100);

/** How many of some rising scores are at least a value. */
function atLeastAs(scores, value) {
  let [low, high] = [0, scores.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (scores[middle] >= value) high = middle;
    else low = middle + 1;
  }
  return scores.length - low;
}

/** Alarms where a score is at least each risk; null where scores are no probabilities. */
function riskCounts(positive, negative) {
  const isRisk = (scores) => scores[0] >= 0 && scores.at(-1) <= 1;
  if (!isRisk(positive) || !isRisk(negative)) return null;
  const [tp, fp] = [positive, negative].map((scores) => RISKS.map((risk) => atLeastAs(scores, risk)));
  return { tp, fp };
}

/**
 * The thresholds at which a model catches more, which are scores of positives, with true and false
 * positives: {thresholds, tp, fp}, and `asScored`, its alarms at risks. Scores of +inf are taken as the
 * largest number, because a threshold of +inf raises no alarm. Sorts its arguments in place.
 */
export function countModel(positive, negative) {
  for (const scores of [positive, negative]) {
    for (let i = 0; i < scores.length; i++) {
      if (scores[i] === Infinity) scores[i] = Number.MAX_VALUE;
    }
    scores.sort();
  }
  const [thresholds, tp, fp] = Array.from({ length: 3 }, () => new Float64Array(positive.length));
  let [n, below] = [0, negative.length];
  for (let i = positive.length - 1; i >= 0; i--) {
    // Of equal scores, -0 and 0 among them, the last one counts them all.
    if (i > 0 && positive[i - 1] === positive[i]) continue;
    while (below > 0 && negative[below - 1] >= positive[i]) below--;
    thresholds[n] = positive[i];
    tp[n] = positive.length - i;
    fp[n] = negative.length - below;
    n++;
  }
  return {
    thresholds: thresholds.slice(0, n),
    tp: tp.slice(0, n),
    fp: fp.slice(0, n),
    asScored: riskCounts(positive, negative),
  };
}
