// What a reader chooses: group, figure, phase, device.
const canvas = find("map");
const MOST_REASONS = 5; // of a device, that are shown

// Where a device lies in the window, for tests.
function placeOf(device) {
  const place = map.places.find((one) => one.device === device), box = canvas.getBoundingClientRect();
  return { x: box.left + place.x + map.size / 2, y: box.top + place.y + map.size / 2 };
}

function at(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  return map.places.find((one) => x >= one.x && x < one.x + one.wide && y >= one.y && y < one.y + map.size + 1);
}

const nameOf = (device) => [...new Set([fleet.host[device], fleet.unit[device]])].join(" ");

// A device's figures with those of its group.
function figureTable(panel, device) {
  const number = group().devices.indexOf(device);
  if (number < 0) return;
  const table = add(add(panel, "div", undefined, "wide"), "table");
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  const used = PHASES.filter((phase) => group().figures.some((figure) => figure.phase === phase));
  for (const words of ["figure", ...used.flatMap((phase) => [phase, "off"])]) add(head, "th", words);
  for (const [name, figures] of figuresOf(group())) {
    const row = add(body, "tr");
    const { unit } = Object.values(figures)[0], bare = unit === "s" ? unit : "";
    add(row, "th", unit === bare ? name : `${name}, ${unit}`);
    for (const phase of used) {
      const figure = figures[phase], value = figure?.values[number] ?? null;
      add(row, "td", shown(value, bare));
      add(row, "td", value !== null && figure.compared ? percent(value / figure.median - 1) : "");
    }
  }
}

function showDevice() {
  const panel = find("device"), device = view.chosen;
  panel.replaceChildren();
  add(panel, "h2", nameOf(device));
  add(panel, "p", fleet.verdict[device], `verdict ${fleet.verdict[device]}`);
  if (fleet.slot[device]) add(panel, "p", `slot ${fleet.slot[device]}`, "place");
  if (fleet.link[device]) {
    const link = add(add(panel, "p"), "a", fleet.link[device].endsWith(".html") ? "Its own page" : "Its result file");
    link.href = fleet.link[device];
    link.id = "own";
  }
  const reasons = fleet.reasons[device];
  for (const text of reasons.slice(0, MOST_REASONS)) add(panel, "p", text, "finding");
  if (reasons.length > MOST_REASONS) add(panel, "p", `and ${reasons.length - MOST_REASONS} more`, "finding");
  figureTable(panel, device);
}

function choose(device) {
  view.chosen = device;
  showDevice();
  drawMap();
}

function hover(place, event) {
  const details = find("details");
  details.hidden = !place;
  if (!place) return;
  details.replaceChildren();
  add(details, "strong", place.device === null ? place.host : nameOf(place.device));
  const list = add(details, "dl");
  const say = (name, text) => { add(list, "dt", name); add(list, "dd", text); };
  say("verdict", place.device === null ? "missing host" : fleet.verdict[place.device]);
  const value = values.get(place.device);
  if (value !== undefined) {
    say(view.figure.name, shown(value, view.figure.unit));
    if (view.figure.compared) say("off median", percent(value / view.figure.median - 1));
  }
  if (place.device !== null && fleet.slot[place.device]) say("slot", fleet.slot[place.device]);
  details.style.left = `${Math.min(event.clientX + 16, innerWidth - details.offsetWidth - 8)}px`;
  details.style.top = `${Math.min(event.clientY + 16, innerHeight - details.offsetHeight - 8)}px`;
}

canvas.addEventListener("pointermove", (event) => hover(at(event), event));
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("click", (event) => {
  const place = at(event);
  if (place && place.device !== null) choose(place.device);
});
canvas.addEventListener("keydown", (event) => {
  const there = map.places.filter((place) => place.device !== null);
  const number = there.findIndex((place) => place.device === view.chosen);
  const row = (step) => {
    const from = there[number];
    return from && there.find((place) => place.x === from.x && place.y === from.y + step * (map.size + 1));
  };
  const next = { ArrowRight: () => there[number + 1], ArrowLeft: () => there[Math.max(0, number - 1)], ArrowDown: () => row(1), ArrowUp: () => row(-1) }[event.key];
  if (event.key === "Enter") find("own")?.click();
  if (!next) return;
  event.preventDefault();
  const place = number < 0 ? there[0] : next();
  if (place) choose(place.device);
});

find("find").addEventListener("input", (event) => {
  const words = event.target.value.trim().toLowerCase();
  find("found").textContent = "";
  if (!words) return;
  const starts = (name) => name.toLowerCase().startsWith(words);
  const found = map.places.find(({ host }) => starts(host)) ??
    map.places.find(({ device }) => device !== null && starts(fleet.unit[device]));
  if (!found) find("found").textContent = `nothing ${fleet.groups.length > 1 ? "in this group " : ""}matches`;
  else if (found.device === null) find("found").textContent = `${found.host} is missing`;
  else choose(found.device);
});

function takePhase(phase) {
  const figures = phases();
  view.figure = figures[phase] ?? figures[PHASES.find((one) => figures[one])];
  for (const input of find("phases").querySelectorAll("input")) {
    input.disabled = !figures[input.value];
    input.checked = input.value === view.figure.phase;
  }
  draw();
}

function takeFigure(name) {
  const phase = view.figure?.phase;
  view.figure = Object.values(figuresOf(group()).get(name))[0];
  takePhase(phase);
}

function takeGroup(number) {
  view.group = number;
  view.figure = null;
  const select = find("figure");
  select.replaceChildren(...[...figuresOf(group()).keys()].map((name) => new Option(name)));
  const used = PHASES.filter((phase) => group().figures.some((figure) => figure.phase === phase));
  find("phases").hidden = used.length < 2;
  for (const old of find("phases").querySelectorAll("label")) old.remove();
  for (const phase of used) {
    const label = add(find("phases"), "label"), input = add(label, "input");
    Object.assign(input, { type: "radio", name: "phase", value: phase });
    add(label, "span", phase);
    input.addEventListener("change", () => takePhase(phase));
  }
  takeHosts();
  takeFigure(select.value);
  if (view.chosen !== null) showDevice();
}

find("group").replaceChildren(...fleet.groups.map((one, i) => new Option(one.words, i)));
find("pick-group").hidden = fleet.groups.length < 2;
find("group").addEventListener("change", (event) => takeGroup(Number(event.target.value)));
find("figure").addEventListener("change", (event) => takeFigure(event.target.value));
addEventListener("resize", draw);
dark.addEventListener("change", draw);
takeGroup(0);
