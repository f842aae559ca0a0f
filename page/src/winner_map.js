/** The map of winners around the current limits, drawn, and moved over by mouse or keys. */
import { axes, clip, linearScale, logScale, plotBox } from "./axes.js";
import { w } from "./lang.js";
import { badge, fill, pictureIn, svg } from "./marks.js";
import {
  GRIDS,
  cellAt,
  coarseCells,
  computeMap,
  letterCells,
  limitsAt,
  mapWindow,
  placeOnMap,
} from "./winners.js";
import { percent, plain } from "./wording.js";

/** Cells of the finished map, over which the keys move. */
const FINE = GRIDS.at(-1);

/** What each arrow key adds to [column, row]. */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

/** Corners of a cell in pixels, [[left, bottom], [right, top]]. */
function cellBox(column, row, cells, window, { x, y }) {
  return [0, 1].map((side) => {
    const [capacity, floor] = placeOnMap(window, (column + side) / cells, (row + side) / cells);
    return [x.at(capacity).toFixed(1), y.at(floor).toFixed(1)];
  });
}

/** One path for the cells that `wanted` marks. */
function cellsPath({ results, cells }, wanted, window, frame) {
  return results
    .map((cell, at) => {
      if (!wanted(cell)) return "";
      const [[x0, y0], [x1, y1]] = cellBox(at % cells, Math.floor(at / cells), cells, window, frame);
      return `M${x0} ${y0}H${x1}V${y1}H${x0}z`;
    })
    .join("");
}

/** The cells of each winner in its colour, and hatched where the call is close. */
function cellShapes(shown, window, models, frame) {
  const winners = [...new Set(shown.results.map(({ winner }) => winner))];
  const path = (wanted) => cellsPath(shown, wanted, window, frame);
  const areas = winners.map((won) => {
    const look = models[won] ? `area ${models[won].mark.hue}` : "nobody";
    return svg("path", { class: `cell ${look}`, d: path(({ winner }) => winner === won) });
  });
  return [...areas, svg("path", { class: "close", d: path(isClose) })];
}

const isClose = ({ winner, close }) => close && winner !== -1;

function hatch() {
  const size = { width: 7, height: 7, patternUnits: "userSpaceOnUse" };
  const stripe = svg("path", { class: "hatch", d: "M-1 8L8 -1M-1 1L1 -1M6 8L8 6" });
  return svg("pattern", { id: "map-hatch", ...size }, stripe);
}

function letters({ results, cells }, window, models, { x, y }) {
  return [...letterCells(results, cells)].map(([winner, { row, column }]) => {
    const [capacity, floor] = placeOnMap(window, (column + 0.5) / cells, (row + 0.5) / cells);
    return badge(models[winner].mark, x.at(capacity), y.at(floor));
  });
}

function crosshair({ capacity, minPrecision }, mostAlarms, { box, x, y }) {
  const now = capacity.count === undefined ? capacity.share : Math.min(capacity.count, mostAlarms);
  const [atX, atY] = [x.at(now), y.at(minPrecision)];
  const d = `M${box.left} ${atY}H${box.right}M${atX} ${box.top}V${box.bottom}`;
  return [
    svg("path", { class: "crosshair", d }),
    svg("circle", { class: "crosshair-dot", cx: atX, cy: atY, r: 5 }),
  ];
}

/** The cell the keys have come to. */
function cursorShapes([column, row], window, frame) {
  const [[x0, y0], [x1, y1]] = cellBox(column, row, FINE, window, frame);
  const d = `M${x0} ${y0}H${x1}V${y1}H${x0}z`;
  return ["cursor-halo", "cursor"].map((name) => svg("path", { class: name, d }));
}

function frameOf(width, window) {
  const height = Math.min(Math.max(width * 0.62, 250), 640);
  const box = plotBox(width, height);
  return {
    width,
    height,
    box,
    x: logScale(...window.capacities, box.left, box.right),
    y: linearScale(...window.floors, box.bottom, box.top),
  };
}

/** Limits in few digits, as a person would set them. */
function roundLimits(window, capacity, floor) {
  const most = Math.min(Number(capacity.toPrecision(3)), window.capacities[1]);
  return limitsAt(window, most, Number(floor.toFixed(3)));
}

/** The limits under the pointer, or null beside the map. */
function limitsUnder(event, picture, window, { box, x, y }) {
  const bounds = picture.getBoundingClientRect();
  const [px, py] = [event.clientX - bounds.left, event.clientY - bounds.top];
  if (px < box.left || px > box.right || py < box.top || py > box.bottom) return null;
  return roundLimits(window, x.invert(px), y.invert(py));
}

