// Health: the replicas, what they warn of, sources that fail with their remedies, certificates.
import {fill, h, nodeLink, table} from "./dom.js";
import {count, plural, span} from "./format.js";

const GRADES = {failure: ["violating", "✕ failure"], warning: ["held", "! warning"], ok: ["pass", "✓ ok"], unchecked: ["plainly", "unchecked"]};

/** How many findings of the status want a person: shown at the tab. */
export function troubles(status) {
  let n = 0;
  for (const r of status?.replicas ?? []) n += r.error ? 1 : (r.findings ?? []).filter(f => f.grade === "failure" || f.grade === "warning").length;
  return n;
}

export class HealthPage {
  constructor(app) { this.app = app; }

  topics() { return ["links", "doctor"]; }

  event(name, data) {
    if (name === "links") this.links = data;
    else if (name === "doctor") this.doctor = data;
    else return;
    this.update();
  }

  open(main) {
    document.title = "Health · Binnacle";
    this.body = h("div", {});
    fill(main, h("h1", {}, "Health"), this.body);
    this.update();
  }

  close() {}

  status() { this.update(); }

  update() {
    const status = this.app.status;
    if (!this.body) return;
    if (!status) return fill(this.body, h("p", {class: "empty"}, "Waiting for the first answer…"));
    // While somebody selects a text here, nothing is put in its place.
    if (getSelection()?.toString() && this.body.contains(getSelection().anchorNode)) return;
    const alive = status.replicas.filter(r => r.status);
    const findings = status.replicas.flatMap(r => r.error ? [{grade: "failure", sentence: r.error}] : r.findings).sort((a, b) => rank(a) - rank(b));
    const problems = problemsOf(alive);
    fill(this.body,
      h("section", {class: "card"}, h("h2", {}, "Replicas"), table("Replicas", [{name: "Aggregator"}, {name: "State"}, {name: "Version"}, {name: "Mode"}, {name: "Up", number: true}, {name: "Nodes", number: true}, {name: "Policies", number: true}, {name: "Decisions", number: true}],
        status.replicas.map(r => r.error ? [r.url, {node: h("span", {class: "badge violating"}, "✕ away")}, "–", "–", "–", "–", "–", "–"]
          : [{node: h("span", {}, r.status.replica, h("br"), h("small", {class: "muted"}, r.url))}, {node: h("span", {class: "badge pass"}, "✓ answers")}, r.status.version, r.status.mode, span(r.status.uptimeSeconds * 1000), `${count(r.status.nodes.connected)} of ${count(r.status.nodes.known)}`, count(r.status.policies.inForce), count(r.status.decisions.total)]))),
      h("section", {class: "card"}, h("h2", {}, "What the doctor says of them"), listOf(findings)),
      h("section", {class: "card doctor"}, h("h2", {}, "What the doctor finds in the cluster"), this.cluster()),
      h("section", {class: "card"}, h("h2", {}, "Sources that fail ", h("span", {class: "muted"}, count(problems.count))),
        problems.count === 0 ? h("p", {class: "muted"}, "None.") : this.sources(problems)),
      h("section", {class: "card"}, h("h2", {}, "Links of agents"), this.missingLinks()),
      h("section", {class: "card"}, h("h2", {}, "Ports"), alive.map(r => table(`Ports of ${r.status.replica}`, [{name: "Port"}, {name: "Address"}, {name: "Open", number: true}, {name: "Requests", number: true}, {name: "Rejected", number: true}, {name: "Failed handshakes", number: true}, {name: "Malformed", number: true}, {name: "Time-outs", number: true}],
        r.status.listeners.map(l => [l.name, l.address, count(l.open), count(l.requests), count(l.rejected), count(l.handshakeFailures), count(l.malformed), count(l.timeouts)])))),
      h("section", {class: "card"}, h("h2", {}, "Certificates"), alive.map(r => table(`Certificates of ${r.status.replica}`, [{name: "File"}, {name: "Left", number: true}],
        r.status.certificates.map(c => [c.file, {node: h("span", {class: c.secondsLeft < 7 * 86400 ? "badge held" : ""}, c.secondsLeft < 0 ? "expired" : span(c.secondsLeft * 1000))}])))),
      h("p", {class: "muted"}, `This dashboard: ${plural(status.dashboard.pages, "stream")} to pages, ${count(status.dashboard.asked)} questions asked, ${count(status.dashboard.conflated)} updates that a slow page got with a later one.`));
  }

