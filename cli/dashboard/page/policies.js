// Policies: how the metric of each is spread over the fleet, where its targets lie, and whom it concerns.
import {badge, fill, h, nodeLink, setText} from "./dom.js";
import {bandWords, count, plural, ruleParts, title} from "./format.js";
import {Past} from "./past.js";
import {Distribution, Line} from "./plots.js";

const LONG_AGO = 10000;  // policies are asked for every 2 s while their page is shown
const STATES = ["violating", "held", "frozen", "missing"];

export class PoliciesPage {
  constructor(app) {
    this.app = app;
    this.plots = new Map();  // metric → {chart, rules}
  }

  topics() { return ["policies"]; }

  open(main) {
    document.title = "Policies · Binnacle";
    this.problems = h("div", {});
    this.spans = h("div", {});
    this.list = h("div", {});
    this.editNote = h("p", {class: "muted"});
    this.edits = h("ol", {class: "edits"});
    fill(main, h("div", {class: "title"}, h("h1", {}, "Policies"), this.spans), this.problems, this.list,
      h("section", {class: "card"}, h("h2", {}, "Edits"), this.editNote, this.edits));
    this.showEdits();
    this.familiesKnown();
    if (this.last) this.show(this.last);
  }

  close() {
    for (const p of this.plots.values()) {
      p.chart.destroy();
      p.past.stop();
      p.line.destroy();
    }
    this.plots.clear();
  }

  familiesKnown() { fill(this.spans, this.app.reach.buttons(() => this.update())); }

  event(name, data) {
    if (name !== "policies") return;
    if (data.error) return this.app.trouble(data.error);
    this.app.edits.take(data.answer.policies, data.nowMs);
    this.show(data.answer);
    this.showEdits();
  }

  /** Policies have no history anywhere: this is what differed between two answers. */
  showEdits() {
    const {begun, all} = this.app.edits;
    const time = ms => new Date(ms).toLocaleTimeString();
    setText(this.editNote, begun === null ? "" : `${all.length === 0 ? "None since" : "Since"} ${time(begun)}, when this page first saw the policies. What was before is not known here.`);
    if (this.editsShown === all[0]) return;
    this.editsShown = all[0];
    fill(this.edits, all.map(e => h("li", {},
      h("p", {}, h("strong", {}, e.policy), ` ${e.what} `, h("span", {class: "muted"}, e.to - e.from > LONG_AGO ? `between ${time(e.from)} and ${time(e.to)}` : `at ${time(e.to)}`,
        ` · ${[e.before, e.after].filter(r => r !== null).map(r => `revision ${r}`).join(" → ")}`)),
      e.gone.length + e.come.length === 0 ? h("p", {class: "muted"}, "Its rules are the same; another field changed.") : h("ul", {class: "rules"},
        e.gone.map(l => h("li", {}, h("del", {}, h("span", {class: "sr"}, "before: "), h("code", {}, l)))),
        e.come.map(l => h("li", {}, h("ins", {}, h("span", {class: "sr"}, "now: "), h("code", {}, l))))))));
  }

  show(answer) {
    this.last = answer;
    const shape = JSON.stringify([answer.policies.map(p => [p.namespace, p.name, p.mode, p.strategies.map(s => [s.strategy, s.rules])])]);
    if (shape !== this.shape) this.build(answer, shape);
    fill(this.problems, answer.problems.map(p => h("p", {class: "note " + (p.severity === "error" ? "bad" : "")}, h("strong", {}, `${p.file.split("/").pop()}:${p.line} `), p.field ? h("code", {}, p.field) : null, " ", p.message)));
    for (const p of answer.policies) this.refresh(p, answer.conditions);
    this.update();
  }

  build(answer, shape) {
    this.close();
    this.shape = shape;
    this.cards = new Map();
    fill(this.list, answer.policies.length === 0 ? h("p", {class: "empty"}, "No policy is in force.") : answer.policies.map(p => {
      const card = {concerns: h("div", {}), conditions: h("div", {})};
      const key = `${p.namespace}/${p.name}`;
      this.cards.set(key, card);
      const metrics = new Map();
      for (const s of p.strategies) for (const text of s.rules) {
        const rule = ruleParts(text);
        if (!metrics.has(rule.metric)) metrics.set(rule.metric, []);
        if (rule.target !== null) metrics.get(rule.metric).push(rule);  // others only rank nodes
      }
      return h("section", {class: "card policy"},
        h("div", {class: "title"}, h("h2", {}, p.namespace === "default" ? p.name : key), h("span", {class: "badge " + (p.mode === "Enforce" ? "plainly" : "held")}, p.mode)),
        h("div", {class: "two"},
          h("div", {}, p.strategies.map(s => h("div", {class: "strategy"}, h("h3", {}, s.strategy),
            h("ul", {class: "rules"}, s.rules.map(r => h("li", {}, h("code", {}, r)))),
            h("p", {class: "muted"}, [s.rules.length > 1 && s.logicalOperator, s.onMissing && `no data: ${s.onMissing}`, s.maxNodes && `at most ${s.maxNodes} nodes`, s.coolDown && `cool-down ${s.coolDown}`].filter(Boolean).join(" · ")))),
            card.concerns, card.conditions),
          h("div", {}, [...metrics].map(([metric, rules]) => {
            const canvas = h("canvas", {role: "img", "aria-label": `How ${metric} is spread over the fleet`});
            const note = h("p", {class: "muted"});
            const over = h("canvas", {role: "img", "aria-label": `The lowest, median and highest ${metric} of the fleet over time`});
            const overNote = h("p", {class: "muted", role: "status"});
            const figure = h("figure", {}, h("figcaption", {}, title(metric), " ", h("code", {class: "muted"}, metric)), h("div", {class: "plot"}, canvas), note,
              h("p", {class: "muted"}, "Over time: the median node, and dashed the highest and the lowest."), h("div", {class: "plot low"}, over), overNote);
            // The charts need their canvases on the page.
            queueMicrotask(() => this.plots.set(key + " " + metric, {chart: new Distribution(canvas), metric, rules, note, line: new Line(over), overNote, past: new Past(this.app, () => this.overTime(key + " " + metric))}));
            return figure;
          }))));
    }));
    queueMicrotask(() => this.update());
  }

