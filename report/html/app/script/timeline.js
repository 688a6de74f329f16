// The timeline: requests over time and latency, bands and curves on the same axis.

const gutterOf = (width) => (width < 600 ? 52 : 58);
const rightEdge = 10;

const bandColours = {
  "gc-cycle": "m-mark_assist", "gc-mark": "w-collector", "stop-the-world": "w-stopped", "cpu-throttled": "m-host_cpu", "host-steal": "m-host_cpu",
  "host-wait": "m-background_cpu",
};

class Timeline {
  constructor(host, model, report) {
    this.model = model;
    this.report = report;
    this.view = new View(0, model.span);
    this.source = 0;
    this.status = new Status();
    this.stack = el("div", {
      class: "app-stack", tabindex: 0, role: "application", "aria-roledescription": "timeline",
      "aria-label": "Timeline of " + model.subject + ". Plus and minus zoom, arrow keys move, Escape shows all, Enter opens the slowest request in view.",
    });
    this.cross = el("div", { class: "app-cross", "aria-hidden": "true" });
    this.mark = el("div", { class: "app-mark", "aria-hidden": "true" });
    this.cross.hidden = this.mark.hidden = true;
    this.when = el("span", { class: "app-when", "aria-hidden": "true" });
    this.sources = choice("requests of", model.requests.map((r) => r.source || "the evidence"), (i) => {
      this.source = i;
      this.prepare();
      this.draw();
    });
    host.append(el("div", { class: "app-part" },
      el("div", { class: "app-bar" }, this.sources, zoomButtons(this.view, "timeline"), hint()),
      this.status.element, this.stack));
    this.tracks = [];
    if (model.requests.length) this.tracks.push(new RequestTrack(this));
    for (const b of model.bands) if (b.at.length) this.tracks.push(new BandTrack(this, b));
    for (const c of model.charts) if (c.curves.length) this.tracks.push(new ChartTrack(this, c));
    if (this.tracks.length > (model.requests.length ? 1 : 0)) this.tracks.push(new AxisTrack(this));
    for (const t of this.tracks) this.stack.append(t.element);
    this.stack.append(this.mark, this.cross);
    this.cross.append(this.when);
    this.tip = new Tooltip(this.stack);
    gestures(this.stack, this.view, {
      plot: () => ({ left: this.gutter, width: this.plotWidth }),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.leave(),
      tap: (x, y, touch) => this.tap(x, y, touch),
      key: (e) => this.key(e),
    });
    this.view.onchange(once(() => this.draw()));
    this.prepare();
  }

  // prepare lays out the points of the source that was chosen.
  prepare() {
    const p = this.points = this.model.requests[this.source] || null;
    if (!p) return;
    let low = Infinity, high = 0;
    for (const v of p.latency) {
      if (v > high) high = v;
      if (v < low) low = v;
    }
    // Requests whose states are known can be opened, whatever source they are of.
    const { slow } = this.model, all = [];
    for (let i = 0; i < slow.length; i++) {
      const r = slow.request(i);
      if (!r.apart) all.push({ ...r, index: i });
    }
    all.sort((a, b) => a.at - b.at);
    this.open = { tick: 1, at: Float64Array.from(all, (r) => r.at), latency: Float64Array.from(all, (r) => r.latency), list: all };
    for (const v of this.open.latency) high = Math.max(high, v);
    high = Math.max(high, this.model.threshold, 1000) * 1.25;
    low = Math.max(Math.min(low, high / 30) / 1.25, high / 1e6, 1);
    this.scale = logScale(low, high);
    this.range = [low, high];
    this.rows = null;
  }

  measure() {
    const width = this.stack.clientWidth;
    this.width = width;
    this.gutter = gutterOf(width);
    this.plotWidth = Math.max(width - this.gutter - rightEdge, 20);
  }

  draw() {
    this.measure();
    if (!this.width) return; // not shown
    this.axis = windowTicks(this.model, this.view, this.plotWidth);
    for (const t of this.tracks) t.draw();
    this.drawMark();
    this.say();
  }

