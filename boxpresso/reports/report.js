"use strict";
// Unfolds the blocks of the graph, shows the cards of its layers, sorts and filters tables. The page can be read without it.
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  all(".scripted").forEach((each) => { each.hidden = false; });

  // Sorting and filtering of tables

  function sortBy(head) {
    const table = head.closest("table"), body = table.tBodies[0], column = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== (head.classList.contains("n") ? "descending" : "ascending");
    const rising = head.classList.contains("n") ? !up : up;
    all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const key = (row) => { const cell = row.cells[column]; return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent; };
    const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true }));
    const rows = [...body.rows].map((row) => [key(row), row]).sort((a, b) => (rising ? 1 : -1) * order(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
  }
  all("table.sortable th").forEach((head) => {
    head.classList.add("sorts");
    head.tabIndex = 0;
    head.addEventListener("click", () => sortBy(head));
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sortBy(head); });
  });
  all("input[data-filter]").forEach((input) => input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    all(`table.${input.dataset.filter} tbody tr`).forEach((row) => {
      row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
    });
  }));

  // Cards

  function openAt(id) {
    const place = id && byId(id), card = place && place.closest("details");
    if (card) { card.open = true; card.scrollIntoView(); }
  }
  addEventListener("hashchange", () => openAt(decodeURIComponent(location.hash.slice(1))));
  openAt(decodeURIComponent(location.hash.slice(1)));

  const graph = byId("graph");
  if (!graph) return;
  const panel = document.createElement("aside");
  panel.id = "panel";
  panel.hidden = true;
  document.body.append(panel);
  function close() { panel.hidden = true; all(".chosen").forEach((each) => each.classList.remove("chosen")); }
  addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });

  function show(link) {
    close();
    const button = document.createElement("button");
    button.className = "close";
    button.textContent = "✕";
    button.setAttribute("aria-label", "close");
    button.addEventListener("click", close);
    panel.replaceChildren(button);
    link.dataset.cards.split(" ").forEach((number) => {
      const card = document.querySelector(`details[data-card="${number}"]`);
      const title = document.createElement("h3");
      title.append(...[...card.querySelector("summary").childNodes].map((node) => node.cloneNode(true)));
      const body = card.querySelector("div").cloneNode(true);
      body.removeAttribute("id");
      panel.append(title, body);
    });
    panel.hidden = false;
    panel.scrollTop = 0;
    if (graph.contains(link)) link.closest(".box").classList.add("chosen");
  }
  all("a[data-cards]").forEach((link) => link.addEventListener("click", (event) => { event.preventDefault(); show(link); }));

  // The graph: the same sums as in layout.py, with the sizes that things have now

  const { gap: [GAP_X, GAP_Y], margin: [MARGIN, FOOT], header: HEADER, thread: THREAD, blocks } = JSON.parse(byId("blocks").textContent);
  const opened = new Set(["b0"]);
  let zoom = 0; // 0 is as wide as the page, but not too small and at most in full size

  function sums(sizes, start, gap, end) {
    const places = [];
    sizes.forEach((size) => { places.push(start); start += size + gap; });
    return [places, start - gap + end];
  }

  // Moves what is inside a block to its place, and draws its wires; returns its size.
  function arrange(id) {
    const { kids, wires } = blocks[id], header = id === "b0" ? 0 : HEADER;
    const sizes = kids.map(([kid, , , width, height]) => (opened.has(kid) ? arrange(kid) : [width, height]));
    const widths = [], heights = [];
    const widen = (row, lane, size) => {
      while (widths.length <= lane) widths.push(THREAD);
      while (heights.length <= row) heights.push(THREAD);
      widths[lane] = Math.max(widths[lane], size[0]);
      heights[row] = Math.max(heights[row], size[1]);
    };
    kids.forEach(([, row, lane, , , room], i) => widen(row, lane, [Math.max(sizes[i][0], room), sizes[i][1]]));
    wires.forEach(([, , ...passed]) => { for (let i = 0; i < passed.length; i += 2) widen(passed[i], passed[i + 1], [THREAD, THREAD]); });
    const [left, whole] = sums(widths, MARGIN, GAP_X, MARGIN), [top, high] = sums(heights, MARGIN + header, GAP_Y, FOOT);
    const middle = (lane) => left[lane] + widths[lane] / 2;
    kids.forEach(([kid, row, lane], i) => {
      const x = middle(lane) - sizes[i][0] / 2, y = top[row] + (heights[row] - sizes[i][1]) / 2;
      const element = byId(kid), label = element.querySelector(":scope > .shape");
      element.setAttribute("transform", `translate(${x} ${y})`);
      if (label) { label.setAttribute("x", sizes[i][0] / 2 + 5); label.setAttribute("y", sizes[i][1] + 14); }
    });
    const lines = byId(id).querySelector(id === "b0" ? ":scope > .wires" : ":scope > .open > .wires").children;
    wires.forEach(([from, to, ...passed], i) => {
      let row = kids[from][1], x = middle(kids[from][2]), y = top[row] + (heights[row] + sizes[from][1]) / 2;
      let d = `M${x} ${y}`;
      for (let j = 0; j <= passed.length; j += 2) {
        const next = j < passed.length ? passed[j] : kids[to][1], lane = j < passed.length ? passed[j + 1] : kids[to][2];
        const edge = top[row] + heights[row], end = top[next], half = (edge + end) / 2, at = middle(lane);
        if (edge > y) d += `V${edge}`;
        d += at === x ? `V${end}` : `C${x} ${half} ${at} ${half} ${at} ${end}`;
        [row, x, y] = [next, at, end];
      }
      const inside = top[row] + (heights[row] - sizes[to][1]) / 2;
      if (inside > y) d += `V${inside}`;
      lines[i].setAttribute("d", d);
    });
    if (id !== "b0") {
      const [frame, handle] = ["frame", "handle"].map((name) => byId(id).querySelector(`:scope > .open > .${name}, :scope > .open > .head > .${name}`));
      frame.setAttribute("width", whole);
      frame.setAttribute("height", high);
      handle.setAttribute("x", 2);
      handle.setAttribute("y", 2);
      handle.setAttribute("width", Math.max(0, whole - 4));
    }
    return [whole, high];
  }

  function redraw() {
    const [width, height] = arrange("b0");
    graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const scale = zoom || Math.min(1, Math.max(0.7, (graph.parentElement.clientWidth - 2) / width));
    graph.setAttribute("width", width * scale);
    graph.setAttribute("height", height * scale);
    return scale;
  }

  function set(id, open) {
    const [folded, inside] = [byId(id).querySelector(":scope > .folded"), byId(id).querySelector(":scope > .open")];
    folded.style.display = open ? "none" : "";
    inside.style.display = open ? "" : "none";
    if (open) opened.add(id); else opened.delete(id);
  }

  // Unfolds or folds a block and keeps its upper edge where it is on the screen.
  function toggle(id) {
    const element = byId(id), open = !opened.has(id), before = element.getBoundingClientRect().top;
    set(id, open);
    redraw();
    graph.parentElement.scrollTop += element.getBoundingClientRect().top - before;
    element.querySelector(open ? ":scope > .open > .head" : ":scope > .folded").focus({ preventScroll: true });
  }

  all(".folded, .head", graph).forEach((handle) => {
    const id = handle.closest(".block").id;
    handle.addEventListener("click", () => toggle(id));
    handle.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(id); } });
  });
  const actions = {
    unfold: () => { Object.keys(blocks).forEach((id) => { if (id !== "b0") set(id, true); }); },
    fold: () => { Object.keys(blocks).forEach((id) => { if (id !== "b0") set(id, false); }); },
    fit: () => { zoom = 0; },
    larger: () => { zoom = redraw() * 1.25; },
    smaller: () => { zoom = redraw() / 1.25; },
  };
  all("button[data-do]").forEach((button) => {
    if ((button.dataset.do === "unfold" || button.dataset.do === "fold") && Object.keys(blocks).length < 2) button.hidden = true;
    button.addEventListener("click", () => { actions[button.dataset.do](); redraw(); });
  });
  addEventListener("resize", redraw);
  redraw();
})();
