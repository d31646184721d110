// What a pointer or a key does on the timelines of the page.

function facts({ picture, kind, task }) {
  const span = picture.spans[kind][task], { bytes, arrays } = picture.drawing;
  const seconds = span.stop_s - span.start_s;
  const waited = picture.drawing[kind].waited_for[task];
  const found = [["stage", span.stage], ["chunk", span.chunk]];
  if (!["host", "query", "fence"].includes(span.stage)) found.push(["lane", span.lane]);
  found.push(["engine", span.engine]);
  if (arrays[task]) found.push(["array", arrays[task]]);
  if (bytes[task] > 0) found.push(["bytes", `${count(bytes[task])} (${bytes[task].toLocaleString("en")})`]);
  found.push(["duration", time(seconds)]);
  if (bytes[task] > 0 && seconds > 0) found.push(["rate", `${number(bytes[task] / seconds / 1e9)} GB/s`]);
  found.push(["from", time(span.start_s)], ["to", time(span.stop_s)]);
  const before = waited === null ? null : picture.spans[kind][waited];
  found.push(["waited for", before ? `${fullLabel(before)}, until ${time(before.stop_s)}` : "nothing"]);
  return found;
}
function tell(x, y) {
  const { picture, kind, task } = chosen, span = picture.spans[kind][task];
  details.replaceChildren();
  const head = add(details, "strong"), list = add(details, "dl");
  add(head, "i").style.background = `var(--${span.stage})`;
  head.append(`${fullLabel(span)}, task ${task}, ${kind}`);
  for (const [name, value] of facts(chosen)) {
    add(list, "dt", name);
    add(list, "dd", value);
  }
  details.hidden = false;
  const { offsetWidth: wide, offsetHeight: high } = details;
  details.style.left = `${x + 18 + wide > innerWidth ? Math.max(4, x - 18 - wide) : x + 18}px`;
  details.style.top = `${Math.max(4, Math.min(y + 18, innerHeight - high - 4))}px`;
}
function hide() {
  if (chosen !== null) redraw();
  chosen = null;
  details.hidden = true;
}
function choose(picture, kind, task, x, y) {
  const same = chosen?.picture === picture && chosen.kind === kind && chosen.task === task;
  if (!same) redraw();
  chosen = { picture, kind, task };
  tell(x, y);
}

function taskAt(picture, x, y) {
  const row = picture.rows.find((r) => y >= r.y - 1 && y < r.y + r.height + 1);
  if (!row || x < LEFT) return null;
  const spans = picture.spans[row.kind], { from, to } = shown(picture);
  const reach = (3 * (to - from)) / widthOf(picture); // short tasks can be hit, too
  const seconds = from + ((x - LEFT) / widthOf(picture)) * (to - from);
  let best = null, least = reach;
  for (let i = firstAfter(spans, row.tasks, seconds - reach); i < row.tasks.length; ++i) {
    const span = spans[row.tasks[i]];
    if (span.start_s > seconds + reach) break;
    const away = Math.max(span.start_s - seconds, seconds - span.stop_s, 0);
    if (away >= least) continue;
    best = { kind: row.kind, task: row.tasks[i] };
    least = away;
  }
  return best;
}
// The middle of what is seen of a task, on the screen.
function place(picture, kind, task) {
  const row = rowOf(picture, kind, task), span = picture.spans[kind][task];
  const box = picture.canvas.getBoundingClientRect(), right = box.width - RIGHT;
  const from = Math.min(Math.max(xOf(picture, span.start_s), LEFT), right);
  const to = Math.min(Math.max(xOf(picture, span.stop_s), LEFT), right);
  return { x: box.left + (from + to) / 2, y: box.top + row.y + row.height / 2 };
}

