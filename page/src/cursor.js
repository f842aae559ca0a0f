/** One cursor over all charts of costs: what a miss counts there, and what each model does. */
import { w } from "./lang.js";
import { chartIn, html } from "./marks.js";
import { falseAlarms } from "./wording.js";

/** Factor by which an arrow key changes the worth of a miss. */
const KEYS = { ArrowRight: 1.1, ArrowUp: 1.1, ArrowLeft: 1 / 1.1, ArrowDown: 1 / 1.1 };

/** The charts in the page, each {state, place, reading}. */
let charts = [];

/** Forget the charts of a page that is no longer shown. */
export const forgetCursors = () => (charts = []);

function show({ state: { picture, frame }, place, reading }, miss) {
  for (const shape of picture.querySelectorAll(".pointer")) shape.remove();
  const values = miss === null || !frame ? "" : frame.read(miss).join("; ");
  reading.textContent = values && w.reading(falseAlarms(miss), values);
  if (!values) return;
  picture.append(...frame.shapes(miss));
  place.setAttribute("aria-valuenow", Number(miss.toPrecision(3)));
  place.setAttribute("aria-valuetext", reading.textContent);
}

/** Put the cursor of every chart at what a miss is worth; null takes it away. */
function moveTo(miss) {
  for (const chart of charts) if (chart.state.width > 0) show(chart, miss);
}

const within = ([low, high], miss) => Math.min(Math.max(miss, low), high);

function missUnder(event, { picture, frame }) {
  const { left, top } = picture.getBoundingClientRect();
  const miss = frame?.missAt(event.clientX - left, event.clientY - top) ?? null;
  return miss === null ? null : within(frame.misses, miss);
}

/**
 * A chart with a cursor. `draw(state, view)` leaves in `state.frame` what the cursor needs: the
 * `misses` it moves between, `missAt(x, y)` under the pointer or null, `shapes(miss)` to draw and
 * `read(miss)`, a text for each model.
 */
export function cursorChart(place, draw) {
  const reading = html("p", { class: "hint reading no-print" });
  place.after(reading);
  const chart = { state: { width: 0, frame: null, picture: place }, place, reading };
  charts.push(chart);
  const title = place.closest(".card").querySelector("h2");
  const named = { tabindex: 0, role: "slider", "aria-labelledby": title.id, "aria-valuenow": 1 };
  for (const [name, value] of Object.entries(named)) place.setAttribute(name, value);
  let at = 1;
  place.addEventListener("pointermove", (event) => moveTo(missUnder(event, chart.state)));
  place.addEventListener("pointerleave", () => moveTo(null));
  place.addEventListener("focus", () => chart.state.frame && moveTo(at));
  place.addEventListener("blur", () => moveTo(null));
  place.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS) || !chart.state.frame) return;
    at = within(chart.state.frame.misses, at * KEYS[event.key]);
    moveTo(at);
    event.preventDefault();
  });
  return chartIn(place, (state, view) => {
    chart.state = state;
    state.frame = null;
    draw(state, view);
    at = view.missAt;
    const [low, high] = state.frame?.misses ?? [at, at];
    const values = { valuemin: low, valuemax: high, valuenow: at, valuetext: falseAlarms(at) };
    for (const [name, value] of Object.entries(values)) place.setAttribute(`aria-${name}`, value);
    reading.textContent = "";
  });
}
