/** The page: one setting, moved by its controls, and everything that follows from it. */
import { areaChart } from "./area_chart.js";
import { startJudge } from "./background.js";
import { bindComparison } from "./compare.js";
import { bindControls } from "./controls.js";
import { areaRows, decisionRows, mapRows, rocRows } from "./chart_tables.js";
import { costTable } from "./cost_table.js";
import { forgetCursors } from "./cursor.js";
import { decisionChart, gainText } from "./decision_chart.js";
import { fillWords } from "./filling.js";
import { bindFolds, unfoldForPrint } from "./folding.js";
import { groupsBlock } from "./groups.js";
import { canGuarantee, guaranteeOf } from "./guarantee.js";
import { bindGuide } from "./guide.js";
import { bindKeeping } from "./keeping.js";
import { w, wordsOf } from "./lang.js";
import { byId, markOf } from "./marks.js";
import { contentsText, notices, thinningText } from "./notices.js";
import { consequences, peoplePicture } from "./people.js";
import { bindPeriods, boundByPeriods } from "./periods.js";
import { aboutText, elsewhereText, guaranteeText, promiseOf, sameLimits } from "./promise.js";
import { rankingTable } from "./ranking.js";
import { rocChart, runPath } from "./roc_chart.js";
import { costsOf, firstSetting, holdsSetting, missAt, readHash } from "./setting.js";
import { bindSharing } from "./sharing.js";
import { tableBehind } from "./tables.js";
import { thresholdChart, thresholdTable } from "./threshold_chart.js";
import { atPrevalence, bindingLimits, canAlarm, evaluate, operatingPoints, ratioRange } from "./voros.js";
import { winnerMap } from "./winner_map.js";
import { winnerAt } from "./winners.js";
import {
  CHECKING,
  UNKNOWN,
  bindingText,
  countText,
  deployText,
  fullThreshold,
  percent,
  plain,
  ruleText,
  settingText,
  several,
  verdictText,
} from "./wording.js";

/** Milliseconds for which the controls rest before thresholds are tested. */
const GUARANTEED_AFTER = 200;

/** Models that are drawn, unless all are asked for. */
const DRAWN_MODELS = 8;

/** Beyond this many models the ranking scrolls. */
const LONG_RANKING = 12;

/** A screen reader hears the result once the controls rest for this many milliseconds. */
const ANNOUNCED_AFTER = 700;

/** What the page in view shows: its data, and what draws them. */
let payload, cases, words, nCases, mostRate, models;
let tables, pictures, drawPeople, writeTexts, showControls, showComparison, showRanking;
let shownView = null;
let shownMap = null;
let drawsAll = false;
let judge = null;
let unfolds = false;

/** Numbers that JSON lacks are spelled "NaN", "Infinity" and "-Infinity". */
const readThreshold = (value) => Number(value);

function modelOf({ name, thresholds, tp, fp, capacityAlarms }, position) {
  const { periods } = payload;
  const inTime = periods ? { nPeriods: periods.n, breaks: periods.breaks[position] } : {};
  const held = { ...cases, ...inTime };
  const counts = { thresholds: thresholds.map(readThreshold), tp, fp, capacityAlarms };
  const base = operatingPoints(counts, held);
  const wholeCurve = `${runPath(base, () => true)}${payload.stays ? "" : "L1 1"}`;
  return { name, position, base, wholeCurve, asScored: payload.asScored[position] };
}

// ------------------------------------------------------------------ what follows from a setting

function scored(model, points, setting, costs) {
  const result = evaluate(points, setting, costs);
  const usable = result.score !== null && canAlarm(result.hull);
  return { ...model, points, result, usable, score: result.score ?? 0 };
}

/** What is known of the leaders before they are compared; resamples of a file come after its counts. */
const leadersBefore = () => (payload.replicates === null ? UNKNOWN : CHECKING);

