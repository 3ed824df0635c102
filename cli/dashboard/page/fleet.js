// Fleet: every node as a tile, by group, coloured by a metric or by what the policies say.
import {STATES, inkOn, scale, theme, worst} from "./colours.js";
import {badge, fill, h, nodeLink, setText, table} from "./dom.js";
import {amount, count, inOrder, plural, reason, short, span, title} from "./format.js";
import {grouped} from "./store.js";
import {Tiles} from "./tiles.js";

const OLD_MS = 15000;  // a value older than this is drawn as old; the aggregator gives up the oldest by itself

const STATE_WORDS = [["violating", "violate a policy"], ["missing", "refused for missing data"], ["held", "held"], ["frozen", "frozen"]];

export class FleetPage {
  constructor(app) {
    this.app = app;
    this.fleet = app.fleet;
    this.settings = app.settings;
    this.maps = new Map();
    this.pointed = null;
  }

  topics() {
    const group = this.settings.group;
    return ["labels/", ...(group.startsWith("label:") ? ["labels/" + group.slice(6)] : [])];
  }

  event(name, data) {
    // An aggregator without this list has the labels that policies give.
    if (name !== "labels" || data.error) return;
    this.fleet.takeLabels(data);
    this.update();
  }

  open(main) {
    document.title = "Fleet · Binnacle";
    this.stats = h("dl", {class: "stats"});
    this.colour = h("select", {id: "colour", onchange: () => this.choose()});
    this.group = h("select", {id: "group", onchange: () => this.regroup()});
    this.view = h("button", {type: "button", class: "quiet", onclick: () => { this.settings.table = !this.settings.table; this.chooseView(); this.update(); }});
    this.legend = h("div", {class: "legend"});
    this.groups = h("div", {class: "groups"});
    this.list = h("div", {class: "card"});
    this.detail = h("aside", {class: "card detail", "aria-label": "The node looked at"});
    this.said = h("p", {class: "sr", role: "status"});
    this.metricName = h("input", {id: "metric", list: "metric-list", placeholder: "name of a metric", spellcheck: "false", autocomplete: "off",
      onchange: () => this.take(this.metricName.value.trim()), onkeydown: e => { if (e.key === "Enter") this.take(this.metricName.value.trim()); }});
    this.metricList = h("datalist", {id: "metric-list"});
    this.metricForm = h("label", {hidden: true}, "Metric ", this.metricName, this.metricList);
    this.refused = h("p", {class: "note", role: "status", hidden: true});
    this.familiesKnown();
    fill(main,
      h("h1", {class: "sr"}, "Fleet"),
      this.stats,
      h("div", {class: "controls"},
        h("label", {}, "Colour by ", this.colour), this.metricForm,
        h("label", {}, "Group by ", this.group),
        this.view, this.legend),
      this.refused,
      h("div", {class: "split"}, h("div", {class: "wide"}, this.groups, this.list), this.detail),
      this.said);
    this.chooseView();
    this.rebuild = true;
    this.update();
  }

  close() { for (const map of this.maps.values()) map.close(); }

  /** The list of families has come. */
  familiesKnown() { fill(this.metricList, this.app.families.map(m => h("option", {value: m.name}, m.help))); }

  regroup() {
    this.settings.group = this.group.value;
    this.rebuild = true;
    this.app.follow();
    this.update();
  }

  choose() {
    const value = this.colour.value;
    this.metricForm.hidden = value !== "other";
    this.settings.refused = "";
    if (value === "other") return this.metricName.focus();
    this.settings.colour = value;
    if (this.settings.extra && value !== "metric:" + this.settings.extra) {
      // Others may want its place.
      this.settings.extra = null;
      this.app.follow();
    }
    this.update();
  }

  /** Any metric at all: the aggregator is asked for it, too. */
  take(metric) {
    if (!metric) return;
    this.metricForm.hidden = true;
    this.app.askFor(metric);
    this.update();
  }

  chooseView() {
    this.list.hidden = !this.settings.table;
    this.groups.hidden = this.settings.table;
    this.view.setAttribute("aria-pressed", String(this.settings.table));
    setText(this.view, this.settings.table ? "Show as tiles" : "Show as table");
  }

  /** From the page of this node: the keyboard goes on where it was. False: the node is not shown. */
  comeBack(name) {
    if (this.settings.table) {
      const link = [...this.list.querySelectorAll("tbody a")].find(a => a.textContent === name);
      link?.focus();
      return Boolean(link);
    }
    for (const map of this.maps.values()) {
      const i = map.find(name);
      if (i >= 0) { map.enter(i); return true; }
    }
    return false;
  }

  search() { this.update(); }

  matches(node) {
    const wanted = this.app.searched;
    return !wanted || node.name.toLowerCase().includes(wanted);
  }

