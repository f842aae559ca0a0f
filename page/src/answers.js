/** What people answered to the five questions, as limits and costs, and as TOML that names them. */
import { DataError } from "./columns.js";
import { w } from "./lang.js";
import { percent, plain } from "./wording.js";

/**
 * The first trade-off that is asked about, and by how much the next one differs until one is accepted
 * and one refused.
 */
const FIRST_OFFER = 10;
const OFFER_FACTOR = 10;

/** Trade-offs that are asked about. */
export const OFFERS = 3;

const ratherRound = (value) => (value < 10 ? Math.round(value * 2) / 2 : Math.round(value));

/** How many false alarms for one more case caught to ask about next. */
export function nextOffer({ accepted, refused }) {
  const [yes, no] = [Math.max(...accepted, 0), Math.min(...refused, Infinity)];
  if (yes === 0 && no === Infinity) return FIRST_OFFER;
  if (no === Infinity) return ratherRound(yes * OFFER_FACTOR);
  if (yes === 0) return Math.max(ratherRound(no / OFFER_FACTOR), 0.5);
  return ratherRound(Math.sqrt(yes * no));
}

/**
 * The range of what a miss is worth: from the largest number of false alarms accepted to the smallest
 * refused. Where all were accepted, or all refused, both ends are the last one asked about.
 */
export function missRange({ accepted, refused }) {
  const [yes, no] = [Math.max(...accepted, 0), Math.min(...refused, Infinity)];
  if (yes === 0) return [no, no];
  return no === Infinity ? [yes, yes] : [Math.min(yes, no), Math.max(yes, no)];
}

/** Remarks on answers: the range is open at one end, or two contradict each other. */
export function remarksOn({ minPrecision, accepted, refused }) {
  const [yes, no] = [Math.max(...accepted, 0), Math.min(...refused, Infinity)];
  const remarks = [];
  if (no === Infinity) remarks.push(w.allAccepted(plain(yes)));
  if (yes === 0) remarks.push(w.allRefused(plain(no)));
  if (yes >= no) remarks.push(w.offersContradict(plain(yes), plain(no)));
  // False alarms for each correct one, on a list that just keeps the precision floor.
  const tolerated = (1 - minPrecision) / minPrecision;
  const asked = { floor: percent(minPrecision), tolerated: plain(tolerated) };
  if (no <= tolerated) remarks.push(w.floorTooLow({ ...asked, refused: plain(no) }));
  if (yes > tolerated) remarks.push(w.floorForbids({ ...asked, accepted: plain(yes) }));
  return remarks;
}

/** The limits and costs that answers stand for, as part of a setting. */
export function settingOf({ minPrecision, capacity, accepted, refused }) {
  const miss = missRange({ accepted, refused });
  return { minPrecision, capacity: { share: capacity }, miss, spread: "miss" };
}

/** Limits that satisfy everybody, and the range of costs that holds everybody's. */
export function everybody(answers) {
  const ranges = answers.map(missRange);
  return {
    minPrecision: Math.max(...answers.map(({ minPrecision }) => minPrecision)),
    capacity: { share: Math.min(...answers.map(({ capacity }) => capacity)) },
    miss: [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))],
    spread: "miss",
  };
}

// ------------------------------------------------------------------ as TOML

/** One table for each person. */
export function answersToml(answers) {
  return answers
    .map((answer) => {
      const lines = [
        "[[answer]]",
        `who = ${JSON.stringify(answer.who)}`,
        `min_precision = ${answer.minPrecision}`,
        `capacity = ${answer.capacity === 1 ? "1.0" : answer.capacity}`,
        `accepted = [${answer.accepted.join(", ")}]`,
        `refused = [${answer.refused.join(", ")}]`,
        `miss_costs = [${missRange(answer).join(", ")}]`,
      ];
      return `${lines.join("\n")}\n`;
    })
    .join("\n");
}

const PAIR = /^(\w+)\s*=\s*(".*"|\[[^\]]*\]|[\d.eE+-]+)$/;

function complete(answer, file) {
  const isShare = (value) => value >= 0 && value <= 1;
  const numbers = (list) => Array.isArray(list) && list.every((value) => value > 0);
  const { who, min_precision: floor, capacity, accepted, refused } = answer;
  const good =
    typeof who === "string" && isShare(floor) && isShare(capacity) && capacity > 0 &&
    numbers(accepted) && numbers(refused) && accepted.length + refused.length > 0;
  if (!good) throw new DataError(w.badAnswer(file));
  return { who, minPrecision: floor, capacity, accepted, refused };
}

/** Read what `answersToml` wrote. */
export function readAnswers(text, file) {
  const answers = [];
  text.split(/\r?\n/).forEach((written, i) => {
    const line = written.replace(/^\s*#.*/, "").trim();
    const pair = PAIR.exec(line);
    if (line === "[[answer]]") answers.push({});
    else if (pair && answers.length) answers.at(-1)[pair[1]] = valueOfToml(pair[2], file, i + 1);
    else if (line !== "") throw new DataError(w.badAnswerLine(file, i + 1));
  });
  if (answers.length === 0) throw new DataError(w.badAnswer(file));
  return answers.map((answer) => complete(answer, file));
}

function valueOfToml(text, file, line) {
  try {
    return JSON.parse(text.replace(/,\s*\]$/, "]"));
  } catch {
    throw new DataError(w.badAnswerLine(file, line));
  }
}
