/** The guarantee that came with the page: tested in Python, for the limits that the page opens with. */
import { w } from "./lang.js";
import { percent, plain, settingText, several, thresholdText } from "./wording.js";

/** Whether two settings have the same limits; costs may differ, because a guarantee is about thresholds. */
export function sameLimits(setting, first) {
  const limits = ({ minPrecision, minRecall = 0, capacity, prevalence, exceed = null }) =>
    JSON.stringify([minPrecision, minRecall, capacity, prevalence, exceed]);
  return limits(setting) === limits(first);
}

/** Whether the guarantee holds for the threshold at a place, and the most lenient of which it does. */
export function promiseOf({ confidence, models }, position, chosen) {
  const { runs, lowest = Infinity, alarms = 0 } = models[position];
  const sure = runs.some(([first, last]) => chosen - 1 >= first && chosen - 1 <= last);
  return { sure, lowest: Number(lowest), alarms, confidence };
}

/** What a guarantee is about: all cases, or the next ones. */
export function aboutText(promise, per) {
  if (!promise || promise.horizon === null) return w.allCases;
  return w.nextCases(plain(promise.horizon, 9), per !== undefined);
}

/** Whether the threshold in use is guaranteed, in a sentence. */
export function guaranteeText({ sure, lowest, alarms, confidence }, about) {
  if (sure) return w.guaranteed(percent(confidence, 6), about);
  const reach = lowest === Infinity ? null : thresholdText(lowest);
  return w.notGuaranteed(percent(confidence, 6), about, reach, several(alarms, w.alarm, 9));
}

/** That the guarantee of the page is for other limits than those in force. */
export function elsewhereText(promise, first, words) {
  const [share, about] = [percent(promise.confidence, 6), aboutText(promise, first.per)];
  return w.guaranteedElsewhere(share, about, settingText(first, words));
}
