/**
 * A file of predictions becomes counts at each threshold; its rows are gone when it has been read.
 *
 * Two passes, as the command line makes them: the first rows show what the columns hold, then all
 * rows are read, and of each the label and the scores.
 */
import { DataError, almostNumber, assignRoles, kindOf } from "./columns.js";
import { countModel } from "./counting.js";
import {
  cellBytes,
  decimalOf,
  decoded,
  delimiterOf,
  isBlank,
  MISSING,
  numberFromText,
  numberIn,
  pointed,
  rawText,
  rowReader,
} from "./csv.js";
import { missingTexts, positiveTexts } from "./labels.js";
import { w } from "./lang.js";
import { quotedBytes } from "./python_text.js";
import { membersOf, placeOf, resampledCounts, withLastRows } from "./resampling.js";

/** Bytes whose rows show the kinds of the columns, and rows of them that show their values. */
const PEEKED_BYTES = 1 << 20;
const PEEKED_ROWS = 1000;

/** Bytes that show format and delimiter. */
const SNIFFED_BYTES = 65_536;

const MILLISECONDS_PER_DAY = 86_400_000;

/** Characters of a cell in a message. */
const SHOWN_CHARACTERS = 40;

const NOT_TABLES = [
  ["PK\x03\x04", "zip"],
  ["\xd0\xcf\x11\xe0", "xls"],
  ["%PDF", "pdf"],
  ["SQLite format 3", "sqlite"],
  ["\xff\xfe", "utf16"],
  ["\xfe\xff", "utf16"],
];

const OTHER_FORMATS = [["PAR1", "parquet"], ["ARROW1", "arrow"], ["\xff\xff\xff\xff", "arrow"]];

const BYTE_ORDER_MARK = "\xef\xbb\xbf";

// ------------------------------------------------------------------ bytes

const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

/** The bytes of a Blob in pieces, unpacked. Slices are larger than what a stream hands over. */
async function* piecesOf(blob) {
  const magic = await bytesOf(blob.slice(0, 2));
  if (magic[0] !== 0x1f || magic[1] !== 0x8b) {
    for (let at = 0; at < blob.size; at += PEEKED_BYTES) {
      yield await bytesOf(blob.slice(at, at + PEEKED_BYTES));
    }
    return;
  }
  const reader = blob.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** The beginning of a Blob, unpacked. */
async function beginning(blob, size) {
  const [held, pieces] = [new Uint8Array(size), piecesOf(blob)];
  let length = 0;
  for await (const piece of pieces) {
    const part = piece.subarray(0, size - length);
    held.set(part, length);
    length += part.length;
    if (length === size) break;
  }
  return held.subarray(0, length);
}

const startsWith = (head, magic) => rawText(head.subarray(0, magic.length)) === magic;

const withoutMark = (head) => (startsWith(head, BYTE_ORDER_MARK) ? head.subarray(3) : head);

// ------------------------------------------------------------------ format

function checkTable(name, head) {
  if (isBlank(head)) throw new DataError(w.isEmpty(name));
  const magic = NOT_TABLES.find(([start]) => startsWith(head, start));
  if (magic) throw new DataError(w.notTable[magic[1]](name));
  const other = OTHER_FORMATS.find(([start]) => startsWith(head, start));
  if (other) throw new DataError(w.otherFormat(name, other[1]));
  const opening = rawText(withoutMark(head).subarray(0, 200));
  if (/^\s*\{/.test(opening)) throw new DataError(w.otherFormat(name, "jsonl"));
}

/** What stands between the columns, with what was found from the bytes, in words. */
function tableFormat(name, head) {
  checkTable(name, head);
  const delimiter = delimiterOf(withoutMark(head));
  return { delimiter, notes: delimiter === ";" ? [w.separatedBy(name, delimiter)] : [] };
}

// ------------------------------------------------------------------ the first rows

function notText(bytes, where) {
  const raw = bytes.subarray(0, SHOWN_CHARACTERS);
  return w.notUtf8(where, quotedBytes(raw), rawText(raw));
}

function namesIn(reader) {
  return Array.from({ length: reader.cells }, (_, cell) => {
    const bytes = cellBytes(reader, cell);
    const name = decoded(bytes);
    if (name === null) throw new DataError(notText(bytes, w.header(reader.line)));
    return name;
  });
}

/** First texts, and the kind of all, of each column in the rows of the first block; the decimal mark. */
function firstColumns(reader, names, file) {
  const columns = names.map((name) => ({ name, first: [], all: new Set() }));
  let row = 0;
  while (reader.next()) {
    row++;
    checkCells(reader, names.length, row);
    columns.forEach(({ first, all }, cell) => {
      const text = decoded(cellBytes(reader, cell));
      if (row <= PEEKED_ROWS) first.push(text);
      all.add(text);
    });
  }
  if (row === 0) throw new DataError(`${file}: ${w.noRows(names)}`);
  const decimal = decimalOf(columns.flatMap(({ all }) => [...all]), String.fromCharCode(reader.delimiter));
  const read = (texts) => (decimal === "," ? texts.map((text) => text && pointed(text)) : texts);
  const kinds = columns.map(({ name, first, all }) => ({
    name,
    first: read(first),
    kind: kindOf(read([...all])),
  }));
  return { columns: kinds, decimal };
}

/**
 * Look at the beginning of a file: {name, delimiter, decimal, notes, columns: [{name, kind, first}],
 * named, nameless}. `named` says whether the first row has names; `nameless` that it has only numbers.
 */
export async function peekFile(blob, name, named = true) {
  const start = await beginning(blob, PEEKED_BYTES);
  const { delimiter, notes } = tableFormat(name, start.subarray(0, SNIFFED_BYTES));
  const reader = rowReader(delimiter);
  reader.push(withoutMark(start), start.length < PEEKED_BYTES);
  return inFile(name, () => {
    reader.next();
    const first = namesIn(reader);
    const names = named ? first : first.map((_, i) => w.columnNumber(i + 1));
    // Without names the first row is data, and is read again.
    const rows = named ? reader : rowReader(delimiter);
    if (!named) rows.push(withoutMark(start), start.length < PEEKED_BYTES);
    const peeked = firstColumns(rows, names, name);
    if (peeked.decimal === ",") notes.push(w.decimalCommas(name));
    const nameless = named && first.every((text) => numberFromText(pointed(text)) !== undefined);
    return { name, delimiter, notes, named, nameless, ...peeked };
  });
}

/** Put the file's name before what is wrong with it. */
function inFile(name, act) {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof DataError) || error.message.startsWith(name)) throw error;
    throw new DataError(`${name}: ${error.message}`);
  }
}