  drawMark() {
    const r = this.report.selected;
    this.mark.hidden = !r || r.apart || r.at > this.view.hi || r.at + r.latency < this.view.lo;
    if (this.mark.hidden) return;
    const a = Math.max(this.view.x(r.at, this.plotWidth), 0), b = Math.min(this.view.x(r.at + r.latency, this.plotWidth), this.plotWidth);
    this.mark.style.left = this.gutter + a + "px";
    this.mark.style.width = Math.max(b - a, 1) + "px";
  }

  say() {
    const { model, view } = this;
    const step = Math.pow(10, Math.floor(Math.log10(view.span)) - 2);
    const words = [moment(model, view.lo, step) + " to " + moment(model, view.hi, step) + (model.anchored ? " UTC" : "") + ", " + duration(view.span)];
    const c = this.counts();
    if (this.points) {
      words.push(c.requests === 0 ? "no requests" : count(c.requests) + (c.requests === 1 ? " request" : " requests") + ", " + count(c.slow) + " slow" + (c.failed ? ", " + count(c.failed) + " failed" : ""));
      if (c.requests) words.push("slowest " + duration(c.slowest));
    }
    const cycles = c.bands["gc-cycle"] !== undefined ? c.bands["gc-cycle"] : c.bands["gc-mark"];
    if (cycles !== undefined) words.push(count(cycles) + (cycles === 1 ? " collector cycle" : " collector cycles"));
    this.status.say(words.join(" · "));
  }

  counts() {
    const out = { requests: 0, slow: 0, failed: 0, slowest: 0, bands: {} };
    for (const t of this.tracks) t.count(out);
    return out;
  }

  trackAt(y) {
    return this.tracks.find((t) => y >= t.element.offsetTop && y < t.element.offsetTop + t.element.offsetHeight) || null;
  }

  hover(x, y) {
    const inside = x >= this.gutter - 2 && x <= this.gutter + this.plotWidth + 2;
    if (!inside) {
      this.leave();
      return;
    }
    const t = this.view.time(Math.min(Math.max(x - this.gutter, 0), this.plotWidth), this.plotWidth);
    this.cross.hidden = false;
    this.cross.style.left = x + "px";
    const step = Math.pow(10, Math.floor(Math.log10(this.view.span / this.plotWidth)));
    this.when.textContent = moment(this.model, t, Math.min(step, 1e9));
    this.when.classList.toggle("app-flip", x > this.width - 120);
    for (const c of this.tracks) c.at(t);
    const track = this.trackAt(y);
    const lines = track ? track.under(x - this.gutter, y - track.element.offsetTop, t) : null;
    this.stack.classList.toggle("app-hit", Boolean(lines && lines.opens));
    if (lines) this.tip.show(x, y, lines);
    else this.tip.hide();
  }

  leave() {
    this.cross.hidden = true;
    this.tip.hide();
    for (const c of this.tracks) c.at(null);
  }

  tap(x, y, touch) {
    this.hover(x, y);
    const track = this.trackAt(y);
    if (!track || !track.hit) return;
    const slow = track.hit(x - this.gutter, y - track.element.offsetTop, touch ? 24 : 12);
    if (slow >= 0) this.report.select(slow, true);
  }

  key(e) {
    if (e.key !== "Enter" || !this.points) return false;
    const { open } = this, [first, last] = inWindow(open, this.view.lo, this.view.hi);
    let best = -1;
    for (let i = first; i < last; i++) if (best < 0 || open.latency[i] > open.latency[best]) best = i;
    if (best >= 0) this.report.select(open.list[best].index, true);
    return true;
  }

  // place is where the dot of a slow request is, in the window of the browser.
  place(slow) {
    const i = this.open ? this.open.list.findIndex((r) => r.index === slow) : -1;
    if (i < 0 || this.open.at[i] < this.view.lo || this.open.at[i] > this.view.hi) return null;
    const track = this.tracks[0], box = track.surface.canvas.getBoundingClientRect();
    return { x: box.left + this.gutter + this.view.x(this.open.at[i], this.plotWidth), y: box.top + track.openY(i) };
  }
}