/** Everything the pictures show. */
function viewOf(setting) {
  const costs = costsOf(setting);
  const points = models.map(({ base }) => ({
    ...atPrevalence(base, setting.prevalence),
    exceed: setting.exceed,
  }));
  const evaluated = models.map((model, i) => scored(model, points[i], setting, costs));
  const ranked = [...evaluated].sort((a, b) => b.usable - a.usable || b.score - a.score);
  evaluated.forEach((model) => (model.mark = markOf(model.position, payload.styles)));
  const focus = setting.model === null ? ranked[0] : evaluated[setting.model];
  const odds = points[0].nNegative / points[0].nPositive;
  const miss = missAt(setting);
  return {
    setting,
    words,
    costs,
    points,
    models: evaluated,
    ranked,
    focus,
    drawn: drawsAll ? evaluated : ranked.filter((model, i) => i < DRAWN_MODELS || model === focus),
    ratios: ratioRange(costs, odds),
    missAt: miss,
    ratioAt: 1 / miss,
    mostRate,
    mostAlarms: nCases * mostRate,
    thinning: payload.thinning,
    repeated: payload.repeated,
    leaders: judge ? leadersBefore() : UNKNOWN,
    titles: { ...payload.titles, ...w.axes, ...(payload.stays && w.stayAxes) },
  };
}

// ------------------------------------------------------------------ drawing

/** Offer the threshold in use for copying, with all its digits, where one is set. */
function offerThreshold(view) {
  const { chosen } = consequences(view);
  const threshold = view.focus.points.thresholds[chosen];
  byId("exact-place").hidden = chosen === 0 || !Number.isFinite(threshold);
  byId("exact-threshold").value = fullThreshold(threshold);
}

function deployment(view) {
  const { points, result, name } = view.focus;
  const { chosen } = consequences(view);
  if (chosen === 0) return w.noAlarmAtAll(name);
  const binding = bindingLimits(points, view.setting, result.allowedAlarms, view.ratios);
  const late = boundByPeriods(points, result, view.setting, view.ratios);
  if (late && !binding.includes("capacity")) binding.push("capacity");
  return `${name}: ${deployText(points, chosen, words)} ${bindingText(binding)}`;
}

