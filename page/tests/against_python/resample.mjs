/** Draws the resamples of the file that VOROS_CASES names and scores them as the page does. */
import { readFileSync } from "node:fs";

import { countFile } from "../../src/reading.js";
import { closeCalls, deviations, intervalsOf, prepared } from "../../src/uncertainty.js";

/** How far the first of two models may be ahead on the cases themselves. */
const LEADS = [0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.1, 0.2];

const { rows, settings } = JSON.parse(readFileSync(process.env.VOROS_CASES, "utf8"));
const counted = await countFile(new Blob([rows]), "rows.csv");
const replicates = counted.resample();
const { nPositive, nNegative, models } = counted;
const ready = prepared({ models, cases: { nPositive, nNegative }, replicates });
const found = settings.map(({ setting, scores, best }) => {
  const moved = deviations(ready, setting);
  const { prevalence, costs, ...limits } = setting;
  const races = LEADS.map((lead) => ({ limits, winner: best, second: 1 - best, lead }));
  const close = closeCalls(ready, races, { prevalence, costs });
  return { moved, intervals: intervalsOf(moved, scores, best), close };
});
console.log(JSON.stringify({ replicates, found }));
