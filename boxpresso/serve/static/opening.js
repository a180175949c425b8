// The choice of a model, on a server that began without one: a public one by its name, or files that are chosen or dropped.

import { ask, byId, element } from "./page.js";

const SIZES = ["bytes", "kB", "MB", "GB"];
let waiting = false;

/** Shows the choice; `opened` is called once a model is served. */
export function offer(about, opened) {
  byId("opening").hidden = false;
  byId("model").textContent = "No model yet";
  byId("choices").replaceChildren(...about.choices.map((one) => {
    const button = element("button", { type: "button" }, one.name);
    button.addEventListener("click", () => open(`api/open?name=${encodeURIComponent(one.name)}`, {}, one.name, opened));
    const about = element("span", {}, `${one.title}, ${size(one.bytes)}, licence: ${one.licence ?? "not stated"}; `, element("a", { href: one.page, target: "_blank", rel: "noopener noreferrer" }, `source of ${one.name}`));
    return element("li", {}, button, about);
  }));
  byId("model-files").onchange = (event) => { openFiles([...event.target.files], about, opened); event.target.value = ""; };
}

/** Sends files as a model. */
export function openFiles(files, about, opened) {
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  if (bytes > about.limits.model_bytes) return say(`These files have ${bytes} bytes; this server takes ${about.limits.model_bytes} at most.`, true);
  const body = new FormData();
  for (const file of files) body.append("file", file, file.name);
  return open("api/open", { body }, files.map((file) => file.name).join(" and "), opened);
}

async function open(path, options, what, opened) {
  if (waiting) return;
  waiting = true;
  say(`${what}: opening it. What is not here yet is fetched and compiled, which can take a minute ..`);
  try {
    await ask(path, {}, { method: "POST", ...options });
    byId("opening").hidden = true;
    await opened();
  } catch (error) {
    say(error.message, true);
  } finally {
    waiting = false;
  }
}

function say(text, wrong = false) {
  byId("opening-status").textContent = wrong ? "" : text;
  byId("opening-error").textContent = wrong ? text : "";
  byId("opening-error").hidden = !wrong;
}

function size(bytes) {
  const unit = Math.min(SIZES.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${Number((bytes / 1000 ** unit).toPrecision(2))} ${SIZES[unit]}`;
}
