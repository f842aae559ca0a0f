/** Reads the files of the file that VOROS_CASES names as the page does, and prints what came of each. */
import { readFileSync } from "node:fs";

import { countFile } from "../../src/reading.js";

async function outcome({ name, content, wanted }) {
  try {
    const found = await countFile(new Blob([Buffer.from(content, "base64")]), name, wanted);
    const models = found.models.map((model) => ({
      name: model.name,
      thresholds: Array.from(model.thresholds, String),
      tp: Array.from(model.tp),
      fp: Array.from(model.fp),
    }));
    return { ...found, models };
  } catch (error) {
    return { problem: error.message, known: error.constructor.name === "DataError" };
  }
}

const cases = JSON.parse(readFileSync(process.env.VOROS_CASES, "utf8"));
const outcomes = [];
for (const each of cases) outcomes.push(await outcome(each));
console.log(JSON.stringify(outcomes));