// Track is a row of the timeline: a line of words and what is drawn below it.
class Track {
  constructor(timeline, title, kind) {
    this.timeline = timeline;
    this.title = el("span", { class: "app-title" }, title);
    this.figures = el("span", { class: "app-figures" });
    this.head = el("div", { class: "app-head" }, this.title, this.figures);
    this.element = el("div", { class: "app-track app-" + kind }, this.head);
  }

  count() {}
  at() {}
  under() { return null; }
}

// cellSize is in CSS pixels: smaller where cells would be crowded.
const cellSize = (points, area) => (points * 9 < area * 0.7 ? 3 : 2);
const fewPoints = 4000; // so many are drawn as dots of their own
const fewSpans = 1200; // so many also show how long they lasted

class RequestTrack extends Track {
  constructor(timeline) {
    super(timeline, "Latency of requests, by when they began", "requests");
    this.surface = new Surface("");
    this.element.append(this.surface.canvas);
    const { threshold } = timeline.model;
    const legend = (mark, text) => el("span", { class: "app-key" }, el("span", { class: "app-dot app-dot-" + mark, "aria-hidden": "true" }), text);
    this.figures.append(legend("usual", "a request"), threshold ? legend("slow", "slow, over " + duration(threshold)) : "");
    this.openKey = legend("open", "what it waited for is known: click");
    this.failedKey = legend("failed", "failed");
    this.figures.append(this.openKey, this.failedKey);
  }

