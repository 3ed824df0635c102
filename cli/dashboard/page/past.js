// The past from the user's own database, where the command has one set (--history); else a chart shows what this page has seen.
import {h, setText} from "./dom.js";
import {span} from "./format.js";

const LEAST_PAUSE = 15000;
const LIVE = "live";

/** How far back the charts of all pages go: LIVE is what this page has seen. */
export class Reach {
  constructor() {
    this.all = [];
    this.chosen = LIVE;
  }

  /** What the command can tell: ["15m", "1h", …]; nothing where no database is set. */
  offer(spans) {
    this.all = spans;
    if (spans.length > 0 && this.chosen === LIVE) this.chosen = spans[1] ?? spans[0];
  }

  get isLive() { return this.chosen === LIVE; }

  /** Buttons to choose from, or null where there is nothing to choose. */
  buttons(onChosen) {
    if (this.all.length === 0) return null;
    const words = {[LIVE]: "Live", "15m": "15 min", "1h": "1 h", "6h": "6 h", "24h": "24 h", "7d": "7 days"};
    const buttons = [LIVE, ...this.all].map(name => h("button", {type: "button", "data-key": "span " + name, onclick: () => { this.chosen = name; mark(); onChosen(); }}, words[name] ?? name));
    const mark = () => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String([LIVE, ...this.all][i] === this.chosen)));
    mark();
    return h("div", {class: "spans", role: "group", "aria-label": "How far back"}, buttons);
  }
}

/** One chart's past: asked for once, and again as it goes on. `onChange` is called with each answer and each refusal. */
export class Past {
  constructor(app, onChange) {
    Object.assign(this, {app, onChange, query: "", answer: null, trouble: ""});
  }

  /** Follows `what` ([[name, value], …]) over the chosen span; what is followed already goes on. */
  follow(what) {
    const query = new URLSearchParams([["span", this.app.reach.chosen], ...what]).toString();
    if (query === this.query) return;
    this.stop();
    this.query = query;
    this.run();
  }

  stop() {
    this.abort?.abort();
    clearTimeout(this.timer);
    Object.assign(this, {query: "", answer: null, trouble: ""});
  }

  async run() {
    const abort = this.abort = new AbortController();
    let pause = LEAST_PAUSE;
    // A page that nobody sees asks nothing.
    if (!document.hidden) {
      try {
        const answer = await this.app.ask("/history?" + this.query, {signal: abort.signal});
        if (abort.signal.aborted) return;
        Object.assign(this, {answer, trouble: ""});
        pause = Math.max(LEAST_PAUSE, answer.stepMs);
      } catch (e) {
        if (abort.signal.aborted) return;
        Object.assign(this, {answer: null, trouble: e instanceof TypeError ? "the command `binnacle dashboard` does not answer" : e.message});
      }
      this.onChange();
    }
    this.timer = setTimeout(() => this.run(), pause);
  }

  /** Draws into `line` what there is: the database's answer, or until then, and where it has none, what this page has seen. `note` says which. */
  show(line, note, unit, targets, live) {
    const {answer} = this;
    const shown = answer && answer.lines.length > 0 ? answer : null;
    line.canvas.dataset.query = shown ? shown.query : "";
    line.canvas.dataset.range = shown ? [shown.fromMs, shown.toMs, shown.stepMs].join(" ") : "";
    if (shown) line.show(shown.lines, unit, targets, shown.toMs, shown);
    else line.show(live.lines, unit, targets, live.now);
    setText(note, this.says(shown));
    note.title = shown ? shown.query : "";
  }

  says(shown) {
    const seen = "The chart shows what this page has seen.";
    if (this.app.reach.isLive) return seen;
    if (this.trouble) return `No history: ${this.trouble}. ${seen}`;
    if (shown) return `From your database: a value every ${span(shown.stepMs)}; what lies between is not drawn.`;
    if (this.answer) return `Your database has no value of it in this time. ${seen}`;
    return "Asking your database.";
  }
}
