/** The numbers behind each picture in full precision, as CSV. */
import { shownMisses } from "./area_chart.js";
import { costRows } from "./cost_table.js";
import { decisionCurves, probabilitiesOf } from "./decision_chart.js";
import { priceAt, treatAll } from "./net_benefit.js";
import { choices } from "./threshold_chart.js";
import { feasible, normalisedArea } from "./voros.js";
import { placeOnMap } from "./winners.js";
import { outcomeShares } from "./wording.js";
import { consequences } from "./people.js";

/** Costs of a curve in the file. */
const CURVE_COSTS = 160;

function csvCell(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const orNothing = (value) => (Number.isNaN(value) ? "" : value);

/** Rows of values as CSV. */
export function csvOf(rows) {
  return rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
}

function rocData({ models, setting }) {
  const rows = models.flatMap(({ name, points, result }) => {
    const within = feasible(points, setting, result.allowedAlarms, result.last);
    return Array.from(points.thresholds, (threshold, i) => [
      name,
      threshold,
      points.fp[i] / points.nNegative,
      points.tp[i] / points.nPositive,
      within[i],
    ]);
  });
  return [["model", "threshold", "fpr", "tpr", "within_limits"], ...rows];
}

function thresholdData({ focus, setting }) {
  const chosenRows = focus.result.hull ? choices(focus, setting.miss) : [];
  return [
    ["model", "miss_from", "miss_to", "threshold", "alarm_share", "precision", "recall"],
    ...chosenRows.map((row) => [
      focus.name, row.from, row.to, row.threshold, row.alarms, row.precision, row.recall,
    ]),
  ];
}

function areaData({ models, setting }) {
  const [low, high] = shownMisses(setting);
  const misses = Array.from(
    { length: CURVE_COSTS + 1 },
    (_, i) => low * (high / low) ** (i / CURVE_COSTS),
  );
  const rows = models
    .filter(({ result }) => result.hull)
    .flatMap(({ name, points, result }) =>
      misses.map((miss) => [name, miss, normalisedArea(points, result, 1 / miss)]),
    );
  return [["model", "miss_worth", "normalised_area"], ...rows];
}

function decisionData(view) {
  const probabilities = probabilitiesOf(view);
  const curves = decisionCurves(view.models, probabilities);
  const rows = curves.flatMap(({ model, within, free, scored }) =>
    probabilities.map((p, i) => [
      model.name, p, orNothing(scored[i]), free[i], orNothing(within[i]), orNothing(free[i] - within[i]), treatAll(model.points, priceAt(p)),
    ]),
  );
  const head = ["model", "threshold_probability", "as_scored", "best", "within_limits", "cost_of_limits", "treat_all"];
  return [head, ...rows];
}

function costData(view) {
  const rows = costRows(view).map(({ name, costs }) => [name, ...costs.map(orNothing)]);
  const unit = view.setting.price === null ? "false_alarms" : "money";
  const head = ["within_limits", "without_limits", "cost_of_limits"];
  return [["model", ...head.map((column) => `${column}_${unit}`)], ...rows];
}

function mapData({ models, map }) {
  const { results, cells, window } = map ?? { results: [], cells: 1, window: null };
  const rows = results.map(({ winner, close }, at) => {
    const middle = [at % cells, Math.floor(at / cells)].map((i) => (i + 0.5) / cells);
    const [capacity, floor] = placeOnMap(window, ...middle);
    return [capacity, floor, winner === -1 ? "" : models[winner].name, Number(close)];
  });
  return [["capacity", "min_precision", "winner", "close"], ...rows];
}

function peopleData(view) {
  const { chosen } = consequences(view);
  const shares = outcomeShares(view.focus.points, chosen);
  return [["kind", "share"], ...Object.entries(shares)];
}

/** The rows behind each picture of a view, by its name. */
export const CHART_DATA = {
  roc: rocData,
  threshold: thresholdData,
  area: areaData,
  map: mapData,
  people: peopleData,
  decision: decisionData,
  costs: costData,
};
