// Charts: Chart.js for distributions and lines, a few strokes of our own for the hundreds of sparklines.
import {theme} from "./colours.js";
import {amount, short, span} from "./format.js";
import {OPERATORS} from "./operators.js";

const Chart = window.Chart;

function defaults() {
  const t = theme();
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  Chart.defaults.color = t.muted;
  Chart.defaults.borderColor = t.line;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;
  return t;
}

/** Lines across a chart where a policy's targets are: options.marks = [{at, clear, text}]; `axis` is the scale's id. Where a violation clears only at
 * `clear`, the band between is shaded: a value in it violates if it did before. */
const marks = {
  id: "marks",
  beforeDatasetsDraw(chart, _, options) {
    const {ctx, chartArea: area} = chart;
    const scale = chart.scales[options.axis];
    ctx.save();
    ctx.fillStyle = theme().bad + "2b";
    for (const {at, clear} of options.marks ?? []) {
      if (clear === null) continue;
      const upright = options.axis === "x";
      const within = value => Math.min(upright ? area.right : area.bottom, Math.max(upright ? area.left : area.top, scale.getPixelForValue(value)));
      const from = Math.min(within(at), within(clear)), size = Math.abs(within(at) - within(clear));
      if (upright) ctx.fillRect(from, area.top, size, area.bottom - area.top);
      else ctx.fillRect(area.left, from, area.right - area.left, size);
    }
    ctx.restore();
  },
  afterDatasetsDraw(chart, _, options) {
    const {ctx, chartArea: area} = chart;
    const t = theme();
    const upright = options.axis === "x";
    const written = [];  // {x, to, y} of texts: where marks lie close together, the next text gets a line of its own
    for (const mark of [...options.marks ?? []].sort((a, b) => a.at - b.at)) {
      const at = chart.scales[options.axis].getPixelForValue(mark.at);
      const [low, high] = upright ? [area.left, area.right] : [area.top, area.bottom];
      if (!(at >= low && at <= high)) continue;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = t.bad;
      ctx.lineWidth = 1.5;
      ctx.setLineDash([5, 3]);
      ctx.beginPath();
      if (upright) { ctx.moveTo(at, area.top); ctx.lineTo(at, area.bottom); } else { ctx.moveTo(area.left, at); ctx.lineTo(area.right, at); }
      ctx.stroke();
      ctx.font = `600 11px ${Chart.defaults.font.family}`;
      const left = upright && at > (area.left + area.right) / 2;
      const width = ctx.measureText(mark.text).width;
      const x = !upright ? area.right - 4 - width : left ? at - 6 - width : at + 6;
      let y = upright ? area.top + 10 : at - 5;
      while (written.some(w => Math.abs(w.y - y) < 12 && x < w.to && w.x < x + width)) y += upright ? 12 : -12;
      written.push({x, to: x + width, y});
      ctx.fillText(mark.text, x, y);
      ctx.restore();
    }
  },
};

/** A policy's rule as a mark. */
const markOf = (rule, unit) => ({at: rule.target, clear: rule.clear, text: `${rule.policy ? rule.policy + ": " : ""}${rule.operator} ${short(rule.target, unit)}`});

/** Where a chart must reach for the marks of these rules. */
const reachOf = rules => rules.flatMap(r => r.clear === null ? [r.target] : [r.target, r.clear]);

