// The page: pictures come in, detections are drawn and listed, sliders choose among them.

import { ask, byId, count, element, settled } from "./page.js";
import { colour, drawBoxes, drawMasks, setPalette } from "./boxes.js";
import { drawGraph } from "./graph.js";
import { showLayer } from "./blobs.js";
import { play, watch } from "./camera.js";
import { offer, openFiles } from "./opening.js";
import { zooming } from "./zoom.js";

const ROWS = 300; // of the table
const state = { about: null, answer: null, source: null, hidden: new Set(), net: 0, layer: null, url: null };
let sent = 0; // the number of the last request: answers of earlier ones are dropped

// The model

async function start() {
  const about = (state.about = await ask("api/model"));
  for (const part of document.querySelectorAll(".of-model, #assumed")) part.hidden = about.model === null;
  if (about.model === null) return offer(about, start);
  byId("model").textContent = about.model;
  byId("description").textContent = about.description;
  byId("explanation").replaceChildren(...about.explanation.map((line) => element("li", {}, ...linked(line))));
  document.title = `${about.model} · Boxpresso`;
  setPalette(about.palette);
  const { score, nms } = { score: byId("score"), nms: byId("nms") };
  score.min = Math.min(about.score.floor, 0.05);
  score.step = step(about.score.default);
  score.value = about.score.default;
  score.disabled = about.kind === "picture";
  nms.disabled = about.nms.default === null;
  if (about.nms.default !== null) Object.assign(nms, { step: step(about.nms.default), value: about.nms.default });
  byId("nms-how").textContent = `Overlap: ${about.nms.how}.`;
  sliders();
  about.nets.forEach((net, i) => byId("net-select").append(element("option", { value: i }, net.name || `net ${i}`)));
  byId("net-choice").hidden = about.nets.length < 2;
  showNet();
  about.examples.forEach(example);
  byId("examples").hidden = !about.examples.length;
  if (about.examples.length && !state.source) await lookAtExample(about.examples[0], 0);
}

/** A text whose addresses are links. */
const linked = (text) => text.split(/(https?:\/\/[^\s,;]+)/).map((part, i) => (i % 2 ? element("a", { href: part, rel: "noopener noreferrer", target: "_blank" }, part) : part));

/** The step of a slider that can stand at a value. */
const step = (value) => (Math.abs(100 * value - Math.round(100 * value)) < 1e-6 ? 0.01 : 0.0001);

function sliders() {
  const said = ({ value, step }) => Number(value).toFixed(step === "0.01" ? 2 : 4);
  byId("score-value").textContent = said(byId("score"));
  byId("nms-value").textContent = byId("nms").disabled ? "none" : said(byId("nms"));
}

function example(name, number) {
  const button = element("button", { type: "button", title: name, "aria-pressed": "false" }, element("img", { src: `api/examples/${number}`, alt: name, loading: "lazy" }));
  button.addEventListener("click", () => lookAtExample(name, number));
  byId("examples").append(button);
}

const lookAtExample = (name, number) => look({ example: number, url: `api/examples/${number}`, name });

// Pictures

/** Takes a picture: {file} or {example}, and the url under which the browser shows it. */
async function look(source) {
  if (!source.frame) {
    stopCamera();
    wholePicture();
  }
  if (state.url) URL.revokeObjectURL(state.url);
  state.url = source.file ? (source.url = URL.createObjectURL(source.file)) : null;
  Object.assign(state, { source, hidden: source.frame ? state.hidden : new Set() });
  [...byId("examples").children].forEach((each, i) => each.setAttribute("aria-pressed", String(i === source.example)));
  const most = state.about.limits.upload_bytes;
  if (source.file && source.file.size > most && !source.file.type.startsWith("video/")) return fail(new Error(`${source.name} has ${source.file.size} bytes; this server takes ${most} at most.`));
  const type = source.file ? source.file.type : "";
  if (type.startsWith("video/")) return video(source.file);
  if (type && !type.startsWith("image/")) return fail(new Error(`${source.name} is not a picture (${type}); choose a JPEG, PNG, WebP, BMP, GIF or TIFF.`));
  await detect();
  if (state.layer && state.answer) chosen(state.layer);
}

/** Asks for the detections: of a picture that was sent before by its token, else by sending it. */
async function detect(token = null) {
  const mine = ++sent, { about, source } = state;
  const own = about.score.on_server ? Number(byId("score").value) : about.score.floor;
  const parameters = { score: own };
  if (!byId("nms").disabled) parameters.nms = byId("nms").value;
  const options = { method: "POST" };
  if (token) parameters.picture = token;
  else if (source.file) Object.assign(options, { body: source.file, headers: { "content-type": source.file.type || "application/octet-stream" } });
  else parameters.example = source.example;
  if (!token && !source.frame) byId("status").textContent = `${source.name}: looking ..`;
  try {
    const answer = await ask("api/detect", parameters, options);
    if (mine !== sent) return;
    answer.detections.forEach((one, id) => { one.id = id; });
    byId("error").hidden = true;
    state.answer = answer;
    if (!token) await picture();
    if (mine === sent) show();
  } catch (error) {
    if (mine !== sent) return;
    if (error.status === 410 && token) return detect();
    fail(error);
  }
}

