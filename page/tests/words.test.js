/** Settings as links and texts, people as whole numbers, and winners on the map. */
import assert from "node:assert/strict";
import test from "node:test";

import { cases, testOnCases } from "./cases.js";
import { firstSetting, missAt, readHash, toHash, toPython, toToml } from "../src/setting.js";
import { atPrevalence, operatingPoints } from "../src/voros.js";
import { GRIDS, computeMap, mapWindow, winnerAt } from "../src/winners.js";
import {
  consequenceText,
  falseAlarms,
  measured,
  outcomeShares,
  percent,
  plain,
  thresholdText,
  settingText,
  several,
  CHECKING,
  UNKNOWN,
  verdictText,
  wholeOutOf,
} from "../src/wording.js";

const FIRST = firstSetting({
  minPrecision: 0.15,
  minRecall: 0,
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
      minRecall: 0.9,
      prevalence: 0.0123456789012345,
      at: 0.25,
      model: 2,
      zoom: false,
    },
  ];
  for (const setting of others)
    assert.deepEqual(readHash(`#${toHash(setting)}`, FIRST, 4), { setting, problems: [] });
});

test("the data's own prevalence survives the address of a page that opens with another", () => {
  const first = { ...FIRST, prevalence: 0.2 };
  assert.equal(readHash(`#${toHash(FIRST)}`, first, 4).setting.prevalence, null);
  assert.equal(readHash("#precision=0.3", first, 4).setting.prevalence, 0.2);
});

test("what an address cannot mean is left as it was, and said", () => {
  const hash = "#precision=2&share=0&miss=9_6&spread=odd&prevalence=1&at=7&model=5&zoom=yes";
  const { setting, problems } = readHash(hash, FIRST, 4);
  assert.deepEqual(setting, FIRST);
  assert.equal(problems.length, 8);
  assert.equal(problems[0], "precision=2 (accepted: 0 to 1)");
  for (const odd of ["0x1", "Infinity", "", " 1", "1e999", "NaN", "1,5", "_", "1_2_3"]) {
    for (const key of ["precision", "recall", "share", "count", "miss", "prevalence", "at", "model"]) {
      const read = readHash(`#${new URLSearchParams({ [key]: odd })}`, FIRST, 4);
      assert.deepEqual(read.setting, FIRST, `${key}=${odd}`);
      assert.equal(read.problems.length, 1, `${key}=${odd}`);
    }
  }
  assert.deepEqual(readHash("#result", FIRST, 4), { setting: FIRST, problems: [] });
  assert.deepEqual(readHash("", FIRST, 4), { setting: FIRST, problems: [] });
});

test("an address that says a thing twice, or an unknown one, is told so", () => {
  const problems = (hash) => readHash(hash, FIRST, 4).problems;
  assert.deepEqual(problems("#precision=0.2&precision=0.3"), ["precision=0.3 (given before)"]);
  assert.deepEqual(problems("#share=0.2&count=3"), ["share=0.2 (count is given too)"]);
  assert.deepEqual(problems("#toString=1"), ["toString=1 (no such key)"]);
});

test("costs beyond what products can hold are not accepted", () => {
  for (const miss of ["1_1e308", "1e-320_1", "1e101_1e101"]) {
    assert.equal(readHash(`#miss=${miss}`, FIRST, 4).problems.length, 1);
  }
  assert.deepEqual(readHash("#miss=1e-100_1e100", FIRST, 4).setting.miss, [1e-100, 1e100]);
});

test("one is singular, and no verb depends on a model's name", () => {
  assert.equal(several(1, ["model"]), "1 model");
  assert.equal(several(2, ["model"]), "2 models");
  assert.equal(falseAlarms(1.0001), "1 false alarm");
  assert.equal(falseAlarms(1.5), "1.5 false alarms");
  const words = { cases: "patients", outcome: "sepsis" };
  const one = { ...FIRST, capacity: { count: 1 }, miss: [1, 1] };
  assert.match(settingText(one, words), /at most 1 alarm; a miss worth 1 false alarm;/);
});

test("numbers of any size are written shortly", () => {
  assert.deepEqual(
    [3e100, 1.5e-9, 1234, 0, -2e300, 1e9].map((value) => plain(value)),
    ["3e100", "1.5e-9", "1,230", "0", "-2e300", "1,000,000,000"],
  );
});

test("a share of 1 is never written as one case", () => {
  assert.match(toPython(FIRST), /capacity=1\.0,/);
  assert.match(toToml(FIRST), /^capacity = 1\.0$/m);
  assert.match(toPython({ ...FIRST, capacity: { count: 1 } }), /capacity=1,/);
});

