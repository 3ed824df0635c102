// One node: every series with value, age and what this page has seen of it, and the policies' word on it.
import {theme} from "./colours.js";
import {badge, breakable, fill, h, setText} from "./dom.js";
import {amount, bandWords, plural, reason, ruleParts, span} from "./format.js";
import {Past} from "./past.js";
import {Line, spark} from "./plots.js";
import {History} from "./store.js";

const seen = new Map();  // name → Map(series → History), of the nodes looked at last
const MOST_NODES = 8;
const ROOM = 600;

function historyOf(name) {
  const found = seen.get(name) ?? new Map();
  seen.delete(name);
  seen.set(name, found);
  if (seen.size > MOST_NODES) seen.delete(seen.keys().next().value);
  return found;
}

/** What the database is asked about one series. */
const seriesQuestion = s => [["family", s.family], ...Object.entries(s.labels ?? {}).map(([name, value]) => ["label", `${name}=${value}`])];

/** What was told of a node, `by` milliseconds later: nothing of it has stayed as young as it was. */
function older(node, by) {
  const aged = structuredClone(node);
  for (const told of [...aged.series, ...aged.verdicts.flatMap(v => v.rules ?? [])]) if (told.ageMs !== undefined) told.ageMs += by;
  if (aged.seenMs !== undefined) aged.seenMs += by;
  return aged;
}

const keyOf = s => s.family + JSON.stringify(s.labels);

export class NodePage {
  constructor(app, name) {
    this.app = app;
    this.name = name;
    this.history = historyOf(name);
    this.rows = new Map();
    this.picked = null;
    this.pods = null;  // the event "pods": names by UID, or why there are none
  }

  topics() { return this.pods ? ["node/" + this.name, "pods/" + this.name] : ["node/" + this.name]; }

