/** Certifies the thresholds of the file that VOROS_CASES names, and evaluates tails of the binomial distribution. */
import { readFileSync } from "node:fs";

import { atLeast } from "../../src/binomial.js";
import { certified, startsOf } from "../../src/guarantee.js";
import { maxAlarms, operatingPoints } from "../../src/voros.js";

const { tails, problems, starts } = JSON.parse(
  readFileSync(process.env.VOROS_CASES, "utf8"),
);
const flags = problems.map(({ points, cases, limits, alpha }) => {
  const held = operatingPoints(points, cases);
  return Array.from(certified(held, limits, maxAlarms(held, limits.capacity), alpha)).slice(1);
});
console.log(
  JSON.stringify({
    tails: tails.map((tail) => atLeast(...tail)),
    starts: starts.map((start) => startsOf(...start).map(({ rank, share }) => [rank, share])),
    flags,
  }),
);
