/** The whole result as one picture for a slide: setting, headline, ranking, people and curves. */
import { detached } from "./keeping_svg.js";
import { w } from "./lang.js";
import { byId, svg } from "./marks.js";
import { measured, settingText } from "./wording.js";

export const SLIDE = { width: 1280, height: 720 };

/** Letters of a line, lines of a paragraph, models that are named. */
const [LONGEST_LINE, MOST_MODELS] = [92, 8];

const INK = "#1c2733";

function linesOf(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > most && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function written(text, x, y, size, { bold = false, most = LONGEST_LINE } = {}) {
  const look = { x, y, fill: INK, "font-size": size, "font-weight": bold ? 700 : 400, "font-family": "sans-serif" };
  const lines = linesOf(text, most).map((line, i) => svg("tspan", { x, dy: i ? size * 1.3 : 0 }, line));
  return { shape: svg("text", look, ...lines), below: y + size * 1.3 * lines.length };
}

function rankingLines({ ranked }) {
  return ranked.slice(0, MOST_MODELS).map(({ mark, name, usable, score, interval }) => {
    const range = interval ? ` (${w.fromTo(measured(interval[0]), measured(interval[1]))})` : "";
    return `${mark.letter}  ${name}: ${usable ? measured(score) + range : "–"}`;
  });
}

/** A picture of the page, put into a rectangle of the slide. */
function placed(picture, x, y, width) {
  const [, , across, down] = picture.getAttribute("viewBox").split(" ").map(Number);
  const copy = detached(picture);
  const at = { x, y, width, height: (width * down) / across, preserveAspectRatio: "xMinYMin meet" };
  for (const [name, value] of Object.entries(at)) copy.setAttribute(name, value);
  return copy;
}

/** The slide, as an SVG element. */
export function slideOf(view) {
  const title = written(document.title, 40, 52, 22, { bold: true });
  const verdict = written(byId("verdict").textContent, 40, title.below + 10, 30, { bold: true, most: 70 });
  const setting = written(settingText(view.setting, view.words), 40, verdict.below, 15, { most: 150 });
  const said = written(byId("consequence").textContent, 40, setting.below + 8, 17, { most: 130 });
  const top = said.below + 16;
  const ranking = rankingLines(view).map((line, i) => written(line, 40, top + 300 + i * 24, 17, { most: 999 }).shape);
  const size = { viewBox: `0 0 ${SLIDE.width} ${SLIDE.height}`, ...SLIDE, xmlns: "http://www.w3.org/2000/svg" };
  return svg(
    "svg",
    size,
    svg("rect", { ...SLIDE, fill: "#ffffff" }),
    ...[title, verdict, setting, said].map(({ shape }) => shape),
    placed(document.querySelector("#people .crowd"), 40, top, 600),
    ...ranking,
    placed(document.querySelector("#roc svg"), 680, top, 560),
  );
}