  /** What wants a person first; what is well is folded up. */
  cluster() {
    if (!this.doctor) return h("p", {class: "muted"}, "The doctor is looking…");
    const all = this.doctor.checks.flatMap(c => c.findings.map(f => ({...f, check: c.name})));
    const well = all.filter(f => f.grade === "ok"), rest = all.filter(f => f.grade !== "ok").sort((a, b) => rank(a) - rank(b));
    return [rest.length > 0 ? listOf(rest) : null,
      well.length > 0 ? h("details", {open: this.unfolded, ontoggle: e => { this.unfolded = e.target.open; }}, h("summary", {}, `${plural(well.length, "finding")} without trouble`), listOf(well)) : null,
      h("p", {class: "muted"}, `Checked at ${new Date(this.doctor.nowMs).toLocaleTimeString()} from where this dashboard runs: ${this.doctor.checks.map(c => c.name).join(", ")}. Checked again every minute. `, h("code", {}, "binnacle doctor"), " on a node also checks the machine, its sensors and its agent.")];
  }

  /** Which agents have no link to which replica: each has one to all of them, if all is well. */
  missingLinks() {
    if (!this.links) return h("p", {class: "muted"}, "Waiting for the first answer…");
    const lacking = this.links.replicas.filter(r => r.missing > 0);
    const known = this.links.replicas.filter(r => r.error === undefined).length;
    if (lacking.length === 0) return h("p", {class: "muted"}, known > 0 ? "Every agent is linked to every replica that answers." : "No replica answers.");
    return h("ul", {class: "findings"}, lacking.map(r => h("li", {}, h("span", {class: "badge held"}, plural(r.missing, "agent")), h("span", {}, `without a link to ${r.url}`,
      h("span", {class: "names remedy"}, r.first.map(n => [nodeLink(n), " "]), r.missing > r.first.length ? `and ${count(r.missing - r.first.length)} more` : "")))));
  }

  /** One line for each message, with the nodes that say it. */
  sources(problems) {
    const by = new Map();
    for (const p of problems.first) {
      const key = p.source + "\n" + p.message;
      if (!by.has(key)) by.set(key, {...p, nodes: []});
      by.get(key).nodes.push(p.node);
    }
    return [h("ul", {class: "findings"}, [...by.values()].map(p => h("li", {}, h("span", {class: "badge held"}, p.source), h("span", {}, p.message, h("span", {class: "names remedy"}, p.nodes.slice(0, 12).map(n => [nodeLink(n), " "]), p.nodes.length > 12 ? `and ${p.nodes.length - 12} more` : ""))))),
      problems.count > problems.first.length ? h("p", {class: "muted"}, `and ${count(problems.count - problems.first.length)} more; a node's page has all of its own`) : null];
  }
}

/** What fails, as all replicas tell it: a link that one of them lacks is another's. */
function problemsOf(replicas) {
  const all = new Map();
  let count = 0;
  for (const {status} of replicas) {
    count = Math.max(count, status.sourceProblems.count);
    for (const p of status.sourceProblems.first) all.set(JSON.stringify([p.node, p.source, p.message]), p);
  }
  return {count: Math.max(count, all.size), first: [...all.values()]};
}

const listOf = findings => h("ul", {class: "findings"}, findings.map(f => h("li", {}, h("span", {class: "badge " + GRADES[f.grade][0]}, GRADES[f.grade][1]), h("span", {}, f.check ? h("span", {class: "muted"}, `${f.check}: `) : null, f.sentence, f.remedy ? h("span", {class: "remedy"}, f.remedy) : null))));

const rank = f => ["failure", "warning", "unchecked", "ok"].indexOf(f.grade);