  open(main) {
    document.title = `${this.name} · Binnacle`;
    this.head = h("p", {class: "muted"});
    this.state = h("span", {});
    this.note = h("div", {});
    this.verdicts = h("div", {class: "verdicts"});
    this.canvas = h("canvas", {role: "img", "aria-label": "The chosen series over the last minutes"});
    this.chartTitle = h("h2", {}, "Series");
    this.chartNote = h("p", {class: "muted"});
    this.pastNote = h("p", {class: "muted", role: "status"});
    this.spans = h("div", {});
    this.sources = h("div", {});
    this.labels = h("p", {class: "names"});
    this.labelCard = h("section", {class: "card", hidden: true}, h("h2", {}, "Labels of the Node object"), this.labels);
    this.filter = h("input", {type: "search", placeholder: "Filter series", "aria-label": "Filter series", oninput: () => this.filtered()});
    this.body = h("tbody", {});
    this.count = h("span", {class: "muted"});
    this.podNote = h("p", {class: "muted", role: "status", hidden: true});
    fill(main,
      h("p", {class: "crumbs"}, h("a", {href: "#/fleet"}, "Fleet"), " / "),
      h("div", {class: "title"}, h("h1", {}, this.name), this.state), this.head, this.note,
      h("div", {class: "two"},
        h("section", {class: "card"}, h("h2", {}, "Policies"), this.verdicts),
        h("section", {class: "card"}, h("div", {class: "title"}, this.chartTitle, this.spans), h("div", {class: "plot"}, this.canvas), this.chartNote, this.pastNote)),
      h("section", {class: "card"}, h("div", {class: "title"}, h("h2", {}, "Every series ", this.count), this.filter), this.podNote,
        h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Every series"}, h("table", {class: "series"}, h("caption", {class: "sr"}, "Every series of this node"),
          h("thead", {}, h("tr", {}, ["Series", "Value", "Age", "Last minutes", "Targets", "Source"].map((n, i) => h("th", {scope: "col", class: i === 1 ? "number" : null}, n)))), this.body))),
      h("section", {class: "card"}, h("h2", {}, "Sources"), this.sources), this.labelCard);
    this.line = new Line(this.canvas);
    this.past = new Past(this.app, () => this.plot());
    this.familiesKnown();
  }

  close() { this.past?.stop(); this.line?.destroy(); }

  familiesKnown() { fill(this.spans, this.app.reach.buttons(() => this.plot())); }

  event(name, data) {
    if (data.about !== this.name) return;
    if (name === "pods") return this.nameThePods(data);
    if (name !== "node") return;
    this.body.classList.toggle("stale", Boolean(data.error));
    if (data.error) {
      const by = this.told ? data.nowMs - this.told.nowMs : 0;
      fill(this.note, h("p", {class: "note bad"}, data.error, by > 0 ? ` What is shown is ${span(by)} old.` : ""));
      if (this.told) this.show(older(this.told.answer, by), data.nowMs);
      return;
    }
    this.told = data;
    fill(this.note, data.answer.warning ? h("p", {class: "note"}, data.answer.warning) : null);
    this.show(data.answer, data.nowMs);
  }

  show(node, now) {
    this.now = now;
    fill(this.state, h("span", {class: "badge " + (node.connected ? "pass" : "violating")}, node.connected ? "connected" : "not connected"));
    setText(this.head, [node.address && `from ${node.address}`, node.agentVersion && `agent ${node.agentVersion}`, node.seenMs !== undefined && `heard of ${span(node.seenMs)} ago`].filter(Boolean).join(" · "));
    this.watching = [];
    const real = node.verdicts.filter(v => v.state !== undefined);
    for (const v of real) for (const r of v.rules ?? []) {
      const parts = {...ruleParts(r.rule), clear: r.clear ?? null};
      if (parts.target !== null) this.watching.push({...parts, policy: v.policy.replace(/^default\//, "")});
    }
    this.numbers(real, now);
    fill(this.verdicts, real.length === 0 ? h("p", {class: "muted"}, "No policy watches this node.") : real.map(v => this.verdict(v)));
    const inCode = labels => Object.entries(labels ?? {}).map(([k, value]) => [h("code", {}, `${k}=${value}`), " "]);
    const given = inCode(node.labels), own = inCode(node.objectLabels);
    if (given.length > 0) this.verdicts.append(h("p", {}, "Labels that policies give: ", given));
    this.labelCard.hidden = own.length === 0;
    fill(this.labels, own);
    fill(this.sources, h("ul", {class: "plain"}, node.sources.map(s => h("li", {class: "source"}, h("span", {class: "badge " + (s.ok ? s.message ? "held" : "pass" : "violating")}, (s.ok ? s.message ? "~ " : "✓ " : "✕ ") + s.source), h("span", {}, s.message ?? "")))));
    this.series(node.series, now);
    this.plot();
  }

  /** What rules compare is the node's one number of a metric, with its window: it has a history of its own. */
  numbers(verdicts, now) {
    this.rules = new Map();
    for (const v of verdicts) for (const r of v.rules ?? []) {
      const key = "rule " + r.rule;
      this.rules.set(key, r);
      let history = this.history.get(key);
      if (!history) {
        this.history.set(key, history = new History(ROOM));
        const before = this.app.fleet.nodes.get(this.name)?.history.get(ruleParts(r.rule).metric);
        for (const [time, value] of before?.points() ?? []) history.add(time, value);
      }
      if (r.value !== undefined && r.ageMs !== undefined) history.add(now - r.ageMs, r.value);
      if (this.picked === null && r.value !== undefined && ruleParts(r.rule).target !== null) this.picked = key;
    }
  }

  verdict(v) {
    return h("div", {class: "verdict"},
      h("div", {class: "title"}, h("h3", {}, h("a", {href: "#/policies"}, v.policy.replace(/^default\//, "")), h("small", {class: "muted"}, ` ${v.strategy}${v.mode === "Enforce" ? "" : " · " + v.mode}`)), badge(v.state, v.mode === "DryRun")),
      (v.rules ?? []).map(r => {
        const parts = ruleParts(r.rule);
        const unit = this.app.fleet.unit(parts.metric);
        const has = r.value !== undefined;
        const reach = parts.target === null ? null : Math.max(Math.abs(parts.target), Math.abs(r.value ?? 0)) * 1.25 || 1;
        const key = "rule " + r.rule;
        return h("button", {type: "button", class: "rule", "data-key": key, "aria-pressed": String(this.picked === key), onclick: () => { this.picked = key; this.plot(); }}, h("code", {}, r.rule),
          h("span", {class: "number"}, has ? `${amount(r.value, unit)}, ${span(r.ageMs ?? 0)} old${r.partial ? ", partial" : ""}` : reason(r.absent)),
          reach !== null && has && r.value >= 0 && parts.target >= 0 ? h("span", {class: "gauge", "aria-hidden": "true"}, h("span", {class: "filled " + (v.rule === r.rule ? v.state : ""), style: {width: `${r.value / reach * 100}%`}}), h("span", {class: "target", style: {left: `${parts.target / reach * 100}%`}})) : null);
      }));
  }

  /** A series knows a pod's UID alone; the API server may know its name. */
  nameThePods(told) {
    this.pods = told;
    this.podNote.hidden = !told.error;
    if (told.error) setText(this.podNote, `Pods are shown by their UIDs: ${told.error}.`);
    for (const row of this.rows.values()) this.labelsOf(row);
    this.filtered();
  }

  /** Writes a row's labels, with the name of a pod in place of its UID if it is known. */
  labelsOf(row) {
    const labels = Object.entries(row.series.labels ?? {}).map(([k, v]) => k === "pod_uid" && this.pods?.names?.[v] ? ["pod", this.pods.names[v]] : [k, v]);
    setText(row.labels, labels.map(([k, v]) => `${k}=${v}`).join(" "));
    if (row.series.labels?.pod_uid) row.labels.title = "pod_uid=" + row.series.labels.pod_uid;
  }

  series(all, now) {
    const keys = new Set();
    for (const s of all) {
      const key = keyOf(s);
      keys.add(key);
      let history = this.history.get(key);
      if (!history) this.history.set(key, history = new History(ROOM));
      if (s.value !== undefined && s.ageMs !== undefined) history.add(now - s.ageMs, s.value);
      let row = this.rows.get(key);
      if (!row) {
        row = {series: s, labels: h("span", {class: "labels"}), value: h("td", {class: "number"}), age: h("td", {class: "muted"}), targets: h("td", {class: "targets"}), spark: h("canvas", {class: "spark", "aria-hidden": "true"})};
        row.name = h("button", {type: "button", class: "pick", onclick: () => { this.picked = key; this.plot(); }}, h("span", {class: "family"}, breakable(s.family)), row.labels);
        row.tr = h("tr", {}, h("th", {scope: "row"}, row.name), row.value, row.age, h("td", {}, row.spark), row.targets, h("td", {class: "muted"}, s.source));
        this.rows.set(key, row);
        this.labelsOf(row);
        this.body.append(row.tr);
      }
      row.series = s;
      setText(row.targets, this.targetsOf(s));
      const has = s.value !== undefined;
      setText(row.value, has ? amount(s.value, s.unit) : "–");
      row.value.classList.toggle("absent", !has);
      setText(row.age, has ? span(s.ageMs ?? 0) + (s.partial ? " partial" : "") : reason(s.absent));
    }
    for (const [key, row] of this.rows) if (!keys.has(key)) { row.tr.remove(); this.rows.delete(key); }
    if (!this.pods && all.some(s => s.labels?.pod_uid)) {
      this.pods = {};
      this.app.follow();
    }
    const {accent} = theme();
    for (const [key, row] of this.rows) if (!row.tr.hidden) spark(row.spark, this.history.get(key).points(), accent);
    setText(this.count, plural(all.length, "series", "series"));
    if (this.picked === null || !(this.rows.has(this.picked) || this.rules.has(this.picked))) {
      const watched = all.find(s => this.watching.some(w => w.metric === s.family && s.value !== undefined));
      const first = watched ?? all.find(s => s.unit === "watts" && s.value !== undefined) ?? all[0];
      this.picked = first ? keyOf(first) : null;
    }
  }

  /** The targets of the policies that compare this series, or the node's one number of its family. */
  targetsOf(s) {
    const of = this.watching.filter(w => w.metric === s.flatName || w.metric === s.family);
    return [...new Set(of.map(w => `${w.policy}: ${w.operator} ${amount(w.target, s.unit)}${w.window ? ` (${w.window})` : ""}`))].join(", ");
  }

  filtered() {
    const wanted = this.filter.value.trim().toLowerCase();
    for (const [key, row] of this.rows) row.tr.hidden = wanted !== "" && !(key + row.labels.textContent).toLowerCase().includes(wanted);
  }

  plot() {
    for (const [key, other] of this.rows) other.name.setAttribute("aria-pressed", String(key === this.picked));
    const history = this.history.get(this.picked);
    if (!history) return;
    const rule = this.rules.get(this.picked);
    const s = this.rows.get(this.picked)?.series;
    if (rule) {
      const {metric, window} = ruleParts(rule.rule);
      // A rule may name one series by its flat name.
      const named = [...this.rows.values()].find(row => row.series.flatName === metric)?.series;
      const question = named ? seriesQuestion(named) : [["metric", metric]];
      this.draw(metric, "The node’s one number, drawn as the rule compares it. Choose a rule, or a series in the table below.",
        history, this.app.fleet.unit(metric), metric, window ? [...question, ["window", window]] : question);
    } else if (s) {
      this.draw(s.flatName ?? s.family, "Choose a rule, or another series in the table below.", history, s.unit, s.flatName, seriesQuestion(s));
    }
  }

  draw(title, note, history, unit, metric, question) {
    setText(this.chartTitle, title);
    const targets = this.watching.filter(w => w.metric === metric);
    setText(this.chartNote, [note, ...targets.filter(w => w.clear !== null).map(w => `${w.policy}: ${bandWords(w, unit)}`)].join(" "));
    if (this.app.reach.isLive) this.past.stop();
    else this.past.follow([["node", this.name], ...question]);
    this.past.show(this.line, this.pastNote, unit, targets, {lines: [{name: "", points: history.points()}], now: this.now});
  }
}