/** Which models win how much of the map, in words. */
function mapText(results, view) {
  const shares = view.models
    .map(({ name, position }) => [name, results.filter(({ winner }) => winner === position).length])
    .filter(([, cells]) => cells > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([name, cells]) => w.mapShare(name, percent(cells / results.length, 2)));
  return shares.length ? w.mapText(shares) : w.mapNobody;
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
let guaranteeing = null;

function say(verdict, consequence, view) {
  byId("verdict").textContent = verdict;
  byId("ticker").textContent = verdict;
  byId("threshold-model").textContent = view.focus.name;
  byId("focus").options[0].textContent = w.bestOneNow(view.ranked[0].name);
  byId("consequence").textContent = w.withModel(view.focus.name, consequence);
  byId("deploy").textContent = deployment(view);
  offerThreshold(view);
  byId("setting-text").textContent = settingText(view.setting, words);
  byId("limits-short").textContent = limitsInShort(view.setting);
  const told = notices(view);
  if (store.refused.length) told.unshift(w.addressProblems(store.refused));
  byId("notice").textContent = told.join(" ");
  byId("notice").hidden = told.length === 0;
  clearTimeout(announcing);
  const announcement = [verdict, consequence, ...told].join(" ");
  announcing = setTimeout(
    () => (byId("announcement").textContent = announcement),
    ANNOUNCED_AFTER,
  );
}

/** The sentences and the ranking, which know more once the resamples are scored. */
function showResult(view, consequence) {
  const verdict = verdictText(view.ranked, view.leaders);
  showRanking(view);
  say(verdict, consequence, view);
  showComparison(view, verdict);
}

/** Ask for intervals; when they come, the result is shown again, unless something moved. */
function askHowSure(view, consequence) {
  const { minPrecision, minRecall = 0, capacity, prevalence, exceed = null } = view.setting;
  const limits = { minPrecision, minRecall, capacity };
  const scores = view.models.map(({ score, usable }) => (usable ? score : null));
  delete document.body.dataset.sure;
  judge?.ask({ ...limits, prevalence, exceed, costs: view.costs }, scores, (judged) => {
    if (view !== shownView) return;
    view.models.forEach((model, i) => {
      model.interval = judged.intervals[i];
      model.behind = judged.behind?.[i];
    });
    view.leaders = judged.tied ?? (payload.replicates ? UNKNOWN : leadersBefore());
    showResult(view, consequence);
    byId("sure-hint").hidden = judged.intervals.every((interval) => interval === null);
    document.body.dataset.sure = JSON.stringify(judged);
  });
}

/** What came with the page about the threshold in use, as {text, holds}; null without a guarantee. */
function promised(view, chosen) {
  const { promise, setting: first } = payload;
  if (!promise) return null;
  if (!sameLimits(view.setting, first)) return { text: elsewhereText(promise, first, words), holds: false };
  const held = promiseOf(promise, view.focus.position, chosen);
  return { text: guaranteeText(held, aboutText(promise, first.per)), holds: true };
}

/** Places of the map that are judged at once: the worker may be asked for more important things. */
const JUDGED_AT_ONCE = 63;

/** Ask where on the map models cannot be told apart; without resamples nowhere is known. */
function compareRaces(races, view, told) {
  const [key, known] = [byId("map-key"), judge && payload.replicates];
  delete document.body.dataset.judged;
  key.textContent = known ? w.hatchingComes : w.notHatched;
  if (!known) return;
  if (races.length === 0) key.textContent = "";
  const starts = Array.from({ length: Math.ceil(races.length / JUDGED_AT_ONCE) }, (_, i) => i * JUDGED_AT_ONCE);
  const batches = starts.map((start) => races.slice(start, start + JUDGED_AT_ONCE));
  const { costs, setting: { prevalence, exceed = null } } = view;
  judge.compare(batches, { costs, prevalence, exceed }, (calls, i) => {
    told(calls, starts[i]);
    if (i < starts.length - 1) return;
    key.textContent = w.hatchedByInterval;
    document.body.dataset.judged = "yes";
  });
}

/** Whether the threshold in use keeps the limits beyond these cases, once the controls rest. */
function sayGuarantee(view) {
  clearTimeout(guaranteeing);
  const { chosen } = consequences(view);
  const tested = chosen === 0 ? null : promised(view, chosen);
  byId("promise").textContent = tested?.text ?? "";
  byId("guarantee").textContent = "";
  if (chosen === 0 || tested?.holds || !canGuarantee(view)) return;
  guaranteeing = setTimeout(() => {
    byId("guarantee").textContent = guaranteeText(guaranteeOf(view, chosen), w.allCases);
  }, GUARANTEED_AFTER);
}

function update() {
  const started = performance.now();
  const view = viewOf(store.setting);
  showControls(store.setting);
  for (const draw of pictures) draw(view);
  shownView = view;
  const consequence = drawPeople(view);
  showResult(view, consequence);
  askHowSure(view, consequence);
  sayGuarantee(view);
  const isRate = payload.stays && store.setting.capacity.share !== undefined;
  writeTexts(isRate ? { ...store.setting, per: "patient-day" } : store.setting);
  document.body.dataset.updateMs = (performance.now() - started).toFixed(2);
}

/** The limits and costs in a line, for a screen that has no room for their controls. */
function limitsInShort(setting) {
  const { minPrecision, minRecall = 0, capacity, miss } = setting;
  const number = capacity.count === undefined ? percent(capacity.share) : plain(capacity.count, 9);
  const most = setting.per === undefined ? number : `${number} ${ruleText(setting)}`;
  const caught = minRecall > 0 ? percent(minRecall) : null;
  return w.limitsShort(percent(minPrecision), caught, most, miss[0] === miss[1] ? plain(miss[0]) : w.range(...miss.map((end) => plain(end))));
}

/** A phone opens with the limits in a line. */
const NARROW = "(max-width: 30rem)";

// ------------------------------------------------------------------ start

/** Bind every control and picture to the elements that are in the page now. */
function bindPage() {
  forgetCursors();
  bindFolds();
  tables = {
    roc: tableBehind(byId("roc-table")),
    area: tableBehind(byId("area-table")),
    decision: tableBehind(byId("decision-table")),
    map: tableBehind(byId("map-table")),
  };
  pictures = [
    (view) => tables.roc(() => rocRows(view)),
    (view) => tables.area(() => areaRows(view)),
    (view) => tables.decision(() => decisionRows(view)),
    (view) => (byId("decision-text").textContent = gainText(view)),
    rocChart(byId("roc")),
    areaChart(byId("area")),
    decisionChart(byId("decision")),
    costTable(byId, store),
    thresholdChart(byId("threshold")),
    thresholdTable(byId("choices")),
    groupsBlock(byId, payload.groups),
    winnerMap(byId("map"), {
      compare: compareRaces,
      choose: (limits) => store.change(limits),
      say: (text) => (byId("map-cell").textContent = text),
      tabulate: (shown, view) => tables.map(() => mapRows(shown, view)),
      describe: (results, view, shown) => {
        shownMap = shown;
        byId("map-text").textContent = mapText(results, view);
      },
    }),
  ];
  drawPeople = peoplePicture(byId("people"));
  showComparison = bindComparison(byId);
  bindDrawAll();
  // The questions are about a capacity of all cases.
  for (const id of ["guide", "guide-place"]) byId(id).hidden = Boolean(payload.periods);
  // Over stays the share of positives is not one of cases, and no day's alarm catches every event.
  for (const id of ["fold-how-common", "fold-decision"]) byId(id).hidden = Boolean(payload.stays);
  bindGuide(byId, words, { take: (part) => store.change(part), winnerOf });
  bindKeeping(() => ({ ...shownView, map: shownMap }));
  writeTexts = bindSharing();
  showRanking = rankingTable(byId("ranking"));
  const showRule = bindPeriods(byId, store, payload.periods, payload.setting);
  const showLimits = bindControls(store, models, {
    nCases: payload.periods ? payload.periods.most : nCases,
    mostRate,
    ownRate: cases.nPositive / nCases,
    firstMiss: payload.setting.miss,
    cases: words.cases,
  });
  showControls = (setting) => {
    showLimits(setting);
    showRule(setting);
  };
}

function takeAddress(hash) {
  const first = firstSetting(payload.setting);
  const { setting, problems } = readHash(hash, first, models.length, mostRate);
  store.change(setting, problems);
}

function followAddress({ newURL }) {
  const { hash } = new URL(newURL);
  if (holdsSetting(hash)) takeAddress(hash);
}

/** Many models: the charts show the first, and the ranking scrolls. */
function bindDrawAll() {
  const box = byId("draw-all");
  byId("draw-all-place").hidden = models.length <= DRAWN_MODELS;
  box.checked = drawsAll;
  box.addEventListener("change", () => {
    drawsAll = box.checked;
    update();
  });
  if (models.length <= LONG_RANKING) return;
  const attributes = { tabindex: 0, role: "region", "aria-labelledby": "ranking-title" };
  const scroll = byId("ranking-scroll");
  for (const [name, value] of Object.entries(attributes)) scroll.setAttribute(name, value);
}

/** The best model where part of the setting is another. */
function winnerOf(part) {
  const setting = { ...store.setting, ...part };
  const points = models.map(({ base }) => atPrevalence(base, setting.prevalence));
  const { winner } = winnerAt(points, setting, costsOf(setting));
  return winner === -1 ? w.noModelCell : models[winner].name;
}

/** What stands on the page whatever the setting. */
function fillPage() {
  const rate = percent(cases.nPositive / nCases);
  fillWords({ ...words, ownRate: rate });
  const counted = several(models.length, w.model);
  byId("sample").textContent = w.sample(counted, countText(nCases), words.cases, rate, words.outcome);
  byId("contents").textContent = contentsText(models, cases, words);
  if (payload.thinning) {
    byId("thinning").hidden = false;
    byId("thinning").textContent = thinningText(payload.thinning);
  }
}

/** Say how sure scores are, in a worker, from now on; weights have no exact limits. */
export function attachResamples(newPayload) {
  judge?.stop();
  [judge, payload] = [null, newPayload];
  if (!newPayload.cases.wholeCounts) return;
  const counts = newPayload.models.map(({ tp, fp }) => ({ tp, fp }));
  const { cases: held, replicates, repeated, periods = null } = newPayload;
  judge = startJudge({ models: counts, cases: held, replicates, periods, grouped: repeated || periods !== null });
  if (shownView) update();
}

/** The setting in force, to open another page with. */
export const settingNow = () => store.setting;

/**
 * Show counts; `newPayload` is what `voros explore` writes into a page. It opens with a setting, or with
 * what the address asks for.
 */
export function openPage(newPayload, setting = null) {
  payload = newPayload;
  cases = payload.cases;
  words = { ...wordsOf(payload.words), stays: payload.stays };
  nCases = cases.nPositive + cases.nNegative;
  // Over stays the cases are patient-days, with any number of alarms each.
  mostRate = cases.mostRate ?? 1;
  models = payload.models.map(modelOf);
  byId("layout").hidden = false;
  for (const id of ["limits-fold", "deploy-fold"]) byId(id).open = !window.matchMedia(NARROW).matches;
  // The line at the bottom of a phone repeats the headline once that is out of sight.
  new IntersectionObserver(([{ isIntersecting }]) => {
    byId("ticker").hidden = isIntersecting;
  }).observe(byId("verdict"));
  fillPage();
  bindPage();
  shownView = null;
  attachResamples(payload);
  store.setting = null;
  if (setting) store.change(setting);
  else takeAddress(window.location.hash);
  // The same function again is not added twice.
  window.addEventListener("hashchange", followAddress);
  if (!unfolds) unfoldForPrint(update);
  unfolds = true;
}
