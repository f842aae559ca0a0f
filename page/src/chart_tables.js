/** What the ROC plot, the curves over costs and the map of winners show, as rows of text. */
import { w } from "./lang.js";
import { gainsOf, probabilityAt, treatAll } from "./net_benefit.js";
import { bestAt, normalisedArea } from "./voros.js";
import { placeOnMap } from "./winners.js";
import { falseAlarms, percent, plain, thresholdText } from "./wording.js";

/** Costs in the table of areas: the ends of the range and, if it is one, its middle. */
const costsShown = ({ setting: { miss }, missAt }) => [...new Set([miss[0], missAt, miss[1]])];

const NOTHING = "–";

const orDash = (value) => (Number.isNaN(value) ? NOTHING : plain(value));

/** The threshold each model uses where consequences are shown. */
export function rocRows({ models, ratioAt }) {
  const rows = models.map(({ name, points, result }) => {
    const i = result.hull ? result.hull.index[bestAt(result.hull, ratioAt)] : 0;
    return [
      name,
      thresholdText(points.thresholds[i]),
      percent(points.fp[i] / points.nNegative),
      percent(points.tp[i] / points.nPositive),
      i === 0 ? NOTHING : percent(points.tp[i] / points.alarms[i]),
    ];
  });
  return { head: [w.modelHead, w.scoreAtHead, w.falseAlarmsHead, w.caughtHead, w.rightHead], rows };
}

/** The height of each model's area curve at a few costs. */
export function areaRows(view) {
  const costs = costsShown(view);
  const rows = view.models.map(({ name, points, result }) => [
    name,
    ...costs.map((miss) =>
      result.hull ? percent(normalisedArea(points, result, 1 / miss)) : NOTHING,
    ),
  ]);
  return { head: [w.modelHead, ...costs.map((miss) => w.missWorth(falseAlarms(miss)))], rows };
}

/** The net benefit of each model and of an alarm for everybody at a few costs. */
export function decisionRows(view) {
  const costs = costsShown(view);
  const rows = view.models.map((model) => {
    const gains = costs.map((miss) => gainsOf(model, 1 / miss));
    return [model.name, ...gains.flatMap(({ within, limits }) => [within, limits].map(orDash))];
  });
  const all = costs.flatMap((miss) => [plain(treatAll(view.points[0], 1 / miss)), NOTHING]);
  const risks = costs.map((miss) => percent(probabilityAt(miss)));
  const head = risks.flatMap((risk) => [w.gainWithin(risk), w.gainLimits(risk)]);
  return { head: [w.modelHead, ...head], rows: [...rows, [w.everybody, ...all]] };
}

/** The map, its highest floor first: who wins in each cell. */
export function mapRows({ results, cells, window }, view) {
  const { models } = view;
  const middle = (i) => (i + 0.5) / cells;
  const said = ({ winner, close }) => {
    if (winner === -1) return w.noModelCell;
    return close ? w.closeCell(models[winner].name) : models[winner].name;
  };
  const capacities = Array.from({ length: cells }, (_, i) => placeOnMap(window, middle(i), 0)[0]);
  const rows = Array.from({ length: cells }, (_, i) => {
    const row = cells - 1 - i;
    const floor = placeOnMap(window, 0, middle(row))[1];
    return [percent(floor), ...results.slice(row * cells, (row + 1) * cells).map(said)];
  });
  const head = capacities.map((most) => (window.isCount ? plain(Math.round(most)) : percent(most)));
  return { head: [w.floorByCapacity, ...head], rows };
}