  /** The count of CPUs is asked for to divide by; it is shown to who asked for it. */
  metrics() { return this.fleet.metrics.filter(m => m.name !== "os_cpus" || this.settings.extra === "os_cpus"); }

  options() {
    // It was there because another page asked for it, or by a policy, and is no more.
    const [, lost] = /^metric:(.*)$/s.exec(this.settings.colour ?? "") ?? [];
    if (lost && lost !== this.settings.extra && this.fleet.nodes.size > 0 && !this.fleet.metrics.some(m => m.name === lost)) this.take(lost);
    const metrics = this.metrics().map(m => ["metric:" + m.name, title(m.name)]);
    const ratio = this.power && this.fleet.metrics.some(m => m.name === "os_cpus") ? [["ratio:cores", "Watts per core"]] : [];
    const policies = this.fleet.policies.map(p => ["policy:" + p, p.replace(/^default\//, "")]);
    if (!this.settings.colour && this.fleet.nodes.size > 0) {
      const first = this.power ?? this.fleet.metrics[0]?.name;
      this.settings.colour = first ? "metric:" + first : "policy:*";
    }
    const group = (label, rows) => rows.length > 0 && h("optgroup", {label}, rows.map(([value, text]) => h("option", {value, selected: value === this.settings.colour}, text)));
    const mark = JSON.stringify([metrics, policies]);
    if (mark !== this.optionsMark) {
      this.optionsMark = mark;
      fill(this.colour, group("Metric", [...metrics, ...ratio]), group("Policy", [["policy:*", "Worst of all policies"], ...policies]), h("option", {value: "other"}, "Another metric…"));
    }
    if (this.settings.colour && this.colour.value !== "other") this.colour.value = this.settings.colour;
    const keys = this.fleet.groupKeys();
    const groupsMark = keys.join();
    if (groupsMark !== this.groupsMark) {
      this.groupsMark = groupsMark;
      const rows = [["", "nothing"], ["prefix", "name, up to its last part"], ["link", "connection"], ["version", "agent's version"], ...keys.map(k => ["label:" + k, "label " + k])];
      fill(this.group, rows.map(([value, text]) => h("option", {value, selected: value === this.settings.group}, text)));
    }
  }

  /** Number, unit and reason for a node under the chosen colour; a state if that is a policy's. */
  chosen(node) {
    const colour = this.settings.colour ?? "";
    if (colour.startsWith("policy:")) {
      const policy = colour.slice(7);
      const verdicts = (node.verdicts ?? []).filter(v => policy === "*" || v.policy === policy);
      return {state: worst(verdicts), dry: verdicts.some(v => v.mode === "DryRun")};
    }
    if (colour === "ratio:cores") {
      const power = node.values?.[this.power], cores = node.values?.os_cpus;
      if (power?.value === undefined || !(cores?.value > 0)) return {absent: power?.absent ?? "missing"};
      return {value: power.value / cores.value, unit: "watts", readMs: power.readMs};
    }
    const metric = colour.slice(7);
    const v = node.values?.[metric];
    return {value: v?.value, absent: v?.absent ?? "missing", unit: this.fleet.unit(metric), readMs: v?.readMs, partial: v?.partial};
  }

  range(nodes) {
    const values = [];
    let sum = 0;
    for (const node of nodes) {
      const {value} = this.chosen(node);
      if (value === undefined) continue;
      values.push(value);
      sum += value;
    }
    values.sort((a, b) => a - b);
    // One node far from all others would take the colours of the rest: it is beyond the scale's end.
    const n = values.length, aside = n >= 50 ? Math.ceil(n / 100) : 0;
    return {low: values[aside], high: values[n - 1 - aside], sum, n, beyond: aside > 0};
  }

  look(node, {low, high}, now) {
    const c = this.chosen(node);
    if (c.state !== undefined) {
      const s = STATES[c.state];
      if (!s) return {absent: true, text: "no verdict", sign: ""};
      return {fill: s.fill, ink: s.ink, sign: s.sign, text: `${s.sign} ${c.dry ? `(${c.state})` : c.state}`.trim(), brief: s.sign};
    }
    const state = worst(node.verdicts);
    const corner = state && state !== "pass" ? STATES[state] : null;
    if (c.value === undefined) return {absent: true, text: node.head?.connected ? "no value" : "not connected", sign: "", corner};
    const share = high > low ? Math.min(1, Math.max(0, (c.value - low) / (high - low))) : 0.5;
    return {fill: scale(share), ink: inkOn(share), text: short(c.value, c.unit), brief: short(c.value >= 10 ? Math.round(c.value) : c.value, c.unit), sign: "", corner, old: now - c.readMs > OLD_MS};
  }

  update() {
    if (!this.stats) return;
    this.power = this.fleet.power();
    const nodes = [...this.fleet.nodes.values()].sort((a, b) => inOrder(a.name, b.name));
    this.options();
    this.totals(nodes);
    const range = this.range(nodes);
    this.keyOf(range);
    const now = this.fleet.now();
    const groups = grouped(this.fleet, nodes, this.settings.group);
    this.refused.hidden = !this.settings.refused;
    setText(this.refused, this.settings.refused);
    if (this.list.hidden) this.tiles(groups, range, now, nodes.length); else this.rows(nodes, now);
    if (this.pointed) this.tell(this.fleet.nodes.get(this.pointed) ?? null, false);
    else this.idle(nodes);
  }

  tiles(groups, range, now, crowd) {
    let atMap = null;  // the node at which the keyboard is, in a map that is made anew
    const names = JSON.stringify(groups.map(g => g[0]));
    if (this.rebuild || names !== this.groupNames) {
      this.close();
      this.maps.clear();
      this.rebuild = false;
      this.groupNames = names;
      // The maps together are one stop of Tab, as there may be hundreds.
      const enters = map => { for (const other of this.maps.values()) other.canvas.tabIndex = other === map ? 0 : -1; };
      const leaves = (map, way) => {
        const all = [...this.maps.values()], next = all[all.indexOf(map) + way];
        next?.enter(way > 0 ? 0 : next.nodes.length - 1);
      };
      atMap = this.groups.contains(document.activeElement) ? this.pointed : null;
      fill(this.groups, groups.map(([name]) => {
        const map = new Tiles({label: name, onPoint: node => { this.pointed = node?.name ?? null; this.tell(node, true); },
          onOpen: node => { location.hash = "#/node/" + encodeURIComponent(node.name); }, onEnter: () => enters(map), onLeave: way => leaves(map, way),
          stays: element => this.detail.contains(element)});  // its links would go, just when the focus comes
        map.canvas.tabIndex = this.maps.size === 0 ? 0 : -1;
        map.words = h("span", {class: "muted"});
        this.maps.set(name, map);
        return h("section", {class: "group"}, name ? h("h2", {}, name, " ", map.words) : null, h("div", {class: "map"}, map.canvas));
      }));
      if (groups.length === 0) fill(this.groups, h("p", {class: "empty"}, this.fleet.updated ? "No agent has connected to this aggregator yet." : "Waiting for the first answer…"));
    }
    for (const [name, members] of groups) {
      const map = this.maps.get(name);
      const of = this.range(members);
      const unit = this.chosen(members[0]).unit;
      setText(map.words, plural(members.length, "node") + (of.n > 0 && unit === "watts" ? ` · ${short(of.sum, unit)}` : of.n > 0 ? ` · ${short(of.sum / of.n, unit)} on average` : ""));
      map.show(members, crowd, node => this.look(node, range, now), node => this.matches(node));
    }
    if (atMap) this.comeBack(atMap);
  }

  rows(nodes, now) {
    const shown = nodes.filter(n => this.matches(n)).slice(0, 500);
    const metrics = this.metrics();
    fill(this.list, table("Nodes", [{name: "Node"}, {name: "Policies"}, ...metrics.map(m => ({name: title(m.name), number: true})), {name: "Age"}],
      shown.map(n => {
        const state = worst(n.verdicts);
        const ages = metrics.map(m => n.values?.[m.name]?.readMs).filter(r => r !== undefined);
        return [{node: nodeLink(n.name)}, {node: state ? badge(state) : "–"},
          ...metrics.map(m => { const v = n.values?.[m.name]; return v?.value === undefined ? {text: "–", class: "absent", title: reason(v?.absent)} : amount(v.value, m.unit); }),
          ages.length > 0 ? span(now - Math.max(...ages)) : "–"];
      })),
      shown.length < nodes.length ? h("p", {class: "muted pad"}, `${count(shown.length)} of ${count(nodes.length)} nodes. Type into “Find a node” to see others.`) : null);
  }

  totals(nodes) {
    const power = this.power;
    let sum = 0, known = 0, connected = 0;
    const states = {};
    for (const n of nodes) {
      connected += n.head?.connected ? 1 : 0;
      const v = power && n.values?.[power]?.value;
      if (v !== undefined && v !== null) { sum += v; ++known; }
      const state = worst(n.verdicts);
      if (state) states[state] = (states[state] ?? 0) + 1;
    }
    const tile = (name, value, note, kind) => h("div", {class: "stat " + (kind ?? "")}, h("dt", {}, name), h("dd", {}, value, note ? h("small", {}, note) : null));
    fill(this.stats,
      tile("Nodes", count(this.fleet.total), connected === nodes.length ? "all connected" : `${count(nodes.length - connected)} not connected`, connected < nodes.length ? "warn" : ""),
      power ? tile("Power", known > 0 ? short(sum, "watts") : "–", known < nodes.length ? `of ${count(known)} nodes` : title(power)) : null,
      STATE_WORDS.map(([state, words]) => tile(words.charAt(0).toUpperCase() + words.slice(1), count(states[state] ?? 0), plural(states[state] ?? 0, "node").replace(/^\S+ /, ""), states[state] ? state : "")),
      nodes.length < this.fleet.total ? tile("Not shown", count(this.fleet.total - nodes.length), "beyond the list's limit", "warn") : null,
      this.fleet.strategiesOmitted > 0 ? tile("Verdicts left out", count(this.fleet.strategiesOmitted), "strategies: too many for one list", "warn") : null);
  }

  keyOf({low, high, n, beyond}) {
    const colour = this.settings.colour ?? "";
    const hatch = [h("span", {class: "swatch absent"}), "no value"];
    if (colour.startsWith("policy:")) {
      fill(this.legend, Object.entries(STATES).map(([state, s]) => h("span", {class: "key"}, h("span", {class: "swatch state", style: {background: s.fill, color: s.ink}}, s.sign), state)), h("span", {class: "key"}, h("span", {class: "swatch absent"}), "no verdict"));
      return;
    }
    const unit = colour === "ratio:cores" ? "watts" : this.fleet.unit(colour.slice(7));
    const words = n > 0 ? [(beyond ? "≤ " : "") + short(low, unit), (beyond ? "≥ " : "") + short(high, unit)] : ["", ""];
    fill(this.legend,
      h("span", {class: "key"}, words[0], h("span", {class: "ramp", style: {background: `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(scale).join(",")})`}}), words[1]),
      h("span", {class: "key"}, h("span", {class: "swatch old", style: {backgroundColor: scale(0.4)}}), `older than ${OLD_MS / 1000} s`), h("span", {class: "key"}, hatch),
      this.fleet.policies.length > 0 ? h("span", {class: "key"}, h("span", {class: "swatch corner"}), "violates a policy") : null);
  }

  /** What stands beside the map while no node is looked at: who draws most. */
  idle(nodes) {
    const top = nodes.map(n => ({n, c: this.chosen(n)})).filter(x => x.c.value !== undefined).sort((a, b) => b.c.value - a.c.value).slice(0, 8);
    const violators = nodes.filter(n => worst(n.verdicts) === "violating");
    const lacking = nodes.filter(n => n.head?.warning || !n.head?.connected);
    const list = (name, rows) => rows.length > 0 && [h("h3", {}, name), h("ul", {class: "plain"}, rows)];
    fill(this.detail, h("h2", {}, "At a glance"),
      list("Highest", top.map(({n, c}) => h("li", {}, nodeLink(n.name), h("span", {class: "value"}, amount(Math.round(c.value * 1e4) / 1e4, c.unit))))),
      list("Violating", violators.slice(0, 6).map(n => h("li", {}, nodeLink(n.name), badge("violating")))), violators.length > 6 ? h("p", {class: "muted"}, `and ${count(violators.length - 6)} more`) : null,
      list("Odd, or away", lacking.slice(0, 5).map(n => h("li", {}, nodeLink(n.name), h("span", {class: "muted"}, n.head?.connected ? n.head.warning : "not connected")))),
      top.length + violators.length === 0 ? h("p", {class: "muted"}, "Nothing to tell yet.") : null);
  }

  tell(node, aloud) {
    if (!node) return this.idle([...this.fleet.nodes.values()]);
    const now = this.fleet.now();
    const c = this.chosen(node);
    const rows = this.metrics().map(m => {
      const v = node.values?.[m.name];
      const has = v?.value !== undefined;
      return h("tr", {}, h("th", {scope: "row"}, title(m.name)), h("td", {class: "number" + (has ? "" : " absent"), title: has ? null : reason(v?.absent)}, has ? amount(v.value, m.unit) : "–"),
        h("td", {class: "muted"}, v?.readMs ? span(now - v.readMs).replace(" ", "\u00a0") : has ? "" : reason(v?.absent)));
    });
    fill(this.detail, h("h2", {}, nodeLink(node.name)),
      h("p", {class: "muted"}, node.head?.connected ? `connected from ${node.head.address}` : "not connected"),
      node.head?.warning ? h("p", {class: "note"}, node.head.warning) : null,
      h("table", {}, h("caption", {class: "sr"}, "Values"), h("tbody", {}, rows)),
      h("ul", {class: "plain"}, (node.verdicts ?? []).filter(v => v.state !== undefined).map(v => h("li", {}, h("span", {}, v.policy.replace(/^default\//, ""), h("small", {class: "muted"}, " " + v.strategy)), badge(v.state, v.mode === "DryRun")))));
    if (aloud) setText(this.said, `${node.name}: ${c.state ?? (c.value === undefined ? reason(c.absent) : amount(c.value, c.unit))}`);
  }
}
