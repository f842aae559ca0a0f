/** One setting kept beside the one in force: limits, result, and what happens to 1,000 cases. */
import { w } from "./lang.js";
import { html } from "./marks.js";
import { consequences } from "./people.js";
import { falseAlarms, fixed, plain, settingText } from "./wording.js";

const COMPARED_CASES = 1000;

/** The setting that is kept, whatever data the page shows next: those of another ward, say. */
let keptSetting = null;

const signed = (difference) => `${difference < 0 ? "−" : "+"}${fixed(Math.abs(difference), 1)}`;

const comparedRow = (name, ...cells) =>
  html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((text) => html("td", {}, text)));

/** Counts among 1,000 cases; the cost is in false alarms, both settings at what a miss is worth now. */
function comparedCounts({ shares: { caught, missed, falseAlarm } }, missNow) {
  return [caught + falseAlarm, falseAlarm, caught, missed, falseAlarm + missed * missNow].map(
    (share) => COMPARED_CASES * share,
  );
}

function comparedTable(kept, now) {
  const [before, after] = [kept, now].map((setting) => comparedCounts(setting, now.missAt));
  const names = [
    w.alarmsRow(now.words),
    w.falseRow,
    w.caughtRow(now.words),
    w.missedRow(now.words),
    w.costRow(falseAlarms(now.missAt)),
  ];
  const counts = names.map((name, i) =>
    comparedRow(name, plain(before[i], 4), plain(after[i], 4), signed(after[i] - before[i])),
  );
  const head = ["", w.keptHead, w.nowHead, w.differenceHead].map((text) =>
    text ? html("th", { scope: "col" }, text) : html("td", {}),
  );
  const said = (name, key) => comparedRow(name, kept[key], now[key], "");
  return html(
    "table",
    { class: "compared" },
    html("thead", {}, html("tr", {}, ...head)),
    html(
      "tbody",
      {},
      said(w.dataRow, "data"),
      said(w.limitsRow, "limits"),
      said(w.resultRow, "verdict"),
      said(w.modelRow, "model"),
      ...counts,
    ),
  );
}

/** Bind the buttons; returns a function that takes a view and its verdict. */
export function bindComparison(place) {
  const [keep, drop, shown] = ["keep-setting", "drop-setting", "compared"].map(place);
  let now = null;
  const show = () => {
    shown.hidden = drop.hidden = keptSetting === null;
    shown.replaceChildren(...(keptSetting === null ? [] : [comparedTable(keptSetting, now)]));
  };
  keep.addEventListener("click", () => {
    keptSetting = now;
    show();
  });
  drop.addEventListener("click", () => {
    keptSetting = null;
    show();
  });
  return (view, verdict) => {
    const { words, missAt, focus, setting } = view;
    const data = place("sample").textContent;
    const { shares } = consequences(view);
    now = { view, data, words, missAt, verdict, shares, model: focus.name, limits: settingText(setting, words) };
    // What is kept while intervals are on their way is told when they come.
    if (keptSetting?.view === view) keptSetting = now;
    if (keptSetting) show();
  };
}
