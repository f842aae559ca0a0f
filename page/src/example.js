/** A made-up file to try the page with: two models of 1,500 patients, one in eight positive. */
import { drawnCase } from "./resampling.js";

const [PATIENTS, FINENESS] = [1500, 2 ** 20];

/** A number between 0 and 1, the same on every visit. */
const uniform = (stream, place) => (drawnCase(stream, place, FINENESS) + 0.5) / FINENESS;

/** A normal number, of two uniform ones (Box and Muller). */
const normal = (stream, place) =>
  Math.sqrt(-2 * Math.log(uniform(stream, place))) * Math.cos(2 * Math.PI * uniform(stream + 1, place));

const risk = (logit) => (1 / (1 + Math.exp(-logit))).toFixed(4);

/** The rows, as the text of a file. */
export function exampleRows() {
  const rows = Array.from({ length: PATIENTS }, (_, i) => {
    const severity = normal(1, i);
    const died = uniform(9, i) < Number(risk(-2.6 + 1.6 * severity));
    const [careful, hasty] = [normal(3, i), normal(5, i)];
    return [died ? "yes" : "no", risk(-2.6 + 1.5 * severity + 0.4 * careful), risk(-2.6 + severity + hasty)].join(",");
  });
  return ["died,careful model,hasty model", ...rows].join("\n");
}
