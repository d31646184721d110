// What a page of a report does: zoom and keys of timelines, sorting and filtering of long tables. Charts lie in report_charts.js.
"use strict";
const find = (id) => document.getElementById(id);
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
const pictureStyle = find("picture").textContent;
const ruler = document.createElement("canvas").getContext("2d");

function widthOf(text, size = 12) {
  ruler.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  return ruler.measureText(text).width;
}

// An element below a parent, HTML or as the parent is; text is never markup: names come from outside.
function add(parent, kind, attributes = {}, text = undefined) {
  const element = document.createElementNS(parent.namespaceURI, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
const unitOf = (seconds) => UNITS.find(([size]) => Math.abs(seconds) >= size) ?? UNITS[3];
// As the tables write it.
function number(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-3) return value.toExponential(3).replace(/e([+-])(?=\d$)/, "e$10");
  return value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size))));
}
function time(seconds) {
  if (seconds === 0) return "0 s";
  const [size, name] = unitOf(seconds);
  return `${number(seconds / size)} ${name}`;
}
// Multiples of 1, 2 or 5 times a power of ten, with at most `most` steps between the ends.
function ticksOf(from, to, most) {
  const power = 10 ** Math.floor(Math.log10((to - from) / most));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => (to - from) / one <= most) ?? 10 * power;
  const places = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; ++i) places.push(Number((i * step).toPrecision(12)));
  return places;
}

// What something is, beside its place in the window; nothing: hides it.
const status = find("status");
function tell(text, x = 0, y = 0) {
  status.hidden = !text;
  status.textContent = text ?? "";
  if (!text) return;
  const { offsetWidth: wide, offsetHeight: high } = status;
  status.style.left = `${x + 16 + wide > innerWidth ? Math.max(4, x - 16 - wide) : x + 16}px`;
  status.style.top = `${clamp(y + 18, 4, innerHeight - high - 4)}px`;
}

// Long tables: sorted by a click on a heading, filtered by words; a part of the rows until the reader wants all.
const SIZES = { ns: 1e-9, us: 1e-6, ms: 1e-3, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
const FIRST_ROWS = 200;
const natural = new Intl.Collator("en", { numeric: true }).compare;
function valueOf(text) {
  const [, digits, unit] = /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(\S*)/.exec(text) ?? [];
  return digits === undefined ? NaN : Number(digits) * (SIZES[unit] ?? 1);
}
const compareNumbers = (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : a - b);

function enliven(table) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const bar = document.createElement("p");
  bar.className = "filter";
  const input = add(bar, "input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
  const count = add(bar, "output"), all = add(bar, "button", { type: "button" }, "Show all rows");
  let most = FIRST_ROWS;
  const filter = () => {
    const words = input.value.toLowerCase().split(" ").filter(Boolean);
    let found = 0;
    for (const row of rows) {
      const text = words.length > 0 ? row.textContent.toLowerCase() : "";
      row.hidden = !words.every((word) => text.includes(word)) || ++found > most;
    }
    count.textContent = `${Math.min(found, most)} of ${rows.length} rows`;
    all.hidden = found <= most;
  };
  input.oninput = filter;
  all.onclick = () => {
    most = Infinity;
    filter();
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button"), words = head.classList.contains("words");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const up = head.ariaSort !== "ascending", [key, compare] = words ? [String, natural] : [valueOf, compareNumbers];
      for (const other of heads) other.removeAttribute("aria-sort");
      head.ariaSort = up ? "ascending" : "descending";
      const keys = new Map(rows.map((row) => [row, key(row.cells[column]?.textContent ?? "")]));
      rows.sort((a, b) => (up ? 1 : -1) * compare(keys.get(a), keys.get(b)));
      body.append(...rows);
      filter();
    };
  });
  table.parentElement.before(bar);
  filter();
}
for (const table of document.querySelectorAll("table.long")) if (table.tHead) enliven(table);

