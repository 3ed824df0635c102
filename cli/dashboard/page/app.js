// The page: trades its link for a key, follows the fleet, and shows one of five pages.
import {DecisionsPage} from "./decisions.js";
import {fill, h, setText} from "./dom.js";
import {Edits} from "./edits.js";
import {FleetPage} from "./fleet.js";
import {inOrder, plural, span} from "./format.js";
import {HealthPage, troubles} from "./health.js";
import {Live} from "./live.js";
import {NodePage} from "./node.js";
import {PoliciesPage} from "./policies.js";
import {Reach} from "./past.js";
import {Fleet} from "./store.js";

const SUGGESTIONS = 12;  // a browser shows some twenty
const PATIENCE = 10000;  // for the first answer

const $ = id => document.getElementById(id);

class App {
  constructor(key) {
    this.key = key;
    this.fleet = new Fleet();
    this.edits = new Edits();
    this.status = null;
    this.searched = "";
    // `extra`: a metric that this page asks for besides the aggregator's; `before`: what was shown before it.
    this.settings = {colour: null, group: "", table: false, extra: null, before: {colour: null, extra: null}, refused: ""};
    this.families = [];
    this.reach = new Reach();
    this.waiting = new Map();
    this.pageTrouble = "";
    this.state = ["lost", "connecting"];
    this.since = Date.now();
  }

  start() {
    $("share").hidden = false;
    $("share").addEventListener("click", () => this.share());
    const search = $("search");
    search.addEventListener("input", () => { this.searched = search.value.trim().toLowerCase(); this.suggest(); this.page?.search?.(); });
    search.addEventListener("keydown", e => {
      if (e.key !== "Enter" || !this.searched) return;
      const found = this.found();
      const best = found.find(n => n.toLowerCase() === this.searched) ?? found[0];
      if (best) location.hash = "#/node/" + encodeURIComponent(best);
    });
    document.addEventListener("keydown", e => {
      if (e.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName)) { e.preventDefault(); search.focus(); }
    });
    window.addEventListener("hashchange", () => this.route());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.page?.update?.());
    this.ask("/families").then(c => { this.families = c.metrics; this.reach.offer(c.spans); this.page?.familiesKnown?.(); }, () => {});
    this.route();
    setInterval(() => this.tick(), 1000);
  }

  /** Names of nodes that have what is searched for in them. */
  found() { return [...this.fleet.nodes.keys()].filter(n => n.toLowerCase().includes(this.searched)).sort(inOrder); }

  suggest() { fill($("search-list"), this.searched ? this.found().slice(0, SUGGESTIONS).map(name => h("option", {value: name})) : []); }

  async ask(path, options = {}) {
    const answer = await fetch(path, {...options, headers: {Authorization: "Bearer " + this.key}});
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error);
    return said;
  }

  async share() {
    try {
      const {link} = await this.ask("/link", {method: "POST"});
      setText($("share-link"), link);
      await navigator.clipboard?.writeText(link).catch(() => {});
    } catch (e) { this.trouble(e.message); }
  }

  /** Fleet and status, and what the page shown needs besides; again when that is something else. */
  follow() {
    const topics = ["fleet", "status", ...this.page.topics()];
    const metrics = [...new Set(["os_cpus", this.settings.extra].filter(Boolean))];
    if (this.live) this.live.follow(topics, metrics);
    else this.live = new Live(this.key, topics, metrics, (name, data) => this.event(name, data), (state, why) => this.become(state, why), why => this.refused(why));
  }

  /** Shows a metric that the aggregator does not list by itself. */
  askFor(metric) {
    const {colour, extra} = this.settings;
    if (metric !== extra) this.settings.before = {colour: colour === "metric:" + metric ? null : colour, extra};
    Object.assign(this.settings, {extra: metric, colour: "metric:" + metric, refused: ""});
    this.follow();
  }

  /** All pages together show too many metrics: this one goes back to what it showed before. False: it asks for none of its own. */
  refused(why) {
    const {extra, before} = this.settings;
    if (!extra) return false;
    Object.assign(this.settings, before, {before: {colour: null, extra: null}, refused: `${extra} is not shown: ${why}.`});
    this.follow();
    this.page?.update?.();
    return true;
  }

  event(name, data) {
    if (name === "fleet") {
      this.fleet.take(data);
      // Drawn with the screen's next picture, once for all that came before it.
      if (!this.drawing) this.drawing = requestAnimationFrame(() => { this.drawing = 0; this.page?.update?.(); this.tick(); document.body.dataset.version = String(data.version ?? ""); });
    } else if (name === "status") {
      this.status = data;
      const n = troubles(data);
      $("health-mark").hidden = n === 0;
      setText($("health-mark"), n > 99 ? "99+" : String(n));
      $("health-mark").setAttribute("aria-label", plural(n, "finding"));
      this.page?.status?.();
    } else {
      // The newest of each kind, with the screen's next picture: a page that is slow skips, and never falls behind.
      if (this.waiting.size === 0) requestAnimationFrame(() => this.deliver());
      this.waiting.set(`${name}/${data.about ?? ""}`, [name, data]);
    }
  }

  deliver() {
    const events = [...this.waiting.values()];
    this.waiting.clear();
    this.pageTrouble = "";
    for (const [name, data] of events) this.page?.event?.(name, data);
  }

  become(state, why) {
    this.state = [state, why];
    if (state === "locked") locked(why);
    this.tick();
  }

  /** What a page of ours could not get, until its next event. */
  trouble(text) {
    this.pageTrouble = text;
    this.tick();
  }

  /** Says how old what is shown is, and why, whenever that matters. */
  tick() {
    const [state, reason] = this.state;
    const lost = state === "lost";
    const age = this.fleet.updated ? Date.now() - this.fleet.updated : 0;
    const slow = Math.max(5000, this.fleet.total * 3);
    let kind = "live", words = "Live";
    if (lost) [kind, words] = ["lost", this.fleet.updated ? `Not connected, ${span(age)} old` : "Connecting"];
    else if (this.fleet.trouble || age > slow) [kind, words] = ["late", this.fleet.updated ? `${span(age)} old` : "No answer yet"];
    else if (!this.fleet.updated) [kind, words] = ["late", "Waiting"];
    $("link-state").className = "link-state " + kind;
    setText($("link-state").querySelector(".words"), words);
    const silence = Date.now() - this.since;
    const waits = silence < PATIENCE ? "" : `No answer for ${span(silence)}. Is the command \`binnacle dashboard\` still running, and does a tunnel or a proxy before it pass its answers on?`;
    const why = !lost ? this.fleet.trouble : reason === "connecting" ? waits : reason;
    const text = why ? `${why}${this.fleet.updated ? ` What is shown is ${span(age)} old.` : ""}` : this.pageTrouble;
    $("banner").hidden = !text;
    setText($("banner"), text);
    if (this.status) setText($("foot-words"), this.status.replicas.map(r => r.status ? `${r.status.replica} ${r.status.version}` : `${r.url} away`).join(" · "));
  }

  route() {
    const [, name = "", about = ""] = /^#\/(\w+)\/?(.*)$/.exec(location.hash) ?? [];
    let decoded = about;
    try { decoded = decodeURIComponent(about); } catch { /* shown as it is */ }
    const pages = new Map([["policies", PoliciesPage], ["decisions", DecisionsPage], ["health", HealthPage], ["node", NodePage]]);
    const Page = pages.get(name) ?? FleetPage;
    const from = this.page;
    from?.close();
    this.pageTrouble = "";
    this.page = new Page(this, decoded);
    for (const a of document.querySelectorAll("nav a")) {
      const here = a.hash.slice(2) === (pages.has(name) && name !== "node" ? name : "fleet");
      if (here) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    }
    this.page.open($("main"));
    this.follow();
    if (!from) return;
    window.scrollTo(0, 0);
    const returns = from instanceof NodePage && this.page instanceof FleetPage && this.page.comeBack(from.name);
    if (!returns) $("main").focus({preventScroll: true});
  }
}

