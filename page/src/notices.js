/** What a reader must know besides the numbers: limits that cannot be met, odd costs, thinning. */
import { w } from "./lang.js";
import { costHull, countedAlarms, highestRecall, maxAlarms } from "./voros.js";
import { countText, falseAlarms, percent, plain, several } from "./wording.js";

/** The highest precision any threshold of a model reaches within the capacity. */
export function mostPrecise({ points, result }) {
  let [best, at] = [0, 0];
  const counted = countedAlarms(points);
  for (let i = 1; i < points.tp.length; i++) {
    if (counted[i] > result.allowedAlarms) continue;
    const precision = points.tp[i] / points.alarms[i];
    if (precision >= best) [best, at] = [precision, i];
  }
  return { precision: best, alarms: points.alarms[at] };
}

function capacityNotice(view) {
  const { points, result } = view.focus;
  if (result.score !== null) return null;
  if (result.allowedAlarms >= points.oneCase) {
    return w.recallAgainstCapacity(percent(result.allowedAlarms / points.nPositive));
  }
  const least = points.oneCase / (points.nPositive + points.nNegative);
  const alarms = several(maxAlarms(points, view.setting.capacity), w.alarm);
  return w.capacityBelowOne(alarms, view.words.cases, percent(least));
}

function floorNotice(view) {
  if (view.ranked[0].usable) return null;
  const best = view.models
    .map((model) => ({ ...mostPrecise(model), name: model.name }))
    .reduce((a, b) => (b.precision > a.precision ? b : a));
  if (best.precision === 0) return w.capacityBelowList;
  return w.floorOutOfReach(percent(best.precision), best.name, several(best.alarms, w.alarm));
}

/** The highest recall that any threshold reaches within the other limits, where a floor asks for more. */
function recallNotice({ models, ranked, setting }) {
  if (!(setting.minRecall > 0) || ranked[0].usable) return null;
  const best = models
    .map(({ name, points, result: { allowedAlarms, last } }) => {
      const i = costHull(points, { ...setting, minRecall: 0 }, allowedAlarms, last).index.at(-1);
      return { name, recall: points.tp[i] / points.nPositive, alarms: points.alarms[i] };
    })
    .reduce((a, b) => (b.recall > a.recall ? b : a));
  if (best.alarms === 0) return null;
  return w.recallOutOfReach(percent(best.recall), best.name, several(best.alarms, w.alarm));
}

function costNotice({ setting, ratios }) {
  const { minPrecision } = setting;
  // With a recall floor raising no alarm is not among the choices.
  if (setting.minRecall > 0 || minPrecision === 0 || minPrecision === 1 || ratios[1] < minPrecision / (1 - minPrecision)) {
    return null;
  }
  return w.cheapMisses(falseAlarms((1 - minPrecision) / minPrecision));
}

/** Whether a setting lies where the bound on thinned scores was not certified. */
function thinningNotice({ focus, setting, thinning }) {
  if (!thinning || !focus.result.region) return null;
  if (!(setting.minRecall > 0) && highestRecall(focus.result.region) >= thinning.recallFloor) return null;
  return w.thinnedTooFar(plain(thinning.largestChange, 2));
}

/** All that applies to a view, as sentences. */
export function notices(view) {
  const { prevalence, exceed } = view.setting;
  if (prevalence !== null && (exceed ?? null) !== null) return [w.periodsElsewhere];
  const capacity = capacityNotice(view);
  if (capacity) return [capacity];
  const unmet = recallNotice(view) ?? floorNotice(view);
  return [unmet, costNotice(view), thinningNotice(view)].filter(Boolean);
}

/** What the page holds, and that it holds no rows. */
export function contentsText(models, cases, words) {
  const thresholds = models.reduce((sum, { base }) => sum + base.tp.length - 1, 0);
  return w.contents(
    several(thresholds, w.threshold, 9),
    several(models.length, w.model),
    countText(cases.nPositive),
    countText(cases.nNegative),
    words,
  );
}

/** The bound on what thinning can change. */
export function thinningText({ atMost, largestChange, recallFloor }) {
  const kept = several(atMost, w.threshold, 9);
  return w.thinned(kept, atMost === 1, plain(largestChange, 3), percent(recallFloor));
}
