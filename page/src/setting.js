/**
 * The setting: limits and costs that a person can move, and its forms as a link, TOML and Python.
 *
 * {minPrecision, minRecall, capacity, miss: [low, high], spread: "miss" or "ratio", prevalence, price, at,
 * model, zoom}
 *
 * `miss` is how many false alarms a miss is worth, from and to; `spread` is the unit in which that range
 * is uniform; `price` is what a false alarm costs in money, or null; `at` is the place in the range, from
 * 0 to 1 on a logarithmic scale, for which consequences are shown; `model` is the position of the model
 * they are shown for, or null for the best.
 */
import { w } from "./lang.js";

/** What is shown at first, besides the limits and costs that come with the page. */
const FIRST_VIEW = { at: 0.5, model: null, zoom: true };

export function firstSetting(opening) {
  return { price: null, ...opening, ...FIRST_VIEW };
}

/** The costs of a setting, in the unit in which they are uniform. */
export function costsOf({ miss: [low, high], spread }) {
  return spread === "miss"
    ? { over: "miss", low, high }
    : { over: "ratio", low: 1 / high, high: 1 / low };
}

/** How many false alarms a miss is worth where consequences are shown. */
export function missAt({ miss: [low, high], at }) {
  return low === high ? low : low * (high / low) ** at;
}

// ------------------------------------------------------------------ what is accepted

export const isShare = (value) => value >= 0 && value <= 1;
export const isPositiveShare = (value, most = 1) => value > 0 && value <= most;
export const isCount = (value) => Number.isSafeInteger(value) && value > 0;

/** Beyond these, products of costs and cases leave what a number can hold. */
export const MISS_COSTS = [1e-100, 1e100];
export const LEAST_PREVALENCE = 1e-100;
export const isPrevalence = (value) => value >= LEAST_PREVALENCE && value < 1;
export const isPrice = (value) => value > 0 && value <= MISS_COSTS[1];
export const isMissCost = (value) => value >= MISS_COSTS[0] && value <= MISS_COSTS[1];

// ------------------------------------------------------------------ as a link

/** The prevalence of the data, in an address. */
const OWN = "own";

/** A capacity per period that the mean must keep to, in an address. */
export const MEAN = "mean";

/** Write a setting as the part of an address behind #. */
export function toHash(setting) {
  const { capacity, miss, prevalence, model } = setting;
  /** @type {Record<string, any>} */
  const fields = {
    precision: setting.minPrecision,
    recall: setting.minRecall ?? 0,
    ...(capacity.count === undefined ? { share: capacity.share } : { count: capacity.count }),
    miss: miss.join("_"),
    spread: setting.spread,
    prevalence: prevalence ?? OWN,
    at: setting.at,
    ...((setting.price ?? null) === null ? {} : { price: setting.price }),
    ...(setting.exceed === undefined ? {} : { exceed: setting.exceed ?? MEAN }),
    ...(model === null ? {} : { model: model + 1 }),
    ...(setting.zoom ? {} : { zoom: 0 }),
  };
  return new URLSearchParams(fields).toString();
}

/** Whether the part of an address behind # is a setting, and not a place on the page. */
export function holdsSetting(hash) {
  return hash.includes("=");
}

const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A plain decimal number, or NaN: "", "0x1" and "Infinity" are none. */
function decimal(text) {
  return DECIMAL.test(text) ? Number(text) : NaN;
}

function numberFrom(accepts, text) {
  const value = decimal(text);
  return accepts(value) ? value : undefined;
}

function missFrom(text) {
  const ends = text.split("_").map(decimal);
  return ends.length === 2 && ends.every(isMissCost) && ends[0] <= ends[1] ? ends : undefined;
}

/** What each key of an address may hold, and how it is read; undefined is not accepted. */
function keysOf(nModels, mostRate) {
  const position = (text) => numberFrom((value) => isCount(value) && value <= nModels, text);
  const oneOf = (choices) => (text) => choices.get(text);
  return {
    precision: [w.keyShare, (text) => numberFrom(isShare, text)],
    recall: [w.keyShare, (text) => numberFrom(isShare, text)],
    share: [w.keyPositiveShare(mostRate), (text) => numberFrom((v) => isPositiveShare(v, mostRate), text)],
    count: [w.acceptedCount, (text) => numberFrom(isCount, text)],
    miss: [w.keyMiss(...MISS_COSTS), missFrom],
    spread: [w.keySpread, oneOf(new Map(["miss", "ratio"].map((unit) => [unit, unit])))],
    prevalence: [
      w.keyPrevalence(LEAST_PREVALENCE),
      (text) => (text === OWN ? null : numberFrom(isPrevalence, text)),
    ],
    exceed: [w.keyExceed, (text) => (text === MEAN ? null : numberFrom((v) => v >= 0 && v < 1, text))],
    at: [w.keyShare, (text) => numberFrom(isShare, text)],
    price: [w.acceptedPrice, (text) => numberFrom(isPrice, text)],
    model: [w.keyModel(nModels), position],
    zoom: [w.keyZoom, oneOf(new Map([["0", false], ["1", true]]))],
  };
}