function fail(error) {
  byId("error").textContent = error.message;
  byId("error").hidden = false;
  byId("status").textContent = "";
}

/** Shows the picture; of a file that the browser cannot show, such as TIFF, the server's copy. */
async function picture() {
  const image = byId("picture"), { answer, source } = state;
  const { width, height } = answer.image;
  for (const url of [source.url, `api/pictures/${answer.picture}`]) {
    image.src = url;
    try {
      await image.decode();
      break;
    } catch { /* the other one */ }
  }
  const factor = Math.max(1, Math.floor(480 / Math.max(width, height)));
  image.classList.toggle("small", factor > 1);
  [image.width, image.height] = [width * factor, height * factor];
  image.alt = `${source.name}, ${width} by ${height} pixels`;
  byId("stage").hidden = byId("zoom").hidden = false;
}

// Detections

const visible = () => {
  const least = Number(byId("score").value);
  return state.answer.detections.filter((one) => (state.about.score.on_server || one.score >= least) && !state.hidden.has(one.class_index));
};

function show() {
  const { answer } = state, found = visible();
  const [one, many] = { boxes: ["detection", "detections"], classes: ["class", "classes"], segments: ["class", "classes"], picture: ["picture", "pictures"] }[answer.kind];
  const size = `${answer.image.width} × ${answer.image.height}`;
  const lowest = answer.detections.at(-1);
  const left = answer.left_out && found.includes(lowest) ? `; the ${answer.left_out} of the lowest scores are left out` : "";
  byId("status").textContent = answer.result
    ? `${state.source.name} (${size}): a picture of ${answer.result.width} × ${answer.result.height}`
    : `${state.source.name} (${size}): ${count(found.length, one, many)}${left}`;
  const timing = answer.timing;
  const forward = timing.passes ? `${timing.forward.toFixed(1)} ms in ${count(timing.passes, "pass", "passes")} of the net` : "no pass of the net";
  byId("timing").textContent = `${answer.milliseconds.toFixed(1)} ms: ${forward}, ${timing.decoding.toFixed(1)} ms for the rest; ${timing.reading.toFixed(1)} ms to read the picture`;
  drawBoxes(byId("boxes"), answer, found, pick);
  drawMasks(byId("masks"), answer, found);
  byId("table").classList.toggle("whole", answer.kind === "classes");
  byId("table").hidden = answer.kind === "picture";
  list(found);
  legend();
  byId("download").disabled = byId("download-picture").disabled = false;
  byId("result").hidden = !answer.result;
  if (answer.result) {
    byId("result-image").src = answer.result.url;
    byId("result-caption").textContent = `What the net makes of it, ${answer.result.width} × ${answer.result.height}`;
  }
}

function list(found) {
  const rest = found.length - ROWS;
  byId("caption").textContent = found.length ? `${count(found.length, "row")}, best first${rest > 0 ? `; the first ${ROWS} of them` : ""}` : "Nothing of this score";
  const more = found.some((one) => extra(one));
  byId("more-column").hidden = !more;
  byId("rows").replaceChildren(...found.slice(0, ROWS).map((one) => {
    const chip = element("span", { class: "chip", "aria-hidden": "true" });
    chip.style.background = colour(one.class_index);
    const bar = element("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${100 * Math.min(1, one.score)}%`;
    const row = element(
      "tr", { tabindex: 0, "data-id": one.id },
      element("td", {}, chip, one.label),
      element("td", {}, one.score.toFixed(3), bar),
      ...one.box.map((side) => element("td", { class: "side-of-box" }, side.toFixed(1))),
      ...(more ? [element("td", {}, extra(one))] : []),
    );
    for (const event of ["pointerenter", "focus"]) row.addEventListener(event, () => pick(one.id));
    for (const event of ["pointerleave", "blur"]) row.addEventListener(event, () => pick(null));
    return row;
  }));
}

function extra(one) {
  const said = [];
  if (one.angle !== undefined) said.push(`${Math.round(one.angle)}°`);
  if (one.landmarks) said.push(count(one.landmarks.filter(Boolean).length, "point"));
  if (one.mask) said.push(`${(100 * one.mask.counts.reduce((sum, length, i) => sum + (i % 2 ? length : 0), 0) / (one.mask.size[0] * one.mask.size[1])).toFixed(1)}% area`);
  return said.join(", ");
}

function legend() {
  const classes = new Map();
  for (const one of state.answer.detections) if (!classes.has(one.class_index)) classes.set(one.class_index, one.label);
  byId("legend").hidden = classes.size < 2;
  byId("classes").replaceChildren(...[...classes].sort((a, b) => a[0] - b[0]).map(([number, name]) => {
    const box = element("input", { type: "checkbox", checked: !state.hidden.has(number), "data-class": number });
    box.addEventListener("change", () => {
      state.hidden[box.checked ? "delete" : "add"](number);
      show();
      byId("classes").querySelector(`[data-class="${number}"]`).focus();
    });
    const chip = element("span", { class: "chip", "aria-hidden": "true" });
    chip.style.background = colour(number);
    return element("label", {}, box, chip, name);
  }));
}

/** Marks a detection in the picture and in the table; null for none. */
function pick(id) {
  byId("boxes").classList.toggle("picked", id !== null);
  for (const node of document.querySelectorAll("#boxes .found, #rows tr")) node.classList.toggle("active", node.dataset.id === String(id));
  if (id === null) return;
  const row = document.querySelector(`#rows tr[data-id="${id}"]`);
  const group = document.querySelector(`#boxes .found[data-id="${id}"]`);
  if (row && group?.matches(":hover")) row.scrollIntoView({ block: "nearest" });
}

function download() {
  const { answer } = state;
  const detections = visible().map(({ id, ...one }) => one);
  const content = { model: answer.model, file: state.source.name, image: answer.image, score: Number(byId("score").value), nms: byId("nms").disabled ? null : Number(byId("nms").value), detections, milliseconds: answer.milliseconds };
  save(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }), "json");
}

