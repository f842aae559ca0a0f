/** The metric: by hand, and on problems that Python has solved. */
import assert from "node:assert/strict";
import test from "node:test";

import { cases, testOnCases } from "./cases.js";
import { costsOfModel, costsOfNone, gainsOf, priceAt, probabilityAt, treatAll } from "../src/net_benefit.js";
import {
  NO_FLOORS,
  asFraction,
  atPrevalence,
  bindingLimits,
  costHull,
  evaluate,
  feasible,
  feasibleRegion,
  keepsFloor,
  maxAlarms,
  meanQuotient,
  normalisedArea,
  operatingPoints,
} from "../src/voros.js";

const WHOLE = { oneCase: 1, wholeCounts: true, wholeCases: true };

const close = (found, expected, tolerance = 1e-12) =>
  assert.ok(Math.abs(found - expected) <= tolerance, `${found} is not ${expected}`);

/** Points from [fp, tp] pairs. */
function pointsOf(pairs, nPositive, nNegative) {
  const [fp, tp] = [0, 1].map((axis) => pairs.map((pair) => pair[axis]));
  const thresholds = pairs.map((_, i) => pairs.length - i);
  return operatingPoints({ thresholds, tp, fp }, { nPositive, nNegative, ...WHOLE });
}

testOnCases("scores equal Python's on random problems", () => {
  assert.ok(cases.scores.length >= 200);
  for (const {
    points,
    cases: sizes,
    prevalence,
    limits,
    costs,
    score,
  } of cases.scores) {
    const deployed = atPrevalence(operatingPoints(points, sizes), prevalence);
    close(evaluate(deployed, limits, costs).score, score, 1e-11);
  }
});

testOnCases("feasible thresholds are Python's, one by one", () => {
  for (const {
    points,
    cases: sizes,
    prevalence,
    limits,
    allowed,
  } of cases.scores) {
    const deployed = atPrevalence(operatingPoints(points, sizes), prevalence);
    const flags = feasible(deployed, limits, maxAlarms(deployed, limits.capacity));
    assert.deepEqual([...flags], allowed);
  }
});

testOnCases("areas at one cost are Python's", () => {
  for (const {
    points,
    cases: sizes,
    prevalence,
    limits,
    costs,
    areas,
  } of cases.scores) {
    const deployed = atPrevalence(operatingPoints(points, sizes), prevalence);
    const result = evaluate(deployed, limits, costs);
    for (const [ratio, area] of areas) close(normalisedArea(deployed, result, ratio), area, 1e-11);
  }
});

testOnCases("binding limits are Python's", () => {
  const seen = new Set();
  for (const {
    points,
    cases: sizes,
    prevalence,
    limits,
    ratios,
    binding,
  } of cases.scores) {
    const deployed = atPrevalence(operatingPoints(points, sizes), prevalence);
    const computed = bindingLimits(deployed, limits, maxAlarms(deployed, limits.capacity), ratios);
    assert.deepEqual(computed, binding);
    seen.add(binding.join());
  }
  assert.ok(seen.size >= 7, [...seen].join(" | "));
});

testOnCases("scores over stays equal Python's, with any number of alarms a day", () => {
  assert.ok(cases.stays.some(({ points }) => points.capacityAlarms));
  for (const { points, cases: sizes, limits, costs, score, maxAlarms: most, allowed, areas } of cases.stays) {
    const ward = operatingPoints(points, sizes);
    assert.equal(maxAlarms(ward, limits.capacity), most);
    assert.deepEqual([...feasible(ward, limits, most)], allowed);
    const result = evaluate(ward, limits, costs);
    close(result.score, score, 1e-11);
    for (const [ratio, area] of areas) close(normalisedArea(ward, result, ratio), area, 1e-11);
  }
});

testOnCases("limits are read as the fraction that was meant", () => {
  for (const { limit, numerator, denominator } of cases.fractions) {
    assert.deepEqual(asFraction(limit), { numerator, denominator });
  }
});

test("published values with no limits", () => {
  const chance = pointsOf([[100, 100]], 100, 100);
  const over = (low, high) => ({ over: "t", low, high });
  close(evaluate(chance, { minPrecision: 0, capacity: { share: 1 } }, over(0, 1)).score, 1.5 - Math.LN2);
  const bent = pointsOf(
    [
      [20, 80],
      [100, 100],
    ],
    100,
    100,
  );
  close(evaluate(bent, { minPrecision: 0, capacity: { share: 1 } }, over(0, 1)).score, 0.9214046742, 5e-11);
  close(evaluate(bent, { minPrecision: 0, capacity: { share: 1 } }, over(0.2, 0.5)).score, 0.9075803759, 5e-11);
});

test("the perfect classifier scores 1 and never alarm 0", () => {
  const costs = { over: "miss", low: 5, high: 10 };
  const perfect = pointsOf([[0, 50]], 50, 950);
  close(evaluate(perfect, { minPrecision: 0.3, capacity: { share: 0.2 } }, costs).score, 1);
  const hopeless = pointsOf([[900, 50]], 50, 950);
  assert.equal(evaluate(hopeless, { minPrecision: 0.3, capacity: { share: 0.2 } }, costs).score, 0);
});

test("where every alarm must be right, the limit of the score is taken", () => {
  const points = pointsOf(
    [
      [0, 6],
      [3, 9],
    ],
    10,
    90,
  );
  const { score, region } = evaluate(points, { minPrecision: 1, capacity: { share: 0.08 } }, { over: "miss", low: 5, high: 9 });
  assert.equal(region.area, 0);
  close(score, (6 / 8) ** 2);
});

