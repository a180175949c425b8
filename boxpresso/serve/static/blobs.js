// What a layer gives: the channels of its tops as small pictures.

import { ask, count, element, short } from "./page.js";

const view = { colours: "viridis", scale: "channel" };
let latest = 0; // the number of the last request: answers of earlier ones are dropped

/** Shows a layer's tops for a picture (its token) in a container; `again` sends the picture once more where it is forgotten. */
export async function showLayer(container, layer, net, token, again, note = "") {
  const names = Object.keys(layer.tops);
  const state = { container, layer, net, token, again, note, names, name: names[0], page: 0 };
  if (!names.length) return say(state, "This layer has no tops.");
  if (!token) return say(state, "Send a picture first.");
  await show(state);
}

async function show(state) {
  const mine = ++latest;
  const { layer, net, name, page } = state;
  say(state, "Computing ..");
  const path = `api/blobs/${name.split("/").map(encodeURIComponent).join("/")}`;
  const request = () => ask(path, { net, picture: state.token, page, ...view });
  try {
    let answer;
    try {
      answer = await request();
    } catch (error) {
      if (error.status !== 410) throw error;
      state.token = await state.again();
      answer = await request();
    }
    if (mine === latest) fill(state, answer);
  } catch (error) {
    if (mine === latest) say(state, `${layer.name}: ${error.message}`);
  }
}

const heading = ({ layer }) => element("h3", {}, `${layer.name} `, element("span", { class: "hint" }, layer.type));

function say(state, text) {
  state.container.replaceChildren(heading(state), element("p", { class: "hint", role: "status" }, text));
}

function fill(state, answer) {
  const facts = [["Shape", answer.shape.join(" × ") || "one number"], ["Min", short(answer.min)], ["Mean", short(answer.mean)], ["Max", short(answer.max)]];
  if (answer.not_finite) facts.push(["Not finite", String(answer.not_finite)]);
  const list = element("dl", {}, ...facts.map(([what, said]) => element("div", {}, element("dt", {}, what), element("dd", {}, said))));
  const grid = element("div", { class: answer.images.length === 1 ? "grid one" : "grid" }, ...answer.images.map((one) => channel(one, answer)));
  const notes = state.note ? [element("p", { class: "hint" }, state.note)] : [];
  if (answer.folded) notes.push(element("p", { class: "hint" }, "No map: its numbers are laid in the lines of a square. The first of them:"));
  if (answer.first.length) notes.push(element("p", { class: "values" }, answer.first.map(short).join("  ")));
  if (!answer.images.length) notes.push(element("p", { class: "hint" }, "It is empty."));
  state.container.replaceChildren(heading(state), list, tools(state, answer), ...notes, grid);
}

function channel(one, answer) {
  const name = answer.folded ? `row ${one.channel}` : `channel ${one.channel}`;
  const image = element("img", { src: one.image, width: one.width, height: one.height, alt: `${name}, from ${short(one.min)} to ${short(one.max)}` });
  image.style.height = "auto";
  const button = element("button", { type: "button", "aria-pressed": "false", title: "Enlarge" }, image);
  const figure = element("figure", {}, button, element("figcaption", {}, `${one.channel}: ${short(one.min)} .. ${short(one.max)}`));
  button.addEventListener("click", () => {
    const large = figure.classList.toggle("large");
    button.setAttribute("aria-pressed", String(large));
    button.title = large ? "Make it small again" : "Enlarge";
    if (large) figure.scrollIntoView({ block: "nearest" });
  });
  return figure;
}

function tools(state, answer) {
  const bar = element("div", { class: "tools" });
  if (state.names.length > 1) bar.append(choice("Top", state.names.map((name) => [name, name]), state.name, (name) => show(Object.assign(state, { name, page: 0 }))));
  bar.append(
    choice("Colours", [["viridis", "viridis"], ["grey", "grey"]], view.colours, (colours) => { view.colours = colours; show(state); }),
    choice("Range", [["channel", "of each channel"], ["blob", "of the blob"]], view.scale, (scale) => { view.scale = scale; show(state); }),
  );
  if (answer.pages > 1) {
    const turn = (text, page) => {
      const button = element("button", { type: "button", disabled: page < 0 || page >= answer.pages }, text);
      button.addEventListener("click", () => show(Object.assign(state, { page })));
      return button;
    };
    bar.append(turn("Previous", state.page - 1), element("span", {}, `page ${state.page + 1} of ${answer.pages}`), turn("Next", state.page + 1));
  }
  bar.append(element("span", { class: "hint" }, count(answer.channels, "channel")));
  return bar;
}

function choice(label, options, value, change) {
  const select = element("select", {}, ...options.map(([key, text]) => element("option", { value: key, selected: key === value }, text)));
  select.addEventListener("change", () => change(select.value));
  return element("label", {}, `${label} `, select);
}
