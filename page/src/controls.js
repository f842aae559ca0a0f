/** The page's controls: each moves its part of the setting, and shows it. */
import { linearSteps, logSteps, logitSteps, numberControl } from "./fields.js";
import { w } from "./lang.js";
import { allOf, byId, html } from "./marks.js";
import {
  MISS_COSTS,
  isCount,
  isMissCost,
  isPositiveShare,
  isPrevalence,
  isShare,
  missAt,
} from "./setting.js";
import { falseAlarms, percent } from "./wording.js";

/** Where the sliders end; a field takes any accepted number. */
const LEAST_SHARE = 0.001;
const PREVALENCES = [0.001, 0.9];
const USUAL_MISSES = [1, 1000];

/** Digits of the data's own prevalence, where it is shown or taken as a start. */
const OWN_RATE_DIGITS = 4;

const floorKind = (said) => () => ({
  power: 2,
  steps: linearSteps(0, 1),
  accepts: isShare,
  accepted: w.acceptedShare,
  text: (share) => said()(percent(share)),
});

const shareKind = (cases, mostRate) => ({
  power: 2,
  steps: logSteps(LEAST_SHARE, mostRate),
  accepts: (share) => isPositiveShare(share, mostRate),
  accepted: w.acceptedCapacity(cases, 100 * mostRate),
  text: (share) => w.atMostSaid(percent(share)),
});

const countKind = (nCases) => ({
  power: 0,
  steps: logSteps(1, nCases),
  round: Math.round,
  accepts: isCount,
  accepted: w.acceptedCount,
  text: (count) => w.atMostSaid(count),
});

const prevalenceKind = ({ prevalence }) => ({
  power: 2,
  digits: prevalence === null ? OWN_RATE_DIGITS : undefined,
  steps: logitSteps(...PREVALENCES),
  accepts: isPrevalence,
  accepted: w.acceptedPrevalence,
  text: (share) => percent(share),
});

/** Whole powers of ten around what is usual and what the page opens with. */
function missKind([low, high]) {
  const [least, most] = [Math.min(USUAL_MISSES[0], low / 3), Math.max(USUAL_MISSES[1], high * 3)];
  return {
    power: 0,
    steps: logSteps(10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(most))),
    accepts: isMissCost,
    accepted: w.acceptedMiss(...MISS_COSTS),
    text: falseAlarms,
  };
}


/** Keep the setting in force now; what it returns puts it back. */
const keeper = (store) => () => {
  const { setting } = store;
  return () => store.change(setting);
};

/**
 * Bind both ends of the range of costs. An end that passes the other pushes it along, and releases it
 * again: typing 12 passes through 1, which must leave no trace.
 */
function missControls(store, firstMiss) {
  const kind = missKind(firstMiss);
  let wanted = firstMiss;
  let ours = null;
  const change = (miss, wantedNow) => {
    [ours, wanted] = [miss, wantedNow];
    store.change({ miss });
  };
  const keep = keeper(store);
  const shows = [
    numberControl("low", () => kind, {
      changed: (low) => change([low, Math.max(low, wanted[1])], [low, wanted[1]]),
      keep,
    }),
    numberControl("high", () => kind, {
      changed: (high) => change([Math.min(high, wanted[0]), high], [wanted[0], high]),
      keep,
    }),
  ];
  return ({ miss }) => {
    if (miss !== ours) wanted = miss;
    shows.forEach((show, end) => show(miss[end]));
  };
}

/** Bind the numbers of the setting; `store` has `setting` and `change(part)`. */
function numberControls(store, { nCases, mostRate, ownRate, firstMiss, cases }) {
  const [counts, shares, keep] = [countKind(nCases * mostRate), shareKind(cases, mostRate), keeper(store)];
  const isCountNow = () => store.setting.capacity.count !== undefined;
  const showFloor = numberControl("floor", floorKind(() => w.floorSaid), {
    changed: (minPrecision) => store.change({ minPrecision }),
    keep,
  });
  const showRecall = numberControl("recall", floorKind(() => w.recallSaid), {
    changed: (minRecall) => store.change({ minRecall }),
    keep,
  });
  const showCapacity = numberControl("capacity", () => (isCountNow() ? counts : shares), {
    changed: (value) =>
      store.change({ capacity: isCountNow() ? { count: value } : { share: value } }),
    keep,
  });
  const showPrevalence = numberControl("prevalence", () => prevalenceKind(store.setting), {
    changed: (prevalence) => store.change({ prevalence }),
    keep,
  });
  const showMisses = missControls(store, firstMiss);
  return (setting) => {
    showFloor(setting.minPrecision);
    showRecall(setting.minRecall);
    // A limit in force must be visible.
    if (setting.minRecall > 0) byId("fold-recall").open = true;
    showCapacity(setting.capacity.count ?? setting.capacity.share);
    showPrevalence(setting.prevalence ?? ownRate);
    showMisses(setting);
  };
}

function changeUnit(store, { nCases, mostRate }, unit) {
  const { capacity } = store.setting;
  if (unit === "count" && capacity.count === undefined) {
    store.change({ capacity: { count: Math.max(1, Math.round(capacity.share * nCases)) } });
  } else if (unit === "share" && capacity.share === undefined) {
    store.change({ capacity: { share: Math.min(mostRate, capacity.count / nCases) } });
  }
}

/** Bind switches and lists; returns a function that shows a setting on them. */
function choiceControls(store, { nCases, mostRate, ownRate }) {
  const ownStart = Number(ownRate.toPrecision(OWN_RATE_DIGITS));
  const on = (id, event, act) => byId(id).addEventListener(event, ({ target }) => act(target));
  on("capacity-unit", "change", ({ value }) => changeUnit(store, { nCases, mostRate }, value));
  on("spread", "change", ({ value }) => store.change({ spread: value }));
  on("own-prevalence", "change", ({ checked }) =>
    store.change({ prevalence: checked ? null : ownStart }),
  );
  on("focus", "change", ({ value }) =>
    store.change({ model: value === "" ? null : Number(value) }),
  );
  for (const box of allOf("[data-zoom]")) {
    box.addEventListener("change", () => store.change({ zoom: box.checked }));
  }
  on("at-slider", "input", ({ value }) => store.change({ at: value / 100 }));
  on("reset", "click", () => store.reset());
  return (setting) => {
    byId("capacity-unit").value = setting.capacity.count === undefined ? "share" : "count";
    byId("spread").value = setting.spread;
    byId("own-prevalence").checked = setting.prevalence === null;
    byId("focus").value = setting.model ?? "";
    for (const box of allOf("[data-zoom]")) box.checked = setting.zoom;
    byId("at-slider").value = setting.at * 100;
    byId("at-slider").setAttribute("aria-valuetext", falseAlarms(missAt(setting)));
    byId("at-text").textContent = falseAlarms(missAt(setting));
  };
}

/** Fill the list of models and bind every control; returns a function that shows a setting. */
export function bindControls(store, models, metadata) {
  byId("focus").append(
    html("option", { value: "" }, w.bestOne),
    ...models.map(({ name }, position) => html("option", { value: position }, name)),
  );
  const showNumbers = numberControls(store, metadata);
  const showChoices = choiceControls(store, metadata);
  return (setting) => {
    showNumbers(setting);
    showChoices(setting);
  };
}
