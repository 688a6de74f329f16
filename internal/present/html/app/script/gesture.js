// Pointer, wheel and keys over a plot that shows a window of time.

// gestures lets an element change a view. options:
//   plot()        → {left, width} of the plot in the element, CSS pixels
//   hover(x, y, touch), leave(), tap(x, y, touch)   where the pointer is, in the element
//   key(event)    → true if it was used
function gestures(element, view, options) {
  const shade = el("div", { class: "app-drag", "aria-hidden": "true" });
  shade.hidden = true;
  element.append(shade);
  const pointers = new Map();
  let start = null, pinch = null, before = null;

  const place = (e) => {
    const box = element.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const time = (x) => {
    const p = options.plot();
    return view.time(Math.min(Math.max(x - p.left, 0), p.width), p.width);
  };
  const own = (e) => e.target.closest("button, a, select, input, [data-own]") === null;

  element.addEventListener("pointerdown", (e) => {
    if (e.pointerType === "mouse" && e.button !== 0 || !own(e)) return;
    const at = place(e);
    pointers.set(e.pointerId, at);
    if (pointers.size === 1) start = { ...at, lo: view.lo, hi: view.hi, pan: e.shiftKey || e.pointerType !== "mouse", moved: false };
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      pinch = { a: time(a.x), b: time(b.x) };
      start.moved = true;
      options.leave();
    }
  });

  element.addEventListener("pointermove", (e) => {
    const at = place(e), touch = e.pointerType !== "mouse";
    if (!pointers.has(e.pointerId)) {
      if (!touch) options.hover(at.x, at.y, false);
      return;
    }
    pointers.set(e.pointerId, at);
    const p = options.plot();
    if (pinch && pointers.size === 2) {
      const [a, b] = [...pointers.values()].map((v) => v.x - p.left);
      if (Math.abs(b - a) < 8) return;
      const k = (pinch.b - pinch.a) / (b - a); // ns per pixel
      if (k > 0) view.set(pinch.a - a * k, pinch.a + (p.width - a) * k);
      return;
    }
    if (!start) return;
    if (!start.moved && Math.abs(at.x - start.x) < 4) return;
    if (!start.moved) {
      start.moved = true;
      element.setPointerCapture(e.pointerId);
    }
    if (start.pan && view.isFull) {
      options.hover(at.x, at.y, touch);
    } else if (start.pan) {
      const by = (at.x - start.x) / p.width * (start.hi - start.lo);
      view.set(start.lo - by, start.hi - by);
      options.leave();
    } else {
      const a = Math.min(Math.max(Math.min(start.x, at.x), p.left), p.left + p.width);
      const b = Math.min(Math.max(Math.max(start.x, at.x), p.left), p.left + p.width);
      shade.hidden = false;
      shade.style.left = a + "px";
      shade.style.width = b - a + "px";
      options.hover(at.x, at.y, touch);
    }
  });

  const end = (e) => {
    const at = place(e), touch = e.pointerType !== "mouse";
    if (!pointers.delete(e.pointerId)) return;
    if (pinch) {
      if (pointers.size === 0) pinch = start = null;
      return;
    }
    if (!start) return;
    const s = start;
    start = null;
    shade.hidden = true;
    if (e.type === "pointercancel") return;
    if (!s.moved) options.tap(at.x, at.y, touch);
    else if (!s.pan) view.set(time(s.x), time(at.x));
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("pointerleave", (e) => { if (e.pointerType === "mouse" && !start) options.leave(); });
  element.addEventListener("dblclick", (e) => { if (own(e)) view.reset(); });

  // The wheel scrolls the page, and zooms with Ctrl. Sideways it moves what is zoomed: a turn belongs to whom
  // it began with.
  let turn = { at: -Infinity, ours: false };
  element.addEventListener("wheel", (e) => {
    const p = options.plot();
    const at = place(e).x - p.left;
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
    const dx = (e.shiftKey && !e.deltaX ? e.deltaY : e.deltaX) * unit, dy = e.shiftKey ? 0 : e.deltaY * unit;
    const sideways = Math.abs(dx) > Math.abs(dy);
    if (e.timeStamp - Math.max(turn.at, pageScrolled) > 200) turn.ours = sideways && !view.isFull;
    turn.at = e.timeStamp;
    if (!e.ctrlKey && !(turn.ours && sideways)) return;
    e.preventDefault();
    if (!e.ctrlKey) view.pan(dx / p.width * view.span);
    else view.zoom(Math.exp(Math.max(-300, Math.min(300, dy)) * (Math.abs(dy) < 40 ? 0.01 : 0.002)), view.time(Math.min(Math.max(at, 0), p.width), p.width));
    options.hover(place(e).x, place(e).y, false);
  }, { passive: false });

  element.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target !== element) return;
    if (options.key && options.key(e)) {
      e.preventDefault();
      return;
    }
    const middle = (view.lo + view.hi) / 2;
    const act = {
      ArrowLeft: () => view.pan(-view.span * (e.shiftKey ? 0.8 : 0.2)),
      ArrowRight: () => view.pan(view.span * (e.shiftKey ? 0.8 : 0.2)),
      Home: () => view.pan(view.min - view.lo),
      End: () => view.pan(view.max - view.hi),
      "+": () => view.zoom(0.5, middle),
      "=": () => view.zoom(0.5, middle),
      "-": () => view.zoom(2, middle),
      "−": () => view.zoom(2, middle),
      0: () => view.reset(),
      Escape: () => view.reset(),
    }[e.key];
    if (!act) return;
    e.preventDefault();
    options.leave();
    act();
  });
}

// zoomButtons are the same for those who have neither wheel nor keys.
function zoomButtons(view, what) {
  const middle = () => (view.lo + view.hi) / 2;
  const out = button("−", "zoom out of the " + what, () => view.zoom(2, middle()));
  const all = button("all", "show all of the " + what, () => view.reset());
  const update = () => { out.disabled = all.disabled = view.isFull; };
  view.onchange(update);
  update();
  return el("span", { class: "app-buttons", role: "group", "aria-label": "zoom" },
    button("+", "zoom into the " + what, () => view.zoom(0.5, middle())), out, all);
}

let pageScrolled = -Infinity;
addEventListener("scroll", () => { pageScrolled = performance.now(); }, { passive: true });

const gestureHint = "drag or Ctrl+wheel: zoom · shift-drag or ← →: move · double-click or Esc: all";
const touchHint = "pinch: zoom · drag: move · tap: what is there";

function hint() {
  return el("span", { class: "app-hint" }, el("span", { class: "app-fine" }, gestureHint), el("span", { class: "app-coarse" }, touchHint));
}