  draw() {
    const { timeline: t, surface } = this, { view, points: p } = t;
    this.height = t.width < 600 ? 200 : 260;
    const height = this.height, width = t.plotWidth, left = t.gutter;
    const ctx = surface.clear(t.width, height + 22);
    const [first, last] = inWindow(p, view.lo, view.hi), size = last - first <= fewPoints ? 1 : cellSize(last - first, width * height);
    const columns = Math.max(1, Math.round(width / size)), lines = Math.max(1, Math.round(height / size));
    if (!t.rows || this.lines !== lines) {
      t.rows = rows(p.latency, t.scale, lines);
      t.openRows = rows(t.open.latency, t.scale, lines);
    }
    this.lines = lines;
    const d = this.density = density(p, t.rows, view.lo, view.hi, columns, lines, this.density);
    this.failedKey.hidden = d.failedCount === 0;
    this.axes(ctx, left, width, height);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left - 3, 0, width + 6, height);
    ctx.clip();
    if (d.last - d.first <= fewPoints) this.dots(ctx, left, width, height);
    else this.image(ctx, left, width, height, columns, lines);
    this.rings(ctx, left, width);
    ctx.restore();
    surface.label(`Latency of ${count(d.requests)} requests over time on a logarithmic axis; ${count(d.slowCount)} slow, ${count(d.failedCount)} failed` +
      (d.slowest >= 0 ? `; the slowest took ${duration(p.latency[d.slowest])}` : ""));
  }

  axes(ctx, left, width, height) {
    const { view, scale, range, axis, model } = this.timeline;
    const { major, minor } = logTicks(range[0], range[1], Math.floor(height / 24));
    const y = (v) => Math.round((1 - scale(v)) * height) + 0.5;
    ctx.lineWidth = 1;
    ctx.strokeStyle = palette.get("line");
    ctx.beginPath();
    for (const v of major) {
      ctx.moveTo(left, y(v));
      ctx.lineTo(left + width, y(v));
    }
    for (const v of minor) {
      ctx.moveTo(left - 3, y(v));
      ctx.lineTo(left, y(v));
    }
    for (const at of axis.ticks) {
      const x = Math.round(left + view.x(at, width)) + 0.5;
      ctx.moveTo(x, 0);
      ctx.lineTo(x, height);
    }
    ctx.stroke();
    ctx.font = palette.font(11);
    ctx.fillStyle = palette.get("muted");
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const v of major) ctx.fillText(duration(v), left - 6, Math.min(Math.max(y(v), 6), height - 6));
    timeAxis(ctx, view, left, width, height, axis.ticks, axis.words);
    if (model.threshold > range[0]) {
      ctx.strokeStyle = palette.get("accent");
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(left, y(model.threshold));
      ctx.lineTo(left + width, y(model.threshold));
      ctx.stroke();
      ctx.setLineDash([]);
    }
  }

  // image draws cells by how many requests are in them; a slow one shows, whatever
  // else is in its cell.
  image(ctx, left, width, height, columns, lines) {
    const d = this.density;
    if (!this.small || this.small.width !== columns || this.small.height !== lines) {
      this.small = document.createElement("canvas");
      this.small.width = columns;
      this.small.height = lines;
      this.smallCtx = this.small.getContext("2d");
      this.pixels = this.smallCtx.createImageData(columns, lines);
      this.words = new Uint32Array(this.pixels.data.buffer);
    }
    let most = 1;
    for (let i = 0; i < d.usual.length; i++) {
      if (d.usual[i] > most) most = d.usual[i];
      if (d.slow[i] > most) most = d.slow[i];
    }
    const shade = (name, least) => {
      const [r, g, b] = palette.rgb(name), k = (1 - least) / Math.log(1 + most);
      const table = new Uint32Array(256);
      for (let n = 0; n < 256; n++) table[n] = word(r, g, b, 255 * Math.min(1, least + k * Math.log(1 + n)));
      return (n) => (n < 256 ? table[n] : word(r, g, b, 255 * Math.min(1, least + k * Math.log(1 + n))));
    };
    const usual = shade("m-own", 0.28), slow = shade("accent", 0.5), out = this.words;
    for (let i = 0; i < out.length; i++) out[i] = d.slow[i] ? slow(d.slow[i]) : d.usual[i] ? usual(d.usual[i]) : 0;
    this.smallCtx.putImageData(this.pixels, 0, 0);
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(this.small, left, 0, width, height);
    if (!d.failedCount) return;
    ctx.strokeStyle = palette.get("ink");
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    for (let i = 0; i < d.failed.length; i++) {
      if (d.failed[i]) cross(ctx, left + (i % columns + 0.5) * width / columns, (Math.floor(i / columns) + 0.5) * height / lines, 3);
    }
    ctx.stroke();
  }

  dots(ctx, left, width, height) {
    const { view, points: p } = this.timeline, { first, last } = this.density;
    const x = (i) => left + view.x(p.at[i] * p.tick, width);
    if (last - first <= fewSpans) {
      for (const slow of [0, isSlow]) {
        ctx.strokeStyle = palette.get(slow ? "accent" : "m-own");
        ctx.globalAlpha = 0.3;
        ctx.lineWidth = 1;
        ctx.beginPath();
        for (let i = first; i < last; i++) {
          if ((p.flags[i] & isSlow) !== slow || p.number && p.number[i] > 1) continue;
          ctx.moveTo(x(i), this.y(i));
          ctx.lineTo(left + view.x(p.at[i] * p.tick + p.latency[i], width), this.y(i));
        }
        ctx.stroke();
      }
    }
    for (const slow of [0, isSlow]) {
      ctx.fillStyle = palette.get(slow ? "accent" : "m-own");
      ctx.globalAlpha = slow ? 0.85 : 0.55;
      ctx.beginPath();
      for (let i = first; i < last; i++) {
        if ((p.flags[i] & isSlow) !== slow) continue;
        const r = 2 + (p.number ? Math.min(2.5, Math.log2(p.number[i]) / 3) : 0);
        ctx.moveTo(x(i) + r, this.y(i));
        ctx.arc(x(i), this.y(i), r, 0, 2 * Math.PI);
      }
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    ctx.strokeStyle = palette.get("ink");
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    for (let i = first; i < last; i++) if (p.flags[i] & isFailed) cross(ctx, x(i), this.y(i), 3.5);
    ctx.stroke();
  }

  rings(ctx, left, width) {
    const { view, open, report } = this.timeline;
    const [first, last] = inWindow(open, view.lo, view.hi);
    this.openKey.hidden = first === last;
    ctx.strokeStyle = palette.get("accent");
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.8;
    ctx.beginPath();
    const ring = (i, r) => {
      const x = left + view.x(open.at[i], width);
      ctx.moveTo(x + r, this.openY(i));
      ctx.arc(x, this.openY(i), r, 0, 2 * Math.PI);
    };
    for (let i = first; i < last; i++) ring(i, 3.5);
    ctx.stroke();
    ctx.globalAlpha = 1;
    const chosen = open.list.findIndex((r) => r.index === report.index);
    if (chosen < first || chosen >= last) return;
    ctx.strokeStyle = palette.get("ink");
    ctx.lineWidth = 2.5;
    ctx.beginPath();
    ring(chosen, 6.5);
    ctx.stroke();
  }

  openY(i) { return (this.timeline.openRows[i] + 0.5) * this.height / this.lines; }

  y(i) { return (this.timeline.rows[i] + 0.5) * this.height / this.lines; }

  count(out) {
    const d = this.density;
    if (!d) return;
    out.requests = d.requests;
    out.slow = d.slowCount;
    out.failed = d.failedCount;
    out.slowest = d.slowest < 0 ? 0 : this.timeline.points.latency[d.slowest];
  }

  // nearest is the index of the point, or of the ring, closest to a place.
  nearest(points, row, x, y, reach) {
    const t = this.timeline;
    const top = this.surface.canvas.offsetTop - this.element.offsetTop;
    return row ? nearest(points, row, t.view, t.plotWidth, this.height / this.lines, x, y - top, reach) : -1;
  }

  hit(x, y, reach) {
    const { open, openRows } = this.timeline, i = this.nearest(open, openRows, x, y, reach);
    return i < 0 ? -1 : open.list[i].index;
  }

  under(x, y) {
    const { points: p, open, model } = this.timeline;
    const ring = this.nearest(open, this.timeline.openRows, x, y, 8);
    if (ring >= 0) {
      const r = open.list[ring];
      const lines = [
        { text: duration(r.latency), strong: true, colour: palette.get(r.slow ? "accent" : "m-own") }, r.route, "began " + moment(model, r.at, 1e3),
        model.requests.length > 1 ? "of " + r.source : "", "click: what it waited for",
      ].filter(Boolean);
      lines.opens = true;
      return lines;
    }
    const k = this.nearest(p, this.timeline.rows, x, y, 8);
    if (k < 0) return null;
    const f = p.flags[k], n = p.number ? p.number[k] : 1;
    return [
      { text: (f & isUnfinished ? "at least " : "") + duration(p.latency[k]), strong: true, colour: palette.get(f & isSlow ? "accent" : "m-own") },
      p.route && p.routes[p.route[k]] ? p.routes[p.route[k]] : "",
      "began " + moment(model, p.at[k] * p.tick, Math.max(p.tick, 1e3)),
      n > 1 ? "the slowest of " + count(n) + " drawn together" : "",
      [f & isFailed ? "failed" : "", f & isUnfinished ? "not finished" : ""].filter(Boolean).join(", "),
    ].filter(Boolean);
  }
}