// Timelines. All share one view, the part of their time axes that is shown, so that they compare at every zoom.
const view = { from: 0, to: 1, lanes: false };
const RIGHT = 24;
let left = 60; // of time 0, the same in all
let chosen = null; // {timeline, bar}: under the pointer, or by the keys

const timelines = [...document.querySelectorAll("svg.timeline")].map((svg) => {
  const plot = svg.querySelector(".plot");
  const timeline = {
    svg, plot, axis: Number(svg.dataset.axis), top: plot.y.baseVal.value, wide: plot.viewBox.baseVal.width, byTask: new Map(), rows: [],
    bars: [...plot.children].map((rect) => {
      const hint = rect.firstElementChild.textContent;
      rect.firstElementChild.remove(); // tell() shows it
      const { x, width } = rect;
      return { rect, hint, x: x.baseVal.value, width: width.baseVal.value, label: rect.dataset.label, stage: rect.classList[0] };
    }),
  };
  for (const bar of timeline.bars) timeline.byTask.set(bar.rect.dataset.task, bar);
  for (const name of svg.querySelectorAll(":scope > g > text.muted.end")) left = Math.max(left, widthOf(name.textContent) + 18);
  return timeline;
});
const barOf = new Map(timelines.flatMap((timeline) => timeline.bars.map((bar) => [bar.rect, { timeline, bar }])));
const group = (timeline, name) => timeline.svg.querySelector(`:scope > .${name}`);
const insideOf = (timeline) => timeline.total - left - RIGHT;
const xOf = (timeline, part) => left + ((part - view.from) / (view.to - view.from)) * insideOf(timeline);
// Left and right end of a bar in the picture.
const endsOf = (timeline, bar) => [bar.x, bar.x + bar.width].map((x) => xOf(timeline, x / timeline.wide));

// Takes the rows of engines or lanes; the rectangles keep the other ones.
function exchangeRows(timeline) {
  for (const { rect } of timeline.bars) {
    for (const name of ["y", "height"]) {
      const other = rect.dataset[name];
      rect.dataset[name] = rect.getAttribute(name);
      rect.setAttribute(name, other);
    }
  }
}
function takeRows(timeline) {
  const rows = new Map();
  for (const bar of timeline.bars) {
    bar.y = bar.rect.y.baseVal.value;
    bar.height = bar.rect.height.baseVal.value;
    if (!rows.has(bar.y)) rows.set(bar.y, []);
    rows.get(bar.y).push(bar);
  }
  timeline.rows = [...rows].sort(([a], [b]) => a - b).map(([, bars]) => bars.sort((a, b) => a.x - b.x));
  timeline.high = Number(group(timeline, view.lanes ? "lanes" : "engines").dataset.height);
  timeline.svg.classList.toggle("by-lane", view.lanes);
}

function drawLabels(timeline) {
  const labels = group(timeline, "labels"), stop = left + insideOf(timeline);
  labels.replaceChildren();
  for (const bar of timeline.bars) {
    if (bar.height < 11) continue;
    const [begin, end] = endsOf(timeline, bar);
    if (end - begin < 8 || end < left || begin > stop) continue;
    const from = Math.max(begin, left), spare = Math.min(end, stop) - from - widthOf(bar.label, 10);
    if (spare < 2) continue;
    add(labels, "text", { class: `label ${bar.stage}`, x: from + Math.min(4, spare / 2), y: timeline.top + bar.y + bar.height / 2 + 4 }, bar.label);
  }
}

