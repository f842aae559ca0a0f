/** Which cases are positive, by the rules of the command line. */
import { DataError, isNumeric, kindOf, valueOf } from "./columns.js";
import { MISSING } from "./csv.js";
import { w } from "./lang.js";
import { floatText, quoted } from "./python_text.js";

/** Offending values in a message. */
const SHOWN_VALUES = 5;

const shownValues = (values, write) =>
  values.slice(0, SHOWN_VALUES).map(write).join(", ") + (values.length > SHOWN_VALUES ? ", ..." : "");

/** A positive label that was typed as text, for a column of numbers. */
function typedLabel(text, title) {
  if (/^(true|false)$/i.test(text)) return { value: Number(/^t/i.test(text)), shown: /^t/i.test(text) ? "True" : "False" };
  const value = text.trim() === "" ? NaN : Number(text);
  if (Number.isNaN(value)) throw new DataError(w.notNumericLabel(title, text));
  return { value, shown: floatText(value) };
}

function numericPositive(values, kind, posLabel, title) {
  const distinct = [...new Set(values)].sort((a, b) => a - b);
  const write = kind === "double" ? floatText : String;
  const [low, high] = [distinct[0], distinct.at(-1)];
  if (kind === "bool" && posLabel === null) return (value) => value === 1;
  if (distinct.length > 2) {
    throw new DataError(w.notBinary(title, distinct.length, shownValues(distinct, write)));
  }
  if (posLabel === null) {
    const within = (a, b) => distinct.every((value) => value === a || value === b);
    if (!within(0, 1) && !within(-1, 1)) {
      throw new DataError(w.ambiguous(title, shownValues(distinct, write)));
    }
    return (value) => value === 1;
  }
  const { value: wanted, shown } = typedLabel(posLabel, title);
  if (kind !== "bool" && low !== high && wanted !== low && wanted !== high) {
    throw new DataError(w.absentLabel(title, shown, shownValues([low, high], write)));
  }
  return (value) => value === wanted;
}

function textPositive(values, posLabel, title) {
  // Python sorts by code points.
  const distinct = [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (distinct.length > 2) {
    throw new DataError(w.notBinary(title, distinct.length, shownValues(distinct, quoted)));
  }
  if (posLabel === null) {
    throw new DataError(w.ambiguous(title, shownValues(distinct, quoted)));
  }
  if (distinct.length === 2 && !distinct.includes(posLabel)) {
    throw new DataError(w.absentLabel(title, quoted(posLabel), shownValues(distinct, quoted)));
  }
  return (value) => value === posLabel;
}

/**
 * Whether each distinct text of the label column marks a positive case. `texts` are the distinct
 * texts, `used` says which of them occur in rows that are counted.
 */
export function positiveTexts(texts, used, posLabel, name) {
  const [kind, title] = [kindOf(texts), w.titled(name)];
  const numeric = isNumeric(kind);
  const values = texts.map((text) => (numeric ? valueOf(text, kind) : text));
  const counted = values.filter((_, code) => used[code]);
  const isPositive = numeric
    ? numericPositive(counted, kind, posLabel, title)
    : textPositive(counted, posLabel, title);
  const marks = values.map(isPositive);
  const held = new Set(marks.filter((_, code) => used[code]));
  if (held.size === 1) throw new DataError(w.oneClass(title, held.has(true)));
  return marks;
}

/** Which distinct texts of the label stand for no value. */
export function missingTexts(texts) {
  const kind = kindOf(texts);
  return texts.map((text) =>
    MISSING.has(text) || (isNumeric(kind) && Number.isNaN(valueOf(text, kind))),
  );
}
