// The fleet as this page knows it: the newest of every node, and what the page has seen of its metrics.
import {inOrder} from "./format.js";

/** The newest `room` readings of one series. */
export class History {
  constructor(room) {
    this.at = new Float64Array(room);
    this.values = new Float32Array(room);
    this.end = 0;
  }

  /** A reading that is there already is taken once. */
  add(time, value) {
    if (this.end > 0 && this.at[(this.end - 1) % this.at.length] >= time) return;
    this.at[this.end % this.at.length] = time;
    this.values[this.end % this.at.length] = value;
    ++this.end;
  }

  /** Oldest first: [[time, value], …]. */
  points() {
    const room = this.at.length;
    const out = [];
    for (let i = Math.max(0, this.end - room); i < this.end; ++i) out.push([this.at[i % room], this.values[i % room]]);
    return out;
  }
}

export class Fleet {
  constructor() {
    this.nodes = new Map();
    this.spread = new Map();  // metric → {lowest, median, highest: History}, since this page was opened
    this.metrics = [];
    this.policies = [];
    this.labelKeys = [];      // of Node objects
    this.labelled = {key: null, of: new Map()};  // node → value of one such key
    this.total = 0;
    this.strategiesOmitted = 0;
    this.clockOffset = 0;  // what to add to this browser's clock for the server's
    this.updated = 0;      // by this browser's clock
    this.trouble = "";
  }

  now() { return Date.now() + this.clockOffset; }

  /** An event "fleet": everything, or what has changed. */
  take(event) {
    if (event.error) {
      this.trouble = event.error;
      return;
    }
    this.trouble = "";
    this.clockOffset = event.nowMs - Date.now();
    this.updated = Date.now();
    this.metrics = event.metrics;
    this.total = event.total;
    this.strategiesOmitted = event.strategiesOmitted ?? 0;
    const old = this.nodes;
    if (event.whole) this.nodes = new Map();
    const room = event.total > 1000 ? 120 : 600;
    for (const told of event.nodes) {
      const known = old.get(told.name);
      const node = Object.assign(known ?? {name: told.name, history: new Map()}, told);
      this.nodes.set(told.name, node);
      if (!told.values) continue;
      for (const [metric, v] of Object.entries(told.values)) {
        if (v.value === undefined || v.readMs === undefined) continue;
        let seen = node.history.get(metric);
        if (!seen) node.history.set(metric, seen = new History(room));
        seen.add(v.readMs, v.value);
      }
    }
    for (const m of this.metrics) this.takeSpread(m.name, event.nowMs);
    const policies = new Set();
    for (const node of this.nodes.values()) for (const v of node.verdicts ?? []) policies.add(v.policy);
    this.policies = [...policies].sort();
  }

  takeSpread(metric, now) {
    const values = Float64Array.from([...this.nodes.values()].map(n => n.values?.[metric]?.value).filter(v => v !== undefined)).sort();
    if (values.length === 0) return;
    let seen = this.spread.get(metric);
    if (!seen) this.spread.set(metric, seen = {lowest: new History(600), median: new History(600), highest: new History(600)});
    const middle = (values.length - 1) / 2;
    seen.lowest.add(now, values[0]);
    seen.median.add(now, (values[Math.floor(middle)] + values[Math.ceil(middle)]) / 2);
    seen.highest.add(now, values[values.length - 1]);
  }

  /** An event "labels": the keys of Node objects' labels, or which nodes carry which value of one. */
  takeLabels({about, answer}) {
    if (about === "") this.labelKeys = answer.keys.filter(k => k.values !== undefined).map(k => k.key);
    else this.labelled = {key: about, of: new Map(answer.values.flatMap(v => v.nodes.map(n => [n, v.value])))};
  }

  /** The keys of labels that one can group by: those of Node objects, and those that policies give. */
  groupKeys() {
    const keys = new Set(this.labelKeys);
    for (const node of this.nodes.values()) for (const key of Object.keys(node.head?.labels ?? {})) keys.add(key);
    return [...keys].sort();
  }

  /** The node's value of a label, as its object says, or else as policies do. */
  label(node, key) { return (this.labelled.key === key ? this.labelled.of.get(node.name) : undefined) ?? node.head?.labels?.[key]; }

  unit(metric) { return this.metrics.find(m => m.name === metric)?.unit ?? ""; }

  /** The metric of the nodes' power that most nodes have. */
  power() {
    let best = null, most = -1;
    for (const m of this.metrics) {
      if (m.unit !== "watts" || !m.name.includes("power_watts")) continue;
      let n = 0;
      for (const node of this.nodes.values()) n += node.values?.[m.name]?.value === undefined ? 0 : 1;
      if (n > most) [best, most] = [m.name, n];
    }
    return best;
  }
}

const MOST_GROUPS = 200;

/** The groups of one grouping, by name: [[name, [node, …]], …]. */
export function grouped(fleet, nodes, by) {
  const groups = new Map();
  for (const node of nodes) {
    let name = groupOf(fleet, node, by);
    if (groups.size >= MOST_GROUPS && !groups.has(name)) name = "others";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(node);
  }
  return [...groups].sort((a, b) => inOrder(a[0], b[0]));
}

function groupOf(fleet, node, by) {
  if (by.startsWith("label:")) {
    const value = fleet.label(node, by.slice(6)) ?? "without this label";
    return value === "" ? "with an empty value" : value;
  }
  switch (by) {
    case "prefix": return node.name.replace(/[-._]?[^-._]*$/, "") || node.name.replace(/\d+$/, "") || "others";
    case "version": return "agent " + (node.head?.agentVersion || "of no version");
    case "link": return node.head?.connected ? "connected" : "not connected";
    default: return "";
  }
}