test("a recall floor is written where there is one, and lifted by an address", () => {
  const floor = { ...FIRST, minRecall: 0.9 };
  assert.match(toPython(floor), /min_recall=0\.9,/);
  assert.match(toToml(floor), /^min_recall = 0\.9$/m);
  assert.ok(!toPython(FIRST).includes("recall") && !toToml(FIRST).includes("recall"));
  assert.equal(readHash(`#${toHash(FIRST)}`, floor, 4).setting.minRecall, 0);
  const words = { cases: "patients", outcome: "sepsis" };
  assert.match(settingText(floor, words), /; at least 90\u00a0% caught \(sensitivity\); /);
  assert.ok(!settingText(FIRST, words).includes("caught"));
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

test("a threshold is written in full or visibly cut, and never rounded", () => {
  const cut = [0.7470092770000001, 0.99999999999, -1.23456789012, 1234567.5, 0.0123999999].map(thresholdText);
  assert.deepEqual(cut, ["0.747…", "0.999…", "-1.23…", "1234567…", "0.0123…"]);
  assert.deepEqual([0, 105, 0.1, -3, 0.123456, 1234567].map(thresholdText), ["0", "105", "0.1", "-3", "0.123456", "1234567"]);
});

test("a share that is not whole does not read as whole", () => {
  assert.equal(percent(0.9996), "99.96\u00a0%");
  assert.equal(percent(1), "100\u00a0%");
  const written = { "0.700": 0.7, "0.624": 0.62359, "-0.0603": -0.06031, "0.9996": 0.99962, "0.99999999": 1 - 1e-8 };
  assert.deepEqual(Object.values(written).map(measured), Object.keys(written));
  assert.deepEqual([1, 1 - 1e-12, -0, 1e-12].map(measured), ["1", "1", "0", "0"]);
  assert.equal(plain(0.99962), "0.9996");
});

test("consequences in plain words", () => {
  const words = { cases: "patients", outcome: "sepsis" };
  const told = (caught, missed, falseAlarm) =>
    consequenceText({ caught, missed, falseAlarm, quiet: 1 - caught - missed - falseAlarm }, words);
  assert.equal(
    told(0.05, 0.03, 0.04),
    "of 100 patients, 9 raise an alarm, 5 of them correctly; 3 of the 8 with sepsis are missed.",
  );
  assert.equal(
    told(0, 0.01, 0),
    "of 100 patients, none raises an alarm; 1 of the 1 with sepsis is missed.",
  );
  assert.equal(
    told(0.003, 0.077, 0.001),
    "of 1,000 patients, 4 raise an alarm, 3 of them correctly; 77 of the 80 with sepsis are missed.",
  );
});

test("the verdict is about all models, and never says more than is known", () => {
  const model = (name, score, usable = true) => ({ name, score, usable });
  const ranked = (...models) => models.map((each, position) => ({ ...each, position }));
  const six = ranked(...[..."acbdef"].map((name, i) => model(name, 0.5 - i / 100)));
  assert.match(verdictText(six, CHECKING), /^a has the highest score; checking/);
  assert.match(verdictText(six, UNKNOWN), /0\.0100 ahead of c; without resamples/);
  assert.equal(verdictText(six, [0]), "a is best, 0.0100 ahead of c (95\u00a0% confidence).");
  assert.equal(verdictText(six, [5, 1, 0]), "a, c and f cannot be told apart; the other 3 models are worse.");
  assert.equal(verdictText(six, [0, 1, 2, 3, 4, 5]), "a, c, b, d, e and f cannot be told apart.");
  const twenty = ranked(...Array.from({ length: 20 }, (_, i) => model(`m${i}`, 0.5)));
  assert.match(verdictText(twenty, twenty.map((_, i) => i)), /^m0, m1, m2, m3, m4 and 15 others cannot/);
  assert.match(verdictText(ranked(model("a", 0.5), model("b", 0, false)), [0]), /^Only a can/);
  assert.match(verdictText(ranked(model("a", 0, false)), UNKNOWN), /^No model/);
});

testOnCases("winners and leads are Python's", () => {
  const models = cases.models.map((model) => operatingPoints(model, cases.sizes));
  assert.ok(cases.winners.some(({ winner }) => winner === -1));
  for (const { minPrecision, capacity, costs, winner, lead } of cases.winners) {
    const found = winnerAt(models, { minPrecision, capacity }, costs);
    assert.equal(found.winner, winner);
    if (winner !== -1) assert.ok(Math.abs(found.lead - lead) < 1e-11);
  }
});

testOnCases("the map comes coarse, then fine, and the middle cell is the current setting's", async () => {
  const points = cases.models.map((model) => operatingPoints(model, cases.sizes));
  const setting = { minPrecision: 0.4, capacity: { share: 0.2 } };
  const costs = { over: "miss", low: 2, high: 6 };
  const window = mapWindow(setting, cases.sizes.nPositive + cases.sizes.nNegative);
  const grids = await new Promise((resolve) => {
    const seen = [];
    computeMap({ points, costs }, window, (found, cells) => {
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
