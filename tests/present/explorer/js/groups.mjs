/** Evaluates the groups of cases.json as the page does. */
import { readFileSync } from "node:fs";

import { exactLimits, groupResults } from "./groups.js";

const { limits, groups, asked } = JSON.parse(
  readFileSync(new URL("./cases.json", import.meta.url), "utf8"),
);
const found = asked.map(({ at, floor }) => groupResults(groups, groups.models[0], at, floor));
console.log(JSON.stringify({ limits: limits.map((each) => exactLimits(...each)), found }));
