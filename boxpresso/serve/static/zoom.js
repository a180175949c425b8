// Zoom and pan: the picture grows inside its stage, which scrolls; boxes are drawn anew at each size, so that lines stay thin.

const MOST = 16, STEP = 1.5;

/** Makes a stage zoom its sheet, by buttons, keys, and the wheel with Ctrl; dragging pans. Gives a function that shows all again. */
export function zooming(stage, sheet, buttons) {
  let factor = 1, base = null;

  function zoomTo(next, at = null) {
    next = Math.min(MOST, Math.max(1, next));
    if (factor === 1) base = [sheet.offsetWidth, sheet.offsetHeight];
    const [x, y] = at ?? [stage.clientWidth / 2, stage.clientHeight / 2];
    const [left, top] = [(stage.scrollLeft + x) * (next / factor) - x, (stage.scrollTop + y) * (next / factor) - y];
    factor = next;
    stage.classList.toggle("zoomed", next > 1);
    for (const [node, width, height] of [[stage, base[0], base[1]], [sheet, base[0] * next, base[1] * next]]) {
      node.style.width = next > 1 ? `${width}px` : "";
      node.style.height = next > 1 ? `${height}px` : "";
    }
    [stage.scrollLeft, stage.scrollTop] = [left, top];
    buttons.out.disabled = buttons.fit.disabled = next === 1;
    buttons.in.disabled = next === MOST;
    buttons.fit.textContent = `${Math.round(100 * next)} %`;
  }

  buttons.in.addEventListener("click", () => zoomTo(factor * STEP));
  buttons.out.addEventListener("click", () => zoomTo(factor / STEP));
  buttons.fit.addEventListener("click", () => zoomTo(1));
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { left, top } = stage.getBoundingClientRect();
    zoomTo(factor * Math.exp(-event.deltaY / 300), [event.clientX - left, event.clientY - top]);
  }, { passive: false });
  stage.addEventListener("keydown", (event) => {
    const next = { "+": factor * STEP, "=": factor * STEP, "-": factor / STEP, 0: 1 }[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    zoomTo(next);
  });
  let from = null;
  stage.addEventListener("pointerdown", (event) => {
    if (factor === 1 || event.pointerType === "touch" || event.button) return; // fingers scroll by themselves
    from = [event.clientX + stage.scrollLeft, event.clientY + stage.scrollTop];
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => { if (from) [stage.scrollLeft, stage.scrollTop] = [from[0] - event.clientX, from[1] - event.clientY]; });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { from = null; });
  window.addEventListener("resize", () => zoomTo(1));
  return () => zoomTo(1);
}