function cross(ctx, x, y, r) {
  ctx.moveTo(x - r, y - r);
  ctx.lineTo(x + r, y + r);
  ctx.moveTo(x + r, y - r);
  ctx.lineTo(x - r, y + r);
}

// word is a pixel as ImageData holds it.
function word(r, g, b, a) {
  return littleEndian ? ((a << 24) | (b << 16) | (g << 8) | r) >>> 0 : ((r << 24) | (g << 16) | (b << 8) | a) >>> 0;
}

const bandHeight = 14;

class BandTrack extends Track {
  constructor(timeline, band) {
    super(timeline, band.title, "band");
    this.band = band;
    this.colour = bandColours[band.id] || "m-unexplained";
    this.surface = new Surface("");
    this.element.append(this.surface.canvas);
  }

  draw() {
    const { timeline: t, surface, band } = this, { view, gutter: left, plotWidth: width } = t;
    const ctx = surface.clear(t.width, bandHeight);
    const w = Math.max(1, Math.round(width * surface.ratio)), k = width / w;
    const c = this.cover = cover(band, view.lo, view.hi, w);
    const seen = watched(band, view.lo, view.hi);
    ctx.fillStyle = palette.get("line"); // a thin line where nobody looked
    ctx.fillRect(left, Math.round(bandHeight / 2), width, 1);
    for (const [from, to] of seen) {
      ctx.clearRect(left + view.x(from, width), 0, view.x(to, width) - view.x(from, width), bandHeight);
      ctx.fillStyle = palette.get("w-idle");
      ctx.fillRect(left + view.x(from, width), 0, view.x(to, width) - view.x(from, width), bandHeight);
    }
    ctx.fillStyle = palette.get(this.colour);
    for (let x = 0; x < w;) {
      const s = c.shares[x];
      const from = x;
      for (x++; x < w && (s > 0) === (c.shares[x] > 0) && Math.abs(c.shares[x] - s) < 0.02; x++);
      if (!s) continue;
      ctx.globalAlpha = 0.45 + 0.55 * s;
      ctx.fillRect(left + from * k, 0, (x - from) * k, bandHeight);
    }
    ctx.globalAlpha = 1;
    this.words(ctx, left, width);
    const time = seen.reduce((sum, [from, to]) => sum + to - from, 0), all = time > 0.999 * view.span;
    const figures = c.count === 0 ? (time === 0 ? "not recorded here" : all ? "none" : "none in the " + duration(time) + " recorded") :
      count(c.count) + " · longest " + duration(longestOf(band, c.longest)) + (time > 0 ? " · " + percent(Math.min(1, c.share * view.span / time)) + " of the " + (all ? "time" : duration(time) + " recorded") : "");
    this.figures.textContent = figures;
    surface.label(band.title + ": " + figures);
  }

