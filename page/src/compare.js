/** One setting kept beside the one in force: limits, result, and every model's score. */
import { w } from "./lang.js";
import { html } from "./marks.js";
import { fixed, settingText } from "./wording.js";

const signed = (difference) => `${difference < 0 ? "−" : "+"}${fixed(Math.abs(difference), 4)}`;

const comparedRow = (name, ...cells) =>
  html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((text) => html("td", {}, text)));

function comparedTable(kept, now) {
  const scores = now.ranked.map(({ name, position, score }) => {
    const before = kept.scores[position];
    return comparedRow(name, fixed(before, 4), fixed(score, 4), signed(score - before));
  });
  const head = ["", w.keptHead, w.nowHead, w.differenceHead].map((text) =>
    text ? html("th", { scope: "col" }, text) : html("td", {}),
  );
  return html(
    "table",
    { class: "compared" },
    html("thead", {}, html("tr", {}, ...head)),
    html(
      "tbody",
      {},
      comparedRow(w.limitsRow, kept.limits, now.limits, ""),
      comparedRow(w.resultRow, kept.verdict, now.verdict, ""),
      comparedRow(w.consequenceRow, kept.consequence, now.consequence, ""),
      ...scores,
    ),
  );
}

/** Bind the buttons; returns a function that takes a view, its verdict and its consequence. */
export function bindComparison(place) {
  const [keep, drop, shown] = ["keep-setting", "drop-setting", "compared"].map(place);
  let [kept, now] = [null, null];
  const show = () => {
    shown.hidden = drop.hidden = kept === null;
    shown.replaceChildren(...(kept === null ? [] : [comparedTable(kept, now)]));
  };
  keep.addEventListener("click", () => {
    kept = now;
    show();
  });
  drop.addEventListener("click", () => {
    kept = null;
    show();
  });
  return (view, verdict, consequence) => {
    const scores = view.models.map(({ score }) => score);
    now = { ranked: view.ranked, scores, verdict, consequence };
    now.limits = settingText(view.setting, view.words);
    if (kept) show();
  };
}