/** Longer values are cut in messages. */
const LONGEST_SHOWN = 30;

function pairText(key, value) {
  const text = `${key}=${value}`;
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function readPairs(pairs, keys) {
  /** @type {Record<string, any>} */
  const values = {};
  const problems = [];
  for (const [key, value] of pairs) {
    const [accepted, readValue] = Object.hasOwn(keys, key) ? keys[key] : [];
    const parsed = readValue?.(value);
    if (!readValue) problems.push(w.noSuchKey(pairText(key, value)));
    else if (Object.hasOwn(values, key)) problems.push(w.givenBefore(pairText(key, value)));
    else if (parsed === undefined) problems.push(w.keyAccepts(pairText(key, value), accepted));
    else values[key] = parsed;
  }
  if (values.share !== undefined && values.count !== undefined) {
    problems.push(w.countGivenToo(pairText("share", values.share)));
  }
  return { values, problems };
}

/** @param {Record<string, any>} values */
function capacityFrom({ share, count }, fallback) {
  if (count !== undefined) return { count };
  return share === undefined ? fallback : { share };
}

/**
 * Read a setting from the part of an address behind #, as {setting, problems}. What it does not
 * say, or says in a way that is not accepted, stays as it was; the problems say what and why.
 */
export function readHash(hash, setting, nModels, mostRate = 1) {
  if (!holdsSetting(hash)) return { setting, problems: [] };
  const pairs = new URLSearchParams(hash.replace(/^#/, ""));
  const { share, exceed, ...others } = keysOf(nModels, mostRate);
  // A capacity per period is a number of alarms, and has a rule.
  const own = setting.exceed === undefined ? { share } : { exceed };
  const { values, problems } = readPairs(pairs, { ...others, ...own });
  const part = (key, fallback) => (values[key] === undefined ? fallback : values[key]);
  return {
    setting: {
      minPrecision: part("precision", setting.minPrecision),
      minRecall: part("recall", setting.minRecall ?? 0),
      capacity: capacityFrom(values, setting.capacity),
      miss: part("miss", setting.miss),
      spread: part("spread", setting.spread),
      ...(setting.exceed === undefined ? {} : { per: setting.per, exceed: part("exceed", setting.exceed) }),
      prevalence: part("prevalence", setting.prevalence),
      at: part("at", setting.at),
      price: part("price", null),
      model: values.model === undefined ? null : values.model - 1,
      zoom: part("zoom", true),
    },
    problems,
  };
}

// ------------------------------------------------------------------ as text to keep

/** A share of 1 must not be read as one case. */
function capacityText({ share, count }) {
  if (count !== undefined) return String(count);
  return Number.isInteger(share) ? share.toFixed(1) : String(share);
}

/** Write a setting as a scenario in a TOML file for `voros --scenarios`. */
export function toToml(setting) {
  const { low, high, over } = costsOf(setting);
  const lines = [
    "[explored]",
    `min_precision = ${setting.minPrecision}`,
    ...(setting.minRecall > 0 ? [`min_recall = ${setting.minRecall}`] : []),
    `capacity = ${capacityText(setting.capacity)}`,
    ...(setting.per === undefined ? [] : [`per = ${JSON.stringify(setting.per)}`]),
    ...((setting.exceed ?? null) === null ? [] : [`exceed = ${setting.exceed}`]),
    `${over === "miss" ? "miss_costs" : "cost_ratio"} = [${low}, ${high}]`,
  ];
  if (setting.prevalence !== null) lines.push(`prevalence = ${setting.prevalence}`);
  return lines.join("\n") + "\n";
}

/** Write a setting as a `voros.Scenario`. */
export function toPython(setting) {
  const [low, high] = setting.miss;
  const costs =
    setting.spread === "miss"
      ? `voros.costs.miss_costs(${low}, ${high})`
      : `(1 / ${high}, 1 / ${low})`;
  const lines = [
    "import voros",
    "",
    "scenario = voros.Scenario(",
    `    min_precision=${setting.minPrecision},`,
    ...(setting.minRecall > 0 ? [`    min_recall=${setting.minRecall},`] : []),
    `    capacity=${capacityText(setting.capacity)},`,
    `    cost_ratio=${costs},`,
    ...(setting.per === undefined ? [] : [`    per=${JSON.stringify(setting.per)},`]),
    ...((setting.exceed ?? null) === null ? [] : [`    exceed=${setting.exceed},`]),
  ];
  if (setting.prevalence !== null) lines.push(`    prevalence=${setting.prevalence},`);
  const deploy = [
    ")",
    "# To deploy, with labels and scores of the validation cases:",
    "# policy = voros.ThresholdPolicy.from_validation(",
    "#     y_true, y_score, scenario, guarantee=0.95)",
    '# policy.to_json("policy.json")',
  ];
  return [...lines, ...deploy].join("\n") + "\n";
}