function checkCells(reader, expected, row) {
  if (reader.cells === expected) return;
  throw new DataError(w.cellCount(w.where(row, reader.line), reader.cells, expected));
}

// ------------------------------------------------------------------ all rows

/** A list of numbers that grows. */
function growing(Kind) {
  return { values: new Kind(1 << 16), Kind };
}

function put(list, at, value) {
  if (at >= list.values.length) {
    const larger = new list.Kind(2 * list.values.length);
    larger.set(list.values);
    list.values = larger;
  }
  list.values[at] = value;
}

/** Codes for distinct texts; short ones are found by their bytes. */
function dictionary() {
  const [texts, byBytes, byText] = [[], new Map(), new Map()];
  const coded = (bytes, where) => {
    const text = decoded(bytes);
    if (text === null) throw new DataError(notText(bytes, where()));
    if (!byText.has(text)) byText.set(text, texts.push(text) - 1);
    return byText.get(text);
  };
  return {
    texts,
    code(bytes, where) {
      if (bytes.length > 4) return coded(bytes, where);
      let key = 1;
      for (const byte of bytes) key = key * 256 + byte;
      if (!byBytes.has(key)) byBytes.set(key, coded(bytes, where));
      return byBytes.get(key);
    },
  };
}

function badNumber(reader, cell, name, where) {
  const bytes = cellBytes(reader, cell);
  const text = decoded(bytes);
  if (text === null) return notText(bytes, where);
  const marks = [...text];
  const long = marks.length > SHOWN_CHARACTERS;
  const shown = long ? `${marks.slice(0, SHOWN_CHARACTERS).join("")}...` : text;
  return w.badNumber(where, name, shown, long ? null : almostNumber(text));
}

/** Take the row just read into the table. */
function takeRow(reader, table) {
  const { width, label, scores, labels, codes, row } = table;
  checkCells(reader, width, row + 1);
  const where = () => w.where(row + 1, reader.line);
  put(codes, row, labels.code(cellBytes(reader, label), where));
  if (table.day >= 0) put(table.when, row, table.days.code(cellBytes(reader, table.day), where));
  if (table.patient >= 0) put(table.whose, row, table.patients.code(cellBytes(reader, table.patient), where));
  for (const score of scores) {
    const value = numberIn(reader, score.cell);
    if (value === undefined) throw new DataError(badNumber(reader, score.cell, score.name, where()));
    put(score, row, value);
  }
  table.row++;
}

