// Colours of the page, and canvases as sharp as the screen.

const darkScheme = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

// Palette returns the colours of the page (page/colours.css), in the theme that is shown now; a name without a colour is muted.
class Palette {
  constructor() { this.refresh(); }

  refresh() {
    this.style = getComputedStyle(document.documentElement);
    this.known = new Map();
    const body = getComputedStyle(document.body);
    this.family = body.fontFamily || "system-ui, sans-serif";
  }

  get(name) {
    let v = this.known.get(name);
    if (v === undefined) {
      v = this.style.getPropertyValue("--" + name).trim() || this.style.getPropertyValue("--muted").trim() || "gray";
      this.known.set(name, v);
    }
    return v;
  }

  // rgb is a colour as numbers, whatever way it was written.
  rgb(name) {
    const key = "rgb " + name;
    let v = this.known.get(key);
    if (!v) {
      const c = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      c.fillStyle = this.get(name);
      c.fillRect(0, 0, 1, 1);
      v = c.getImageData(0, 0, 1, 1).data.slice(0, 3);
      this.known.set(key, v);
    }
    return v;
  }

  font(size, weight) { return (weight ? weight + " " : "") + size + "px " + this.family; }

  // on is the colour for text upon a colour: as the page says, else what contrasts.
  on(name) {
    const key = "on " + name;
    if (!this.known.has(key)) this.known.set(key, this.upon(name));
    return this.known.get(key);
  }

  upon(name) {
    const given = this.style.getPropertyValue("--t" + (name[0] === "m" ? "" : name[0]) + name.slice(1)).trim();
    if (given) return given;
    const [r, g, b] = Array.from(this.rgb(name), (v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#111" : "#fff"; // where black and white contrast alike
  }

  mechanism(id) { return "m-" + (id || "unexplained"); }
}

let palette;

// Surface is a canvas of a size in CSS pixels, drawn at the screen's ratio.
class Surface {
  constructor(label) {
    this.canvas = el("canvas", { class: "app-canvas", role: "img", "aria-label": label });
    this.ctx = this.canvas.getContext("2d");
    this.width = this.height = 0;
  }

  label(text) { this.canvas.setAttribute("aria-label", text); }

  // clear sets the size and leaves an empty canvas whose unit is a CSS pixel.
  clear(width, height) {
    this.ratio = printing ? 2 : Math.min(devicePixelRatio || 1, 3);
    if (this.recording) {
      Object.assign(this.recording, { width: this.width = width, height: this.height = height });
      return this.ctx;
    }
    const w = Math.max(1, Math.round(width * this.ratio)), h = Math.max(1, Math.round(height * this.ratio));
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
      this.canvas.style.width = width + "px";
      this.canvas.style.height = height + "px";
    }
    this.width = width;
    this.height = height;
    this.ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.ctx.clearRect(0, 0, width, height);
    return this.ctx;
  }
}

// fit cuts a text so that it is not wider than `width`; "" where nothing useful is left.
function fit(ctx, text, width) {
  if (width < 12) return "";
  if (ctx.measureText(text).width <= width) return text;
  let lo = 0, hi = text.length;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (ctx.measureText(text.slice(0, mid) + "…").width <= width) lo = mid;
    else hi = mid - 1;
  }
  return lo >= 2 ? text.slice(0, lo) + "…" : "";
}

// timeAxis draws labels under a plot and returns where its ticks are.
function timeAxis(ctx, view, left, width, y, ticks, words, from) {
  ctx.font = palette.font(11);
  ctx.fillStyle = palette.get("muted");
  ctx.strokeStyle = palette.get("line");
  ctx.lineWidth = 1;
  ctx.textBaseline = "top";
  ctx.textAlign = "center";
  ctx.beginPath();
  let free = from === undefined ? -Infinity : from;
  const right = left + width + 8;
  for (const [i, t] of ticks.entries()) {
    const x = Math.round(left + view.x(t, width)) + 0.5;
    ctx.moveTo(x, y);
    ctx.lineTo(x, y + 4);
    const text = words(t, i), half = ctx.measureText(text).width / 2;
    const middle = Math.min(Math.max(x, half), right - half);
    if (middle - half < free) continue;
    ctx.fillText(text, middle, y + 6);
    free = middle + half + 8;
  }
  ctx.stroke();
}

// windowTicks are ticks for a view with words for each: times of day, or offsets
// from the first where they would be too long.
function windowTicks(model, view, width) {
  const zero = model.anchored ? Number(model.from % 86400000000000n) : 0;
  let { step, ticks } = timeTicks(view.lo, view.hi, width, 76, zero);
  if (step >= 1e6 || !ticks.length) {
    if (step < 1e9) ({ step, ticks } = timeTicks(view.lo, view.hi, width, 96, zero));
    return { step, ticks, words: (t) => moment(model, t, step) };
  }
  const base = ticks[0], places = Math.max(step, 1e3);
  return { step, ticks, words: (t, i) => (i === 0 ? moment(model, base, places) : "+" + plain(t - base, step, view.hi - base)) };
}
