// Detections, drawn over the picture as SVG, and masks on a canvas.

import { drawn } from "./page.js";

const CROWD = 12; // boxes, from which on tags of one class say the score alone
const LETTERS = 13; // pixels of the screen

let palette = ["#e69f00"];
export const setPalette = (colours) => { palette = colours; };
export const colour = (number) => palette[(((number - 1) % palette.length) + palette.length) % palette.length];

const channels = (code) => [1, 3, 5].map((at) => parseInt(code.slice(at, at + 2), 16));
const linear = (value) => (value <= 10.3 ? value / 3295 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const isBright = (code) => { // whether black is easier to read on it than white
  const [r, g, b] = channels(code).map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179;
};

/** Draws the detections of an answer; `pick` is told of the one under the pointer, or null. */
export function drawBoxes(svg, answer, detections, pick) {
  const { width, height } = answer.image;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const groups = new Map();
  const bySize = [...detections].sort((a, b) => area(b.box) - area(a.box)); // the small ones on top, for the pointer
  for (const one of bySize) {
    if (answer.kind === "classes" || answer.kind === "picture") break;
    const group = drawn("g", { class: "found", "data-id": one.id, "data-label": one.label });
    outline(group, one, answer);
    landmarks(group, one, answer.links, width, svg);
    group.append(drawn("title", {}, `${one.label} ${percent(one.score)}`));
    group.addEventListener("pointerenter", () => pick(one.id));
    group.addEventListener("pointerleave", () => pick(null));
    groups.set(one.id, group);
  }
  svg.replaceChildren(...groups.values());
  tags(svg, groups, answer, detections);
}

const percent = (score) => `${Math.round(100 * score)}%`;
const area = ([left, top, right, bottom]) => Math.abs((right - left) * (bottom - top));

function outline(group, one, answer) {
  const fill = colour(one.class_index);
  if (one.polygon) {
    const points = one.polygon.map((point) => point.join(",")).join(" ");
    group.append(drawn("polygon", { class: "shape edge", points }), drawn("polygon", { class: "shape line", points, stroke: fill }));
    const [[x1, y1], [x2, y2]] = one.polygon; // its top, thicker
    group.append(drawn("line", { class: "limb", x1, y1, x2, y2, stroke: fill, "stroke-width": 5 }));
  } else if (answer.kind === "boxes") {
    const [left, top, right, bottom] = one.box;
    const at = { x: Math.min(left, right), y: Math.min(top, bottom), width: Math.abs(right - left), height: Math.abs(bottom - top) };
    group.append(drawn("rect", { class: "shape edge", ...at }), drawn("rect", { class: "shape line", ...at, stroke: fill }));
  }
}

function landmarks(group, one, links, width, svg) {
  if (!one.landmarks) return;
  links.forEach(([a, b], at) => {
    const [from, to] = [one.landmarks[a], one.landmarks[b]];
    if (from && to) group.append(drawn("line", { class: "limb", x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: colour(at + 1) }));
  });
  const unit = width / (svg.clientWidth || width);
  const radius = Math.max(1.2 * unit, Math.min(3.5 * unit, Math.sqrt(area(one.box)) / (6 * Math.sqrt(one.landmarks.length))));
  for (const point of one.landmarks) {
    if (point) group.append(drawn("circle", { class: "point", cx: point[0], cy: point[1], r: radius, stroke: colour(one.class_index) }));
  }
}

/** Tags, the best detection's first: above the box, else below or inside it, where no other tag is. */
function tags(svg, groups, answer, detections) {
  const { width, height } = answer.image;
  const unit = width / (svg.clientWidth || width); // pixels of the picture in one of the screen
  const alone = new Set(detections.map((one) => one.class_index)).size === 1 && detections.length > CROWD;
  const heights = detections.map((one) => Math.abs(one.box[3] - one.box[1]) / unit).sort((a, b) => a - b);
  const small = detections.length > CROWD && heights[heights.length >> 1] < 3 * LETTERS;
  svg.classList.toggle("tagless", small || detections.length > 120); // only the tag of the one that is pointed at
  const taken = [];
  for (const one of detections) {
    const group = groups.get(one.id);
    if (!group) continue;
    const text = alone ? percent(one.score) : `${one.label} ${percent(one.score)}`;
    const label = drawn("text", { "font-size": LETTERS * unit, fill: isBright(colour(one.class_index)) ? "#000" : "#fff" }, text);
    const back = drawn("rect", { class: "tag", fill: colour(one.class_index), rx: 2 * unit });
    const both = drawn("g", { class: "label" }, back, label);
    group.append(both);
    const wide = Math.min(label.getComputedTextLength() + 8 * unit, width);
    const high = (LETTERS + 5) * unit;
    const [x, y] = place(one.box, wide, high, width, height, taken);
    taken.push([x, y, x + wide, y + high]);
    for (const [key, value] of Object.entries({ x, y, width: wide, height: high })) back.setAttribute(key, value);
    label.setAttribute("x", x + 4 * unit);
    label.setAttribute("y", y + (LETTERS + 0.5) * unit);
  }
}

function place(box, wide, high, width, height, taken) {
  const [left, top, right, bottom] = box;
  const x = Math.min(Math.max(0, left), width - wide), end = Math.min(Math.max(0, right - wide), width - wide);
  const places = [[x, top - high], [x, bottom], [end, top - high], [end, bottom], [x, top], [x, bottom - high], [end, top], [x, top + high]];
  const inside = places.filter(([, y]) => y >= 0 && y + high <= height);
  const free = inside.find(([a, b]) => !taken.some((t) => a < t[2] && t[0] < a + wide && b < t[3] && t[1] < b + high));
  return free ?? inside[0] ?? [x, Math.min(Math.max(0, top), height - high)];
}

/** Masks in the colours of their classes, the best on top. */
export function drawMasks(canvas, answer, detections) {
  const masked = detections.filter((one) => one.mask);
  canvas.hidden = !masked.length;
  if (!masked.length) return;
  const { width, height } = answer.image;
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
  const words = new Uint32Array(pixels.data.buffer);
  for (const one of masked.reverse()) {
    const [r, g, b] = channels(colour(one.class_index));
    const word = new Uint32Array(new Uint8Array([r, g, b, 255]).buffer)[0];
    let at = 0, inside = false; // run lengths go down the columns
    for (const length of one.mask.counts) {
      if (inside) for (let i = at; i < at + length; i++) words[(i % height) * width + Math.floor(i / height)] = word;
      at += length;
      inside = !inside;
    }
  }
  context.putImageData(pixels, 0, 0);
}