  refresh(p, conditions) {
    const card = this.cards.get(`${p.namespace}/${p.name}`);
    const dry = p.mode === "DryRun";
    fill(card.concerns, p.strategies.map(s => STATES.filter(state => s[state]).map(state => h("div", {class: "concern"},
      badge(state, dry), h("span", {class: "muted"}, ` ${s.strategy}: ${plural(s[state].count, "node")} `),
      h("span", {class: "names"}, s[state].nodes.slice(0, 24).map(n => [nodeLink(n), " "]), s[state].count > 24 ? h("span", {class: "muted"}, `and ${count(s[state].count - 24)} more`) : null)))),
      [...(p.labels ?? []).map(l => ["gives", l]), ...(p.wouldLabel ?? []).map(l => ["would give", l])].map(([verb, l]) => h("p", {}, h("span", {class: "muted"}, `${verb} `), h("code", {}, l.label), h("span", {class: "muted"}, ` to ${plural(l.count, "node")}`))));
    const said = new Map();  // one sentence about two strategies is said once
    for (const c of conditions) if (c.policy === `${p.namespace}/${p.name}`) said.set(c.type + c.message, c);
    fill(card.conditions, [...said.values()].map(c => h("p", {class: "note"}, h("strong", {}, `${c.type} `), c.message)));
  }

  update() {
    for (const [key, {chart, metric, rules, note}] of this.plots) {
      const values = [];
      for (const n of this.app.fleet.nodes.values()) { const v = n.values?.[metric]?.value; if (v !== undefined) values.push(v); }
      chart.show(values, this.app.fleet.unit(metric), rules);
      this.tell(note, metric, rules, values.length);
      this.overTime(key);
    }
  }

  overTime(key) {
    const plot = this.plots.get(key);
    if (!plot) return;
    const {metric, rules, line, overNote, past} = plot;
    const {fleet, reach} = this.app;
    if (reach.isLive) past.stop();
    else past.follow([["metric", metric]]);
    const seen = fleet.spread.get(metric);
    const lines = seen ? ["lowest", "median", "highest"].map(name => ({name, points: seen[name].points()})) : [];
    const targets = rules.filter(r => r.target !== null).map(r => ({...r, policy: ""}));
    past.show(line, overNote, fleet.unit(metric), targets, {lines, now: fleet.now()});
  }

  /** What the picture does not show, and why. */
  tell(note, metric, rules, shown) {
    const {fleet, settings} = this.app;
    const lacking = fleet.nodes.size - shown;
    const windows = [...new Set(rules.map(r => r.window).filter(Boolean))];
    const isListed = fleet.metrics.some(m => m.name === metric);
    const says = [];
    if (!isListed && settings.extra === metric) says.push("Waiting for its values.");
    else if (!isListed && fleet.updated) says.push("The aggregator lists some metrics of policies by itself, and this one only when it is asked for.");
    else if (shown === 0) says.push("No node has a value.");
    else if (lacking > 0) says.push(`${plural(lacking, "node")} without a value not shown.`);
    if (shown > 0 && windows.length > 0) says.push(`Shown are the newest values; the policy compares ${windows.join(" and ")} of them.`);
    says.push(...new Set(rules.filter(r => r.clear !== null).map(r => bandWords(r, fleet.unit(metric)))));
    if (!isListed && settings.refused) says.push(settings.refused);
    const text = says.join(" ");
    if (note.dataset.text === text) return;  // its button keeps the focus
    note.dataset.text = text;
    const asks = !isListed && settings.extra !== metric && fleet.updated;
    fill(note, text, asks ? [" ", h("button", {type: "button", class: "quiet", onclick: () => { this.app.askFor(metric); this.update(); }}, "Show its values")] : null);
  }
}
