/** The page: one setting, moved by its controls, and everything that follows from it. */
import { areaChart } from "./area_chart.js";
import { bindControls } from "./controls.js";
import { areaRows, mapRows, rocRows } from "./chart_tables.js";
import { markOf } from "./marks.js";
import { addressText, contentsText, notices, thinningText } from "./notices.js";
import { consequences, peoplePicture } from "./people.js";
import { rankingTable } from "./ranking.js";
import { rocChart, stretchPath } from "./roc_chart.js";
import { costsOf, firstSetting, holdsSetting, missAt, readHash } from "./setting.js";
import { bindSharing } from "./sharing.js";
import { tableBehind } from "./tables.js";
import { thresholdChart, thresholdTable } from "./threshold_chart.js";
import { atPrevalence, bindingLimits, evaluate, operatingPoints, ratioRange } from "./voros.js";
import { winnerMap } from "./winner_map.js";
import {
  bindingText,
  deployText,
  percent,
  plain,
  settingText,
  several,
  verdictText,
} from "./wording.js";

/** A screen reader hears the result once the controls rest for this many milliseconds. */
const ANNOUNCED_AFTER = 700;

/** What the page in view shows: its data, and what draws them. */
let [payload, cases, words, nCases, models] = [];
let [tables, pictures, drawPeople, writeTexts, showControls] = [];

const place = (id) => document.getElementById(id);

/** Numbers that JSON lacks are spelled "NaN", "Infinity" and "-Infinity". */
const readThreshold = (value) => Number(value);

function modelOf({ name, thresholds, tp, fp }, position) {
  const base = operatingPoints({ thresholds: thresholds.map(readThreshold), tp, fp }, cases);
  const wholeCurve = `${stretchPath(base, () => true)}L1 1`;
  return { name, position, base, wholeCurve };
}

// ------------------------------------------------------------------ what follows from a setting

function scored(model, points, setting, costs) {
  const result = evaluate(points, setting.minPrecision, setting.capacity, costs);
  const usable = result.score !== null && result.hull.index.length > 1;
  return { ...model, points, result, usable, score: result.score ?? 0 };
}

/** Everything the pictures show. */
function viewOf(setting) {
  const costs = costsOf(setting);
  const points = models.map(({ base }) => atPrevalence(base, setting.prevalence));
  const found = models.map((model, i) => scored(model, points[i], setting, costs));
  const ranked = [...found].sort((a, b) => b.usable - a.usable || b.score - a.score);
  ranked.forEach((model, rank) => (model.mark = markOf(model.position, rank, payload.looks)));
  const odds = points[0].nNegative / points[0].nPositive;
  const miss = missAt(setting);
  return {
    setting,
    words,
    costs,
    points,
    models: found,
    ranked,
    focus: setting.model === null ? ranked[0] : found[setting.model],
    ratios: ratioRange(costs, odds),
    missAt: miss,
    ratioAt: 1 / miss,
    nCases,
    closeCall: payload.closeCall,
    thinning: payload.thinning,
    titles: payload.titles,
  };
}

// ------------------------------------------------------------------ drawing

/** Say what is counted, wherever the page names it: {} stands for the word. */
function fillCases({ cases: counted }) {
  for (const element of document.querySelectorAll("[data-cases]")) {
    element.textContent = element.dataset.cases.replace("{}", () => counted);
  }
}

function deployment(view) {
  const { points, result, name } = view.focus;
  const { chosen } = consequences(view);
  if (chosen === 0) return `${name}: no alarm at all.`;
  const { minPrecision } = view.setting;
  const binding = bindingLimits(points, minPrecision, result.allowedAlarms, view.ratios);
  return `${name}: ${deployText(points, chosen, words)} ${bindingText(binding)}`;
}

/** Which models win how much of the map, in words. */
function mapText(found, view) {
  const shares = view.models
    .map(({ name, position }) => [name, found.filter(({ winner }) => winner === position).length])
    .filter(([, cells]) => cells > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([name, cells]) => `${name} in ${percent(cells / found.length, 2)}`);
  return shares.length ? `Best of these limits: ${shares.join(", ")}.` : "No model is usable here.";
}

