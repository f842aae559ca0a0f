/** The ranking by partial VOROS, with each model's distance from the best. */
import { w } from "./lang.js";
import { html, swatch } from "./marks.js";
import { measured } from "./wording.js";

const rangeText = (ends) => w.range(...ends.map((end) => measured(end).replace("-", "−")));

const small = (ends) => (ends ? [html("span", { class: "interval" }, rangeText(ends))] : []);

function behindOf({ behind }, position) {
  return position === 0 || !behind ? [] : small(behind.map((end) => -end).reverse());
}

function distanceText(model, best, position) {
  if (!model.usable) return w.cannotAlarm;
  return position === 0 ? w.best : `−${measured(best.score - model.score)}`;
}

function bar(model) {
  const meter = html("span", { class: `bar ${model.mark.hue}` });
  const filled = html("span", {});
  filled.style.width = `${model.score * 100}%`;
  meter.append(filled);
  return meter;
}

/** A model's name, to be broken behind an underscore, a dot or a hyphen before it is within a word. */
function nameOf({ name }) {
  const parts = name.split(/(?<=[_.-])/);
  return html("span", { class: "name" }, ...parts.flatMap((part, i) => (i ? [html("wbr", {}), part] : [part])));
}

function row(model, best, position) {
  const score = html(
    "data",
    { value: model.score, "data-model": model.name },
    measured(model.score),
  );
  return html(
    "tr",
    { class: model.usable ? "" : "unusable" },
    html("td", { class: "rank" }, String(position + 1)),
    html("th", { scope: "row" }, html("span", { class: "named" }, swatch(model.mark), nameOf(model))),
    html("td", { class: "score" }, score, bar(model), ...small(model.interval)),
    html("td", { class: "distance" }, distanceText(model, best, position), ...behindOf(model, position)),
  );
}

/** The table's body; returns a function that fills it from a view. */
export function rankingTable(body) {
  return ({ ranked }) => {
    body.replaceChildren(...ranked.map((model, position) => row(model, ranked[0], position)));
  };
}
