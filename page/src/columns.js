/** What each column of a file holds, which one is the label, and which ones are models. */
import { MISSING, numberFromText } from "./csv.js";
import { w } from "./lang.js";

/** A problem with a file, in words for its owner. */
export class DataError extends Error {}

const LABEL_NAMES = new Set(["label", "labels", "y_true", "y", "target", "outcome", "truth"]);

const SURE_IDENTIFIERS = new Set(["id", "ids", "identifier", "idx", "index", "mrn", "unnamed"]);

const IDENTIFIERS = new Set([
  ...SURE_IDENTIFIERS,
  ..."admission case encounter key no nr number patient person row stay subject visit".split(" "),
]);

const PROPERTIES = new Set(
  "age bmi date day gender height hour month sex time year".split(" "),
);

/** Rows that must count up one by one for a column to look like their number. */
const FEWEST_NUMBERED = 10;

/** A text column with at least this share of numbers is a column of numbers with bad cells. */
const MOSTLY = 0.5;

// ------------------------------------------------------------------ kinds of values

const INTEGER = /^[ \t]*(-?\d+|0x[\da-f]{1,16})[ \t]*$/i;
const [LEAST_INTEGER, MOST_INTEGER] = [-(2n ** 63n), 2n ** 63n - 1n];
const TRUTHS = new Map(
  [["1", "True", "TRUE", "true"], ["0", "False", "FALSE", "false"]].flatMap((texts, no) =>
    texts.map((text) => [text, 1 - no]),
  ),
);
const DAY = String.raw`\d{4}-\d{2}-\d{2}`;
const HOURS = String.raw`\d{2}(:\d{2}(:\d{2})?)?`;
const DATE = new RegExp(`^${DAY}$`);
const TIME = /^\d{2}:\d{2}(:\d{2})?$/;
const STAMP = new RegExp(`^${DAY}[ T]${HOURS}$`);
const FINE_STAMP = new RegExp(`^${DAY}[ T]${HOURS}(\\.\\d{1,9})?$`);
const ZONE = String.raw`(Z|[+-]\d{2}(:?\d{2})?)`;
const ZONED = new RegExp(`^${DAY}[ T]${HOURS}${ZONE}$`);
const FINE_ZONED = new RegExp(`^${DAY}[ T]${HOURS}(\\.\\d{1,9})?${ZONE}$`);

function isInteger(text) {
  if (!INTEGER.test(text)) return false;
  const value = text.trim().length > 17 ? BigInt(text.trim()) : 0n;
  return value >= LEAST_INTEGER && value <= MOST_INTEGER;
}

const onDays = (shape) => (text) =>
  shape.test(text) && !Number.isNaN(Date.parse(`${text.slice(0, 10)}T00:00:00Z`));

/**
 * Kinds of columns, each tried before the next, by the names that Arrow has for them.
 * @type {[string, (text: string) => boolean][]}
 */
const COLUMN_KINDS = [
  ["int64", isInteger],
  ["bool", (text) => TRUTHS.has(text)],
  ["date32[day]", onDays(DATE)],
  ["time32[s]", (text) => TIME.test(text)],
  ["timestamp[s]", onDays(STAMP)],
  ["timestamp[ns]", onDays(FINE_STAMP)],
  ["timestamp[s, tz=UTC]", onDays(ZONED)],
  ["timestamp[ns, tz=UTC]", onDays(FINE_ZONED)],
  ["double", (text) => numberFromText(text) !== undefined],
];

/** The kind that all texts are of; null stands for bytes that are no text. */
export function kindOf(texts) {
  const known = new Set(texts);
  for (const text of MISSING) known.delete(text);
  if (known.size === 0) return "null";
  if (known.has(null)) return "binary";
  const values = [...known];
  return COLUMN_KINDS.find(([, accepts]) => values.every(accepts))?.[0] ?? "string";
}

/** Whether a kind says on which day a row falls. */
export const isDay = (kind) => kind.startsWith("date32") || kind.startsWith("timestamp");

export const isNumeric = (kind) => kind === "int64" || kind === "bool" || kind === "double";

/** The number of a text in a column of a numeric kind; NaN where it is missing. */
export function valueOf(text, kind) {
  if (MISSING.has(text)) return NaN;
  if (kind === "bool") return TRUTHS.get(text);
  return /x/i.test(text) ? Number(text) : numberFromText(text);
}

// ------------------------------------------------------------------ numbers written otherwise

const WITH_COMMA = /^[+-]?\d+(,\d+)+(\.\d+)?$/;
const PERCENTAGE = /^([+-]?)(\d+)(?:\.(\d+))? ?%$/;

/** Hundredths, digit by digit. */
function hundredths(sign, whole, decimals = "") {
  const digits = whole.padStart(3, "0");
  const places = digits.slice(-2) + decimals;
  return `${sign === "-" ? "-" : ""}${digits.slice(0, -2).replace(/^0+(?=\d)/, "")}.${places}`;
}

/** Advice on how to write a number that is not a plain decimal; null for any other text. */
export function almostNumber(cell) {
  const text = cell.trim();
  if (WITH_COMMA.test(text)) return w.withComma;
  const match = PERCENTAGE.exec(text);
  return match && w.percentage(text, hundredths(...match.slice(1)));
}

// ------------------------------------------------------------------ roles

/** Why a column is not taken as scores; null where it is. */
export function whyNoScore(column) {
  const { kind, first } = column;
  if (isNumeric(kind)) return looksOf(column);
  const values = first.filter((text) => !MISSING.has(text));
  if (values.length === 0) return w.whyNull(first.length);
  if (kind === "binary") return w.whyBinary;
  if (kind !== "string") return w.whyType(kind.startsWith("time32"));
  const numbers = values.filter((text) => numberFromText(text) !== undefined).length;
  if (numbers >= MOSTLY * values.length) return null;
  const almost = almostNumber(values[0]);
  return almost === null ? w.whyText : w.whyAlmost(values[0], almost);
}

