/** What a reader must know besides the numbers: limits that cannot be met, odd costs, thinning. */
import { highestRecall, maxAlarms } from "./voros.js";
import { falseAlarms, percent, plain, several } from "./wording.js";

/** The highest precision any threshold of a model reaches within the capacity. */
export function mostPrecise({ points, result }) {
  let [best, at] = [0, 0];
  for (let i = 1; i < points.tp.length; i++) {
    if (points.alarms[i] > result.allowedAlarms) continue;
    const precision = points.tp[i] / points.alarms[i];
    if (precision >= best) [best, at] = [precision, i];
  }
  return { precision: best, alarms: points.alarms[at] };
}

function capacityNotice(view) {
  const { points, result } = view.focus;
  if (result.score !== null) return null;
  const least = points.oneCase / (points.nPositive + points.nNegative);
  return (
    `The capacity is ${several(maxAlarms(points, view.setting.capacity), "alarm")} among these ` +
    `${view.words.cases}: fewer than one. The smallest that admits an alarm is ${percent(least)}.`
  );
}

function floorNotice(view) {
  if (view.ranked[0].usable) return null;
  const best = view.models
    .map((model) => ({ ...mostPrecise(model), name: model.name }))
    .reduce((a, b) => (b.precision > a.precision ? b : a));
  if (best.precision === 0) {
    return "The capacity is below the shortest list of alarms that any model can raise.";
  }
  return (
    `The precision floor is out of reach: within this capacity the best is ` +
    `${percent(best.precision)}, by ${best.name} with ${several(best.alarms, "alarm")}.`
  );
}

function costNotice({ setting, ratios }) {
  const { minPrecision } = setting;
  if (minPrecision === 0 || minPrecision === 1 || ratios[1] < minPrecision / (1 - minPrecision)) {
    return null;
  }
  return (
    `At this precision floor an alarm is sure to be worth its cost only where a miss is worth ` +
    `more than ${falseAlarms((1 - minPrecision) / minPrecision)}; below that, never ` +
    `raising an alarm is not the worst choice and scores above 0.`
  );
}

/** Whether a setting lies where the bound on thinned scores was not certified. */
function thinningNotice({ focus, thinning }) {
  if (!thinning || !focus.result.region) return null;
  if (highestRecall(focus.result.region) >= thinning.recallFloor) return null;
  return (
    `This page holds thinned counts, and at so small a capacity the stated largest change of ` +
    `${plain(thinning.largestChange, 2)} does not hold.`
  );
}

/** What an address asked for and did not get. */
export function addressText(problems) {
  return `The address was not taken in full; left out: ${problems.join(", ")}.`;
}

/** All that applies to a view, as sentences. */
export function notices(view) {
  const capacity = capacityNotice(view);
  if (capacity) return [capacity];
  return [floorNotice, costNotice, thinningNotice].map((of) => of(view)).filter(Boolean);
}

/** What the page holds, and that it holds no rows. */
export function contentsText(models, cases, words) {
  const thresholds = models.reduce((sum, { base }) => sum + base.tp.length - 1, 0);
  return (
    `This page holds operating points: at each of ` +
    `${several(thresholds, "threshold", "thresholds", 9)} of ${several(models.length, "model")}, ` +
    `how many alarms were right and how many were false. Of the ${words.cases}, ` +
    `${plain(cases.nPositive, 9)} with and ${plain(cases.nNegative, 9)} without ` +
    `${words.outcome} were counted. It holds no rows. A threshold is a score that occurred, so where counts ` +
    `are small, treat the file with the care the data ask for, or thin it.`
  );
}

/** The bound on what thinning can change. */
export function thinningText({ atMost, largestChange, recallFloor }) {
  return (
    `For publication at most ${several(atMost, "threshold", "thresholds", 9)} of each model ` +
    `${atMost === 1 ? "was" : "were"} kept. Every score shown is ` +
    `at most ${plain(largestChange, 3)} below the exact one, at any precision floor, cost and ` +
    `prevalence, as long as the capacity is at least ${percent(recallFloor)} of those with the ` +
    `outcome.`
  );
}
