// Decisions: what kube-scheduler was told, newest first, and by how much each node passed or failed.
import {breakable, fill, h, nodeLink, setText} from "./dom.js";
import {amount, plural, span} from "./format.js";

export class DecisionsPage {
  constructor(app, pod) {
    this.app = app;
    this.pod = pod;
    this.opened = null;
    this.items = new Map();
  }

  topics() { return ["decisions/" + this.pod]; }

  open(main) {
    document.title = "Decisions · Binnacle";
    const input = h("input", {id: "pod", type: "search", value: this.pod, placeholder: "Pod, namespace/pod or UID", autocomplete: "off", spellcheck: "false"});
    input.value = this.pod;
    const form = h("form", {class: "controls", role: "search", onsubmit: e => { e.preventDefault(); location.hash = "#/decisions/" + encodeURIComponent(input.value.trim()); }},
      h("label", {}, "Pod ", input), h("button", {type: "submit"}, "Find"), this.pod ? h("a", {href: "#/decisions"}, "All pods") : null);
    this.note = h("p", {class: "muted", role: "status"}, "Waiting for the first answer…");
    this.list = h("ol", {class: "decisions"});
    fill(main, h("h1", {}, "Decisions"), form, this.note, this.list);
  }

  close() {}

  event(name, data) {
    if (name !== "decisions" || data.about !== this.pod) return;
    for (const e of data.errors) this.app.trouble(e);
    const key = d => `${d.aggregator} ${d.id}`;
    const records = data.decisions;
    setText(this.note, records.length > 0 ? `${plural(records.length, "decision")}, newest first.`
      : this.pod ? `No decision about a pod matching “${this.pod}” is kept.` : "kube-scheduler has not asked yet. It asks about pods that have the limit telemetry/scheduling.");
    const keep = new Set(records.map(key));
    for (const [k, item] of this.items) if (!keep.has(k)) { item.li.remove(); this.items.delete(k); }
    let before = this.list.firstChild;
    for (const d of records) {
      let item = this.items.get(key(d));
      if (!item) this.items.set(key(d), item = this.item(d));
      setText(item.age, `${span(data.nowMs - d.unixMs)} ago`);
      if (item.li === before) before = before.nextSibling; else this.list.insertBefore(item.li, before);
    }
    const first = this.items.get(records[0] && key(records[0]));
    if (first && this.opened === null && this.pod) { first.details.open = true; this.opened = true; }
  }

  item(d) {
    const age = h("span", {class: "muted age"});
    const pod = `${d.pod.namespace}/${d.pod.name}`;
    const judged = d.verb !== "prioritize", refused = judged && d.refused > 0;
    const body = h("div", {class: "body"});
    const details = h("details", {ontoggle: () => { if (details.open && !body.firstChild) fill(body, this.table(d)); }},
      h("summary", {}, h("span", {class: "badge " + (refused ? "violating" : "pass")}, refused ? `✕ ${d.refused} refused` : judged ? "✓ all pass" : "ranked"),
        h("strong", {}, pod), h("span", {class: "muted"}, ` ${d.verb}${d.policy ? ` · ${d.policy.name}` : ""}${d.dryRun ? " · dry run" : ""} · ${d.passed} of ${d.candidates}`), age),
      body);
    return {li: h("li", {}, details), details, age};
  }

  table(d) {
    const units = d.rules.map(r => this.app.fleet.unit(r.metric));
    const reach = d.rules.map((_, i) => Math.max(...d.nodes.map(n => Math.abs(n.values?.[i]?.margin ?? 0)), 1e-9));
    const scored = d.verb === "prioritize";
    const bar = (v, i, n) => v?.margin === undefined || scored ? null : h("span", {class: "margin", "aria-hidden": "true"},
      h("span", {class: v.margin > 0 === (n.verdict === "refused") ? n.verdict === "refused" ? "over" : "under" : "under", style: {width: `${Math.abs(v.margin) / reach[i] * 50}%`, [v.margin > 0 ? "left" : "right"]: "50%"}}));
    return [
      h("p", {}, d.summary), h("p", {class: "muted"}, `${d.time} · took ${d.tookUs} µs · decision ${d.id} of ${d.aggregator}${d.outcome === "decided" ? "" : " · " + d.outcome}`),
      !scored && d.refused > (d.spread?.refused ?? 0) ? h("p", {class: "note"}, this.change(d, units)) : null,
      d.spread ? h("p", {class: "note"}, d.spread.text) : null,
      h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Nodes of this decision"}, h("table", {}, h("caption", {class: "sr"}, "Nodes of this decision"),
        h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Node"), h("th", {scope: "col"}, scored ? "Score" : "Verdict"), d.rules.map(r => [h("th", {scope: "col", class: "number"}, breakable(r.rule)), scored ? null : h("th", {scope: "col"}, "Margin")]), h("th", {scope: "col"}, "Age"))),
        h("tbody", {}, d.nodes.map(n => h("tr", {}, h("th", {scope: "row"}, nodeLink(n.node)),
          h("td", {}, scored ? h("span", {class: "score"}, h("span", {class: "gauge", "aria-hidden": "true"}, h("span", {class: "filled", style: {width: `${(n.score ?? 0) * 10}%`}})), `${n.score ?? "–"}`, n.crowd ? h("small", {class: "muted"}, ` −${n.crowd} for pods just placed`) : null) : h("span", {class: "badge " + (n.verdict.startsWith("refused") ? "violating" : "pass")}, n.verdict.replace("_", ": "))),
          d.rules.map((_, i) => { const v = n.values?.[i]; return [h("td", {class: "number" + (v?.value === undefined ? " absent" : "")}, v?.value === undefined ? v?.absent ?? "–" : amount(v.value, units[i])), scored ? null : h("td", {}, bar(v, i, n), v?.margin === undefined ? null : h("span", {class: "sr"}, `margin ${v.margin}`))]; }),
          h("td", {class: "muted"}, Number.isFinite(n.values?.[0]?.ageMs) ? span(n.values[0].ageMs) : "–")))))),
      d.nodesOmitted > 0 ? h("p", {class: "muted"}, `${plural(d.nodesOmitted, "node")} left out.`) : null];
  }

  /** What would have to change for the refused node that is nearest to passing. */
  change(d, units) {
    let nearest = null;
    for (const n of d.nodes) {
      if (n.verdict !== "refused" || n.rule === undefined) continue;
      const v = n.values?.[n.rule];
      if (v?.margin === undefined) continue;
      const share = Math.abs(v.margin) / (Math.abs(d.rules[n.rule].target) || 1);
      if (nearest === null || share < nearest.share) nearest = {share, n, v, rule: d.rules[n.rule], unit: units[n.rule]};
    }
    if (nearest === null) return "The refused nodes have no value to compare: see Health for their sources.";
    const {n, v, rule, unit} = nearest;
    const distance = amount(Math.round(Math.abs(v.margin) * 1e4) / 1e4, unit);
    return `Nearest to passing is ${n.node}: ${rule.metric} would have to ${v.margin > 0 ? "fall" : "rise"} by ${v.margin === 0 ? "the least step" : distance}, or the target ${rule.target} to move as far.`;
  }
}