function drawScale(timeline) {
  const scale = group(timeline, "scale"), bottom = timeline.top + timeline.high;
  const from = view.from * timeline.axis, to = view.to * timeline.axis, [size, unit] = unitOf(to);
  scale.replaceChildren();
  add(scale, "path", { class: "axis", d: `M${left} ${bottom}h${insideOf(timeline)}` });
  const ticks = ticksOf(from, to, Math.max(2, Math.floor(insideOf(timeline) / 90)));
  const digits = Math.max(0, -Math.floor(Math.log10((ticks[1] - ticks[0] || to) / size) + 1e-9));
  let grid = "";
  for (const tick of ticks) {
    const x = xOf(timeline, tick / timeline.axis);
    add(scale, "text", { class: "tick mid", x, y: bottom + 15 }, `${(tick / size).toFixed(digits)} ${unit}`);
    grid += `M${x} ${timeline.top}V${bottom}`;
  }
  group(timeline, "grid").setAttribute("d", grid);
  for (const mark of timeline.svg.querySelectorAll(":scope > .mark")) {
    const x = xOf(timeline, Number(mark.dataset.at)), [path, text] = mark.children;
    mark.style.display = x < left - 1 || x > left + insideOf(timeline) + 1 ? "none" : "";
    const ends = x - left > insideOf(timeline) / 2;
    path.setAttribute("d", `M${x} ${text.getAttribute("y") - 9}V${bottom}`);
    text.setAttribute("x", x + (ends ? -5 : 5));
    text.classList.toggle("end", ends);
  }
}

function drawTimeline(timeline) {
  const { svg, plot } = timeline, total = (timeline.total = svg.parentElement.clientWidth), inside = insideOf(timeline);
  if (inside < 20) return; // folded
  const height = timeline.top + timeline.high + 24;
  for (const [name, value] of Object.entries({ width: total, height, viewBox: `0 0 ${total} ${height}` })) svg.setAttribute(name, value);
  for (const track of svg.querySelectorAll(".track")) {
    track.setAttribute("x", left);
    track.setAttribute("width", inside);
  }
  for (const name of svg.querySelectorAll(":scope > g > text.muted.end")) name.setAttribute("x", left - 8);
  const shown = (view.to - view.from) * timeline.wide;
  const box = { x: left, width: inside, height: timeline.high, viewBox: `${view.from * timeline.wide} 0 ${shown} ${timeline.high}` };
  for (const [name, value] of Object.entries(box)) plot.setAttribute(name, value);
  for (const bar of timeline.bars) {
    const thin = (bar.width / shown) * inside < 3; // no line around it
    if (thin !== bar.thin) bar.rect.classList.toggle("thin", (bar.thin = thin));
  }
  drawLabels(timeline);
  drawScale(timeline);
}

let asked = false;
function drawVisible() {
  asked = false;
  for (const timeline of timelines) {
    const { top, bottom } = timeline.svg.getBoundingClientRect();
    if (bottom > -200 && top < innerHeight + 200) drawTimeline(timeline);
  }
}
function redraw() {
  if (!asked) requestAnimationFrame(drawVisible);
  asked = true;
}

const LEAST = 1e-6;
function show(from, to) {
  const wide = clamp(to - from, LEAST, 1);
  view.from = clamp(from, 0, 1 - wide);
  view.to = view.from + wide;
  for (const id of ["out", "reset"]) find(id).disabled = wide >= 1;
  redraw();
}
function zoom(factor, at = 0.5) {
  const wide = view.to - view.from, centre = view.from + at * wide;
  show(centre - at * wide * factor, centre + (1 - at) * wide * factor);
}
const pan = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));

function choose(timeline, bar, x, y) {
  for (const old of document.querySelectorAll(".chosen, .before")) old.classList.remove("chosen", "before");
  chosen = bar ? { timeline, bar } : null;
  tell(bar?.hint, x, y);
  if (!bar) return;
  const before = timeline.byTask.get(bar.rect.dataset.after);
  before?.rect.classList.add("before");
  bar.rect.classList.add("chosen");
  timeline.plot.append(...(before ? [before.rect] : []), bar.rect); // their outlines lie above the others
}

