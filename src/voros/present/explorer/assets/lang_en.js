/** Every word of the page in English. Another language is another file with the same keys. */
import { listed, quoted, shortened } from "./python_text.js";

/** How the page names what the command line has options for. */
const CONTROLS = {
  label: "“Label”",
  scores: "“Models”",
  pos_label: "“Positive label”",
  drop_missing: "“Leave out rows with a missing value”",
  file_format: "the ending of its name",
};

const count = (n) => n.toLocaleString("en");

export const ENGLISH = {
  language: "English",
  pageTitle: (outcome) => `Which model, at which threshold, for ${outcome}?`,

  // A file of one's own.
  chooseColumn: "choose a column",
  positiveByItself: "1 or true",
  pastedName: "the pasted text",
  loaded: (file, notes) => [`Counted: ${file}`, ...notes].join("; ") + ". No row is kept.",

  // Reading a file: the sentences of the command line.
  isEmpty: (file) => `${file} is empty; it needs a header and rows`,
  notTable: {
    zip: (file) => `${file} is a zip archive or an Excel workbook; save the sheet as CSV`,
    xls: (file) => `${file} is an old Excel workbook; save the sheet as CSV`,
    pdf: (file) => `${file} is a PDF document; name a table`,
    sqlite: (file) => `${file} is a database; export the table as CSV`,
    utf16: (file) => `${file} is UTF-16 text; save it as UTF-8`,
  },
  otherFormat: (file, format) =>
    `${file} is ${format}; this page reads CSV and TSV. The command line reads it: voros explore`,
  readAs: (file, format) => `reading ${file} as ${format} (another format: ${CONTROLS.file_format})`,
  separatedBy: (file, mark) => `${file} is separated by ${quoted(mark)}`,
  noRows: (names) => `there are column names (${names.join(", ")}) and no rows; add the cases`,
  where: (row, line) => `row ${row} (line ${line})`,
  header: (line) => `the header (line ${line})`,
  cellCount: (where, cells, header) =>
    `${where} has ${cells} cells and the header ${header}; mend that row`,
  notUtf8: (where, raw, meant) =>
    `${where} is not UTF-8 text: ${raw}, which is ${quoted(meant)} in Latin-1; save the file as UTF-8`,
  unclosedQuote: (line) =>
    `the quote that opens in line ${line} is never closed; close or remove it, for all that ` +
    `follows would be one cell`,
  withComma: "a number with a comma; write a decimal point, and nothing between thousands",
  percentage: (text, share) => `a percentage; write ${text} as ${share}`,
  badNumber: (where, column, cell, almost) =>
    `${where}, column ${quoted(column)}: ${quoted(cell)} ` +
    (almost === null ? "is not a number; mend or remove that row" : `is ${almost}`),
  missingValues: (column, missing, rows, first) =>
    `column ${quoted(column)} has no value in ${missing} of ${rows} rows, first in row ${first}; ` +
    `mend them, or leave those rows out with ${CONTROLS.drop_missing}`,
  allMissing: "every row has a missing value",
  leftOutRows: (missing, rows) => `leaving out ${missing} of ${rows} rows with a missing value`,

  // Which column is what.
  tookLabel: (name) => `taking column ${quoted(name)} as the label (another one: ${CONTROLS.label})`,
  tookModels: (names) => `taking as models: ${names.map(quoted).join(", ")} (others: ${CONTROLS.scores})`,
  noLabel: (found, names) =>
    `${found.length ? `${listed(found)} could all be` : "no column is clearly"} the label; name ` +
    `it with ${CONTROLS.label} (columns: ${listed(names)})`,
  noScores: (names, leftOut) =>
    `no column but the label holds numbers; name the scores with ${CONTROLS.scores} (columns: ` +
    `${listed(names)})${leftOut.length ? `; no numbers in ${shortened(leftOut)}` : ""}`,
  leftOutColumns: (leftOut) => `left out, for want of numbers: ${shortened(leftOut)}`,
  reason: (name, why) => `${quoted(name)} (${why})`,
  repeatedColumn: (file, name) => `${file} has more than one column ${quoted(name)}; rename them`,
  whyNull: (rows) => `no value in the first ${count(rows)} rows`,
  whyBinary: "text that is not UTF-8",
  whyType: (type) => `values of type ${type}`,
  whyText: "text",
  whyAlmost: (text, almost) => `text such as ${quoted(text)}, ${almost}`,
  doubtful: (name, looks) =>
    `column ${quoted(name)} is taken as a model and looks like ${looks}; if it is none, name the ` +
    `models with ${CONTROLS.scores}`,
  anIdentifier: "an identifier",
  aProperty: "a property of the case",
  bothRoles: (name) =>
    `column ${quoted(name)} is named as both ${CONTROLS.label} and ${CONTROLS.scores}; it can be one only`,

  // Labels.
  titled: (name) => `column ${quoted(name)}`,
  oneClass: (title, held) =>
    `${title} holds ${held ? "positive" : "negative"} cases only; both classes are needed to draw a ROC curve`,
  notBinary: (title, n, shown) => `${title} has ${n} distinct labels (${shown}); two are accepted`,
  ambiguous: (title, shown) =>
    `${title} has the labels ${shown}, and which of them is the positive class is not clear; pass ${CONTROLS.pos_label}`,
  absentLabel: (title, wanted, shown) =>
    `${CONTROLS.pos_label}=${wanted} is not one of the labels of ${title} (${shown})`,
  notNumericLabel: (title, wanted) =>
    `${CONTROLS.pos_label}=${quoted(wanted)} is not a number, and ${title} holds numbers`,
};
