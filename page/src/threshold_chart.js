/** The threshold to deploy at each cost, as a staircase and as a table. */
import { costBand, costFrame, shownMisses } from "./area_chart.js";
import { axes, clip, linearScale, logScale, plotBox } from "./axes.js";
import { w } from "./lang.js";
import { cursorChart } from "./cursor.js";
import { fill, html, svg } from "./marks.js";
import { countedAlarms, usedVertices } from "./voros.js";
import { percent, plain, thresholdText } from "./wording.js";

/** The best threshold on each range of what a miss is worth, by increasing cost of a miss. */
/** @param {any} model @param {number[]} misses */
export function choices({ points, result: { hull } }, [low, high]) {
  const [first, last] = usedVertices(hull, 1 / high, 1 / low);
  const rows = [];
  for (let j = first; j <= last; j++) {
    const i = hull.index[j];
    rows.push({
      from: Math.max(1 / hull.enter[j], low),
      to: Math.min(1 / (hull.enter[j + 1] ?? 0), high),
      threshold: points.thresholds[i],
      alarms: countedAlarms(points)[i] / (points.nPositive + points.nNegative),
      precision: points.alarms[i] > 0 ? points.tp[i] / points.alarms[i] : NaN,
      recall: points.tp[i] / points.nPositive,
    });
  }
  return rows;
}

const cell = (tag, text, attributes = {}) => html(tag, attributes, text);

function tableRow(row) {
  const worth = row.from === row.to ? plain(row.from) : w.range(plain(row.from), plain(row.to));
  return html(
    "tr",
    {},
    cell("th", worth, { scope: "row" }),
    cell("td", thresholdText(row.threshold)),
    cell("td", percent(row.alarms)),
    cell("td", Number.isNaN(row.precision) ? "–" : percent(row.precision)),
    cell("td", percent(row.recall)),
  );
}

/** The table below the staircase; returns a function that fills it from a view. */
export function thresholdTable(body) {
  return ({ focus, setting }) => {
    body.replaceChildren(...(focus.result.hull ? choices(focus, setting.miss).map(tableRow) : []));
  };
}

function staircase(rows, x, y) {
  const drawn = rows.filter((row) => Number.isFinite(row.threshold));
  const d = drawn
    .map((row, i) => {
      const [from, to, height] = [x.at(row.from), x.at(row.to), y.at(row.threshold)];
      return `${i ? "L" : "M"}${from.toFixed(1)} ${height.toFixed(1)}H${to.toFixed(1)}`;
    })
    .join("");
  return d;
}

function heights(rows) {
  const known = rows.map((row) => row.threshold).filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const margin = (high / 2 - low / 2 || Math.abs(high) / 2 || 0.5) * 0.16;
  const within = (value) => Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
  return known.length ? [within(low - margin), within(high + margin)] : null;
}

/** The staircase; returns a function that draws a view. */
export function thresholdChart(place) {
  return cursorChart(place, (state, view) => {
    const { width } = state;
    const height = Math.min(Math.max(width * 0.45, 220), 420);
    const box = plotBox(width, height);
    const shown = shownMisses(view.setting);
    const rows = view.focus.result.hull ? choices(view.focus, shown) : [];
    const range = heights(rows);
    if (!range) return fill(state, width, 0, []);
    const x = logScale(...shown, box.left, box.right);
    const y = linearScale(...range, box.bottom, box.top);
    state.frame = costFrame(box, x, shown, (miss) => {
      const row = rows.find(({ to }) => miss <= to) ?? rows.at(-1);
      return [w.thresholdRead(thresholdText(row.threshold), percent(row.alarms), percent(row.recall))];
    });
    return fill(state, width, height, [
      svg("defs", {}, clip("threshold-plot", box)),
      ...costBand(box, x, view),
      axes(box, x, y, {
        xTitle: view.titles.miss,
        yTitle: view.titles.threshold,
        xLabel: (value) => plain(value),
        yLabel: (value) => plain(value, 4),
      }),
      svg(
        "g",
        { "clip-path": "url(#threshold-plot)" },
        svg("path", {
          class: `line stroke ${view.focus.mark.hue}`,
          d: staircase(rows, x, y),
        }),
      ),
    ]);
  });
}