/** About twenty steps of a round width for these values: {from, width, count}. Pure. */
export function steps(values, wanted = 22) {
  if (values.length === 0) return {from: 0, width: 1, count: 0};
  const low = Math.min(...values), high = Math.max(...values);
  const raw = (high - low || Math.abs(high) / 10 || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const width = [1, 2, 2.5, 5, 10].find(f => f * power >= raw) * power;
  const from = Math.floor(low / width) * width;
  return {from, width, count: Math.floor((high - from) / width + 1e-9) + 1};
}

function counted(values, {from, width, count}) {
  const counts = new Array(count).fill(0);
  for (const v of values) ++counts[Math.min(count - 1, Math.floor((v - from) / width + 1e-9))];
  return counts;
}

function violates({operator, target}, value) {
  return OPERATORS[operator][value < target ? "below" : value > target ? "above" : "at"];
}

/** How a metric is spread over the fleet, with targets drawn in. */
export class Distribution {
  constructor(canvas) {
    defaults();
    this.chart = new Chart(canvas, {
      type: "bar",
      data: {datasets: [0, 1].map(() => ({data: [], barPercentage: 1, categoryPercentage: 0.94, borderRadius: 2}))},
      options: {
        scales: {
          x: {type: "linear", offset: false, stacked: true, grid: {display: false}, ticks: {maxTicksLimit: 8, includeBounds: false}},
          y: {beginAtZero: true, stacked: true, ticks: {precision: 0, maxTicksLimit: 5}, title: {display: true, text: "nodes"}},
        },
        plugins: {marks: {axis: "x"}, tooltip: {displayColors: false}},
      },
      plugins: [marks],
    });
  }

  show(values, unit, rules) {
    const t = defaults();
    const grid = steps(values);
    const {from, width, count} = grid;
    const targets = rules.filter(r => r.target !== null);
    // A rule with a window compares another value than the one that is drawn.
    const beyond = v => targets.some(r => !r.window && violates(r, v));
    [values.filter(v => !beyond(v)), values.filter(beyond)].forEach((some, i) => {
      const set = this.chart.data.datasets[i];
      set.data = counted(some, grid).map((y, step) => ({x: from + (step + 0.5) * width, y}));
      set.backgroundColor = set.data.map(() => i === 0 ? t.bars : t.bad);
    });
    const x = this.chart.options.scales.x;
    const reach = [from, from + count * width, ...reachOf(targets)];
    const low = Math.min(...reach), high = Math.max(...reach);
    x.min = low;
    x.max = high + (high - low) * 0.04;
    x.grid.color = t.line;
    x.ticks.callback = v => short(v, unit);
    this.chart.options.scales.y.grid = {color: t.line};
    this.chart.options.plugins.marks.marks = targets.map(r => markOf(r, unit));
    this.chart.options.plugins.tooltip.callbacks = {
      title: items => { const i = items[0].dataIndex; return `${short(from + i * width, unit)} to ${short(from + (i + 1) * width, unit)}`; },
      label: item => `${item.parsed.y} node${item.parsed.y === 1 ? "" : "s"}${item.datasetIndex === 1 ? " beyond a target" : ""}`,
    };
    this.chart.update("none");
  }

  destroy() { this.chart.destroy(); }
}

/** `points` as the chart takes them; where more than `longest` (ms) lies between two, the line is broken: no value is no value. */
function broken(points, now, longest) {
  const data = [];
  let before = null;
  for (const [time, y] of points) {
    if (before !== null && time - before > longest) data.push({x: (before + 1 - now) / 1000, y: NaN});
    data.push({x: (time - now) / 1000, y});
    before = time;
  }
  return data;
}

/** One series over time, or the lowest, median and highest of many, with the targets that watch it. */
export class Line {
  constructor(canvas) {
    defaults();
    this.canvas = canvas;
    this.chart = new Chart(canvas, {
      type: "line",
      data: {datasets: []},
      options: {
        parsing: false,
        interaction: {mode: "nearest", axis: "x", intersect: false},
        scales: {x: {type: "linear", ticks: {maxTicksLimit: 7, maxRotation: 0}, grid: {display: false}}, y: {ticks: {maxTicksLimit: 6}, grace: "8%"}},
        plugins: {marks: {axis: "y"}, tooltip: {displayColors: false}},
      },
      plugins: [marks],
    });
  }

  /** `lines`: [{name, points: [[time, value], …]}], times and `now` in Unix ms. `range`: {fromMs, stepMs} of a database's answer; without it the chart begins with its points. */
  show(lines, unit, targets, now, range = null) {
    const t = defaults();
    const one = lines.length < 2;
    const longest = range ? range.stepMs * 1.5 : Infinity;
    const styles = {lowest: {borderColor: t.muted, borderDash: [2, 3]}, highest: {borderColor: t.muted, borderDash: [6, 3]}};
    this.chart.data.datasets = lines.map(({name, points}) => ({
      label: name, data: broken(points, now, longest), borderWidth: 2, pointRadius: 0, pointHitRadius: 8, tension: 0,
      borderColor: t.accent, backgroundColor: t.accent + "22", fill: one, ...styles[name],
    }));
    const {x, y} = this.chart.options.scales;
    x.max = 0;
    x.min = range ? (range.fromMs - now) / 1000 : Math.min(-60, ...this.chart.data.datasets.map(s => s.data[0]?.x ?? -60));
    // Days, hours and minutes, not thousands of seconds.
    const wanted = [180, 600, 3600, 4 * 3600, 86400];
    x.ticks.stepSize = range ? wanted.find(s => -x.min / s <= 7) ?? -x.min / 7 : undefined;
    x.ticks.maxTicksLimit = range ? 9 : 7;
    x.ticks.callback = v => v === 0 ? "now" : range ? "−" + span(-v * 1000) : v > -120 ? `${Math.round(v)} s` : `${Math.round(v / 60)} min`;
    y.ticks.callback = v => short(v, unit);
    y.grid = {color: t.line};
    y.suggestedMax = targets.length > 0 ? Math.max(...reachOf(targets)) : undefined;
    y.suggestedMin = targets.length > 0 ? Math.min(...reachOf(targets)) : undefined;
    this.chart.options.plugins.marks.marks = targets.map(r => markOf(r, unit));
    this.chart.options.plugins.tooltip.callbacks = {
      title: items => range ? new Date(now + items[0].parsed.x * 1000).toLocaleString() : `${Math.round(-items[0].parsed.x)} s ago`,
      label: item => (item.dataset.label ? item.dataset.label + ": " : "") + amount(Math.round(item.parsed.y * 1e4) / 1e4, unit),
    };
    this.chart.update("none");
  }

  destroy() { this.chart.destroy(); }
}

/** A sparkline of 110 by 22, as the style sheet has it: asking the canvas would lay out the page once for each of hundreds. */
export function spark(canvas, points, colour) {
  const ratio = window.devicePixelRatio || 1;
  const width = 110, height = 22;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  if (points.length < 2) return;
  let low = Infinity, high = -Infinity;
  for (const [, v] of points) { low = Math.min(low, v); high = Math.max(high, v); }
  const begin = points[0][0], end = points[points.length - 1][0];
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.4;
  ctx.lineJoin = "round";
  ctx.beginPath();
  for (const [time, v] of points) {
    const x = (time - begin) / (end - begin || 1) * (width - 2) + 1;
    const y = height - 2 - (v - low) / (high - low || 1) * (height - 4);
    ctx.lineTo(x, high === low ? height / 2 : y);
  }
  ctx.stroke();
}
