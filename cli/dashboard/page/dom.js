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

const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";

/** What tells one element that can have the focus from its neighbours, over a change of what they show. */
const nameOf = e => e.dataset.key ?? e.getAttribute("href") ?? e.getAttribute("aria-label") ?? e.textContent;

/** Where the focus is within `element`: a name, and which of several with this name. */
function placeOfFocus(element) {
  const focused = document.activeElement;
  if (focused === element || !element.contains(focused)) return null;
  const name = nameOf(focused);
  return {name, nth: [...element.querySelectorAll(FOCUSABLE)].filter(e => nameOf(e) === name).indexOf(focused)};
}

/** Puts `children` in place of what is there. The focus stays at a link or a button if there is one like it again, and tables stay scrolled as they are. */
export function fill(element, ...children) {
  const place = placeOfFocus(element);
  const scrolled = [...element.querySelectorAll(".scroll")].filter(e => e.scrollLeft + e.scrollTop > 0).map(e => ({name: nameOf(e), left: e.scrollLeft, top: e.scrollTop}));
  element.replaceChildren();
  append(element, children);
  for (const {name, left, top} of scrolled) [...element.querySelectorAll(".scroll")].find(e => nameOf(e) === name)?.scrollTo(left, top);
  if (place) {
    const like = [...element.querySelectorAll(FOCUSABLE)].filter(e => nameOf(e) === place.name);
    (like[place.nth] ?? like[0])?.focus({preventScroll: true});
  }
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

/** A name that is broken after one of its signs, if there is no room for it. */
export const breakable = name => name.split(/(?<=[_./:-])/).flatMap((part, i) => i === 0 ? [part] : [h("wbr"), part]);

export const nodeLink = name => h("a", {href: "#/node/" + encodeURIComponent(name)}, name);

/** "violating" and so on, with a sign that does not need its colour. */
export function badge(state, dry = false) {
  const signs = {pass: "✓", violating: "✕", held: "‖", frozen: "✱", missing: "?"};
  return h("span", {class: "badge " + state, title: dry ? "dry run: what would be" : null},
    h("span", {"aria-hidden": "true"}, (signs[state] ?? "·") + " "), dry ? `(${state})` : state);
}
