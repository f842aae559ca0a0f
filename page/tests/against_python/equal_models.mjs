/** In how many simulated files, of equally good models, the headline says that some differ. */
import { readFileSync } from "node:fs";

import { countFile } from "../../src/reading.js";
import { leadersOf, prepared } from "../../src/uncertainty.js";
import { evaluate, operatingPoints } from "../../src/voros.js";

const { files, rows, models } = JSON.parse(readFileSync(process.env.VOROS_CASES, "utf8"));

/** Moderate limits, none at all with costly misses, and a small capacity. */
const SETTINGS = [
  { minPrecision: 0.2, capacity: { share: 0.3 }, costs: { over: "miss", low: 5, high: 20 } },
  { minPrecision: 0, capacity: { share: 1 }, costs: { over: "miss", low: 10, high: 100 } },
  { minPrecision: 0.3, capacity: { share: 0.1 }, costs: { over: "miss", low: 5, high: 10 } },
];

let seed = 20261116;

/** Uniform numbers, by Mulberry32. */
function uniform() {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());

function simulatedFile() {
  const columns = Array.from({ length: models });
  const lines = [["label", ...columns.map((_, i) => `model ${i}`)].join(",")];
  for (let row = 0; row < rows; row++) {
    const [label, shared] = [uniform() < 0.15 ? 1 : 0, normal()];
    lines.push([label, ...columns.map(() => 0.8 * shared + 0.6 * normal() + 1.5 * label)].join(","));
  }
  return new Blob([lines.join("\n")]);
}

const wrong = SETTINGS.map(() => 0);
for (let file = 0; file < files; file++) {
  const counted = await countFile(simulatedFile(), "equal.csv");
  const { nPositive, nNegative } = counted;
  const cases = { nPositive, nNegative, oneCase: 1, wholeCounts: true, wholeCases: true };
  const points = counted.models.map((model) => operatingPoints(model, cases));
  const ready = prepared({ models: counted.models, cases, replicates: counted.resample() });
  SETTINGS.forEach(({ costs, ...limits }, k) => {
    const scores = points.map((held) => evaluate(held, limits, costs).score);
    const { tied } = leadersOf(ready, { ...limits, costs, prevalence: null }, scores);
    if (tied && tied.length < models) wrong[k]++;
  });
}
console.log(JSON.stringify({ wrong }));
