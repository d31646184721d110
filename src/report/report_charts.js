// Charts of a page, pictures as files, and what happens when the window changes.
const MARKS = [
  "M0-4.3A4.3 4.3 0 1 1 0 4.3A4.3 4.3 0 1 1 0-4.3z", "M0-5.2L4.9 3.6H-4.9z", "M0-5.4L5.4 0L0 5.4L-5.4 0z", "M0 5.2L4.9-3.6H-4.9z",
  "M-3.6-3.6h7.2v7.2h-7.2z", "M-1.5-4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z",
];
const BAND = 0.8; // of the room of a category, for its marks
const MANY = 400; // points of a series without marks and intervals of their own

// From numbers to 0 .. 1 along an axis, its ticks and their words.
function scaleOf(axis, values, most) {
  if (axis.categories.length > 0) {
    const count = axis.categories.length;
    return { at: (value) => (value + 0.5) / count, ticks: axis.categories.map((words, i) => [i, words]), words: (i) => axis.categories[i] };
  }
  const words = /(^|, )s$/.test(axis.name) ? time : number;
  let lo = values.reduce((a, b) => Math.min(a, b), Infinity), hi = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const log = axis.log && lo > 0;
  const bare = (value) => (words === time ? time(value).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ") : String(Number(value.toPrecision(6))));
  if (log) {
    const pad = (hi / lo) ** 0.04;
    if (hi > lo) [lo, hi] = [lo / pad, hi * pad];
    else [lo, hi] = [lo / 2, hi * 2];
    const ticks = [];
    for (let power = 10 ** Math.floor(Math.log10(lo)); power <= hi; power *= 10) {
      for (const factor of hi / lo > 1000 ? [1] : [1, 2, 5]) ticks.push(Number((factor * power).toPrecision(3)));
    }
    const inside = ticks.filter((tick) => tick >= lo && tick <= hi);
    return { at: (value) => Math.log(value / lo) / Math.log(hi / lo), words, log,
             ticks: (inside.length > 2 ? inside : ticksOf(lo, hi, most + 2)).map((tick) => [tick, bare(tick)]) };
  }
  if (lo > 0 && lo < 0.6 * hi) lo = 0;
  const pad = (hi - lo || Math.abs(hi) || 1) * 0.05;
  [lo, hi] = [lo === 0 ? 0 : lo - pad, hi + pad];
  const ticks = axis.ticks.length > 0 ? axis.ticks : ticksOf(lo, hi, most).map((tick) => [tick, bare(tick)]);
  return { at: (value) => (value - lo) / (hi - lo), words, ticks };
}

// Swatches with the names of the series, in lines; the height that they take.
function drawLegend(svg, series, total) {
  let x = 0, y = 14;
  for (const one of series) {
    const step = 44 + widthOf(one.name);
    if (x > 0 && x + step > total) [x, y] = [0, y + 20];
    const entry = add(svg, "g", { class: one.pen, transform: `translate(${x} ${y})` });
    if (one.muted || one.joined) add(entry, "path", { class: one.muted ? "baseline" : "line", d: "M0-4h24" });
    if (!one.muted) add(entry, "path", { class: "dot", d: one.mark, transform: "translate(12 -4)" });
    add(entry, "text", { x: 30, y: 0 }, one.name);
    x += step;
  }
  return y + 14;
}

function drawSeries(layer, one, number_, count, chart) {
  const { x, y, band } = chart;
  const places = one.points.map(([at, value, lo, hi, label, name]) => ({ x: x(at), y: y(value), lo, hi, value, label, name, series: one }));
  if (band && one.muted) { // from category to category
    const slot = band / BAND;
    add(layer, "path", { class: "baseline", d: places.map((point) => `M${point.x - slot / 2} ${point.y}h${slot}`).join("") });
    return places;
  }
  const wide = band ? Math.min(36, band / count) : 0;
  if (band) for (const point of places) point.x += (number_ - (count - 1) / 2) * wide;
  else if (one.muted || one.joined) {
    const d = places.map((point, i) => `${i > 0 ? "L" : "M"}${point.x} ${point.y}`).join("");
    add(layer, "path", { class: one.muted ? "baseline" : "line", d });
  }
  if (one.muted) return places;
  if (places.length > MANY) {
    add(layer, "path", { class: "cloud", d: places.map((point) => `M${point.x} ${point.y}h.01`).join("") });
    return places;
  }
  for (const point of places) {
    if (point.lo !== null && point.hi !== null) {
      const [top, bottom] = [y(point.hi), y(point.lo)];
      add(layer, "path", { class: "interval", d: `M${point.x - 3} ${top}h6M${point.x} ${top}V${bottom}M${point.x - 3} ${bottom}h6` });
    }
    add(layer, "path", { class: "dot", d: one.mark, transform: `translate(${point.x} ${point.y})` });
  }
  return places;
}

// Names of points, where there is room.
function drawNames(svg, places, { from, to, bottom }) {
  const drawn = [];
  for (const { x, y, name } of places.filter((one) => one.name)) {
    const half = widthOf(name, 11) / 2, middle = clamp(x, from + half, to - half);
    const free = (at) => at < bottom && drawn.every((one) => Math.abs(middle - one.middle) > half + one.half || Math.abs(at - one.at) > 12);
    const at = [y - 9, y + 17].find(free);
    if (at === undefined) continue;
    drawn.push({ middle, half, at });
    add(svg, "text", { class: "tick mid", x: middle, y: at }, name);
  }
}

// Ticks with words that do not cover each other, names of the axes, and a grid.
function drawAxes(svg, data, scales, { from, to, top, bottom, total }) {
  let grid = "", free = -Infinity;
  for (const [tick, words] of scales.y.ticks) {
    const y = bottom - scales.y.at(tick) * (bottom - top);
    grid += `M${from} ${y}H${to}`;
    add(svg, "text", { class: "tick end", x: from - 8, y: y + 4 }, words);
  }
  for (const [tick, words] of scales.x.ticks) {
    const x = from + scales.x.at(tick) * (to - from), half = widthOf(words, 11) / 2;
    if (x - half < free) continue;
    free = x + half + 8;
    if (data.x.categories.length === 0) grid += `M${x} ${top}V${bottom}`;
    add(svg, "text", { class: "tick mid", x: clamp(x, half, total - half), y: bottom + 16 }, words);
  }
  svg.prepend(add(svg, "path", { class: "grid", d: grid }));
  add(svg, "path", { class: "axis", d: `M${from} ${bottom}H${to}` });
  const name = (axis, scale) => axis.name.replace(/(^|, )s$/, "") + (scale.log ? " (log)" : "");
  add(svg, "text", { class: "muted mid", x: (from + to) / 2, y: bottom + 36 }, name(data.x, scales.x));
  add(svg, "text", { class: "muted", x: 0, y: top - 10 }, name(data.y, scales.y));
}

function drawChart(chart) {
  const { box, data, svg } = chart, total = box.clientWidth, bands = data.x.categories.length > 0;
  if (total < 20) return; // folded
  svg.replaceChildren();
  const points = data.series.flatMap((one) => one.points);
  const values = points.flatMap(([, y, lo, hi]) => [y, lo ?? y, hi ?? y]);
  const scales = {
    x: scaleOf(data.x, [...points.map(([x]) => x), ...data.x.includes], Math.max(2, Math.floor(total / 110))),
    y: scaleOf(data.y, [...values, ...data.y.includes], 6),
  };
  // On logarithmic axes the values themselves, if they are few.
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  if (data.x.log && xs.length <= 12) scales.x.ticks = xs.map((x) => [x, scales.x.words === time ? time(x) : String(x)]);
  const top = drawLegend(svg, data.series, total) + 22, bottom = top + (total < 600 ? 200 : 280), height = bottom + (data.x.name ? 44 : 26);
  const from = 12 + Math.max(...scales.y.ticks.map(([, words]) => widthOf(words, 11))), to = total - 14;
  for (const [name, value] of Object.entries({ width: total, height, viewBox: `0 0 ${total} ${height}` })) svg.setAttribute(name, value);
  drawAxes(svg, data, scales, { from, to, top, bottom, total });
  const inner = {
    x: (value) => from + scales.x.at(value) * (to - from),
    y: (value) => bottom - scales.y.at(value) * (bottom - top),
    band: bands ? (BAND * (to - from)) / data.x.categories.length : 0,
  };
  const marked = data.series.filter((one) => !one.muted);
  chart.places = data.series.flatMap((one) =>
    drawSeries(add(svg, "g", { class: one.pen }), one, marked.indexOf(one), marked.length, inner));
  drawNames(svg, chart.places, { from, to, bottom });
  chart.words = scales.y.words;
}

function pointAt(chart, event) {
  const { left: x, top: y } = chart.svg.getBoundingClientRect();
  let best = null, least = 24;
  for (const place of chart.places) {
    const away = Math.hypot(x + place.x - event.clientX, y + place.y - event.clientY);
    if (away < least) [best, least] = [place, away];
  }
  chart.svg.querySelector(".ring")?.remove();
  if (!best) return tell(null);
  add(chart.svg, "circle", { class: "ring", cx: best.x, cy: best.y, r: 7 });
  const interval = best.lo !== null && best.hi !== null ? ` (${chart.words(best.lo)} .. ${chart.words(best.hi)})` : "";
  tell([best.series.name, best.label, chart.words(best.value) + interval].filter(Boolean).join("\n"), event.clientX, event.clientY);
}

const charts = [...document.querySelectorAll(".drawing > script")].map((script) => {
  const data = JSON.parse(script.textContent), box = script.parentElement;
  let pen = 0;
  for (const one of data.series) {
    one.pen = one.muted ? "s0" : `s${1 + (pen % 6)}`;
    one.mark = MARKS[one.muted ? 0 : (pen + Math.floor(pen++ / 6)) % 6];
  }
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.classList.add("chart");
  box.append(svg);
  const chart = { box, data, svg, places: [] };
  svg.addEventListener("pointermove", (event) => pointAt(chart, event));
  svg.addEventListener("pointerleave", (event) => pointAt(chart, { clientX: -99, clientY: -99 }));
  drawChart(chart);
  return chart;
});

// Pictures as files, with the style that they have here.
function save(figure) {
  const svg = figure.querySelector("svg").cloneNode(true), name = figure.querySelector("b")?.textContent || document.title;
  for (const old of svg.querySelectorAll(".chosen, .before")) old.classList.remove("chosen", "before");
  const timeline = timelines.find((one) => figure.contains(one.svg));
  for (const rect of svg.querySelectorAll(".plot > rect")) add(rect, "title", {}, timeline.byTask.get(rect.dataset.task).hint);
  svg.querySelector(view.lanes ? ".engines" : ".lanes")?.remove();
  svg.prepend(add(svg, "title", {}, name), add(svg, "style", {}, pictureStyle),
              add(svg, "rect", { class: "ground", width: "100%", height: "100%" }));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
  link.download = `${name.replace(/[^\w.-]+/g, "_")}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
for (const figure of document.querySelectorAll("figure.picture:has(svg)")) {
  const caption = figure.querySelector("figcaption") ?? document.createElement("figcaption");
  figure.prepend(caption);
  add(caption, "button", { type: "button", class: "save" }, "Save as SVG").onclick = () => save(figure);
}

// Folded pictures have no size until they are opened.
const resized = () => {
  redraw();
  charts.forEach(drawChart);
};
new ResizeObserver(resized).observe(document.querySelector("main"));
addEventListener("resize", redraw); // a taller window shows more
