/** Five questions: offers that close in, the range that follows, and TOML that survives. */
import assert from "node:assert/strict";
import test from "node:test";

import { answersToml, everybody, missRange, nextOffer, readAnswers, remarksOn, settingOf } from "../src/answers.js";

/** Somebody to whom a miss is worth this many false alarms. */
function answered(worth) {
  const answer = { who: `${worth}`, minPrecision: 0.3, capacity: 0.1, accepted: [], refused: [] };
  for (let asked = 0; asked < 3; asked++) {
    const offer = nextOffer(answer);
    answer[offer <= worth ? "accepted" : "refused"].push(offer);
  }
  return answer;
}

test("the range holds what a miss is worth to whoever answers, and both ends were asked about", () => {
  for (const worth of [1, 2, 3, 4, 7, 10, 12, 18, 25, 40, 89, 95, 200, 999, 0.2, 5000]) {
    const answer = answered(worth);
    const [low, high] = missRange(answer);
    const offers = [...answer.accepted, ...answer.refused];
    assert.ok(offers.includes(low) && offers.includes(high), `${worth}: ${low} to ${high}`);
    const open = answer.accepted.length === 0 || answer.refused.length === 0;
    assert.equal(low === high, open);
    if (open) assert.match(remarksOn(answer)[0], worth > 1 ? /at least 1,000/ : /less than 0.5/);
    else assert.ok(low <= worth && worth <= high && high / low <= 10, `${worth}: ${low} to ${high}`);
  }
});

test("answers that contradict each other are pointed out", () => {
  const answer = { who: "a", minPrecision: 0.1, capacity: 0.1, accepted: [3], refused: [5] };
  assert.match(remarksOn(answer).join(), /10\u00a0% of alarms correct there are 9 false alarms .* you refused 5/);
  assert.match(remarksOn({ ...answer, minPrecision: 0.5 }).join(), /accept 3 .* at most 1 for each correct one/);
  assert.deepEqual(remarksOn({ ...answer, minPrecision: 0.2 }), []);
  assert.match(remarksOn({ ...answer, minPrecision: 0.2, refused: [2] }).join(), /3 false alarms were accepted, and 2/);
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
