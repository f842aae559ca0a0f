/** Counts at each threshold, from the scores of the two classes. */

/**
 * The thresholds at which a model catches more, with true and false positives: {thresholds, tp,
 * fp}. Only a positive case's score can be one. Scores of +inf are taken as the largest number, for
 * a threshold of +inf is never alarm. Sorts its arguments in place.
 */
export function countModel(positive, negative) {
  for (const scores of [positive, negative]) {
    for (let i = 0; i < scores.length; i++) {
      if (scores[i] === Infinity) scores[i] = Number.MAX_VALUE;
    }
    scores.sort();
  }
  const [thresholds, tp, fp] = Array.from({ length: 3 }, () => new Float64Array(positive.length));
  let [found, wrong] = [0, negative.length];
  for (let i = positive.length - 1; i >= 0; i--) {
    // Of equal scores, -0 and 0 among them, the last one counts them all.
    if (i > 0 && positive[i - 1] === positive[i]) continue;
    while (wrong > 0 && negative[wrong - 1] >= positive[i]) wrong--;
    thresholds[found] = positive[i];
    tp[found] = positive.length - i;
    fp[found] = negative.length - wrong;
    found++;
  }
  return {
    thresholds: thresholds.slice(0, found),
    tp: tp.slice(0, found),
    fp: fp.slice(0, found),
  };
}
