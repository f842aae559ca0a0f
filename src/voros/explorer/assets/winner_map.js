/** The map of winners around the current limits, drawn. */
import { axes, clip, linearScale, logScale, plotBox } from "./axes.js";
import { badge, fill, pictureIn, svg } from "./marks.js";
import { GRIDS, computeMap, letterCells, limitsAt, mapWindow, placeOnMap } from "./winners.js";
import { percent, plain } from "./wording.js";

/** One path per look: the cells that one model wins clearly, or narrowly, or nobody wins. */
function cellPaths({ found, cells }, window, x, y) {
  const paths = new Map();
  const pixels = (column, row) => {
    const [capacity, floor] = placeOnMap(window, column / cells, row / cells);
    return [x.at(capacity).toFixed(1), y.at(floor).toFixed(1)];
  };
  found.forEach(({ winner, close }, at) => {
    const [row, column] = [Math.floor(at / cells), at % cells];
    const [[x0, y0], [x1, y1]] = [pixels(column, row), pixels(column + 1, row + 1)];
    const key = `${winner} ${close ? "close" : "clear"}`;
    paths.set(key, `${paths.get(key) ?? ""}M${x0} ${y0}H${x1}V${y1}H${x0}z`);
  });
  return paths;
}

function cellShapes(shown, window, models, x, y) {
  return [...cellPaths(shown, window, x, y)].map(([key, d]) => {
    const [winner, lead] = key.split(" ");
    const mark = models[winner]?.mark;
    return svg("path", {
      class: `cell ${mark ? lead : "nobody"}`,
      d,
      fill: mark?.colour ?? "#d9dee3",
    });
  });
}

function letters({ found, cells }, window, models, x, y) {
  return [...letterCells(found, cells)].map(([winner, { row, column }]) => {
    const [capacity, floor] = placeOnMap(window, (column + 0.5) / cells, (row + 0.5) / cells);
    return badge(models[winner].mark, x.at(capacity), y.at(floor));
  });
}

function crosshair({ capacity, minPrecision }, nCases, { box, x, y }) {
  const now = capacity.count === undefined ? capacity.share : Math.min(capacity.count, nCases);
  const [atX, atY] = [x.at(now), y.at(minPrecision)];
  const d = `M${box.left} ${atY}H${box.right}M${atX} ${box.top}V${box.bottom}`;
  return [
    svg("path", { class: "crosshair", d }),
    svg("circle", { class: "crosshair-dot", cx: atX, cy: atY, r: 5 }),
  ];
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

/** The limits under the pointer, in few digits, or null beside the map. */
function limitsUnder(event, picture, window, { box, x, y }) {
  const bounds = picture.getBoundingClientRect();
  const [px, py] = [event.clientX - bounds.left, event.clientY - bounds.top];
  if (px < box.left || px > box.right || py < box.top || py > box.bottom) return null;
  const capacity = Math.min(Number(x.invert(px).toPrecision(3)), window.capacities[1]);
  return limitsAt(window, capacity, Number(y.invert(py).toFixed(3)));
}

/**
 * The map; returns a function that starts it anew for a view.
 *
 * A click calls `choose(limits)`; the finished map is handed to `describe(found, view)`.
 */
export function winnerMap(place, { choose, describe }) {
  let [view, window, shown, stop] = [null, null, null, () => {}];
  const state = pictureIn(place, () => view && draw());

  function draw() {
    const frame = frameOf(state.width, window);
    const { width, height, box, x, y } = frame;
    const cells = shown ? cellShapes(shown, window, view.models, x, y) : [];
    fill(state, width, height, [
      svg("defs", {}, clip("map-plot", box)),
      svg("g", { "clip-path": "url(#map-plot)" }, ...cells),
      axes(box, x, y, {
        xTitle: "Capacity: alarms for at most",
        yTitle: "Precision floor",
        xLabel: (value) => (window.isCount ? plain(value) : percent(value)),
        yLabel: (value) => percent(value),
      }),
      ...(shown ? letters(shown, window, view.models, x, y) : []),
      ...crosshair(view.setting, view.nCases, frame),
    ]);
  }

  function show(found, cells) {
    shown = { found, cells };
    draw();
    if (cells === GRIDS.at(-1)) describe(found, view);
  }

  state.picture.addEventListener("click", (event) => {
    const limits = view && limitsUnder(event, state.picture, window, frameOf(state.width, window));
    if (limits) choose(limits);
  });

  return (next) => {
    stop();
    [view, window, shown] = [next, mapWindow(next.setting, next.nCases), null];
    draw();
    stop = computeMap(view, window, show);
  };
}
