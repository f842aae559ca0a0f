/**
 * Delimited text, byte by byte, by the rules of the command line.
 *
 * A quote opens a cell only at its start; a doubled one stands for itself; a line break within
 * quotes belongs to the cell. Empty lines are skipped. Bytes, not characters: a column that is
 * not read may hold anything.
 */

/** Texts that stand for no value. */
export const MISSING = new Set(
  ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>", "None"],
);

const [QUOTE, CR, LF, SPACE, TAB, PLUS, MINUS, ZERO, NINE] = [34, 13, 10, 32, 9, 43, 45, 48, 57];

/**
 * A reader of rows out of pieces of a file: `push(bytes, last)`, then `next()` for as long as it
 * is true. A row is `cells` pairs of `starts` and `ends` in `bytes`; a cell whose text does not lie
 * there in one piece is in `copies`. `line` is that of the row's end, `unclosed` the line of a quote
 * that no other closes.
 */
export function rowReader(delimiter, decimal = ".") {
  return {
    delimiter: delimiter.charCodeAt(0),
    decimal: decimal.charCodeAt(0),
    bytes: new Uint8Array(0),
    at: 0,
    last: false,
    cells: 0,
    starts: new Int32Array(64),
    ends: new Int32Array(64),
    copies: new Map(),
    line: 0,
    feeds: 0,
    unclosed: null,
    push(piece, last) {
      this.bytes = joined(this.bytes.subarray(this.at), piece);
      [this.at, this.last] = [0, last];
    },
    next() {
      return nextRow(this);
    },
  };
}

function joined(rest, piece) {
  if (rest.length === 0) return piece;
  const both = new Uint8Array(rest.length + piece.length);
  both.set(rest);
  both.set(piece, rest.length);
  return both;
}

/** Bytes of the line break at a place; 0 where the next piece decides. */
function breakLength({ bytes, last }, at) {
  if (bytes[at] === LF) return 1;
  if (at + 1 >= bytes.length) return last ? 1 : 0;
  return bytes[at + 1] === LF ? 2 : 1;
}

/** Pass over empty lines; false where the next piece is needed. */
function skipEmptyLines(reader) {
  const { bytes } = reader;
  while (reader.at < bytes.length && (bytes[reader.at] === LF || bytes[reader.at] === CR)) {
    const length = breakLength(reader, reader.at);
    if (length === 0) return false;
    if (bytes[reader.at + length - 1] === LF) reader.feeds++;
    reader.at += length;
    reader.line++;
  }
  return reader.at < bytes.length;
}

function nextRow(reader) {
  if (!skipEmptyLines(reader)) return false;
  const { bytes, delimiter, last } = reader;
  const state = { at: reader.at, lines: 0, feeds: 0, unclosed: null };
  reader.cells = 0;
  if (reader.copies.size) reader.copies.clear();
  for (;;) {
    readCell(reader, state);
    const { at } = state;
    if (at >= bytes.length) {
      if (!last) return false;
      break;
    }
    if (bytes[at] === delimiter) {
      state.at++;
      continue;
    }
    const length = breakLength(reader, at);
    if (length === 0) return false;
    if (bytes[at + length - 1] === LF) state.feeds++;
    state.at += length;
    break;
  }
  [reader.at, reader.unclosed] = [state.at, state.unclosed];
  reader.line += state.lines + 1;
  reader.feeds += state.feeds;
  return true;
}

/** Read the cell at `state.at`, up to the delimiter, the line's end or that of the bytes. */
function readCell(reader, state) {
  const { bytes, delimiter } = reader;
  if (reader.cells === reader.starts.length) grow(reader);
  const cell = reader.cells++;
  if (bytes[state.at] === QUOTE) return readQuoted(reader, state, cell);
  reader.starts[cell] = state.at;
  state.at = plainEnd(bytes, state.at, delimiter);
  reader.ends[cell] = state.at;
  return undefined;
}

function plainEnd(bytes, at, delimiter) {
  const end = bytes.length;
  while (at < end) {
    const byte = bytes[at];
    if (byte === delimiter || byte === LF || byte === CR) break;
    at++;
  }
  return at;
}

function grow(reader) {
  for (const key of ["starts", "ends"]) {
    const larger = new Int32Array(2 * reader[key].length);
    larger.set(reader[key]);
    reader[key] = larger;
  }
}

function readQuoted(reader, state, cell) {
  const { bytes, delimiter } = reader;
  const [opened, pieces] = [reader.feeds + state.feeds + 1, []];
  let start = state.at + 1;
  let at = start;
  for (;;) {
    while (at < bytes.length && bytes[at] !== QUOTE) {
      if (bytes[at] === LF) [state.lines, state.feeds] = [state.lines + 1, state.feeds + 1];
      else if (bytes[at] === CR && bytes[at + 1] !== LF) state.lines++;
      at++;
    }
    pieces.push([start, at]);
    if (at >= bytes.length) {
      state.unclosed = opened;
      break;
    }
    at++;
    if (bytes[at] !== QUOTE) break;
    // The second of two quotes is the one that stays.
    [start, at] = [at, at + 1];
  }
  const rest = plainEnd(bytes, at, delimiter);
  if (rest > at) pieces.push([at, rest]);
  [reader.starts[cell], reader.ends[cell]] = pieces[0];
  if (pieces.length > 1) reader.copies.set(cell, glued(bytes, pieces));
  state.at = rest;
}

