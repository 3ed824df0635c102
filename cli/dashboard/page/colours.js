// Scales that people with every kind of colour vision read alike, and the theme's own colours. Pure, but for theme().

// Cividis. Source: Nuñez, Anderton, Renslow, "Optimizing colormaps with consideration for color vision deficiency", PLoS ONE 13(7), 2018.
const CIVIDIS = [[0, 34, 78], [0, 51, 112], [42, 63, 109], [67, 78, 108], [87, 93, 109], [107, 109, 114], [125, 124, 120], [145, 141, 120],
  [165, 157, 117], [187, 174, 110], [209, 192, 100], [232, 211, 83], [254, 232, 56]];

/** "rgb(…)" for a share of the range, 0 to 1. */
export function scale(share) {
  const at = Math.min(1, Math.max(0, share)) * (CIVIDIS.length - 1);
  const low = Math.min(CIVIDIS.length - 2, Math.floor(at));
  const rest = at - low;
  const mix = CIVIDIS[low].map((c, i) => Math.round(c + (CIVIDIS[low + 1][i] - c) * rest));
  return `rgb(${mix.join(",")})`;
}

/** What is written on a tile of that share. */
export const inkOn = share => share > 0.5 ? "#10151b" : "#ffffff";

// Okabe and Ito's colours (jfly.uni-koeln.de/color, 2008); each state has a sign besides.
export const STATES = {
  pass: {fill: "#2f8f73", ink: "#ffffff", sign: ""}, violating: {fill: "#d55e00", ink: "#ffffff", sign: "✕"}, held: {fill: "#e69f00", ink: "#10151b", sign: "‖"},
  frozen: {fill: "#56b4e9", ink: "#10151b", sign: "✱"}, missing: {fill: "#cc79a7", ink: "#10151b", sign: "?"},
};
const SEVERITY = {pass: 0, frozen: 1, held: 2, missing: 3, violating: 4};

/** The worst state of these verdicts; null without any. */
export function worst(verdicts) {
  let found = null;
  for (const v of verdicts ?? [])
    if (v.state !== undefined && (found === null || (SEVERITY[v.state] ?? 0) > (SEVERITY[found] ?? 0))) found = v.state;
  return found;
}

export function theme() {
  const css = getComputedStyle(document.documentElement);
  const get = name => css.getPropertyValue(name).trim();
  return {ink: get("--ink"), muted: get("--muted"), line: get("--line"), surface: get("--surface"), accent: get("--accent"), hatch: get("--hatch"),
    absent: get("--absent"), bad: get("--bad"), bars: get("--bars")};
}
