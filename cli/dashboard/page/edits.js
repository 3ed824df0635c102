// Edits of policies: what differs between one answer of the aggregator and the next, as far as this page has asked. Nobody keeps a history of policies, so it
// begins with the page. Pure.

const MOST_EDITS = 50;

/** A policy as lines that people compare. */
function linesOf(policy) {
  return [`mode: ${policy.mode}`, ...policy.strategies.flatMap(s => [
    ...s.rules.map(rule => `${s.strategy}: ${rule}`),
    ...["logicalOperator", "terms", "onMissing", "maxNodes", "coolDown"].filter(name => s[name] && !(name === "logicalOperator" && s.rules.length < 2)).map(name => `${s.strategy}: ${name} ${s[name]}`),
  ])];
}

const keyOf = p => `${p.namespace}/${p.name}`;

export class Edits {
  constructor() {
    this.begun = null;   // the server's clock at the first answer
    this.known = new Map();  // policy → {revision, lines}
    this.all = [];       // newest first: {policy, what, before, after, gone: [line], come: [line], from, to}
  }

  /** The policies that are in force at `now` (Unix ms). What changed did so since the answer before it, which is `from` of an edit. */
  take(policies, now) {
    const old = this.known, from = this.asked ?? now;
    this.known = new Map(policies.map(p => [keyOf(p), {revision: p.revision, lines: linesOf(p)}]));
    this.asked = now;
    if (this.begun === null) return void (this.begun = now);
    const add = (policy, what, before, after) => {
      const were = before?.lines ?? [], are = after?.lines ?? [];
      this.all.unshift({policy, what, before: before?.revision ?? null, after: after?.revision ?? null, gone: were.filter(l => !are.includes(l)), come: are.filter(l => !were.includes(l)), from, to: now});
    };
    for (const [policy, before] of old) {
      const after = this.known.get(policy);
      if (!after) add(policy, "removed", before, null);
      else if (after.revision !== before.revision) add(policy, "edited", before, after);
    }
    for (const [policy, after] of this.known) if (!old.has(policy)) add(policy, "added", null, after);
    this.all.length = Math.min(this.all.length, MOST_EDITS);
  }
}
