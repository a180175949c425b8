// What all parts of the page use: elements, numbers, and requests to the server.

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; text is always text, never markup. */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same of SVG. */
export function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** A number in a few digits. */
export function short(value) {
  if (value === null || value === undefined) return "none";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

/** A count with its noun: one box, 2 boxes. */
export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** The answer of the server; an Error with its text, and `status`, where it refuses. */
export async function ask(path, parameters = {}, options = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));
  let response, answer;
  try {
    response = await fetch(query.size ? `${path}?${query}` : path, options);
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer: is boxpresso serve still running?");
  }
  if (!response.ok) throw Object.assign(new Error(answer.error ?? `The server answers with ${response.status}`), { status: response.status });
  return answer;
}

/** A function that runs the last call once no other has come for some milliseconds. */
export function settled(wait, run) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), wait);
  };
}
