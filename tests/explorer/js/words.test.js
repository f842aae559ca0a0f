/** Settings as links and texts, people as whole numbers, and winners on the map. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { firstSetting, fromHash, missAt, toHash, toPython, toToml } from "./setting.js";
import { atPrevalence, operatingPoints } from "./voros.js";
import { GRIDS, computeMap, mapWindow, winnerAt } from "./winners.js";
import { consequenceText, outcomeShares, roundedDown, verdictText, wholeOutOf } from "./wording.js";

const cases = JSON.parse(readFileSync(new URL("./cases.json", import.meta.url), "utf8"));

const FIRST = firstSetting({
  minPrecision: 0.15,
  capacity: { share: 1 },
  miss: [6, 9],
  spread: "ratio",
  prevalence: null,
});

test("a setting survives the address", () => {
  const others = [
    FIRST,
    { ...FIRST, capacity: { count: 40 }, miss: [1e-7, 2.5e21], spread: "miss" },
    {
      ...FIRST,
      minPrecision: 1 / 3,
      prevalence: 0.0123456789012345,
      at: 0.25,
      model: 2,
      zoom: false,
    },
  ];
  for (const setting of others)
    assert.deepEqual(fromHash(`#${toHash(setting)}`, FIRST, 4), setting);
});

test("what an address cannot mean is left as it was", () => {
  const hash = "#precision=2&share=0&miss=9_6&spread=odd&prevalence=1&at=7&model=5";
  assert.deepEqual(fromHash(hash, FIRST, 4), FIRST);
  assert.deepEqual(fromHash("#result", FIRST, 4), FIRST);
  assert.deepEqual(fromHash("", FIRST, 4), FIRST);
});

test("a share of 1 is never written as one case", () => {
  assert.match(toPython(FIRST), /capacity=1\.0,/);
  assert.match(toToml(FIRST), /^capacity = 1\.0$/m);
  assert.match(toPython({ ...FIRST, capacity: { count: 1 } }), /capacity=1,/);
});

test("the middle of the costs is that of their logarithm", () => {
  assert.ok(Math.abs(missAt({ miss: [4, 25], at: 0.5 }) - 10) < 1e-12);
  assert.equal(missAt({ miss: [7, 7], at: 0.5 }), 7);
});

test("one hundred people are always one hundred", () => {
  const cases = { nPositive: 3, nNegative: 4, oneCase: 1, wholeCounts: true, wholeCases: true };
  const points = operatingPoints({ thresholds: [2, 1], tp: [1, 3], fp: [1, 4] }, cases);
  for (const prevalence of [null, 0.511, 0.9999, 1e-6]) {
    const deployed = atPrevalence(points, prevalence);
    for (let i = 0; i < 3; i++) {
      const counts = Object.values(wholeOutOf(100, outcomeShares(deployed, i)));
      assert.ok(counts.every((count) => Number.isInteger(count) && count >= 0));
      assert.equal(
        counts.reduce((a, b) => a + b),
        100,
      );
    }
  }
});

test("a threshold is never rounded up", () => {
  assert.equal(roundedDown(0.7470092770000001), 0.747009277);
  assert.equal(roundedDown(0.12345678966), 0.1234567896);
  assert.equal(roundedDown(0.99999999999), 0.9999999999);
  assert.equal(roundedDown(-1.23456789012), -1.234567891);
  assert.deepEqual(
    [0, 105, 0.1, -3].map((value) => roundedDown(value)),
    [0, 105, 0.1, -3],
  );
});

test("consequences in plain words", () => {
  const words = { cases: "patients", outcome: "sepsis" };
  const told = (caught, missed, falseAlarm) =>
    consequenceText({ caught, missed, falseAlarm, quiet: 1 - caught - missed - falseAlarm }, words);
  assert.equal(
    told(0.05, 0.03, 0.04),
    "of 100 patients, 9 raise an alarm, 5 of them rightly; 3 of the 8 with sepsis are missed.",
  );
  assert.equal(
    told(0, 0.01, 0),
    "of 100 patients, none raises an alarm; 1 of the 1 with sepsis is missed.",
  );
  assert.equal(
    told(0.003, 0.077, 0.001),
    "of 1,000 patients, 4 raise an alarm, 3 of them rightly; 77 of the 80 with sepsis are missed.",
  );
});

test("the verdict names the lead, a close call, and what cannot be used", () => {
  const model = (name, score, usable = true) => ({ name, score, usable });
  assert.equal(
    verdictText([model("a", 0.5), model("b", 0.4)], 0.01),
    "a ranks first, 0.100 ahead of b.",
  );
  assert.match(
    verdictText([model("a", 0.5), model("b", 0.495)], 0.01),
    /too close to call: 0\.0050/,
  );
  assert.match(verdictText([model("a", 0.5), model("b", 0, false)], 0.01), /^Only a can/);
  assert.match(verdictText([model("a", 0, false)], 0.01), /^No model/);
});

test("winners and leads are Python's", () => {
  const models = cases.models.map((model) => operatingPoints(model, cases.sizes));
  assert.ok(cases.winners.some(({ winner }) => winner === -1));
  for (const { minPrecision, capacity, costs, winner, lead } of cases.winners) {
    const found = winnerAt(models, { minPrecision, capacity }, costs);
    assert.equal(found.winner, winner);
    if (winner !== -1) assert.ok(Math.abs(found.lead - lead) < 1e-11);
  }
});

test("the map comes coarse, then fine, and the middle cell is the current setting's", async () => {
  const points = cases.models.map((model) => operatingPoints(model, cases.sizes));
  const setting = { minPrecision: 0.4, capacity: { share: 0.2 } };
  const costs = { over: "miss", low: 2, high: 6 };
  const window = mapWindow(setting, cases.sizes.nPositive + cases.sizes.nNegative);
  const grids = await new Promise((resolve) => {
    const seen = [];
    computeMap({ points, costs, closeCall: 0.01 }, window, (found, cells) => {
      seen.push({ found, cells });
      if (cells === GRIDS.at(-1)) resolve(seen);
    });
  });
  assert.deepEqual(
    grids.map(({ cells }) => cells),
    GRIDS,
  );
  for (const { found, cells } of grids) {
    const middle = found[((cells * cells) / 2) | 0];
    assert.equal(middle.winner, winnerAt(points, setting, costs).winner);
  }
});
