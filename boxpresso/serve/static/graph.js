// The net: a row for each layer, with lines to the layers that read what it gives.

import { drawn, element } from "./page.js";

const ROW = 30, START = 14, LANES = 20; // pixels; lines beside each other
const FAMILIES = [
  [/input|data|parameter|priorbox|anchor/i, "#8b8178"],
  [/convolution|innerproduct|lstm|rnn|embed/i, "#0072b2"],
  [/pool|align|crop|roi|warp|upsample|interp/i, "#009e73"],
  [/norm|lrn|scale|bias|mvn|^bn$/i, "#b59f00"],
  [/relu|elu|sigmoid|tanh|dropout|power|swish|clip|softmax|exp|log|abs|bnll|threshold|maxout/i, "#d55e00"],
  [/detection|proposal|output|nms|box|loss|accuracy|target/i, "#a24f86"],
];
const family = (type) => FAMILIES.find(([pattern]) => pattern.test(type))?.[1] ?? "#3f8f96";

/** Draws a net as /api/model describes it; `choose` is called with the layer that is clicked. */
export function drawGraph(container, net, choose, filter = "") {
  const word = filter.trim().toLowerCase();
  const shown = net.layers.filter((layer) => !word || `${layer.name} ${layer.type}`.toLowerCase().includes(word));
  const lane = container.clientWidth < 480 ? 5 : 9;
  const { lanes, svg } = word ? { lanes: 0, svg: null } : wires(net.layers, lane);
  const left = word ? 10 : START + 10 + lane * lanes;
  const rows = shown.map((layer) => row(layer, left, choose, container, Boolean(word)));
  if (rows.length) rows[0].tabIndex = 0;
  const nothing = element("p", { class: "hint" }, "No layer has this in its name or type.");
  container.replaceChildren(...(svg ? [svg] : []), ...(rows.length ? rows : [nothing]));
  container.onkeydown = (event) => {
    const at = rows.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (at < 0 || to === undefined || !rows[to]) return;
    event.preventDefault();
    rows.forEach((each) => { each.tabIndex = -1; });
    rows[to].tabIndex = 0;
    rows[to].focus();
  };
}

function row(layer, left, choose, container, chip) {
  const shape = Object.values(layer.tops)[0] ?? [];
  const said = `${layer.name}, ${layer.type}, gives ${shape.join(" × ") || "one number"}`;
  const button = element(
    "button", { type: "button", tabindex: -1, "aria-pressed": "false", "aria-label": said, title: said, "data-layer": layer.name },
    element("span", { class: "chip", "aria-hidden": "true", hidden: !chip }),
    element("span", { class: "name" }, layer.name),
    element("span", { class: "kind" }, layer.type),
    element("span", { class: "shape" }, shape.join("×")),
  );
  button.style.paddingLeft = `${left}px`;
  button.firstChild.style.background = family(layer.type);
  button.addEventListener("click", () => {
    container.querySelectorAll("button").forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
    choose(layer);
  });
  return button;
}

/** The lines: to the next row straight down, to later rows in a lane of the maker's own. */
function wires(layers, space) {
  const makers = new Map(), readers = layers.map(() => []);
  layers.forEach((layer, i) => {
    for (const name of Object.keys(layer.bottoms)) if (makers.has(name)) readers[makers.get(name)].push(i);
    for (const name of Object.keys(layer.tops)) makers.set(name, i);
  });
  const ends = []; // of each lane: the last row that it reaches
  const paths = [];
  const y = (i) => i * ROW + ROW / 2;
  let most = 0;
  readers.forEach((list, i) => {
    if (list.includes(i + 1)) paths.push(`M${START} ${y(i)}V${y(i + 1)}`);
    const later = list.filter((j) => j > i + 1);
    if (!later.length) return;
    let lane = ends.findIndex((end) => end <= i);
    if (lane < 0) lane = ends.length < LANES ? ends.length : LANES - 1;
    const last = Math.max(...later);
    ends[lane] = Math.max(last, ends[lane] ?? 0);
    most = Math.max(most, lane + 1);
    const x = START + space * (lane + 1);
    const turn = Math.min(6, x - START);
    paths.push(`M${START} ${y(i)}H${x - turn}q${turn} 0 ${turn} ${turn}V${y(last) - turn}q0 ${turn} ${-turn} ${turn}H${START}`);
    for (const j of later) if (j !== last) paths.push(`M${x} ${y(j) - turn}q0 ${turn} ${-turn} ${turn}H${START}`);
  });
  const size = { width: START + space * (most + 1), height: layers.length * ROW };
  const svg = drawn("svg", { ...size, "aria-hidden": "true" }, drawn("path", { class: "wire", d: paths.join("") }));
  layers.forEach((layer, i) => svg.append(drawn("circle", { cx: START, cy: y(i), r: 4.5, fill: family(layer.type) })));
  return { lanes: most, svg };
}
