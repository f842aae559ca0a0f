/**
 * The setting: limits and costs that a person can move, and its forms as a link, TOML and Python.
 *
 * {minPrecision, capacity, miss: [low, high], spread: "miss" or "ratio", prevalence, at, model,
 * zoom}
 *
 * `miss` is how many false alarms a miss is worth; `spread` says in which unit the range between
 * the two is uniform; `at` is where in that range, 0 to 1 on a logarithmic scale, consequences are
 * shown; `model` is the position of the model they are shown for, or null for the best.
 */

/** What is shown at first, besides the limits and costs that come with the page. */
const FIRST_VIEW = { at: 0.5, model: null, zoom: true };

export function firstSetting(given) {
  return { ...given, ...FIRST_VIEW };
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
export const isPositiveShare = (value) => value > 0 && value <= 1;
export const isOpenShare = (value) => value > 0 && value < 1;
export const isCount = (value) => Number.isInteger(value) && value > 0;
export const isMissCost = (value) => value > 0 && Number.isFinite(value);

function isCapacity(capacity) {
  return capacity.count === undefined ? isPositiveShare(capacity.share) : isCount(capacity.count);
}

// ------------------------------------------------------------------ as a link

/** Write a setting as the part of an address behind #. */
export function toHash(setting) {
  const { capacity, miss, prevalence, model } = setting;
  const fields = {
    precision: setting.minPrecision,
    ...(capacity.count === undefined ? { share: capacity.share } : { count: capacity.count }),
    miss: miss.join("_"),
    spread: setting.spread,
    ...(prevalence === null ? {} : { prevalence }),
    at: Number(setting.at.toFixed(3)),
    ...(model === null ? {} : { model: model + 1 }),
    ...(setting.zoom ? {} : { zoom: 0 }),
  };
  return new URLSearchParams(fields).toString();
}

function readCapacity(fields, fallback) {
  const key = fields.has("count") ? "count" : "share";
  const capacity = { [key]: Number(fields.get(key) || NaN) };
  return isCapacity(capacity) ? capacity : fallback;
}

function readMiss(fields, fallback) {
  const [low, high] = (fields.get("miss") ?? "").split("_").map((end) => Number(end || NaN));
  return isMissCost(low) && isMissCost(high) && low <= high ? [low, high] : fallback;
}

/** Whether the part of an address behind # is a setting, and not a place on the page. */
export function holdsSetting(hash) {
  return hash.includes("=");
}

/** Read a setting from the part of an address behind #; what it cannot read stays as it was. */
export function fromHash(hash, setting, nModels) {
  if (!holdsSetting(hash)) return setting;
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (key, accepted, fallback) => {
    const value = Number(fields.get(key) || NaN);
    return accepted(value) ? value : fallback;
  };
  const model = number("model", (value) => isCount(value) && value <= nModels, null);
  return {
    minPrecision: number("precision", isShare, setting.minPrecision),
    capacity: readCapacity(fields, setting.capacity),
    miss: readMiss(fields, setting.miss),
    spread: ["miss", "ratio"].find((unit) => unit === fields.get("spread")) ?? setting.spread,
    prevalence: number("prevalence", isOpenShare, null),
    at: number("at", isShare, setting.at),
    model: model === null ? null : model - 1,
    zoom: fields.get("zoom") !== "0",
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
    `capacity = ${capacityText(setting.capacity)}`,
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
    `    capacity=${capacityText(setting.capacity)},`,
    `    cost_ratio=${costs},`,
  ];
  if (setting.prevalence !== null) lines.push(`    prevalence=${setting.prevalence},`);
  return [...lines, ")"].join("\n") + "\n";
}
