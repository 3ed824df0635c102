// Elements without markup: every text becomes a text node, so that no name of a node, pod or policy is ever read as HTML.

/** h("td", {class: "number", onclick: f}, "text", element, …). null and false are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Puts `children` in place of what is there, unless the text stays the same: a reader's place and focus are kept. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A table with a heading for each column; `rows` are lists of cells: text, an element, or {text, class, title}. */
export function table(caption, columns, rows) {
  const cell = (tag, c, i) => {
    const known = c !== null && typeof c === "object" && !(c instanceof Node) && !Array.isArray(c);
    const right = columns[i]?.number;
    const classes = [known ? c.class : "", right ? "number" : ""].filter(Boolean).join(" ");
    return h(tag, {class: classes || null, title: known ? c.title : null, scope: tag === "th" ? "row" : null}, known ? (c.node ?? c.text) : c);
  };
  return h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    h("table", {},
      h("caption", {class: "sr"}, caption),
      h("thead", {}, h("tr", {}, columns.map(c => h("th", {scope: "col", class: c.number ? "number" : null}, c.name)))),
      h("tbody", {}, rows.map(row => h("tr", {}, row.map((c, i) => cell(i === 0 ? "th" : "td", c, i)))))));
}

export const nodeLink = name => h("a", {href: "#/node/" + encodeURIComponent(name)}, name);

/** "violating" and so on, with a sign that does not need its colour. */
export function badge(state, dry = false) {
  const signs = {pass: "✓", violating: "✕", held: "‖", frozen: "✱", missing: "?"};
  return h("span", {class: "badge " + state, title: dry ? "dry run: what would be" : null},
    h("span", {"aria-hidden": "true"}, (signs[state] ?? "·") + " "), dry ? `(${state})` : state);
}