/** Who wins in a cell, at which limits, in words. */
function cellText({ minPrecision, capacity }, cell, view) {
  const most = capacity.count === undefined ? percent(capacity.share) : plain(capacity.count);
  const place = w.mapPlace(most, percent(minPrecision));
  if (!cell) return `${place}.`;
  if (cell.winner === -1) return w.mapNoModel(place);
  return w.mapWinner(place, view.models[cell.winner].name, cell.close ? w.tooCloseCell : null);
}

/**
 * The map; returns a function that starts it again for a view.
 *
 * A click, or Enter after arrow keys, calls `choose(limits)`; `say(text)` says what lies where
 * the keys have come to. The coarse grid is handed to `tabulate(shown, view)`, the finished one to
 * `describe(found, view)`. `compare(places, view, told)` says where several models cannot be told
 * apart from the best.
 */
export function winnerMap(place, { choose, say, tabulate, describe, compare }) {
  let [view, window, shown, cursor, stop] = [null, null, null, null, () => {}];
  const state = pictureIn(place, () => view && (shown ? draw() : start()));

  function draw() {
    const frame = frameOf(state.width, window);
    const { width, height, box, x, y } = frame;
    const cells = shown ? cellShapes(shown, window, view.models, frame) : [];
    fill(state, width, height, [
      svg("defs", {}, clip("map-plot", box), hatch()),
      svg("g", { "clip-path": "url(#map-plot)" }, ...cells),
      axes(box, x, y, {
        xTitle: w.mapAxis(view.titles.capacity, window.isCount, view.words),
        yTitle: view.titles.min_precision,
        xLabel: (value) => (window.isCount ? plain(value) : percent(value)),
        yLabel: (value) => percent(value),
      }),
      ...(shown ? letters(shown, window, view.models, frame) : []),
      ...crosshair(view.setting, view.mostAlarms, frame),
      ...(cursor ? cursorShapes(cursor, window, frame) : []),
    ]);
  }

  function show(results, cells) {
    shown = { results, cells, window };
    if (cells === FINE) judge(results);
    draw();
    tabulate(coarseCells(shown), view);
    if (cells === FINE) describe(results, view, shown);
  }

  /** Hatch cells as they are judged; until then none is. */
  function judge(results) {
    const races = results.filter(({ second }) => second !== -1);
    const asked = view;
    const told = (calls, first) => {
      if (view !== asked) return;
      calls.forEach((close, i) => (races[first + i].close = close));
      draw();
      tabulate(coarseCells(shown), view);
    };
    compare(races, view, told);
  }

  function limitsOfCursor() {
    const middle = cursor.map((at) => (at + 0.5) / FINE);
    return roundLimits(window, ...placeOnMap(window, ...middle));
  }

  function moveCursor(step) {
    const from = cursor ?? cellAt(window, view.setting, view.mostAlarms, FINE);
    cursor = from.map((at, axis) => Math.min(Math.max(at + step[axis], 0), FINE - 1));
    draw();
    const [column, row] = cursor;
    const cell = shown?.cells === FINE ? shown.results[row * FINE + column] : null;
    say(cellText(limitsOfCursor(), cell, view));
  }

  function dropCursor() {
    cursor = null;
    say("");
  }

  state.picture.addEventListener("click", (event) => {
    const limits = view && limitsUnder(event, state.picture, window, frameOf(state.width, window));
    if (limits) choose(limits);
  });
  state.picture.addEventListener("pointermove", (event) => {
    const limits = view && limitsUnder(event, state.picture, window, frameOf(state.width, window));
    const [column, row] = limits ? cellAt(window, limits, view.mostAlarms, FINE) : [0, 0];
    const cell = limits && shown?.cells === FINE ? shown.results[row * FINE + column] : null;
    say(limits ? cellText(limits, cell, view) : "");
  });
  state.picture.addEventListener("pointerleave", () => say(""));
  place.addEventListener("keydown", (event) => {
    if (event.key in ARROWS) moveCursor(ARROWS[event.key]);
    else if (cursor && (event.key === "Enter" || event.key === " ")) choose(limitsOfCursor());
    else return;
    event.preventDefault();
  });
  place.addEventListener("blur", () => {
    dropCursor();
    draw();
  });

  function start() {
    draw();
    stop = computeMap(view, window, show);
  }

  return (next) => {
    stop();
    dropCursor();
    [view, window, shown] = [next, mapWindow(next.setting, next.mostAlarms, next.mostRate), null];
    // Folded away, it is computed once it is opened.
    if (state.width > 0) start();
  };
}