// Arrow keys: the next task of the row, or the nearest one of the next row.
function step(timeline, key) {
  const bar = chosen?.timeline === timeline ? chosen.bar : null;
  const row = timeline.rows.findIndex((bars) => bars.includes(bar)), across = { ArrowLeft: -1, ArrowRight: 1 }[key];
  let next = timeline.rows[0][0];
  if (bar && across) {
    const bars = timeline.rows[row];
    next = bars[clamp(bars.indexOf(bar) + across, 0, bars.length - 1)];
  } else if (bar) {
    const bars = timeline.rows[clamp(row + (key === "ArrowUp" ? -1 : 1), 0, timeline.rows.length - 1)];
    const away = (one) => Math.abs(one.x + one.width / 2 - bar.x - bar.width / 2);
    next = bars.includes(bar) ? bar : bars.reduce((best, one) => (away(one) < away(best) ? one : best));
  }
  const middle = (next.x + next.width / 2) / timeline.wide, half = (view.to - view.from) / 2;
  if (middle < view.from || middle > view.to) show(middle - half, middle + half);
  drawTimeline(timeline);
  const above = next.rect.getBoundingClientRect();
  if (above.top < 60 || above.bottom > innerHeight - 60) scrollBy(0, above.top - innerHeight / 2);
  const { left: x, right, bottom } = next.rect.getBoundingClientRect();
  choose(timeline, next, clamp((x + right) / 2, 0, innerWidth), bottom - 10);
}

let scrolled = 0;
function listen(timeline) {
  const { svg } = timeline, box = svg.parentElement;
  let drag = null;
  const partOf = (event) => clamp((event.clientX - svg.getBoundingClientRect().left - left) / insideOf(timeline), 0, 1);
  svg.addEventListener("wheel", (event) => {
    const across = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX, all = view.to - view.from >= 1;
    if (event.shiftKey || Math.abs(across) > Math.abs(event.deltaY)) {
      if (!all) event.preventDefault();
      pan(across / insideOf(timeline));
      return;
    }
    // The page keeps scrolling while it does, and where there is nothing to zoom out of.
    if ((!event.ctrlKey && performance.now() - scrolled < 300) || (all && event.deltaY > 0)) return;
    event.preventDefault();
    zoom(Math.exp(clamp(event.deltaY * (event.deltaMode === 1 ? 16 : 1) * 0.003, -0.7, 0.7)), partOf(event));
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button === 0) drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
  });
  svg.addEventListener("pointermove", (event) => {
    if (drag && (drag.moved || Math.abs(event.clientX - drag.x) > 3)) {
      if (!drag.moved) svg.setPointerCapture(event.pointerId);
      drag.moved = true;
      choose(null, null);
      const part = ((drag.x - event.clientX) / insideOf(timeline)) * (drag.to - drag.from);
      show(drag.from + part, drag.to + part);
      return;
    }
    choose(timeline, barOf.get(event.target)?.bar, event.clientX, event.clientY);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { drag = null; });
  svg.addEventListener("pointerleave", () => { if (!drag) choose(null, null); });
  box.addEventListener("blur", () => choose(null, null));
  box.addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow") || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.shiftKey && event.key === "ArrowLeft") pan(-0.2);
    else if (event.shiftKey && event.key === "ArrowRight") pan(0.2);
    else step(timeline, event.key);
  });
}

if (timelines.length > 0) {
  find("in").onclick = () => zoom(0.5);
  find("out").onclick = () => zoom(2);
  find("reset").onclick = () => show(0, 1);
  for (const input of document.getElementsByName("rows")) {
    input.onchange = () => {
      view.lanes = input.value === "lanes";
      choose(null, null);
      for (const timeline of timelines) {
        exchangeRows(timeline);
        takeRows(timeline);
        drawTimeline(timeline);
      }
    };
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.type === "search") return;
    if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0" || event.key === "Home") show(0, 1);
    else if (event.key === "Escape") choose(null, null);
  });
  addEventListener("scroll", () => {
    scrolled = performance.now();
    redraw();
  }, { passive: true });
  for (const timeline of timelines) {
    takeRows(timeline);
    listen(timeline);
    drawTimeline(timeline);
  }
  show(0, 1);
}