function isBinary({ kind, first }) {
  if (!isNumeric(kind)) return false;
  const values = new Set(first.map((text) => valueOf(text, kind)).filter((x) => !Number.isNaN(x)));
  return values.size === 2 && values.has(1) && (values.has(0) || values.has(-1));
}

function isNumbered({ kind, first }) {
  if (kind !== "int64" || first.length < FEWEST_NUMBERED) return false;
  const values = first.map((text) => valueOf(text, kind)).filter((x) => !Number.isNaN(x));
  const steps = new Set(values.slice(1).map((value, i) => value - values[i]));
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}

/** The words of a column's name, in small letters. */
function nameWords({ name }) {
  return name.replace(/([a-z])(?=[A-Z])/g, "$1 ").toLowerCase().match(/[a-z]+/g) ?? [];
}

/** Words for persons, who may have several rows. */
const PERSONS = new Set(["mrn", "patient", "person", "subject"]);

/** The one column that says whose a row is, by its name; null where none or several do. */
export function findPatient(columns) {
  const ofPersons = columns.map((column) => [column.name, nameWords(column)]).filter(
    ([, words]) => words.some((word) => PERSONS.has(word)) && words.every((word) => IDENTIFIERS.has(word)),
  );
  return ofPersons.length === 1 ? ofPersons[0][0] : null;
}

/** Why a column of numbers is not taken as a model; null where it is. */
function looksOf(column) {
  const words = nameWords(column);
  const every = (known) => words.length > 0 && words.every((word) => known.has(word));
  if (words.some((word) => SURE_IDENTIFIERS.has(word)) || every(IDENTIFIERS) || isNumbered(column)) {
    return w.anIdentifier;
  }
  return every(PROPERTIES) ? w.aProperty : null;
}

/** Names of scores, and words for the positive one of two labels. */
const SCORE_NAME = /score|risk|prob|pred|model|logit|apache|saps|sofa|news|mews/i;
const POSITIVE_WORD = /^(y|yes|ja|oui|true|wahr|vrai|pos|positive?|dead|died|death|tot|gestorben|event|case)$/i;

/** If there are no more columns of numbers than this, all are taken as models. */
const FEW_COLUMNS = 8;

/** Whether a column looks like a model's score: by its name, or as a probability. */
function isLikely(column) {
  if (SCORE_NAME.test(column.name)) return true;
  const values = column.first.map((text) => valueOf(text, column.kind)).filter((x) => !Number.isNaN(x));
  return column.kind === "double" && values.every((x) => x >= 0 && x <= 1);
}

/** The columns that are ticked at first; of many, only those that look like scores. */
export function likelyScores(columns, scores) {
  const byName = (name) => columns.find((column) => column.name === name);
  return scores.length <= FEW_COLUMNS ? scores : scores.filter((name) => isLikely(byName(name)));
}

/** The positive one of two labels in words, such as yes and no; null where none is. */
export function positiveWord(texts) {
  const positive = texts.filter((text) => POSITIVE_WORD.test(text));
  return texts.length === 2 && positive.length === 1 ? positive[0] : null;
}

const namesOf = (columns) => columns.map(({ name }) => name);

function checkSingle(name, columns, file) {
  if (columns.filter((column) => column.name === name).length > 1) {
    throw new DataError(w.repeatedColumn(file, name));
  }
}

/** The first column of each name. */
function firstOfEach(columns) {
  const seen = new Set();
  return columns.filter(({ name }) => !seen.has(name) && seen.add(name));
}

/** The column that can only be the label. */
export function findLabel(columns, scores, file) {
  const named = firstOfEach(columns);
  const free = named.filter(({ name }) => !scores.includes(name));
  let candidates = free.filter(({ name }) => LABEL_NAMES.has(name.toLowerCase()));
  if (candidates.length === 0) candidates = free.filter(isBinary);
  if (candidates.length !== 1) {
    throw new DataError(`${file}: ${w.noLabel(namesOf(candidates), namesOf(named))}`);
  }
  checkSingle(candidates[0].name, columns, file);
  return candidates[0].name;
}

/** The columns that may hold scores, and why the others do not. */
export function findScores(columns, label, file) {
  const named = firstOfEach(columns);
  const free = named.filter(({ name }) => name !== label);
  const reasons = free.map((column) => [column.name, whyNoScore(column)]);
  const scores = reasons.filter(([, why]) => why === null).map(([name]) => name);
  scores.forEach((name) => checkSingle(name, columns, file));
  const leftOut = reasons.filter(([, why]) => why).map(([name, why]) => w.reason(name, why));
  if (scores.length === 0) {
    throw new DataError(`${file}: ${w.noScores(namesOf(named), leftOut)}`);
  }
  return { scores, leftOut };
}

/**
 * Give the columns their roles; what is not named is guessed, and every guess is noted. Returns
 * {label, scores, notes}.
 */
export function assignRoles(columns, { label = null, scores = [] }, file) {
  const notes = [];
  for (const name of label === null ? scores : [label, ...scores]) checkSingle(name, columns, file);
  if (scores.includes(label)) throw new DataError(w.bothRoles(label));
  if (label === null) {
    label = findLabel(columns, scores, file);
    notes.push(w.tookLabel(label));
  }
  if (scores.length) return { label, scores, notes };
  const models = findScores(columns, label, file);
  notes.push(w.tookModels(models.scores));
  if (models.leftOut.length) notes.push(w.leftOutColumns(models.leftOut));
  return { label, scores: models.scores, notes };
}
