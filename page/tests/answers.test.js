/** Five questions: offers that close in, the range that follows, and TOML that survives. */
import assert from "node:assert/strict";
import test from "node:test";

import { answersToml, everybody, missRange, nextOffer, readAnswers, settingOf } from "../src/answers.js";

/** Somebody to whom a miss is worth this many false alarms. */
function answered(worth) {
  const answer = { who: `${worth}`, minPrecision: 0.3, capacity: 0.1, accepted: [], refused: [] };
  for (let asked = 0; asked < 3; asked++) {
    const offer = nextOffer(answer);
    answer[offer <= worth ? "accepted" : "refused"].push(offer);
  }
  return answer;
}

test("the range holds what a miss is worth to whoever answers", () => {
  for (const worth of [0.6, 1, 2, 3, 4, 7, 10, 12, 18, 25, 40, 89, 95, 200]) {
    const [low, high] = missRange(answered(worth));
    assert.ok(low <= worth && worth <= high, `${worth}: ${low} to ${high}`);
    assert.ok(high / low <= 3.6, `${worth}: ${low} to ${high}`);
  }
});

test("answers survive as TOML", () => {
  const answers = [answered(12), { ...answered(200), who: 'Dr "Q" \\ é\n', capacity: 1 }];
  assert.deepEqual(readAnswers(answersToml(answers), "a.toml"), answers);
  assert.throws(() => readAnswers("", "a.toml"), /a.toml holds no complete answers/);
  assert.throws(() => readAnswers("[[answer]]\nwho = 3\n", "a.toml"), /no complete answers/);
  assert.throws(() => readAnswers("[[answer]]\nwho: 3\n", "a.toml"), /line 2 cannot be read/);
});

test("limits for everybody are the strictest, and the range holds all", () => {
  const [a, b] = [answered(4), { ...answered(40), minPrecision: 0.5, capacity: 0.4 }];
  const all = everybody([a, b]);
  assert.equal(all.minPrecision, 0.5);
  assert.deepEqual(all.capacity, { share: 0.1 });
  assert.deepEqual(all.miss, [settingOf(a).miss[0], settingOf(b).miss[1]]);
});
