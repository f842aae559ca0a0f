/** Evaluates the groups of the file that VOROS_CASES names as the page does. */
import { readFileSync } from "node:fs";

import { exactLimits } from "../../src/binomial.js";
import { groupResults } from "../../src/groups.js";

const { limits, groups, asked } = JSON.parse(
  readFileSync(process.env.VOROS_CASES, "utf8"),
);
const results = asked.map(({ at, floor, recallFloor }) =>
  groupResults(groups, groups.models[0], at, floor, recallFloor),
);
console.log(JSON.stringify({ limits: limits.map((each) => exactLimits(...each)), found: results }));