const store = {
  setting: null,
  /** What the address asked for and did not get, until something is moved. */
  refused: [],
  change(part, refused = []) {
    this.setting = { ...this.setting, ...part };
    this.refused = refused;
    update();
  },
  reset() {
    this.change(firstSetting(payload.setting));
  },
};

let announcing = null;

function say(verdict, consequence, view) {
  place("verdict").textContent = verdict;
  place("ticker").textContent = verdict;
  place("threshold-model").textContent = view.focus.name;
  place("focus").options[0].textContent = `the best one: ${view.ranked[0].name}`;
  place("consequence").textContent = `With ${view.focus.name}: ${consequence}`;
  place("deploy").textContent = deployment(view);
  place("setting-text").textContent = settingText(view.setting, words);
  const told = notices(view);
  if (store.refused.length) told.unshift(addressText(store.refused));
  place("notice").textContent = told.join(" ");
  place("notice").hidden = told.length === 0;
  clearTimeout(announcing);
  const announcement = [verdict, consequence, ...told].join(" ");
  announcing = setTimeout(
    () => (place("announcement").textContent = announcement),
    ANNOUNCED_AFTER,
  );
}

function update() {
  const started = performance.now();
  const view = viewOf(store.setting);
  showControls(store.setting);
  for (const draw of pictures) draw(view);
  say(verdictText(view.ranked, view.closeCall), drawPeople(view), view);
  writeTexts(store.setting);
  document.body.dataset.updateMs = (performance.now() - started).toFixed(2);
}

// ------------------------------------------------------------------ start

/** Bind every control and picture to the elements that are in the page now. */
function bindPage() {
  tables = {
    roc: tableBehind(place("roc-table")),
    area: tableBehind(place("area-table")),
    map: tableBehind(place("map-table")),
  };
  pictures = [
    (view) => tables.roc(() => rocRows(view)),
    (view) => tables.area(() => areaRows(view)),
    rankingTable(place("ranking")),
    rocChart(place("roc")),
    areaChart(place("area")),
    thresholdChart(place("threshold")),
    thresholdTable(place("choices")),
    winnerMap(place("map"), {
      choose: (limits) => store.change(limits),
      say: (text) => (place("map-cell").textContent = text),
      tabulate: (shown, view) => tables.map(() => mapRows(shown, view)),
      describe: (found, view) => (place("map-text").textContent = mapText(found, view)),
    }),
  ];
  drawPeople = peoplePicture(place("people"));
  writeTexts = bindSharing();
  showControls = bindControls(store, models, {
    nCases,
    ownRate: cases.nPositive / nCases,
    firstMiss: payload.setting.miss,
    cases: words.cases,
  });
}

function takeAddress(hash) {
  const first = firstSetting(payload.setting);
  const { setting, problems } = readHash(hash, first, models.length);
  store.change(setting, problems);
}

function followAddress({ newURL }) {
  const { hash } = new URL(newURL);
  if (holdsSetting(hash)) takeAddress(hash);
}

/** Show counts; `given` is what `voros explore` writes into a page. */
export function openPage(given) {
  payload = given;
  ({ cases, words } = payload);
  nCases = cases.nPositive + cases.nNegative;
  models = payload.models.map(modelOf);
  place("layout").hidden = false;
  fillCases(words);
  bindPage();
  const rate = percent(cases.nPositive / nCases);
  place("sample").textContent =
    `${several(models.length, "model")}, ${plain(nCases, 9)} ${words.cases}, ` +
    `${rate} with ${words.outcome}.`;
  place("contents").textContent = contentsText(models, cases, words);
  place("close-call").textContent = payload.closeCall;
  if (payload.thinning) {
    place("thinning").hidden = false;
    place("thinning").textContent = thinningText(payload.thinning);
  }
  takeAddress(window.location.hash);
  // The same function again is not added twice.
  window.addEventListener("hashchange", followAddress);
}
