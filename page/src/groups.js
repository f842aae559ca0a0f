/** What the threshold in use does in each group: exact intervals, and whether the floors are kept. */
import { exactLimits } from "./binomial.js";
import { w } from "./lang.js";
import { html } from "./marks.js";
import { consequences } from "./people.js";
import { unpacked } from "./resampling.js";
import { percent, plain, thresholdText } from "./wording.js";

// ------------------------------------------------------------------ counts

/** The kept threshold with the number of alarms nearest to one of the page; -1 is no alarm. */
function nearest({ kept }, alarms, chosen) {
  if (chosen === 0) return -1;
  const far = (i) => Math.abs(alarms[kept[i] + 1] - alarms[chosen]);
  return kept.reduce((best, _, i) => (best < 0 || far(i) < far(best) ? i : best), -1);
}

/**
 * "kept", "broken" or "open": what the exact interval of a share says of its floor.
 */
function verdictOf(count, of, confidence, floor) {
  // Without an alarm, or a positive, the limits are 0 and 1.
  const [low, high] = exactLimits(count, of, confidence);
  if (high < floor) return "broken";
  return low >= floor ? "kept" : "open";
}

/**
 * What is known of each group at a threshold: `counts` is {kept, bytes, counts} of the model, `at`
 * the place in `kept`, or -1 for no alarm.
 */
export function groupResults(groups, counts, at, floor, recallFloor = 0) {
  const n = groups.names.length;
  // The intervals of all groups hold together (Bonferroni).
  const confidence = 1 - (1 - groups.confidence) / n;
  const nFloors = Math.max(Number(floor > 0) + Number(recallFloor > 0), 1);
  const ofVerdicts = 1 - (1 - groups.confidence) / (n * nFloors);
  const held = unpacked(counts);
  return groups.names.map((name, i) => {
    const [tp, fp] = at < 0 ? [0, 0] : [0, 1].map((label) => held[2 * (at * n + i) + label]);
    const [positives, cases] = [groups.positives[i], groups.positives[i] + groups.negatives[i]];
    const alarms = tp + fp;
    const [precision, recall] = [alarms, positives].map((of) => exactLimits(tp, of, confidence));
    const share = exactLimits(alarms, cases, confidence);
    const verdicts = {
      floor: floor <= 0 || at < 0 ? "kept" : verdictOf(tp, alarms, ofVerdicts, floor),
      recallFloor: recallFloor <= 0 ? "kept" : verdictOf(tp, positives, ofVerdicts, recallFloor),
    };
    // Raising no alarm keeps every precision floor, and no recall floor.
    if (recallFloor > 0 && at < 0) verdicts.recallFloor = "broken";
    return { name, cases, positives, tp, alarms, precision, recall, share, ...verdicts };
  });
}

// ------------------------------------------------------------------ the table

/** A share, and its interval below. */
function shareCell(count, of, [low, high], before = "") {
  const share = `${before}${of ? percent(count / of) : "–"}`;
  return html("td", {}, share, html("span", {}, w.fromTo(percent(low), percent(high))));
}

function rowOf({ name, cases, positives, tp, alarms, precision, recall, share, floor, recallFloor }, hasRecallFloor) {
  const words = { kept: w.floorKept, broken: w.floorBroken, open: w.floorOpen };
  return html(
    "tr",
    { "data-floor": floor },
    html("th", { scope: "row" }, name),
    html("td", {}, plain(cases, 9)),
    shareCell(alarms, cases, share, `${plain(alarms, 9)}: `),
    shareCell(tp, alarms, precision),
    shareCell(tp, positives, recall),
    html("td", {}, words[floor]),
    ...(hasRecallFloor ? [html("td", { "data-recall-floor": recallFloor }, words[recallFloor])] : []),
  );
}

/** Show the groups that Python counted; a page without them, or at another prevalence, has none. */
export function groupsBlock(place, groups) {
  place("groups-card").hidden = !groups;
  return (view) => {
    if (!groups) return;
    const { focus, setting } = view;
    const stated = setting.prevalence !== null;
    place("groups-scroll").hidden = stated;
    const { chosen } = consequences(view);
    const at = nearest(groups.models[focus.position], focus.points.alarms, chosen);
    const counts = groups.models[focus.position];
    const i = at < 0 ? 0 : counts.kept[at] + 1;
    const shown = at < 0 ? "" : thresholdText(focus.points.thresholds[i]);
    const notes = [w.groupsAt(focus.name, shown, plain(groups.smallest)), ...groups.notes];
    place("groups-text").textContent = stated ? w.groupsElsewhere : notes.join(" ");
    if (stated) return;
    const hasRecallFloor = setting.minRecall > 0;
    place("groups-recall-head").hidden = !hasRecallFloor;
    const results = groupResults(groups, counts, at, setting.minPrecision, setting.minRecall);
    place("groups").replaceChildren(...results.map((row) => rowOf(row, hasRecallFloor)));
  };
}
