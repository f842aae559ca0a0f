/** A picture of one hundred people: caught, missed, false alarms, and correctly left alone. */
import { w } from "./lang.js";
import { html, svg } from "./marks.js";
import { bestAt } from "./voros.js";
import { consequenceText, outcomeShares, wholeOutOf } from "./wording.js";

const PEOPLE = 100;
const IN_A_ROW = 20;
const CELL = { width: 20, height: 30 };

/** The word for each kind, and the sign on its chest, so that colour is not needed. */
const KINDS = [
  ["caught", "caught", "+"],
  ["missed", "missed", "×"],
  ["falseAlarm", "falseAlarmed", "!"],
  ["quiet", "quiet", ""],
];

function person(kind, sign, x, y) {
  return svg(
    "g",
    { class: `person ${kind}`, transform: `translate(${x} ${y})` },
    svg("circle", { cx: 10, cy: 6, r: 4.2 }),
    svg("path", { d: "M3 27v-9a5 5 0 0 1 5-5h4a5 5 0 0 1 5 5v9z" }),
    svg("text", { x: 10, y: 24, "text-anchor": "middle" }, sign),
  );
}

function crowd(counts) {
  const kinds = KINDS.flatMap(([kind, , sign]) => Array(counts[kind]).fill([kind, sign]));
  const [width, rows] = [IN_A_ROW * CELL.width, Math.ceil(PEOPLE / IN_A_ROW)];
  return svg(
    "svg",
    { class: "crowd", viewBox: `0 0 ${width} ${rows * CELL.height}`, "aria-hidden": "true" },
    ...kinds.map(([kind, sign], i) =>
      person(kind, sign, (i % IN_A_ROW) * CELL.width, Math.floor(i / IN_A_ROW) * CELL.height),
    ),
  );
}

function legend(counts) {
  const items = KINDS.map(([kind, word, sign]) =>
    html(
      "li",
      {},
      svg(
        "svg",
        { class: "key", viewBox: "0 0 20 30", "aria-hidden": "true" },
        person(kind, sign, 0, 0),
      ),
      html("span", {}, html("b", {}, String(counts[kind])), ` ${w[word]}`),
    ),
  );
  return html("ul", { class: "legend" }, ...items);
}

/** The threshold in use for the view's model, and what it does to the cases. */
export function consequences({ focus, ratioAt }) {
  const { points, result } = focus;
  const chosen = result.hull ? result.hull.index[bestAt(result.hull, ratioAt)] : 0;
  return { chosen, shares: outcomeShares(points, chosen) };
}

/** The picture; returns a function that draws a view and gives back its sentence. */
export function peoplePicture(place) {
  let drawn = "";
  return (view) => {
    const { shares } = consequences(view);
    const counts = wholeOutOf(PEOPLE, shares);
    const wanted = JSON.stringify([counts, w.language]);
    // Patient-days with more than an alarm each are not drawn.
    const fits = Object.values(counts).reduce((sum, count) => sum + count, 0) <= PEOPLE;
    if (drawn !== wanted) place.replaceChildren(...(fits ? [crowd(counts), legend(counts)] : []));
    drawn = wanted;
    return consequenceText(shares, view.words);
  };
}
