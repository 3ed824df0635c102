// A heat map: one tile for each node, on a canvas, for mouse, finger and keyboard.
import {theme} from "./colours.js";
import {h} from "./dom.js";

/** How large the tiles of so many nodes are. Text goes on those that have room for it. */
function sizeFor(nodes, width) {
  const phone = width < 560;
  if (nodes <= 30) return {w: phone ? 104 : 148, h: 58, gap: 6, lines: 2};
  if (nodes <= 150) return {w: phone ? 76 : 100, h: 44, gap: 4, lines: 2};
  if (nodes <= 700) return {w: 46, h: 26, gap: 3, lines: 1};
  if (nodes <= 2000) return {w: 20, h: 20, gap: 2, lines: 0};
  return {w: 13, h: 13, gap: 2, lines: 0};
}

/** Slanted lines that stand for "no value", and thin ones for "old". */
function hatching(ctx, colour, step, ratio) {
  const side = step * ratio;
  const tile = document.createElement("canvas");
  tile.width = tile.height = side;
  const c = tile.getContext("2d");
  c.strokeStyle = colour;
  c.lineWidth = Math.max(1, ratio * step / 5);
  for (const shift of [-side, 0, side]) {
    c.moveTo(shift, side);
    c.lineTo(shift + side, 0);
  }
  c.stroke();
  const pattern = ctx.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

function fitted(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let keep = text.length;
  // The end of a node's name tells it from its neighbours.
  while (keep > 1 && ctx.measureText("…" + text.slice(-keep)).width > room) --keep;
  return "…" + text.slice(-keep);
}

export class Tiles {
  /** onPoint(node or null): looked at; onOpen(node): chosen; onEnter(): it has the focus; onLeave(-1 or 1): the keyboard goes on to the map before or after it.
   * stays(element): with the focus there, the node is still looked at. */
  constructor({label, onPoint, onOpen, onEnter, onLeave, stays}) {
    this.nodes = [];
    this.at = -1;
    this.name = null;  // of the node at `at`: others come and go
    this.left = null;  // where the keyboard was when it went away
    Object.assign(this, {onPoint, onLeave});
    this.canvas = h("canvas", {
      class: "tiles", tabindex: "0", role: "application", "aria-roledescription": "heat map",
      "aria-label": `${label ? label + ": " : ""}nodes as tiles. Arrow keys move, Page Up and Page Down go to another group, Enter opens a node.`,
      onmousemove: e => this.point(this.indexAt(e)),
      onmouseleave: () => this.point(document.activeElement === this.canvas ? this.at : -1),
      onclick: e => { const i = this.indexAt(e); if (i >= 0) onOpen(this.nodes[i]); },
      onfocus: () => { onEnter(); if (this.at < 0) this.point(Math.max(0, this.find(this.left))); else this.draw(); },
      onblur: e => { this.left = this.name; if (!stays(e.relatedTarget)) this.point(-1); },
      onkeydown: e => this.key(e, onOpen),
    });
    this.resized = new ResizeObserver(() => this.draw());
  }

  close() { this.resized.disconnect(); }

  /** `look(node)`: {fill, ink, text, sign, absent, old}; `matches(node)`: others are dimmed. `crowd`: nodes on the whole page. */
  show(nodes, crowd, look, matches) {
    Object.assign(this, {nodes, crowd, look, matches});
    this.resized.observe(this.canvas.parentElement);
    if (this.at >= 0 && nodes[this.at]?.name !== this.name) {
      const now = this.find(this.name);
      // Its node has gone: the keyboard stays where it is.
      if (now < 0) this.point(document.activeElement === this.canvas ? Math.min(this.at, nodes.length - 1) : -1);
      this.at = now < 0 ? this.at : now;
    }
    this.draw();
  }

  find(name) { return this.nodes.findIndex(n => n.name === name); }

  place(i) {
    const {w, h: height, gap} = this.size;
    return [(i % this.columns) * (w + gap), Math.floor(i / this.columns) * (height + gap)];
  }

  indexAt(event) {
    if (!this.size) return -1;
    const {w, h: height, gap} = this.size;
    const column = Math.floor(event.offsetX / (w + gap)), row = Math.floor(event.offsetY / (height + gap));
    if (column < 0 || column >= this.columns) return -1;
    const i = row * this.columns + column;
    return i >= 0 && i < this.nodes.length ? i : -1;
  }

  point(i) {
    const name = this.nodes[i]?.name ?? null;
    if (i === this.at && name === this.name) return;
    Object.assign(this, {at: i, name});
    this.draw();
    this.onPoint(this.nodes[i] ?? null);
  }

  /** The keyboard goes to this tile; what is beyond the window comes into it. */
  enter(i) {
    if (this.at < 0) this.at = i;
    this.canvas.focus({preventScroll: true});
    this.point(i);
    if (!this.size) return;  // not drawn yet
    const top = this.canvas.getBoundingClientRect().top + this.place(i)[1];
    const margin = 3 * this.size.h;
    const above = (parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0) + margin, below = window.innerHeight - this.size.h - margin;
    window.scrollBy(0, top < above ? top - above : top > below ? top - below : 0);
  }

  key(event, onOpen) {
    const moves = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns, Home: -this.at, End: this.nodes.length - 1 - this.at, PageUp: -Infinity, PageDown: Infinity};
    if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const last = this.nodes.length - 1;
      let to = this.at + moves[event.key];
      // Below the next to last row there may be nothing: the last tile is nearest.
      if (event.key === "ArrowDown" && to > last && Math.floor(this.at / this.columns) < Math.floor(last / this.columns)) to = last;
      if (to < 0 || to > last) this.onLeave(Math.sign(to));
      else this.enter(to);
      event.preventDefault();
    } else if (event.key === "Enter" && this.at >= 0) {
      onOpen(this.nodes[this.at]);
    }
  }

  draw() {
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    if (width === 0 || !this.look) return;
    const size = this.size = sizeFor(this.crowd, width);
    this.columns = Math.max(1, Math.floor((width + size.gap) / (size.w + size.gap)));
    const rows = Math.ceil(this.nodes.length / this.columns);
    const height = Math.max(1, rows * (size.h + size.gap) - size.gap + 4);
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = width + "px";
      this.canvas.style.height = height + "px";
    }
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    const t = theme();
    const absent = hatching(ctx, t.hatch, size.h > 20 ? 9 : 5, ratio);
    const old = hatching(ctx, "rgba(255,255,255,.55)", size.h > 20 ? 12 : 6, ratio);
    const font = getComputedStyle(document.body).fontFamily;
    const radius = size.h > 20 ? 5 : size.h > 13 ? 3 : 2;
    ctx.textBaseline = "middle";
    for (let i = 0; i < this.nodes.length; ++i) this.tile(ctx, i, t, {absent, old, font, radius});
    ctx.globalAlpha = 1;
    if (this.at >= 0) {
      const [x, y] = this.place(this.at);
      // A dark line and a light one: one of them is seen on any colour.
      for (const [colour, wide] of [[t.surface, 6], [t.ink, 3]]) {
        ctx.strokeStyle = colour;
        ctx.lineWidth = wide;
        ctx.beginPath();
        ctx.roundRect(Math.max(1.5, x), Math.max(1.5, y), size.w, size.h, radius);
        ctx.stroke();
      }
    }
  }

  tile(ctx, i, t, {absent, old, font, radius}) {
    const {w, h: height, lines} = this.size;
    const [x, y] = this.place(i);
    const node = this.nodes[i];
    const look = this.look(node);
    ctx.globalAlpha = this.matches(node) ? 1 : 0.16;
    ctx.beginPath();
    ctx.roundRect(x, y, w, height, radius);
    ctx.fillStyle = look.absent ? t.absent : look.fill;
    ctx.fill();
    if (look.absent || look.old) {
      ctx.fillStyle = look.absent ? absent : old;
      ctx.fill();
    }
    const ink = look.absent ? t.ink : look.ink;
    ctx.fillStyle = ink;
    if (lines === 2) {
      ctx.textAlign = "left";
      ctx.font = `500 12px ${font}`;
      ctx.fillText(fitted(ctx, node.name, w - 16), x + 8, y + height / 2 - 9);
      ctx.font = `650 ${height > 50 ? 16 : 14}px ${font}`;
      ctx.fillText(fitted(ctx, look.text, w - 16), x + 8, y + height / 2 + 10);
    } else if (lines === 1 && !look.absent) {
      ctx.textAlign = "center";
      ctx.font = `600 11px ${font}`;
      ctx.fillText(fitted(ctx, look.brief ?? look.text, w - 4), x + w / 2, y + height / 2 + 0.5);
    } else if (look.sign && height >= 13) {
      ctx.textAlign = "center";
      ctx.font = `700 ${Math.round(height * 0.7)}px ${font}`;
      ctx.fillText(look.sign, x + w / 2, y + height / 2 + 0.5);
    }
    if (look.corner) {
      // What a policy says of a node whose tile shows a metric.
      const side = Math.max(6, height * 0.36);
      ctx.beginPath();
      ctx.moveTo(x + w - side, y);
      ctx.lineTo(x + w, y);
      ctx.lineTo(x + w, y + side);
      ctx.closePath();
      ctx.fillStyle = look.corner.fill;
      ctx.fill();
      ctx.strokeStyle = t.surface;
      ctx.lineWidth = 1;
      ctx.stroke();
    }
  }
}
