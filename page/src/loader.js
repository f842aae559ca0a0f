/** The reader's own file: dropped, chosen or pasted; its columns picked; counted, and forgotten. */
import { startWorker } from "./background.js";
import { DataError, assignRoles, findPatient, isDay, isNumeric, likelyScores, positiveWord } from "./columns.js";
import { exampleRows } from "./example.js";
import { MISSING } from "./csv.js";
import { w } from "./lang.js";
import { byId, html } from "./marks.js";
import { pageText, saveFile } from "./saving.js";

/** With this many columns of numbers or more there is a search field. */
const MANY_COLUMNS = 9;

/** Labels that are offered as the positive one. */
const MOST_LABELS = 20;


function option(value, text) {
  return html("option", { value }, text);
}

/** What was said of a file: problems aloud, notes as a list. */
function tellProblem(error) {
  if (error && !(error instanceof DataError)) console.error(error);
  byId("loader-problem").textContent = error ? error.message : "";
}

function tellNotes(notes) {
  byId("loader-notes").replaceChildren(...notes.map((note) => html("li", {}, note)));
}

/** The first setting with as many alarms a day as its share of the cases allows on average. */
function perDay({ capacity, ...others }, { n }, nCases) {
  const most = capacity.count ?? capacity.share * nCases;
  return { ...others, capacity: { count: Math.max(1, Math.round(most / n)) }, per: "day", exceed: null };
}

/** Distinct texts of a column, as far as they were seen. */
function textsOf({ first }) {
  return [...new Set(first)].filter((text) => text !== null && !MISSING.has(text));
}

