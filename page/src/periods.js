/** A capacity of each period: the rule on the share of periods that may have more alarms. */
import { w } from "./lang.js";
import { html } from "./marks.js";
import { EXCEEDED_SHARES } from "./resampling.js";
import { MEAN } from "./setting.js";
import { costHull, usedVertices } from "./voros.js";
import { ruleText } from "./wording.js";

/** Offer the rules where the page has periods; returns a function that shows a setting. */
export function bindPeriods(place, store, periods, first) {
  place("exceed-place").hidden = !periods;
  if (!periods) return () => {};
  place("capacity-unit").hidden = true;
  place("capacity-per").textContent = w.perPeriod(first.per);
  place("periods-note").textContent = w.periodsNote(periods.n, first.per);
  const shares = [...new Set([...EXCEEDED_SHARES, ...(first.exceed === null ? [] : [first.exceed])])];
  const values = [null, ...shares.sort((a, b) => a - b)];
  place("exceed").replaceChildren(
    ...values.map((exceed) =>
      html("option", { value: exceed ?? MEAN }, ruleText({ per: first.per, exceed })),
    ),
  );
  place("exceed").addEventListener("change", ({ target }) =>
    store.change({ exceed: target.value === MEAN ? null : Number(target.value) }),
  );
  return ({ exceed }) => {
    place("exceed").value = exceed ?? MEAN;
  };
}

/** Whether the rule, rather than the mean, keeps other thresholds from being chosen. */
export function boundByPeriods(points, { hull, allowedAlarms }, limits, [low, high]) {
  if (points.exceed === undefined || points.exceed === null) return false;
  const used = (hullOf) => {
    const [first, last] = usedVertices(hullOf, low, high);
    return hullOf.index.slice(first, last + 1).join();
  };
  return used(hull) !== used(costHull(points, limits, allowedAlarms));
}
