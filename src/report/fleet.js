// Draws a fleet on canvases, as there may be ten thousand devices: a map of them by host and slot, and the distribution of
// one figure.
const fleet = read("fleet");
const natural = new Intl.Collator("en", { numeric: true }).compare;
const dark = matchMedia("(prefers-color-scheme: dark)");
const PHASES = ["alone", "together"];
const SIZES = [26, 22, 18, 15, 12, 10, 8, 6, 5];
const TALLEST = 900; // of the map, unless its smallest cells need more
const EDGE = 2; // around the map, for the ring of the chosen device
const LABELLED = 15; // cells of this size have their host's name
// Slow, median and fast: told apart by people with any colour vision, as the colours of stages are.
const RAMPS = { light: [[213, 94, 0], [201, 212, 221], [0, 114, 178]], dark: [[255, 139, 61], [58, 68, 78], [86, 180, 233]] };
const MARKS = { PASS: "", FAIL: "x", INCONCLUSIVE: "?", ERROR: "!", SKIPPED: "-", INTERRUPTED: "=", missing: "o" };

function shown(value, unit) {
  if (value === null || value === undefined) return "-";
  return unit === "s" ? time(value) : `${number(value)}${unit ? ` ${unit}` : ""}`;
}
const percent = (part) => `${part < 0 ? "" : "+"}${(100 * part).toFixed(1)} %`;

const view = { group: 0, figure: null, chosen: null };
const map = { hosts: [], most: 1, slots: null, places: [], names: [], size: 0, high: 0 };

// Figures of the group by name, each with those of its phases; those by which devices are compared come first.
function figuresOf(group) {
  const names = new Map(), isCompared = (figures) => Object.values(figures).some((figure) => figure.compared);
  for (const figure of group.figures) {
    if (!names.has(figure.name)) names.set(figure.name, {});
    names.get(figure.name)[figure.phase] = figure;
  }
  return new Map([...names].sort(([, a], [, b]) => isCompared(b) - isCompared(a)));
}
const group = () => fleet.groups[view.group];
const phases = () => figuresOf(group()).get(view.figure.name);

// Value of a device in the figure that is shown; undefined: it has none.
let values = new Map();
function takeValues() {
  values = new Map();
  group().devices.forEach((device, i) => {
    const value = view.figure.values[i];
    if (value !== null) values.set(device, value);
  });
}

// How far from the median the colours reach; 0: median and MAD are 0. Never below 0 for figures that cannot be negative:
// their MAD is at most the median.
function spanOf({ median, mad }) {
  const span = Math.max(5 * 1.4826 * mad, 0.02 * Math.abs(median));
  return mad > median ? span : Math.min(span, median);
}

// From -1, slow, to 1, fast; devices within the usual spread are near 0.
function offOf(value) {
  const { median, more } = view.figure, span = spanOf(view.figure);
  const off = span > 0 ? Math.max(-1, Math.min(1, (value - median) / span)) : Math.sign(value - median);
  return more ? off : -off;
}
function rgb(off) {
  const [slow, middle, fast] = RAMPS[dark.matches ? "dark" : "light"];
  const end = off < 0 ? slow : fast;
  return `rgb(${middle.map((from, i) => Math.round(from + (end[i] - from) * Math.abs(off))).join(" ")})`;
}

// Hosts with their devices of this group, or of none; those that are missing have none.
function takeHosts() {
  const grouped = new Set(fleet.groups.flatMap((one, i) => (i === view.group ? [] : one.devices)));
  const hosts = new Map(fleet.missing.map((host) => [host, []]));
  fleet.host.forEach((host, device) => {
    if (grouped.has(device)) return;
    if (!hosts.has(host)) hosts.set(host, []);
    hosts.get(host).push(device);
  });
  map.hosts = [...hosts].sort(([a], [b]) => natural(a, b));
  map.most = Math.max(1, ...map.hosts.map(([, devices]) => devices.length));
  // Columns are PCI addresses, so that a lost device leaves a gap; in order, if they are ranks, shared or too many.
  const slots = map.hosts.map(([, devices]) => new Set(devices.map((device) => fleet.slot[device])));
  const all = [...new Set(slots.flatMap((of) => [...of]))].sort();
  const known = all.every((slot) => slot.includes(":")) && all.length <= 2 * map.most &&
    map.hosts.every(([, devices], i) => slots[i].size === devices.length);
  map.slots = known ? new Map(all.map((slot, column) => [slot, column])) : null;
  if (known) map.most = all.length;
  find("by").textContent = `Devices by host${known ? " and slot" : ""}`;
}

// A host's name without its domain; where there is no room, its end.
function shortened(context, name, room) {
  const fits = (words) => context.measureText(words).width <= room;
  let words = name.replace(/\.[a-z].*/i, "");
  if (fits(words)) return words;
  while (words && !fits(`…${words}`)) words = words.slice(1);
  return `…${words}`;
}