/** Read every row; the first bad one is reported, unless a quote that is never closed explains it. */
async function readRows(blob, { delimiter, decimal, columns, name, named }, roles, progress) {
  const position = (wanted) => columns.findIndex((column) => column.name === wanted);
  const table = {
    width: columns.length,
    label: position(roles.label),
    scores: roles.scores.map((score) => ({
      name: score,
      cell: position(score),
      ...growing(Float64Array),
    })),
    labels: dictionary(),
    codes: growing(Int32Array),
    patient: roles.patient ? position(roles.patient) : -1,
    patients: dictionary(),
    day: roles.day ? position(roles.day) : -1,
    days: dictionary(),
    when: growing(Int32Array),
    whose: growing(Int32Array),
    row: 0,
  };
  const reader = rowReader(delimiter, decimal);
  let [bad, header, done] = [null, named, 0];
  const takeAll = () => {
    while (reader.next()) {
      if (header) header = false;
      else if (bad === null) {
        try {
          takeRow(reader, table);
        } catch (error) {
          bad = error;
        }
      }
    }
  };
  for await (const piece of piecesOf(blob)) {
    reader.push(done === 0 ? withoutMark(piece) : piece, false);
    takeAll();
    done += piece.length;
    progress?.(done, table.row);
  }
  reader.push(new Uint8Array(0), true);
  takeAll();
  if (reader.unclosed !== null) throw new DataError(`${name}: ${w.unclosedQuote(reader.unclosed)}`);
  if (bad) throw bad instanceof DataError ? new DataError(`${name}: ${bad.message}`) : bad;
  if (decimal === ",") table.labels.texts = table.labels.texts.map(pointed);
  return table;
}

/** Mark the rows with a missing value, or refuse them, naming the first. */
function missingRows({ row: nRows, labels, codes, scores, patients, whose, days, when }, roles, file, dropMissing) {
  const missing = new Uint8Array(nRows);
  const absent = missingTexts(labels.texts);
  const tests = [
    [roles.label, (row) => absent[codes.values[row]]],
    ...(roles.day ? [[roles.day, (row) => MISSING.has(days.texts[when.values[row]])]] : []),
    ...(roles.patient ? [[roles.patient, (row) => MISSING.has(patients.texts[whose.values[row]])]] : []),
    ...scores.map((score) => [score.name, (row) => Number.isNaN(score.values[row])]),
  ];
  for (const [name, isAbsent] of tests) {
    let [nAbsent, first] = [0, 0];
    for (let row = 0; row < nRows; row++) {
      if (!isAbsent(row)) continue;
      if (nAbsent++ === 0) first = row + 1;
      missing[row] = 1;
    }
    if (nAbsent && !dropMissing) {
      throw new DataError(`${file}: ${w.missingValues(name, nAbsent, nRows, first)}`);
    }
  }
  return missing;
}

/**
 * The scores of each class, without the rows left out.
 * @returns {[Float64Array, Float64Array]}
 */
function classesOf({ values }, codes, marks, missing, [nPositive, nNegative]) {
  const [positive, negative] = [new Float64Array(nPositive), new Float64Array(nNegative)];
  let [p, n] = [0, 0];
  for (let row = 0; row < missing.length; row++) {
    if (missing[row]) continue;
    if (marks[codes.values[row]]) positive[p++] = values[row];
    else negative[n++] = values[row];
  }
  return [positive, negative];
}

/** @returns {[number, number]} */
function sizesOf({ codes }, marks, missing) {
  let [positive, negative] = [0, 0];
  for (let row = 0; row < missing.length; row++) {
    if (missing[row]) continue;
    if (marks[codes.values[row]]) positive++;
    else negative++;
  }
  return [positive, negative];
}

function usedCodes({ codes, labels }, missing) {
  const used = new Uint8Array(labels.texts.length);
  missing.forEach((gone, row) => {
    if (!gone) used[codes.values[row]] = 1;
  });
  return used;
}

const dayNumber = (text) => Date.parse(`${text.slice(0, 10)}T00:00:00Z`) / MILLISECONDS_PER_DAY;

