// Draws the timelines of the page: canvases, as there may be ten thousand tasks. All share one view,
// the part of time that is shown, so that orders compare at every zoom.
const document_ = read("result");
const results = document_.results ?? [document_];
const drawings = read("drawing");
const KINDS = ["measured", "predicted"];
const LEFT = 92, RIGHT = 16, HEAD = 24, AXIS = 26, GAP = 3;

const count = (bytes) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0, value = bytes;
  for (; value >= 1024 && at < 4; ++at) value /= 1024;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[at]}`;
};

// One picture a canvas: the timelines of a run, with their rows as the current choice has them.
const pictures = [...document.querySelectorAll("canvas[data-run]")].map((canvas) => {
  const deck = Number(canvas.dataset.deck), index = Number(canvas.dataset.run);
  const run = results[deck].runs[index], drawing = drawings[deck].runs[index];
  const spans = { measured: run.timeline, predicted: run.predicted_timeline };
  return { canvas, deck, run, drawing, spans, rows: [], heads: [], width: 0, height: 0, bottom: 0 };
});
const longest = drawings.map((drawing) => drawing.longest_s);
// Decks differ in length: the view is a part of each deck's own time, 0 to 1.
const view = { from: 0, to: 1, rows: "engines" };
let chosen = null; // {picture, kind, task}: under the pointer, or by the keys

const label = (span) => span.name ?? String(span.chunk);
const fullLabel = (span) => span.name ?? `${span.stage} ${span.chunk}`;

// Where everything lies, from top to bottom.
function layout(picture) {
  let y = 0, total = 0;
  for (const kind of KINDS) {
    for (const band of picture.drawing[kind][view.rows] ?? []) total += band.rows.length;
  }
  const tall = Math.max(2, Math.min(22, Math.floor(700 / Math.max(1, total))));
  picture.rows = [];
  picture.heads = [];
  for (const kind of KINDS) {
    const { words, doubt, complete_s: complete } = picture.drawing[kind];
    const bands = picture.drawing[kind][view.rows] ?? [];
    const head = { kind, words, doubt, complete, y, bands: [] };
    picture.heads.push(head);
    y += HEAD;
    for (const band of bands) {
      const height = band.rows.length > 1 ? Math.max(2, Math.min(tall, 88 / band.rows.length)) : tall;
      head.bands.push({ name: band.name, y, height: band.rows.length * (height + 1) - 1 });
      for (const tasks of band.rows) {
        picture.rows.push({ kind, tasks, y, height });
        y += height + 1;
      }
      y += GAP;
    }
    head.bottom = y;
    y += 6;
  }
  picture.bottom = y;
  picture.height = picture.rows.length > 0 ? y + AXIS : y;
}

const widthOf = (picture) => picture.width - LEFT - RIGHT;
const shown = (picture) => {
  const all = longest[picture.deck];
  return { from: view.from * all, to: view.to * all };
};
const xOf = (picture, seconds) => {
  const { from, to } = shown(picture);
  return LEFT + ((seconds - from) / (to - from)) * widthOf(picture);
};

// The first place in a row whose task ends after `seconds`.
function firstAfter(spans, tasks, seconds) {
  let low = 0, high = tasks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[tasks[middle]].stop_s <= seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}

function ticks(picture) {
  const { from, to } = shown(picture);
  const step = stepOf(to - from, Math.max(2, Math.floor(widthOf(picture) / 110)));
  const [size, unit] = unitOf(to);
  const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const found = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-9); ++i) {
    found.push({ x: xOf(picture, i * step), words: `${((i * step) / size).toFixed(digits)} ${unit}` });
  }
  return found;
}

function drawRow(picture, context, row) {
  const spans = picture.spans[row.kind];
  const { from, to } = shown(picture);
  const size = Math.min(12, row.height - 5);
  context.font = `${size}px ${FONT}`;
  const narrow = {}; // of each stage: the part of each pixel that tasks narrower than a pixel take
  for (let i = firstAfter(spans, row.tasks, from); i < row.tasks.length; ++i) {
    const span = spans[row.tasks[i]];
    if (span.start_s >= to) break;
    const begin = xOf(picture, span.start_s), end = xOf(picture, span.stop_s);
    if (end - begin < 1) {
      const taken = (narrow[span.stage] ||= []), pixel = Math.floor(begin);
      taken[pixel] = (taken[pixel] ?? 0) + Math.min(end, pixel + 1) - begin;
      if (end > pixel + 1) taken[pixel + 1] = end - pixel - 1;
      continue;
    }
    const wide = end - begin - (end - begin > 4 ? 1 : 0); // neighbours must not run together
    context.fillStyle = colour(span.stage);
    context.beginPath();
    context.roundRect(begin, row.y, wide, row.height, wide > 6 && row.height > 8 ? 3 : 0);
    context.fill();
    const words = label(span), visible = Math.max(begin, LEFT);
    const spare = begin + wide - visible - context.measureText(words).width;
    if (size < 8 || wide < 8 || spare < 1) continue;
    context.fillStyle = colour(`on-${span.stage}`);
    context.fillText(words, visible + Math.min(5, spare / 2), row.y + row.height / 2 + 0.5);
  }
  for (const [stage, pixels] of Object.entries(narrow)) {
    context.fillStyle = colour(stage);
    pixels.forEach((taken, pixel) => {
      context.globalAlpha = Math.min(1, 0.4 + 0.6 * taken); // a lonely task stays visible
      context.fillRect(pixel, row.y, 1, row.height);
    });
  }
  context.globalAlpha = 1;
}

const rowOf = (picture, kind, task) =>
  picture.rows.find((row) => row.kind === kind && row.tasks.includes(task));

// The task under the pointer, the same one in the other timeline, and what it waited for.
function drawChosen(picture, context) {
  const box = (kind, task, stroke, dash) => {
    const row = rowOf(picture, kind, task);
    const span = picture.spans[kind][task];
    const x = xOf(picture, span.start_s), end = xOf(picture, span.stop_s);
    context.strokeStyle = stroke;
    context.lineWidth = 2;
    context.setLineDash(dash);
    context.strokeRect(x - 1, row.y - 1, Math.max(2, end - x) + 1, row.height + 2);
    context.setLineDash([]);
    return { x, end, y: row.y + row.height / 2 };
  };
  const other = KINDS.find((kind) => kind !== chosen.kind);
  if (picture.spans[other]) box(other, chosen.task, colour("muted"), [3, 3]);
  const waited = picture.drawing[chosen.kind].waited_for[chosen.task];
  const to = box(chosen.kind, chosen.task, colour("text"), []);
  if (waited === null) return;
  const from = box(chosen.kind, waited, colour("accent"), []);
  const bend = Math.max(14, Math.abs(to.x - from.end) / 2);
  context.strokeStyle = colour("accent");
  context.beginPath();
  context.moveTo(from.end, from.y);
  context.bezierCurveTo(from.end + bend, from.y, to.x - bend, to.y, to.x, to.y);
  context.stroke();
}

function draw(picture) {
  const dots = Math.max(devicePixelRatio || 1, printing ? 3 : 1);
  const [context, width] = prepare(picture.canvas, picture.height, picture.width, dots);
  const words = (text, x, y, name, align = "left", font = "11px") => {
    context.font = `${font} ${FONT}`;
    context.fillStyle = colour(name);
    context.textAlign = align;
    context.fillText(text, x, y);
    return context.measureText(text).width;
  };
  for (const head of picture.heads) {
    head.end = words(head.words, 0, head.y + 12, "muted", "left", "12px") + 10;
    if (head.doubt) {
      context.font = `600 12px ${FONT}`;
      const fits = head.end + context.measureText(head.doubt).width + 80 < width; // 80: the time
      const doubt = fits ? head.doubt : head.doubt.split(":")[0];
      head.end += words(doubt, head.end, head.y + 12, "doubt", "left", "600 12px") + 10;
    }
    let free = 0; // names of low bands must not cover each other
    for (const band of head.bands) {
      context.fillStyle = colour("track");
      context.fillRect(LEFT, band.y, widthOf(picture), band.height);
      const y = band.y + Math.min(11, band.height / 2);
      if (y < free) continue;
      words(band.name, LEFT - 10, y, "muted", "right");
      free = y + 12;
    }
  }
  if (picture.rows.length === 0) return;
  const marks = ticks(picture), drawn = picture.heads.filter((head) => head.bands.length > 0);
  context.fillStyle = colour("line");
  context.fillRect(LEFT, picture.bottom, widthOf(picture), 1);
  for (const mark of marks) {
    for (const head of drawn) context.fillRect(mark.x, head.y + HEAD, 0.7, head.bottom - head.y - HEAD);
  }
  // Labels stay inside.
  for (const mark of marks) words(mark.words, Math.min(mark.x, width - 24), picture.bottom + 14, "muted", "center");
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, widthOf(picture), picture.height);
  context.clip();
  context.textAlign = "left";
  for (const row of picture.rows) drawRow(picture, context, row);
  if (chosen?.picture === picture) drawChosen(picture, context);
  context.restore();
  for (const head of drawn) {
    const x = xOf(picture, head.complete), text = time(head.complete);
    if (x < LEFT || x > width - RIGHT + 1) continue;
    context.font = `11px ${FONT}`;
    const fits = x - 6 - context.measureText(text).width > head.end; // else it follows the words
    context.strokeStyle = colour("muted");
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    context.beginPath();
    context.moveTo(x, head.y + (fits ? 4 : 20));
    context.lineTo(x, head.bottom - GAP);
    context.stroke();
    words(text, fits ? x - 6 : head.end, head.y + 12, "text", fits ? "right" : "left");
  }
  context.setLineDash([]);
}

// Only what is on the screen is drawn; the rest when it comes there, or for paper.
let printing = false, asked = false;
function drawVisible() {
  asked = false;
  for (const picture of pictures) {
    const { width, top, bottom } = picture.canvas.getBoundingClientRect();
    picture.width = width;
    if (printing || (bottom > -200 && top < innerHeight + 200)) draw(picture);
  }
}
function redraw() {
  if (!asked) requestAnimationFrame(drawVisible);
  asked = true;
}
function refresh() {
  for (const picture of pictures) {
    layout(picture);
    picture.canvas.style.height = `${picture.height}px`;
  }
  drawVisible();
}

// Zooming and panning.
const LEAST = 1e-6;
function show(from, to) {
  const wide = Math.min(1, Math.max(LEAST, to - from));
  view.from = Math.min(Math.max(0, from), 1 - wide);
  view.to = view.from + wide;
  const all = wide >= 1;
  find("out").disabled = all;
  find("reset").disabled = all;
  redraw();
}
function zoom(factor, at = 0.5) {
  const wide = view.to - view.from, centre = view.from + at * wide;
  show(centre - at * wide * factor, centre + (1 - at) * wide * factor);
}
const pan = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));
find("in").onclick = () => zoom(0.5);
find("out").onclick = () => zoom(2);
find("reset").onclick = () => show(0, 1);
for (const input of document.getElementsByName("rows")) {
  input.onchange = () => {
    view.rows = input.value;
    hide();
    refresh();
  };
}

// What a task is, in words.
const details = find("details");