// The largest cells with which all hosts fit.
function layout(context, width) {
  const few = map.hosts.length <= 400;
  const names = few ? map.hosts.map(([host]) => shortened(context, host, Math.max(80, width / 3))) : [];
  const longest = Math.max(0, ...names.map((name) => context.measureText(name).width));
  let label, wide, rows;
  for (const size of SIZES) {
    label = size >= LABELLED ? longest + 8 : 0;
    const gap = label ? 24 : 5;
    wide = label + map.most * size + gap;
    const columns = Math.floor((width - 2 * EDGE + gap) / wide);
    rows = Math.ceil(map.hosts.length / Math.max(1, columns));
    Object.assign(map, { size, high: rows * (size + 1) + 2 * EDGE });
    if (columns > 0 && map.high <= TALLEST && (size < LABELLED || few)) break;
  }
  map.places = [];
  map.names = [];
  map.hosts.forEach(([host, devices], i) => {
    const left = EDGE + Math.floor(i / rows) * wide, x = left + label, y = EDGE + (i % rows) * (map.size + 1);
    if (label) map.names.push({ name: names[i], x: left, y: y + map.size / 2 });
    for (const [number, device] of devices.entries()) {
      const column = map.slots?.get(fleet.slot[device]) ?? number;
      map.places.push({ host, device, x: x + column * map.size, y, wide: map.size });
    }
    if (devices.length === 0) map.places.push({ host, device: null, x, y, wide: map.most * map.size }); // a missing host
  });
}

// In small cells a frame makes the mark visible.
function mark(context, kind, x, y, size, wide = size) {
  if (kind && kind !== "o" && size < 12) {
    context.lineWidth = 1.5;
    context.strokeRect(x - 0.75, y - 0.75, size + 0.5, size + 0.5);
  }
  const inset = Math.max(1.5, size * 0.28), a = x + inset, b = y + inset, c = x + size - 1 - inset, d = y + size - 1 - inset;
  context.beginPath();
  if (kind === "x") {
    context.moveTo(a, b); context.lineTo(c, d); context.moveTo(c, b); context.lineTo(a, d);
  } else if (kind === "o") {
    context.rect(x + 1, y + 1, wide - 3, size - 3);
  } else if (kind === "!") {
    context.moveTo((a + c) / 2, b); context.lineTo((a + c) / 2, d);
  } else if (kind === "?") {
    context.moveTo(a, d); context.lineTo((a + c) / 2, b); context.lineTo(c, d); context.closePath();
  } else if (kind) {
    for (const y of kind === "=" ? [b, d] : [(b + d) / 2]) {
      context.moveTo(a, y); context.lineTo(c, y);
    }
  }
  context.setLineDash(kind === "o" ? [2, 1.5] : []);
  context.lineWidth = size >= 10 ? 2 : 1.3;
  if (kind) context.stroke();
  context.setLineDash([]);
}

const verdictOf = (place) => (place.device === null ? "missing" : fleet.verdict[place.device]);

function drawMap() {
  const canvas = find("map");
  const measure = canvas.getContext("2d");
  measure.font = `12px ${FONT}`;
  layout(measure, canvas.clientWidth);
  const [context] = prepare(canvas, map.high);
  const text = colour("text"), empty = colour("line");
  for (const place of map.places) {
    const value = values.get(place.device);
    context.fillStyle = value === undefined ? empty : rgb(offOf(value));
    if (place.device !== null) context.fillRect(place.x, place.y, map.size - 1, map.size - 1);
    const kind = MARKS[verdictOf(place)];
    if (!kind) continue;
    context.strokeStyle = text;
    mark(context, kind, place.x, place.y, map.size, place.wide);
  }
  context.fillStyle = colour("muted");
  context.textAlign = "left";
  for (const { name, x, y } of map.names) context.fillText(name, x, y);
  const chosen = map.places.find((place) => place.device !== null && place.device === view.chosen);
  if (!chosen) return;
  context.strokeStyle = colour("accent");
  context.lineWidth = 3;
  context.strokeRect(chosen.x - 1, chosen.y - 1, map.size + 1, map.size + 1);
}

