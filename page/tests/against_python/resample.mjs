/** Draws the resamples of the file that VOROS_CASES names and judges its models as the page does. */
import { readFileSync } from "node:fs";

import { countFile } from "../../src/reading.js";
import { closeCalls, deviations, intervalsOf, leadersOf, prepared } from "../../src/uncertainty.js";
import { winnerAt } from "../../src/winners.js";
import { operatingPoints } from "../../src/voros.js";

const { rows, settings, wanted = {} } = JSON.parse(readFileSync(process.env.VOROS_CASES, "utf8"));
const counted = await countFile(new Blob([rows]), "rows.csv", wanted);
const replicates = counted.resample();
const { nPositive, nNegative, models } = counted;
const cases = { nPositive, nNegative, oneCase: 1, wholeCounts: true, wholeCases: true };
const ready = prepared({ models, cases, replicates, periods: counted.periods, grouped: Boolean(wanted.patient || wanted.day) });
const points = models.map((model) => operatingPoints(model, cases));
const judged = settings.map(({ setting, scores }) => {
  const { prevalence, costs, ...limits } = setting;
  const place = { limits, ...winnerAt(points, limits, costs) };
  return {
    moved: deviations(ready, setting),
    intervals: intervalsOf(ready, setting, scores),
    ...leadersOf(ready, setting, scores),
    close: prevalence === null ? closeCalls(ready, [place], { prevalence, costs })[0] : null,
  };
});
console.log(JSON.stringify({ replicates, judged }));
