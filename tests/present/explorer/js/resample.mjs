/** Draws the resamples of cases.json and scores them as the page does. */
import { readFileSync } from "node:fs";

import { countFile } from "./reading.js";
import { deviations, intervalsOf, prepared } from "./uncertainty.js";

const { rows, settings } = JSON.parse(readFileSync(new URL("./cases.json", import.meta.url), "utf8"));
const counted = await countFile(new Blob([rows]), "rows.csv");
const replicates = counted.resample();
const { nPositive, nNegative, models } = counted;
const ready = prepared({ models, cases: { nPositive, nNegative }, replicates });
const found = settings.map(({ setting, scores, best }) => {
  const moved = deviations(ready, setting);
  return { moved, intervals: intervalsOf(moved, scores, best) };
});
console.log(JSON.stringify({ replicates, found }));