// Arrow keys: the next task of the row, or the nearest one of the next row.
function step(picture, key) {
  if (chosen?.picture !== picture) {
    const row = picture.rows[0];
    if (!row) return;
    chosen = { picture, kind: row.kind, task: row.tasks[0] };
  } else {
    const row = rowOf(picture, chosen.kind, chosen.task), at = row.tasks.indexOf(chosen.task);
    const across = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (across) {
      chosen.task = row.tasks[Math.min(Math.max(at + across, 0), row.tasks.length - 1)];
    } else {
      const next = picture.rows[picture.rows.indexOf(row) + (key === "ArrowUp" ? -1 : 1)];
      if (!next) return;
      const spans = picture.spans[next.kind];
      const found = firstAfter(spans, next.tasks, picture.spans[chosen.kind][chosen.task].start_s);
      chosen = { picture, kind: next.kind, task: next.tasks[Math.min(found, next.tasks.length - 1)] };
    }
  }
  const span = picture.spans[chosen.kind][chosen.task], all = longest[picture.deck];
  const middle = (span.start_s + span.stop_s) / 2 / all;
  if (middle < view.from || middle > view.to) {
    const half = (view.to - view.from) / 2;
    show(middle - half, middle + half);
  }
  const below = place(picture, chosen.kind, chosen.task).y;
  if (below < 100 || below > innerHeight - 20) scrollBy(0, below - innerHeight / 2);
  const { x, y } = place(picture, chosen.kind, chosen.task);
  tell(x, y);
  redraw();
}

let scrolled = 0;
addEventListener("scroll", () => {
  scrolled = performance.now();
  redraw();
}, { passive: true });
for (const picture of pictures) {
  const { canvas } = picture;
  let drag = null;
  const inside = (event) => (event.offsetX - LEFT) / widthOf(picture);
  canvas.addEventListener("wheel", (event) => {
    const across = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (Math.abs(across) > Math.abs(event.deltaY) || event.shiftKey) {
      if (view.to - view.from >= 1) return;
      event.preventDefault();
      pan(across / widthOf(picture));
      return;
    }
    // The page keeps scrolling while it does, and where there is nothing to zoom out of.
    if (!event.ctrlKey && performance.now() - scrolled < 300) return;
    if (event.deltaY > 0 && view.to - view.from >= 1) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(Math.max(-0.7, Math.min(0.7, event.deltaY * lines * 0.003))), Math.min(1, Math.max(0, inside(event))));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, from: view.from, to: view.to };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const moved = ((drag.x - event.clientX) / widthOf(picture)) * (drag.to - drag.from);
      if (Math.abs(event.clientX - drag.x) > 3) canvas.classList.add("drag");
      if (canvas.classList.contains("drag")) {
        hide();
        show(drag.from + moved, drag.to + moved);
        return;
      }
    }
    const found = taskAt(picture, event.offsetX, event.offsetY);
    if (found) choose(picture, found.kind, found.task, event.clientX, event.clientY);
    else hide();
  });
  const drop = () => {
    drag = null;
    canvas.classList.remove("drag");
  };
  canvas.addEventListener("pointerup", drop);
  canvas.addEventListener("pointercancel", drop);
  canvas.addEventListener("pointerleave", () => { if (!drag) hide(); });
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow") || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.shiftKey && event.key === "ArrowLeft") pan(-0.2);
    else if (event.shiftKey && event.key === "ArrowRight") pan(0.2);
    else step(picture, event.key);
  });
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "+" || event.key === "=") zoom(0.5);
  else if (event.key === "-") zoom(2);
  else if (event.key === "0" || event.key === "Home") show(0, 1);
  else if (event.key === "Escape") hide();
});

new ResizeObserver(redraw).observe(document.querySelector("main"));
addEventListener("resize", redraw); // a taller window shows more
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
matchMedia("print").addEventListener("change", (event) => {
  printing = event.matches;
  refresh();
});
show(0, 1);
refresh();

// For tests and for scripts of the reader's own.
window.overlap = {
  view,
  place: (run, kind, task) => place(pictures[run], kind, task),
};