function locked(why) {
  sessionStorage.removeItem("key");
  document.title = "Binnacle";
  $("link-state").className = "link-state lost";
  setText($("link-state").querySelector(".words"), "Locked");
  fill($("main"), h("section", {class: "card locked"}, h("h1", {}, "This page has no key"), h("p", {}, why), h("p", {}, "Run ", h("code", {}, "binnacle dashboard"), " and open the link that it prints.")));
}

/** What this page needs of a browser and an old one lacks. */
function lacking() {
  const needed = {"navigator.locks": navigator.locks, "crypto.randomUUID": crypto.randomUUID, TextDecoderStream: window.TextDecoderStream, structuredClone: window.structuredClone};
  return Object.keys(needed).filter(name => !needed[name]);
}

async function begin() {
  if (!window.Chart) return;  // start.js says so
  if (lacking().length > 0) throw new Error(`this browser lacks ${lacking().join(" and ")}`);
  const first = location.hash;
  const link = new URLSearchParams(first.slice(1)).get("link");
  if (link) {
    setText($("why"), "The command `binnacle dashboard` has not answered yet.");
    const answer = await fetch("/open", {method: "POST", body: JSON.stringify({link}), signal: AbortSignal.timeout(PATIENCE)}).catch(() => null);
    const said = await answer?.json().catch(() => null);
    // The link stays in the address: it may be good yet.
    if (!said) throw new Error(answer ? `what answers is not the command \`binnacle dashboard\` (HTTP status ${answer.status})` : "the command `binnacle dashboard` does not answer");
    // Out of the address at once: it is of no further use, and nobody should copy it. Somebody may have gone to another page meanwhile.
    if (location.hash === first) history.replaceState(null, "", location.pathname + "#/fleet");
    if (!answer.ok) return locked(said.error);
    sessionStorage.setItem("key", said.key);
  }
  const key = sessionStorage.getItem("key");
  if (!key) return locked("A page gets its key from a link that works once.");
  new App(key).start();
}

begin().catch(reportError);  // start.js says it