/** Saves the picture with what is shown drawn on it, as boxpresso detect --out draws it. */
async function downloadPicture() {
  const { answer, about } = state;
  const parameters = new URLSearchParams({ score: byId("score").value });
  if (!byId("nms").disabled) parameters.set("nms", byId("nms").value);
  if (state.hidden.size) for (const id of new Set(visible().map((one) => one.class_id))) parameters.append("labels", id);
  if (about.kind === "picture") parameters.delete("score");
  const response = await fetch(`api/pictures/${answer.picture}/drawn?${parameters}`);
  if (!response.ok) return fail(new Error((await response.json()).error));
  save(await response.blob(), "png");
}

function save(blob, ending) {
  const url = URL.createObjectURL(blob);
  const name = `${state.source.name.replace(/\.[^.]*$/, "") || "picture"}.detections.${ending}`;
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// The camera

let stop = null; // ends it, while it runs

function stopCamera() {
  stop?.();
  stop = null;
  byId("camera").setAttribute("aria-pressed", "false");
  byId("camera").textContent = "Use the camera";
}

async function camera() {
  if (stop) return stopCamera();
  byId("error").hidden = true;
  try {
    stop = await watch((file) => look({ file, name: "camera", frame: true }));
    byId("camera").setAttribute("aria-pressed", "true");
    byId("camera").textContent = "Stop the camera";
  } catch (error) {
    fail(error);
  }
}

/** Looks at the frames of a video's file while it plays. */
async function video(file) {
  byId("error").hidden = true;
  try {
    stop = await play(file, (frame) => look({ file: frame, name: file.name, frame: true }), stopCamera);
    byId("camera").setAttribute("aria-pressed", "true");
    byId("camera").textContent = "Stop the video";
  } catch (error) {
    fail(error);
  }
}

// The net

function showNet() {
  const net = state.about.nets[state.net];
  byId("net-summary").textContent = `${count(net.layers.length, "layer")}, ${net.parameters.toLocaleString("en")} parameters, ${(net.macs / 1e6).toFixed(1)} million multiply-adds, on ${net.device}`;
  byId("net-report").hidden = !state.about.report;
  byId("net-report").href = `report?net=${state.net}`;
  drawGraph(byId("graph"), net, chosen, byId("filter").value);
}

function chosen(layer) {
  state.layer = layer;
  const again = async () => { await detect(); return state.answer.picture; };
  const note = state.about.nets.length > 1 ? "A cascade runs this net several times: these are the numbers of its last pass." : "";
  showLayer(byId("blob"), layer, state.net, state.answer?.picture, again, note);
}

// What the user does

byId("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) look({ file, name: file.name });
  event.target.value = ""; // the same file may be chosen again
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("over");
});
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("over"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("over");
  const files = [...event.dataTransfer.files], [file] = files;
  if (file && state.about?.model === null) openFiles(files, state.about, start);
  else if (file) look({ file, name: file.name });
  else fail(new Error("Drop the file of a picture; a picture of another page must be saved first."));
});
document.addEventListener("paste", (event) => {
  const file = [...event.clipboardData.files].find((each) => each.type.startsWith("image/"));
  if (file && state.about?.model) look({ file, name: "pasted picture" });
});

const again = settled(60, () => { if (state.answer) detect(state.answer.picture); });
byId("score").addEventListener("input", () => {
  sliders();
  if (!state.answer) return;
  if (state.about.score.on_server) again();
  else show();
});
byId("nms").addEventListener("input", () => { sliders(); again(); });
byId("download").addEventListener("click", download);
byId("download-picture").addEventListener("click", () => downloadPicture().catch(fail));
byId("camera").addEventListener("click", camera);
byId("filter").addEventListener("input", showNet);
byId("net-select").addEventListener("change", (event) => { state.net = Number(event.target.value); state.layer = null; byId("blob").replaceChildren(); showNet(); });
new ResizeObserver(() => { if (state.answer) drawBoxes(byId("boxes"), state.answer, visible(), pick); }).observe(byId("sheet"));
const wholePicture = zooming(byId("stage"), byId("sheet"), { in: byId("zoom-in"), out: byId("zoom-out"), fit: byId("zoom-fit") });

start().catch(fail);
