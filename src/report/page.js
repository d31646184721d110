// What the scripts of all pages share.
"use strict";
const find = (id) => document.getElementById(id);
const read = (id) => JSON.parse(find(id).textContent);
const style = getComputedStyle(document.documentElement);
const colour = (name) => style.getPropertyValue(`--${name}`);
const FONT = 'system-ui, "DejaVu Sans", sans-serif';

const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
const unitOf = (seconds) => UNITS.find(([size]) => Math.abs(seconds) >= size) ?? UNITS[3];
// As the tables write it.
const number = (value) => {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-3) return value.toExponential(3).replace(/e([+-])(?=\d$)/, "e$10");
  return value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size))));
};
const time = (seconds) => {
  if (seconds === 0) return "0 s";
  const [size, name] = unitOf(seconds);
  return `${number(seconds / size)} ${name}`;
};

function add(parent, kind, text, name) {
  const element = document.createElement(kind);
  if (text !== undefined) element.textContent = text; // never markup: names come from outside
  if (name) element.className = name;
  parent.append(element);
  return element;
}

// 1, 2 or 5 times a power of ten: at most `most` steps in the length of an axis.
function stepOf(length, most) {
  const power = 10 ** Math.floor(Math.log10(length / most));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => length / step <= most) ?? 10 * power;
}

// An empty canvas with the pixels of the screen.
function prepare(canvas, height, width = canvas.clientWidth, dots = devicePixelRatio || 1) {
  const size = { width: Math.round(width * dots), height: Math.round(height * dots) };
  if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(dots, 0, 0, dots, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textBaseline = "middle";
  context.font = `12px ${FONT}`;
  return [context, width];
}
