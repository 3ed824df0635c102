// Server-sent events, read with fetch(): EventSource cannot show the page's key, and a key in the address would stand in logs and histories.

/** Splits a text/event-stream as it comes. Source: html.spec.whatwg.org, 9.2.6. */
export class EventParser {
  constructor(onEvent) {
    this.onEvent = onEvent;
    this.rest = "";
    this.name = "message";
    this.data = [];
  }

  feed(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (this.data.length > 0) this.onEvent(this.name, this.data.join("\n"));
        this.name = "message";
        this.data = [];
      } else if (line.startsWith("event: ")) {
        this.name = line.slice(7);
      } else if (line.startsWith("data: ")) {
        this.data.push(line.slice(6));
      }
    }
  }
}

const LONGEST_PAUSE = 15000;
const STREAMS = 3;         // of all windows of this browser; the other connections are for files and questions
const FREE_WITHIN = 100;   // a stream that is free is there by then
const ASK_EVERY = 1000;    // without a stream; the server has something new once a second at most

/** Resolves when this window may have one of the browser's streams, which it keeps until `signal` aborts or it is closed. */
function turn(signal) {
  return new Promise(resolve => {
    let has = false;
    const hold = () => {
      if (has || signal.aborted) return undefined;  // gives it back at once
      has = true;
      resolve(true);
      return new Promise(end => signal.addEventListener("abort", end));
    };
    for (let i = 1; i <= STREAMS; ++i) navigator.locks.request("stream " + i, {signal}, hold).catch(() => {});  // aborted
  });
}

/**
 * Follows topics until the page goes. onEvent(name, data) for each event; onState("open" | "lost" | "locked", sentence). onRefused(sentence): all pages
 * together ask for too much; true: what this one asked for is given up, else it tries again.
 * One stream for all that a page shows, and none for a page that nobody sees: browsers make six connections to one server, for all windows together,
 * and the aggregator has better to do. If many windows are seen, three have streams, and the others ask once a second; one of them gets the stream
 * of a window that is closed or hidden.
 */
export class Live {
  constructor(key, topics, metrics, onEvent, onState, onRefused = () => false) {
    Object.assign(this, {key, topics, metrics, onEvent, onState, onRefused, pause: 500, stream: "", streams: false, changing: ""});
    document.addEventListener("visibilitychange", () => document.hidden ? this.drop() : this.run());
    if (!document.hidden) this.run();
  }

  /** Other topics, over the same stream: the fleet goes on, and all else is told from its beginning. */
  async follow(topics, metrics) {
    Object.assign(this, {topics, metrics});
    const stream = this.stream;
    if (!stream) return document.hidden ? undefined : this.run();
    if (!this.streams) return this.ask();
    // One question at a time, or an older one could come later.
    if (this.changing === stream) return;
    this.changing = stream;
    let answer, asked;
    do {
      asked = this.topics;
      answer = await fetch("/live?" + this.query(stream), {method: "POST", headers: {Authorization: "Bearer " + this.key}}).catch(() => null);
    } while (answer?.ok && asked !== this.topics && stream === this.stream);
    if (this.changing === stream) this.changing = "";
    if (answer?.ok || stream !== this.stream) return;
    if (answer?.status === 429 && this.onRefused((await answer.json()).error)) return;
    this.run();
  }

  query(stream) { return new URLSearchParams([["stream", stream], ...this.topics.map(t => ["topic", t]), ...this.metrics.map(m => ["metric", m])]); }

  drop() {
    Object.assign(this, {stream: "", streams: false});
    this.abort?.abort();
    clearTimeout(this.timer);
  }

  async run() {
    this.drop();
    const abort = this.abort = new AbortController();
    const stream = crypto.randomUUID();
    const myTurn = turn(abort.signal);
    let why = "the command `binnacle dashboard` does not answer; is it still running?";
    try {
      for (let wait = FREE_WITHIN; !this.streams; wait = ASK_EVERY) {
        const streams = await Promise.race([myTurn, new Promise(next => { this.ask = () => next(false); setTimeout(this.ask, wait); })]);
        if (abort.signal.aborted) return;
        this.streams = streams;
        const answer = await fetch((streams ? "/live?" : "/changes?") + this.query(stream), {headers: {Authorization: "Bearer " + this.key}, signal: abort.signal});
        if (answer.status === 401) {
          const {error} = await answer.json();
          this.drop();
          return this.onState("locked", error);
        }
        if (!answer.ok) {
          this.stream = "";
          why = (await answer.json()).error;
          if (answer.status === 429 && this.onRefused(why)) return;
          throw new Error(why);
        }
        this.pause = 500;
        this.stream = stream;
        this.onState("open", "");
        await this.read(answer.body);
      }
    } catch (e) {
      if (abort.signal.aborted) return;
      if (!(e instanceof TypeError)) why = e.message;
    }
    if (abort.signal.aborted) return;
    this.drop();
    this.onState("lost", why);
    this.timer = setTimeout(() => this.run(), this.pause);
    this.pause = Math.min(LONGEST_PAUSE, this.pause * 2);
  }

  async read(body) {
    const parser = new EventParser((name, data) => this.onEvent(name, JSON.parse(data)));
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      parser.feed(value);
    }
  }
}