function drawLegend() {
  find("legend").hidden = values.size < 2; // nothing to compare with
  const [context, width] = prepare(find("legend"), 34);
  const { median, more, unit, compared } = view.figure;
  const span = spanOf(view.figure), sign = more ? 1 : -1;
  // Without a span no ramp: a value is the median or above it.
  const offAt = (part) => (span > 0 ? 2 * part - 1 : part < 0.5 ? 0 : sign);
  for (let x = 0; x < width; ++x) {
    context.fillStyle = rgb(offAt(x / (width - 1)));
    context.fillRect(x, 0, 1.5, 12);
  }
  const middle = `median ${shown(median, unit)}`;
  const end = (words, off) => (compared ? words : "") + shown(median + sign * span * off, unit);
  const labels = span > 0 ? [end("slow, ", -1), middle, end("fast, ", 1)] : [middle, "above"];
  context.fillStyle = colour("muted");
  labels.forEach((words, i) => {
    const part = i / (labels.length - 1);
    context.textAlign = ["left", "center", "right"][2 * part];
    context.fillText(words, part * width, 25);
  });
  const used = new Set(map.places.map(verdictOf));
  find("marks").replaceChildren();
  for (const [verdict, kind] of Object.entries(MARKS).filter(([one, kind]) => kind && used.has(one))) {
    const item = add(find("marks"), "li"), [drawing] = prepare(add(item, "canvas"), 18, 18);
    item.append(verdict === "missing" ? "missing host" : verdict);
    drawing.strokeStyle = colour("text");
    mark(drawing, kind, 0, 0, 18);
  }
}

function ticks(from, to, most) {
  const step = stepOf(to - from, most), places = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) places.push(Number(at.toPrecision(12)));
  return places;
}

// Both phases below each other on one scale: number of devices by value.
function drawSpread() {
  const LEFT = 100, RIGHT = 24, HIGH = 120, GAP = 22;
  const shownPhases = PHASES.filter((phase) => phases()[phase]).map((phase) => phases()[phase]);
  const all = shownPhases.map((figure) => figure.values.filter((value) => value !== null));
  let lo = Infinity, hi = -Infinity;
  for (const list of all) for (const value of list) { lo = Math.min(lo, value); hi = Math.max(hi, value); }
  if (!(hi > lo)) { const pad = Math.abs(lo) * 0.01; lo -= pad; hi += pad || 1; } // an axis of zeros starts at 0
  const [context, width] = prepare(find("spread"), all.length * (HIGH + GAP) + 24);
  const inner = width - LEFT - RIGHT, bins = Math.max(20, Math.min(160, Math.floor(inner / 7)));
  const x = (value) => LEFT + ((value - lo) / (hi - lo)) * inner;
  const bottom = all.length * (HIGH + GAP);
  context.textAlign = "center";
  for (const at of ticks(lo, hi, Math.max(1, Math.min(8, Math.floor(inner / 90))))) {
    const words = shown(at, view.figure.unit);
    context.fillStyle = colour("line");
    context.fillRect(x(at), 4, 1, bottom - 4);
    context.fillStyle = colour("muted");
    context.fillText(words, Math.min(x(at), width - context.measureText(words).width / 2), bottom + 12);
  }
  const wide = (hi - lo) / bins;
  const histograms = all.map((list) => {
    const counts = new Array(bins).fill(0);
    for (const value of list) ++counts[Math.min(bins - 1, Math.floor((value - lo) / wide))];
    return counts;
  });
  const most = Math.max(...histograms.flat()); // one scale for both
  histograms.forEach((counts, i) => {
    const base = (i + 1) * (HIGH + GAP) - 4;
    context.fillStyle = colour("line");
    context.fillRect(LEFT, base - (HIGH - 16), inner, 1);
    counts.forEach((n, bin) => {
      if (n === 0) return;
      const tall = Math.max(3, (n / most) * (HIGH - 16)); // one device among ten thousand is seen
      // The value of the bin that is nearest to the median: the bin of the median has the median's colour.
      const nearest = Math.min(lo + (bin + 1) * wide, Math.max(lo + bin * wide, view.figure.median));
      context.fillStyle = shownPhases[i] === view.figure ? rgb(offOf(nearest)) : colour("muted");
      context.fillRect(LEFT + (bin / bins) * inner, base - tall, inner / bins - 1, tall);
    });
    context.fillStyle = colour("text");
    context.fillRect(LEFT, base, inner, 1);
    const median = x(shownPhases[i].median);
    context.fillRect(median, base - HIGH + 12, 1.5, HIGH - 12);
    context.textAlign = median > width / 2 ? "right" : "left";
    context.fillText(`median ${shown(shownPhases[i].median, view.figure.unit)}`, median + (median > width / 2 ? -6 : 6), base - HIGH + 8);
    context.textAlign = "right";
    context.fillText(shownPhases[i].phase, LEFT - 12, base - 12);
    context.fillStyle = colour("muted");
    context.fillText(`${all[i].length} device${all[i].length === 1 ? "" : "s"}`, LEFT - 12, base - 28);
    context.fillText(`${most}`, LEFT - 12, base - (HIGH - 16));
    context.textAlign = "center";
  });
  find("spread-words").textContent = `number of devices by ${view.figure.name}`;
}

function draw() {
  takeValues();
  drawMap();
  drawLegend();
  drawSpread();
  find("scale").textContent = `${view.figure.name}, ${view.figure.phase}`;
}