  // words writes in those that are wide enough.
  words(ctx, left, width) {
    const { band, cover: c } = this, { view } = this.timeline;
    if (!band.text || c.last - c.first > 400) return;
    ctx.font = palette.font(10);
    ctx.fillStyle = palette.on(this.colour);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (let i = c.first; i < c.last; i++) {
      const a = Math.max(0, view.x(band.at[i], width)), b = Math.min(width, view.x(band.at[i] + band.dur[i], width));
      const text = b - a > 60 ? fit(ctx, band.text[i], b - a - 8) : "";
      if (text) ctx.fillText(text, left + a + 4, bandHeight / 2 + 0.5);
    }
  }

  count(out) { if (this.cover) out.bands[this.band.id] = this.cover.count; }

  under(x, y, t) {
    const { band } = this, { view, plotWidth, model } = this.timeline;
    const i = intervalAt(band, t, 3 * view.span / plotWidth);
    if (i < 0) return watched(band, t, t + 1).length ? null : [{ text: band.title, strong: true }, "not recorded at this time"];
    const n = band.number ? band.number[i] : 1;
    return [
      { text: band.title + " · " + duration(band.dur[i]), strong: true, colour: palette.get(this.colour) },
      "from " + moment(model, band.at[i], 1e3),
      band.text && band.text[i] ? band.text[i] : "",
      n > 1 ? count(n) + " drawn together, the longest " + duration(longestOf(band, i)) : "",
      band.source ? "from " + band.source : "",
    ].filter(Boolean);
  }
}

class AxisTrack extends Track {
  constructor(timeline) {
    super(timeline, "", "axis");
    this.surface = new Surface("");
    this.surface.canvas.removeAttribute("role");
    this.surface.canvas.setAttribute("aria-hidden", "true");
    this.element.replaceChildren(this.surface.canvas);
  }

  draw() {
    const { view, gutter, plotWidth, width, axis } = this.timeline;
    timeAxis(this.surface.clear(width, 22), view, gutter, plotWidth, 0, axis.ticks, axis.words);
  }
}
