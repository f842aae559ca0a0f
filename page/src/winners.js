/** Who wins at the limits around the current ones; computed a slice at a time, coarse first. */
import { canAlarm, evaluate } from "./voros.js";

/** Cells along each side of the map, first coarse, then fine. */
export const GRIDS = [7, 21];

/** Milliseconds of computing before the page may answer to its reader again. */
const SLICE = 10;

/** How far the map reaches: a factor for the capacity, a difference for the precision floor. */
const CAPACITY_FACTOR = 4;
const FLOOR_REACH = 0.2;

/** The limits at the edges of the map. */
export function mapWindow({ minPrecision, minRecall = 0, capacity, zoom = true }, mostAlarms, mostRate = 1) {
  const isCount = capacity.count !== undefined;
  const now = isCount ? Math.min(capacity.count, mostAlarms) : capacity.share;
  const [least, most] = isCount ? [1, mostAlarms] : [mostRate / mostAlarms, mostRate];
  if (!zoom) return { isCount, minRecall, capacities: [Math.min(least, now / 2), most], floors: [0, 1] };
  return {
    isCount,
    minRecall,
    capacities: [
      Math.max(now / CAPACITY_FACTOR, Math.min(least, now / 2)),
      Math.min(now * CAPACITY_FACTOR, most),
    ],
    floors: [Math.max(minPrecision - FLOOR_REACH, 0), Math.min(minPrecision + FLOOR_REACH, 1)],
  };
}

/** The place [capacity, floor] on the map, given as shares of its width and height. */
export function placeOnMap({ capacities, floors }, across, up) {
  return [
    capacities[0] * (capacities[1] / capacities[0]) ** across,
    floors[0] + up * (floors[1] - floors[0]),
  ];
}

/** The cell [column, row] in which a setting lies. */
export function cellAt({ capacities, floors }, { minPrecision, capacity }, mostAlarms, cells) {
  const now = capacity.count === undefined ? capacity.share : Math.min(capacity.count, mostAlarms);
  const across = Math.log(now / capacities[0]) / Math.log(capacities[1] / capacities[0]);
  const up = (minPrecision - floors[0]) / (floors[1] - floors[0]);
  return [across, up].map((share) => Math.min(Math.max(Math.floor(share * cells), 0), cells - 1));
}

/** The limits that a place on the map stands for. */
export function limitsAt({ isCount, minRecall }, capacity, floor) {
  return {
    minPrecision: floor,
    minRecall,
    capacity: isCount ? { count: Math.max(1, Math.round(capacity)) } : { share: capacity },
  };
}

/**
 * At given limits: the winner's position (-1: no model can raise an alarm), the second's (-1: no
 * other can), the winner's lead, and all scores, null for models that cannot raise an alarm.
 */
export function winnerAt(pointsOfModels, limits, costs) {
  const scores = pointsOfModels.map(() => null);
  let [winner, second] = [-1, -1];
  pointsOfModels.forEach((points, position) => {
    const { score, hull } = evaluate(points, limits, costs);
    if (score === null || !canAlarm(hull)) return;
    scores[position] = score;
    if (winner === -1 || score > scores[winner]) [winner, second] = [position, winner];
    else if (second === -1 || score > scores[second]) second = position;
  });
  return { winner, second, lead: (scores[winner] ?? 0) - (scores[second] ?? 0), scores };
}

/** The cells in the order in which they are computed. */
/** @returns {Iterator<any>} */
function* cellOrder() {
  for (const cells of GRIDS) {
    for (let row = 0; row < cells; row++) {
      for (let column = 0; column < cells; column++) yield { cells, row, column };
    }
  }
}

/**
 * Compute the map in slices, so that the page stays quick, and hand over each finished grid as
 * `shown(found, cells)`, by rows from the lowest floor. Returns a function that stops it.
 */
export function computeMap({ points, costs }, window, shown) {
  const order = cellOrder();
  let results = [];
  let stopped = false;

  function compute({ cells, row, column }) {
    const place = placeOnMap(window, (column + 0.5) / cells, (row + 0.5) / cells);
    const limits = limitsAt(window, ...place);
    results.push({ limits, ...winnerAt(points, limits, costs), close: false });
    if (results.length < cells * cells) return;
    shown(results, cells);
    results = [];
  }

  function slice() {
    const until = performance.now() + SLICE;
    while (!stopped && performance.now() < until) {
      const { done, value } = order.next();
      if (done) return;
      compute(value);
    }
    if (!stopped) setTimeout(slice, 0);
  }

  setTimeout(slice, 0);
  return () => {
    stopped = true;
  };
}

/** The cells of the coarse grid, of a fine one: their middles are the same. */
export function coarseCells({ results, cells, window }) {
  const [coarse, step] = [GRIDS[0], cells / GRIDS[0]];
  const within = (i) => i * step + (step - 1) / 2;
  const picked = Array.from(
    { length: coarse ** 2 },
    (_, at) => results[within(Math.floor(at / coarse)) * cells + within(at % coarse)],
  );
  return { results: picked, cells: coarse, window };
}

/** How many cells around a cell, in every direction, have the same winner. */
function depthOf(results, cells, row, column) {
  const own = results[row * cells + column].winner;
  const same = (r, c) =>
    r >= 0 && c >= 0 && r < cells && c < cells && results[r * cells + c].winner === own;
  const ring = (d) =>
    [-d, 0, d].every((up) => [-d, 0, d].every((across) => same(row + up, column + across)));
  let depth = 1;
  while (depth < cells && ring(depth)) depth++;
  return depth;
}

/** For each winner, the cell deepest inside what it wins: the place for its letter. */
export function letterCells(results, cells) {
  const places = new Map();
  results.forEach(({ winner }, at) => {
    const [row, column] = [Math.floor(at / cells), at % cells];
    const depth = winner === -1 ? 0 : depthOf(results, cells, row, column);
    if (depth > (places.get(winner)?.depth ?? 0)) places.set(winner, { depth, row, column });
  });
  return places;
}