/** The days of the rows, from the first to the last, as `voros explore` counts periods. */
function periodsOf({ row: nRows, days, when, scores }, models, missing) {
  const dates = days.texts.map(dayNumber);
  const rows = Array.from({ length: nRows }, (_, row) => row).filter((row) => !missing[row]);
  const byDay = new Map(rows.map((row) => [dates[when.values[row]], []]));
  for (const row of rows) byDay.get(dates[when.values[row]]).push(row);
  const members = [...byDay.values()];
  const ends = [...byDay.keys()].reduce(([low, high], day) => [Math.min(low, day), Math.max(high, day)], [Infinity, -Infinity]);
  const most = members.reduce((largest, { length }) => Math.max(largest, length), 0);
  const breaks = scores.map(({ values }, j) => breaksOf(members, values, models[j].thresholds, most));
  return { n: ends[1] - ends[0] + 1, most, note: "", breaks };
}

/** The rows of each day from the first to the last; some have none. */
function membersByDay(texts, days) {
  const dates = texts.map(dayNumber);
  const first = days.reduce((least, day) => Math.min(least, dates[day]), Infinity);
  const last = days.reduce((most, day) => Math.max(most, dates[day]), -Infinity);
  const members = Array.from({ length: last - first + 1 }, () => []);
  days.forEach((day, row) => members[dates[day] - first].push(row));
  return members;
}

/** For every capacity: the places in the thresholds at which one day more passes it, in rising order. */
function breaksOf(members, values, thresholds, most) {
  const falling = members.map((rows) => Float64Array.from(rows, (row) => values[row]).sort().reverse());
  return Array.from({ length: most }, (_, i) => {
    const passing = falling.filter((scores) => scores.length > i + 1);
    return passing.map((scores) => placeOf(scores[i + 1], thresholds) + 1).sort((a, b) => a - b);
  });
}

/**
 * Count a file: {models: [{name, thresholds, tp, fp}], asScored: [{tp, fp} or null], nPositive,
 * nNegative, notes}, and a function `resample` that counts the models in resamples of the cases.
 *
 * `wanted` holds {label, scores, posLabel, dropMissing}; what it leaves open is guessed. `seen` is
 * what `peekFile` returned of the file, where that is known. Calls `progress(bytes, rows)` as it
 * goes.
 */
export async function countFile(blob, name, wanted = {}, seen = null, progress = undefined) {
  const peeked = seen ?? (await peekFile(blob, name));
  const roles = { ...assignRoles(peeked.columns, wanted, name), patient: wanted.patient ?? null, day: wanted.day ?? null };
  const table = await readRows(blob, peeked, roles, progress);
  const missing = missingRows(table, roles, name, wanted.dropMissing ?? false);
  const gone = missing.reduce((sum, mark) => sum + mark, 0);
  if (gone === table.row) throw new DataError(`${name}: ${w.allMissing}`);
  const notes = [...peeked.notes, ...roles.notes];
  if (gone) notes.push(w.leftOutRows(gone, table.row));
  const used = usedCodes(table, missing);
  const marks = positiveTexts(table.labels.texts, used, wanted.posLabel ?? null, roles.label);
  const sizes = sizesOf(table, marks, missing);
  const counts = table.scores.map((score) =>
    countModel(...classesOf(score, table.codes, marks, missing, sizes)),
  );
  const asScored = counts.map((model) => model.asScored);
  const models = counts.map(({ thresholds, tp, fp }, j) => ({ name: table.scores[j].name, thresholds, tp, fp }));
  const [nPositive, nNegative] = sizes;
  const repeated = roles.patient !== null && table.patients.texts.length < table.row;
  if (repeated) notes.push(w.byPatient(table.patients.texts.length, roles.patient));
  const inTime = roles.day === null ? {} : { periods: periodsOf(table, models, missing) };
  const resample = () => {
    const rows = Array.from({ length: table.row }, (_, row) => row).filter((row) => !missing[row]);
    const labels = Uint8Array.from(rows, (row) => Number(marks[table.codes.values[row]]));
    const scores = (j) => Float64Array.from(rows, (row) => table.scores[j].values[row]);
    const cases = { nPositive, nNegative };
    if (inTime.periods) {
      const days = rows.map((row) => table.when.values[row]);
      const members = membersByDay(table.days.texts, days);
      const drawn = resampledCounts(labels, scores, models, cases, { members });
      return withLastRows(drawn, members, scores, models);
    }
    const members = repeated ? membersOf(rows.map((row) => table.whose.values[row])) : null;
    return resampledCounts(labels, scores, models, cases, { members });
  };
  return { models, ...(repeated && { repeated }), ...inTime, asScored, nPositive, nNegative, notes, resample };
}
