/** What 1,000 cases are expected to cost, in false alarms or in money, with each model. */
import { w } from "./lang.js";
import { html } from "./marks.js";
import { costsOfModel, costsOfNone } from "./net_benefit.js";
import { isPrice } from "./setting.js";
import { shownNumber, typedNumber } from "./typed_numbers.js";
import { plain } from "./wording.js";

/** Digits of a cost: more would only repeat what is uncertain. */
const COST_DIGITS = 4;

const COST_COLUMNS = ["within", "free", "limits"];

/** Costs of every model, ranked, then of no alarm and of one for everybody; NaN where there is none. */
export function costRows({ ranked, points, costs, setting: { price } }) {
  const unit = price ?? 1;
  const { none, all } = costsOfNone(points[0], costs);
  const row = (model, name, { within, free, limits }) => ({
    model,
    name,
    costs: [within, free, limits].map((cost) => cost * unit),
  });
  return [
    ...ranked.map((model) => row(model, model.name, costsOfModel(model, costs))),
    row(null, w.noAlarmRow, { within: none, free: none, limits: NaN }),
    ...(points[0].patientDays ? [] : [row(null, w.everybody, { within: NaN, free: all, limits: NaN })]),
  ];
}

function costCell(cost, name, column) {
  if (Number.isNaN(cost)) return html("td", {}, "–");
  const said = { value: cost, "data-model": name, "data-column": column };
  return html("td", {}, html("data", said, plain(cost, COST_DIGITS)));
}

function costRow({ model, name, costs }) {
  const letter = model ? [html("b", {}, `${model.mark.letter} `)] : [];
  return html("tr", {}, html("th", { scope: "row" }, ...letter, name), ...costs.map((cost, i) => costCell(cost, name, COST_COLUMNS[i])));
}

/** The field for what a false alarm costs: any amount, or nothing. */
function bindPrice(place, store) {
  const [field, problem] = [place("price"), place("price-problem")];
  let typing = false;
  field.addEventListener("input", () => {
    const [empty, typed] = [field.value.trim() === "", typedNumber(field.value)];
    const accepted = empty || isPrice(typed);
    problem.textContent = accepted ? "" : w.accepted(w.acceptedPrice);
    field.toggleAttribute("aria-invalid", !accepted);
    typing = true;
    store.change({ price: accepted && !empty ? typed : null });
    typing = false;
  });
  return (price) => {
    if (!typing) field.value = price === null ? "" : shownNumber(price);
  };
}

/** Bind the field and fill the table; returns a function that shows a view. */
export function costTable(place, store) {
  const showPrice = bindPrice(place, store);
  return (view) => {
    const { price } = view.setting;
    showPrice(price);
    place("costs-caption").textContent = w.costsOf(view.words.cases, price === null ? null : plain(price));
    place("costs").replaceChildren(...costRows(view).map(costRow));
  };
}
