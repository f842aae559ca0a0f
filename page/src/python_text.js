/** Values as Python writes them: in messages that are the command line's, and in saved pages. */

/** Longest list of columns in a message. */
const SHOWN_COLUMNS = 12;

const ESCAPES = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(mark) {
  if (mark in ESCAPES) return ESCAPES[mark];
  const code = mark.codePointAt(0);
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}

/** A text in quotes. */
export function quoted(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  // All but letters, marks, numbers, punctuation, symbols and the plain space is escaped.
  const inner = text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|\\/gu, escaped);
  return quote + (quote === "'" ? inner.replaceAll("'", "\\'") : inner) + quote;
}

/** Bytes as a literal. */
export function quotedBytes(bytes) {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/[^ -~]|\\/g, escaped);
  return `b${quote}${quote === "'" ? inner.replaceAll("'", "\\'") : inner}${quote}`;
}

export const shortened = (parts) =>
  parts.slice(0, SHOWN_COLUMNS).join(", ") + (parts.length > SHOWN_COLUMNS ? ", ..." : "");

/** Names in quotes, the first dozen. */
export const listed = (names) => shortened(names.map(quoted));

/** A double in the fewest digits that mean it: 1.0, 1e-05, 1e+16. */
export function floatText(value) {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  if (Object.is(value, -0)) return "-0.0";
  const [digits, exponent] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  if (Number.isInteger(value)) return `${value}.0`;
  return power < 0 ? value.toFixed(Math.max(digits.replace(/\D/g, "").length - 1 - power, 1)) : String(value);
}

/** Non-ASCII characters as JSON escapes, and none that could end a script element. */
function jsonString(text) {
  return JSON.stringify(text).replace(
    /[<>&\x7f-\uffff]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const INFINITE = { inf: '"Infinity"', "-inf": '"-Infinity"', nan: '"NaN"' };

const jsonFloat = (value) => INFINITE[floatText(value)] ?? floatText(value);

/** Keys whose values are floats in Python even where they are whole. */
const FLOATS = new Set(["price", "thresholds", "minPrecision", "minRecall", "miss", "share", "prevalence", "oneCase"]);

/** JSON as `voros explore` writes it into a page. */
export function jsonText(value, key = "") {
  if (ArrayBuffer.isView(value) || Array.isArray(value)) {
    const items = /** @type {any[]} */ (value);
    return `[${Array.from(items, (item) => jsonText(item, key)).join(",")}]`;
  }
  if (typeof value === "string") return jsonString(value);
  if (typeof value === "number") return FLOATS.has(key) ? jsonFloat(value) : String(value);
  if (value === null || typeof value !== "object") return String(value);
  const pairs = Object.entries(value).map(([name, item]) => `${jsonString(name)}:${jsonText(item, name)}`);
  return `{${pairs.join(",")}}`;
}
