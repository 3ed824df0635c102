// Numbers and times as people read them. Pure.
import {OPERATORS} from "./operators.js";

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** Three or four digits that mean something: 0.0123, 1.23, 12.3, 123, 1235. */
export function digits(value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size === 0) return "0";
  if (size >= 100) return value.toFixed(size >= 1000 || Number.isInteger(value) ? 0 : 1);
  const text = value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 6);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function scaled(value, unit) {
  for (const [factor, prefix] of PREFIXES)
    if (Math.abs(value) >= factor) return `${digits(value / factor)} ${prefix}${unit}`;
  return `${digits(value)} ${unit}`;
}

function binary(value, unit) {
  for (const [power, prefix] of [[4, "Ti"], [3, "Gi"], [2, "Mi"], [1, "Ki"]])
    if (Math.abs(value) >= 1024 ** power) return `${digits(value / 1024 ** power)} ${prefix}${unit}`;
  return `${digits(value)} ${unit}`;
}

const SIGNS = {watts: "W", celsius: "°C", volts: "V", amperes: "A", rpm: "rpm", seconds: "s", per_second: "/s"};

/** A value with its unit as the aggregator names units: "71.4 W", "38 %", "3.2 GHz". Values are shown as they came, without rounding, up to 9,999. */
export function amount(value, unit) {
  if (value === null || value === undefined) return "–";
  switch (unit) {
    case "watts": return Math.abs(value) < 10000 ? `${value} W` : scaled(value, "W");
    case "joules": return scaled(value, "J");
    case "hertz": return scaled(value, "Hz");
    case "bytes": return binary(value, "B");
    case "bytes_per_second": return binary(value, "B/s");
    case "ratio": return `${digits(value * 100)} %`;
    default: break;
  }
  const sign = SIGNS[unit];
  const number = Math.abs(value) >= 1e5 ? value.toLocaleString("en", {maximumFractionDigits: 2}) : String(value);
  return sign ? `${number} ${sign}` : unit ? `${number} ${unit.replaceAll("_", " ")}` : number;
}

/** The same in a few letters, for a tile: "71 W". */
export function short(value, unit) {
  if (unit === "watts") return scaled(value >= 100 ? Math.round(value) : Math.round(value * 10) / 10, "W");
  if (unit === "ratio") return `${Math.round(value * 100)} %`;
  if (unit === "celsius") return `${Math.round(value)} °C`;
  return amount(Math.abs(value) >= 100 ? Math.round(value) : Number(digits(value)), unit);
}

/** A span of milliseconds: "180 ms", "4 s", "12 min", "3 h", "5 d". */
export function span(ms) {
  if (ms < 0) return "0 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 90e3) return `${Math.round(ms / 1000)} s`;
  if (ms < 90 * 60e3) return `${Math.round(ms / 60e3)} min`;
  if (ms < 48 * 3600e3) return `${Math.round(ms / 3600e3)} h`;
  return `${Math.round(ms / 86400e3)} d`;
}

/** Compares names as people count them, n2 before n10. One collator for all: localeCompare() makes one for each pair, which takes 30 times as long. */
export const inOrder = new Intl.Collator("en", {numeric: true}).compare;

export const count = n => Number(n ?? 0).toLocaleString("en");
export const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many ?? one + "s"}`;

/** A metric's name in words: "rapl_power_watts" → "RAPL power". The name itself stays beside it. */
export function title(metric) {
  const known = {rapl: "RAPL", bmc: "BMC", cpu: "CPU", os: "OS", pmu: "PMU", tdp: "TDP", host: "Host"};
  const words = metric.replace(/_(watts|celsius|ratio|joules_total|bytes|hertz|per_second|total)$/, "").split("_");
  if (words[0] === "os" && words.length > 1) words.shift();
  const text = words.map(w => known[w] ?? w).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const REASONS = {
  not_read_yet: "not read yet", missing: "this node has no such series", permission: "the agent may not read it", malformed: "what was read makes no sense",
  timeout: "the read took too long", no_data: "the source has no data", reset: "the counter began anew", gap: "too long between two reads",
  not_running: "the event is not running", out_of_range: "out of range", frozen: "the sensor does not move", never_moved: "the counter has never moved",
  stands_still: "the counter stands still", implausible: "implausible", stale: "too old to be believed", disconnected: "the agent is not connected",
  other: "a reason of an agent newer than the aggregator",
};
export const reason = absent => REASONS[absent] ?? String(absent ?? "no value").replaceAll("_", " ");

// The aggregator writes a target without suffix and exponent (rule::text); what its list of policies adds stands behind a comma.
const RULE = new RegExp(`^([^\\s,]+)(?: \\(([^)]+)\\))?(?:.*?\\s(${Object.keys(OPERATORS).join("|")})\\s+(-?[\\d.]+)(?:.*?, clear(?:Below|Above) (-?[\\d.]+))?)?`);

/** What the shaded band of a rule's mark means. */
export const bandWords = (rule, unit) => `Shaded: a violation lasts until a value is ${rule.clear < rule.target ? "below" : "above"} ${amount(rule.clear, unit)}.`;

const number = text => text === undefined ? null : Number(text);

/** A rule's text in parts: {metric, window, operator, target, clear}; window ("avg 30s"), target and clear (clearBelow or clearAbove) are null where the
 * rule has none ("lowest first"). */
export function ruleParts(text) {
  const found = RULE.exec(text);
  if (!found) return {metric: text, window: null, operator: null, target: null, clear: null};
  return {metric: found[1], window: found[2] ?? null, operator: found[3] ?? null, target: number(found[4]), clear: number(found[5])};
}
