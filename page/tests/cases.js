/** Problems that Python has solved, where pytest runs these tests: `VOROS_CASES` names their file. */
import { readFileSync } from "node:fs";
import test from "node:test";

const path = process.env.VOROS_CASES;

export const cases = path ? JSON.parse(readFileSync(path, "utf8")) : null;

/** A test that needs them. */
export const testOnCases = cases ? test : test.skip;