function glued(bytes, pieces) {
  return Uint8Array.from(pieces.flatMap(([from, to]) => [...bytes.subarray(from, to)]));
}

/** The bytes of a cell of the row just read. */
export function cellBytes(reader, cell) {
  return (
    reader.copies.get(cell) ?? reader.bytes.subarray(reader.starts[cell], reader.ends[cell])
  );
}

/** Text of one byte per character. */
export function rawText(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i]);
  return text;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Texts that are made faster byte by byte than by a decoder. */
const SHORT_TEXT = 24;

const isAscii = (bytes) => {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] > 127) return false;
  return true;
};

/** Bytes as text, or null where they are not UTF-8. */
export function decoded(bytes) {
  if (bytes.length <= SHORT_TEXT && isAscii(bytes)) return String.fromCharCode.apply(null, bytes);
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

// ------------------------------------------------------------------ numbers

const NUMBER = /^[ \t]*([+-]?)((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)[ \t]*$/i;

/** The number that a text stands for, NaN for a missing one, or undefined. */
export function numberFromText(text) {
  if (MISSING.has(text)) return NaN;
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign, size] = match;
  const value = /^[\d.]/.test(size) ? Number(size) : /^i/i.test(size) ? Infinity : NaN;
  return sign === "-" ? -value : value;
}

const COMMA = 44;

/** A text with a decimal point in place of a decimal comma, where that is the mark. */
function withPoint(text, decimal) {
  return decimal === COMMA ? pointed(text) : text;
}

const COMMA_NUMBER = /^([ \t]*[+-]?\d*),(\d+(e[+-]?\d+)?[ \t]*)$/i;

/** A number with a decimal comma as one with a point; any other text as it is. */
export const pointed = (text) => text.replace(COMMA_NUMBER, "$1.$2");

const POINT_NUMBER = /^[ \t]*[+-]?\d*\.\d+(e[+-]?\d+)?[ \t]*$/i;

/** The decimal mark of a table's texts: a comma where numbers have one, and none has a point. */
export function decimalOf(texts, delimiter) {
  if (delimiter === ",") return ".";
  const known = texts.filter((text) => text !== null);
  return known.some((text) => COMMA_NUMBER.test(text)) && !known.some((text) => POINT_NUMBER.test(text))
    ? ","
    : ".";
}

const POWERS = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** Digits that a double holds exactly, whatever they are. */
const EXACT_DIGITS = 15;

/** `numberFromText` of a cell, without making a text of plain decimals of up to 15 digits. */
function numberFromBytes(bytes, start, end, decimal) {
  let at = start;
  const negative = bytes[at] === MINUS;
  if (negative || bytes[at] === PLUS) at++;
  let [digits, mantissa, scale, seen] = [0, 0, 0, 0];
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + (byte - ZERO);
      if (mantissa !== 0) digits++;
      scale += seen & 1;
      seen |= 2;
    } else if (byte === decimal && (seen & 1) === 0) {
      seen |= 1;
    } else {
      break;
    }
  }
  const text = () => withPoint(rawText(bytes.subarray(start, end)), decimal);
  if (at < end || (seen & 2) === 0) return numberFromText(text());
  if (digits > EXACT_DIGITS || scale >= POWERS.length) return Number(text());
  const size = mantissa / POWERS[scale];
  return negative ? -size : size;
}

/** The number in a cell of the row just read. */
export function numberIn(reader, cell) {
  const copy = reader.copies.size ? reader.copies.get(cell) : undefined;
  if (copy) return numberFromText(withPoint(rawText(copy), reader.decimal));
  return numberFromBytes(reader.bytes, reader.starts[cell], reader.ends[cell], reader.decimal);
}

// ------------------------------------------------------------------ what a file is

export const DELIMITERS = [",", "\t", ";"];

/** The first line that is not empty, without what stands in quotes. */
export function headerOf(head) {
  const text = rawText(head).replace(/^[\r\n]+/, "");
  const outside = text.split('"').filter((_, i) => i % 2 === 0).join("");
  // Python ends lines at these control characters too.
  // eslint-disable-next-line no-control-regex
  return outside.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85]/)[0];
}

/** The delimiter of the columns, judged by the header line. */
export function delimiterOf(head) {
  const header = headerOf(head);
  const counts = DELIMITERS.map((mark) => header.split(mark).length - 1);
  return DELIMITERS[counts.indexOf(Math.max(...counts))];
}

export const isBlank = (bytes) => bytes.every((byte) => byte === SPACE || (byte >= TAB && byte <= CR));