test("a capacity below one case has no score", () => {
  const points = pointsOf([[0, 6]], 10, 90);
  assert.equal(
    evaluate(points, { minPrecision: 0, capacity: { share: 0.009 } }, { over: "miss", low: 5, high: 9 }).score,
    null,
  );
});

test("the floor is kept exactly on counts beyond what doubles multiply", () => {
  const at = (tp, fp) => {
    return keepsFloor(tp, tp + fp, asFraction(0.15), true);
  };
  const tp = 3 * 10 ** 14;
  assert.equal(at(tp, 17 * 10 ** 14), true);
  assert.equal(at(tp, 17 * 10 ** 14 + 1), false);
  assert.equal(at(tp - 1, 17 * 10 ** 14), false);
});

test("the mean of a quotient of linear functions", () => {
  close(meanQuotient(1, 1, 1, Math.E), 1 / (Math.E - 1), 1e-15);
  close(meanQuotient(2, 2 + 1e-9, 4, 4 + 2e-9), 0.5, 1e-15);
  close(meanQuotient(0, 3, 0, 4), 0.75, 1e-14);
  assert.equal(meanQuotient(0, 0, 0, 0), 0);
});

test("the hull is over feasible points, not a feasible part of the whole hull", () => {
  // (2, 6) lies under the line from (1, 5) to (30, 40), which is out of capacity.
  const points = pointsOf(
    [
      [1, 5],
      [2, 6],
      [30, 40],
    ],
    40,
    60,
  );
  assert.deepEqual(costHull(points, NO_FLOORS, 100).index, [0, 1, 3]);
  assert.deepEqual(costHull(points, NO_FLOORS, 20).index, [0, 1, 2]);
});

test("points that trade places at another prevalence are put in order", () => {
  const points = pointsOf(
    [
      [5, 5],
      [0, 11],
    ],
    20,
    80,
  );
  const rare = atPrevalence(points, 0.02);
  assert.deepEqual([...rare.thresholds], [Infinity, 1, 2]);
  assert.deepEqual(costHull(rare, NO_FLOORS, 100).index, [0, 1]);
});

test("a region's area, cut by a floor alone and by a capacity alone", () => {
  close(feasibleRegion(10, 90, { minPrecision: 0.5 }, 100).area, 10 / 90 / 2);
  close(feasibleRegion(10, 90, NO_FLOORS, 5).area, ((5 / 10) * (5 / 90)) / 2);
  close(feasibleRegion(10, 90, NO_FLOORS, 100).area, 1);
});

/** A model of a random problem, with what it can do there. */
function modelOf({ points: counts, cases: sizes, prevalence, limits, costs }) {
  const points = atPrevalence(operatingPoints(counts, sizes), prevalence);
  return { points, result: evaluate(points, limits, costs) };
}

testOnCases("net benefit within limits and without is Python's", () => {
  for (const { gains, ...problem } of cases.scores) {
    const model = modelOf(problem);
    gains.probabilities.forEach((p, i) => {
      const found = gainsOf(model, priceAt(p));
      if (gains.within[i] === null) assert.ok(Number.isNaN(found.within));
      else close(found.within, gains.within[i], 1e-9);
      close(found.free, gains.free[i], 1e-9);
    });
  }
});

testOnCases("expected costs are the mean of the least cost at each price", () => {
  const priced = cases.scores.filter(({ cost }) => cost !== null);
  assert.ok(priced.length > 100);
  for (const { cost, ...problem } of priced) {
    const { within, free, limits } = costsOfModel(modelOf(problem), problem.costs);
    close(within, cost, 1e-6 * cost + 1e-9);
    assert.ok(free <= within + 1e-9 && limits >= -1e-9);
  }
});

test("an alarm for everybody and for nobody cost what they must", () => {
  const points = operatingPoints({ thresholds: [0.5], tp: [2], fp: [1] }, { nPositive: 3, nNegative: 7 });
  const { none, all } = costsOfNone(points, { over: "miss", low: 4, high: 6 });
  close(none, 1500);
  close(all, 700);
  close(treatAll(points, priceAt(probabilityAt(4))), (3 - 7 / 4) / 10);
});

test("a recall floor cuts the region from below, and never alarm is not on its hull", () => {
  const points = pointsOf(
    [
      [1, 4],
      [4, 8],
      [30, 10],
    ],
    10,
    90,
  );
  const limits = { minPrecision: 0, minRecall: 0.8, capacity: { share: 1 } };
  const { hull, region, score } = evaluate(points, limits, { over: "miss", low: 9, high: 9 });
  assert.deepEqual(hull.index, [2, 3]);
  close(region.area, 0.2);
  // At a slope of 1 the line through (4/90, .8) leaves the triangle above it, cut off at y = 1.
  close(score, 1 - 0.2 ** 2 / 2 / 0.2 - (4 / 90) * 0.2 / 0.2, 1e-12);
  assert.deepEqual([...feasible(points, limits, 100)], [0, 0, 1, 1]);
});

test("a recall floor that nothing keeps scores 0, and one beyond the capacity has no score", () => {
  const points = pointsOf([[50, 10]], 10, 90);
  const costs = { over: "miss", low: 5, high: 9 };
  const limits = { minPrecision: 0.5, minRecall: 0.8, capacity: { share: 0.5 } };
  const { score, hull } = evaluate(points, limits, costs);
  assert.equal(score, 0);
  assert.deepEqual(hull.index, [0]);
  assert.equal(evaluate(points, { ...limits, capacity: { count: 7 } }, costs).score, null);
  assert.equal(evaluate(points, { ...limits, capacity: { count: 8 } }, costs).score, 0);
});