/** Bind the form; `open(payload, stay)` shows counts, in the setting in force if `stay`. Returns nothing. */
export function bindLoader(source, empty, open) {
  let [file, name, peeked, shown] = [null, "", null, null];
  // Started before there is a file, because starting takes a while.
  let [worker, busy] = [startWorker(), false];

  /** End the worker, and with it all rows it has seen. */
  function endWorker() {
    worker?.stop();
    [worker, busy] = [null, false];
  }

  /** Do a task in the worker, or in a new one if that is busy. */
  async function beside(task, args, progress) {
    if (busy) endWorker();
    worker ??= startWorker();
    const mine = worker;
    busy = true;
    try {
      return await mine.run(task, args, progress);
    } finally {
      if (worker === mine) busy = false;
    }
  }

  async function take(blob, called, named = true) {
    [file, name, peeked] = [blob, called, null];
    byId("columns-form").hidden = byId("counting").hidden = byId("header-ask").hidden = true;
    tellProblem(null);
    tellNotes([]);
    try {
      peeked = await beside("peek", [blob, called, named]);
      if (peeked.nameless) askForHeader();
      else showColumns();
    } catch (error) {
      tellProblem(error);
    }
  }

  /** A first row of numbers may be one of data, which must not be lost. */
  function askForHeader() {
    byId("header-ask").hidden = false;
    byId("header-data").focus();
  }

  /** Fill the form with the guess; where there is none, say why and leave it open. */
  function showColumns() {
    const names = [...new Set(peeked.columns.map((column) => column.name))];
    byId("label-column").replaceChildren(option("", w.chooseColumn), ...names.map((column) => option(column, column)));
    byId("patient-column").replaceChildren(option("", w.nobody), ...names.map((column) => option(column, column)));
    byId("patient-column").value = findPatient(peeked.columns) ?? "";
    const days = peeked.columns.filter(({ kind }) => isDay(kind)).map((column) => column.name);
    byId("day-place").hidden = days.length === 0;
    byId("day-column").replaceChildren(option("", w.noDays), ...days.map((column) => option(column, column)));
    byId("columns-form").hidden = false;
    byId("header-ask").hidden = true;
    guess(null);
    byId("label-column").focus();
  }

  /** The one column whose two values are words like yes and no; null where there is none or are several. */
  function wordedLabel() {
    const labels = peeked.columns.filter((column) => positiveWord(textsOf(column)) !== null);
    return labels.length === 1 ? labels[0].name : null;
  }

  function guess(label) {
    /** @type {{ label: any, scores: any[], notes?: any[] }} */
    let roles = { label: label ?? "", scores: [] };
    let { notes } = peeked;
    tellProblem(null);
    try {
      roles = assignRoles(peeked.columns, { label }, name);
      notes = [...notes, ...roles.notes];
    } catch (error) {
      const worded = label === null ? wordedLabel() : null;
      if (worded !== null) return guess(worded);
      tellProblem(error);
    }
    tellNotes(notes);
    byId("label-column").value = roles.label;
    showModels(roles);
    return showLabels(roles.label);
  }

  function showModels({ label, scores }) {
    const numeric = peeked.columns.filter(
      (column) => column.name !== label && (isNumeric(column.kind) || scores.includes(column.name)),
    );
    const likely = likelyScores(peeked.columns, scores);
    byId("model-tools").hidden = numeric.length < MANY_COLUMNS;
    byId("find-model").value = "";
    byId("model-columns").replaceChildren(
      ...numeric.map((column) => {
        const box = html("input", { type: "checkbox", name: "model", value: column.name });
        box.checked = likely.includes(column.name);
        return html("label", { class: "check" }, box, html("span", {}, column.name));
      }),
    );
  }

  function showLabels(label) {
    const column = peeked.columns.find(({ name }) => name === label);
    const texts = column ? textsOf(column) : [];
    byId("positive-label").replaceChildren(
      option("", w.positiveByItself),
      ...(texts.length <= MOST_LABELS ? texts : []).map((text) => option(text, text)),
    );
    byId("positive-label").value = positiveWord(texts) ?? "";
  }

  function wanted() {
    const boxes = byId("model-columns").querySelectorAll("input:checked");
    return {
      label: byId("label-column").value || null,
      scores: Array.from(boxes, (box) => box.value),
      posLabel: byId("positive-label").value || null,
      dropMissing: byId("drop-missing").checked,
      patient: byId("patient-column").value || null,
      day: byId("day-column").value || null,
    };
  }

  async function count() {
    const bar = byId("counting");
    [bar.hidden, bar.value, bar.max] = [false, 0, Math.max(file.size, 1)];
    tellProblem(null);
    try {
      const asked = [file, name, wanted(), peeked];
      const replicates = await beside("count", asked, ({ bytes, counted }) => {
        if (bytes) bar.value = bytes;
        if (counted) show(counted);
      });
      endWorker();
      attach(replicates);
    } catch (error) {
      tellProblem(error);
    }
    bar.hidden = true;
  }

  function show({ models, asScored, nPositive, nNegative, notes, repeated = false, periods = null }) {
    const words = {
      outcome: byId("outcome-word").value.trim() || empty.words.outcome,
      cases: byId("cases-word").value.trim() || empty.words.cases,
    };
    const cases = { nPositive, nNegative, oneCase: 1, wholeCounts: true, wholeCases: true };
    shown = { ...empty, models, asScored, cases, words, ...(repeated && { repeated }), replicates: undefined };
    if (periods) shown = { ...shown, periods, setting: perDay(empty.setting, periods, nPositive + nNegative) };
    // The rows seen for the form go, and what was pasted; a file stays on its owner's disk.
    peeked = null;
    byId("pasted").value = "";
    if (!(file instanceof File)) file = null;
    byId("loader").removeAttribute("role");
    byId("loading").hidden = true;
    byId("loaded").hidden = false;
    byId("loaded-text").textContent = w.loaded(name, notes);
    open(shown);
    byId("result").focus();
  }

  function attach(replicates) {
    shown = { ...shown, replicates };
    open(shown, true);
  }

  const stop = (event) => event.preventDefault();
  byId("loader").hidden = false;
  // The page's main part, until there is another.
  byId("loader").setAttribute("role", "main");
  byId("outcome-word").placeholder = empty.words.outcome;
  byId("cases-word").placeholder = empty.words.cases;
  byId("file").addEventListener("change", ({ target }) => {
    if (target.files.length) take(target.files[0], target.files[0].name);
  });
  byId("paste-button").addEventListener("click", () =>
    take(new Blob([byId("pasted").value]), w.pastedName),
  );
  for (const kind of ["dragenter", "dragover", "drop"]) document.addEventListener(kind, stop);
  document.addEventListener("drop", ({ dataTransfer }) => {
    const [dropped] = dataTransfer.files;
    const text = dataTransfer.getData("text/plain");
    if (dropped || text) again();
    if (dropped) take(dropped, dropped.name);
    else if (text) take(new Blob([text]), w.pastedName);
  });
  byId("header-data").addEventListener("click", () => take(file, name, false));
  byId("header-names").addEventListener("click", showColumns);
  byId("example").addEventListener("click", async () => {
    await take(new Blob([exampleRows()]), w.exampleName);
    count();
  });
  const boxes = () => [...byId("model-columns").querySelectorAll("label")];
  const tickShown = (checked) => {
    for (const label of boxes().filter(({ hidden }) => !hidden)) label.querySelector("input").checked = checked;
  };
  byId("no-models").addEventListener("click", () => tickShown(false));
  byId("all-models").addEventListener("click", () => tickShown(true));
  byId("find-model").addEventListener("input", ({ target }) => {
    const wantedName = target.value.trim().toLowerCase();
    for (const label of boxes()) label.hidden = !label.textContent.toLowerCase().includes(wantedName);
  });
  byId("label-column").addEventListener("change", ({ target }) => guess(target.value || null));
  byId("columns-form").addEventListener("submit", (event) => {
    stop(event);
    count();
  });
  function again() {
    byId("loading").hidden = false;
    byId("loaded").hidden = true;
  }
  byId("again").addEventListener("click", () => {
    again();
    if (file) take(file, name);
    else byId("columns-form").hidden = true;
  });
  byId("save-page").addEventListener("click", () =>
    saveFile("voros-page.html", pageText(source, { ...shown, replicates: shown.replicates ?? null }), "text/html"),
  );
}
