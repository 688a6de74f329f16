// The timeline: requests over time and latency, bands and curves on the same axis.

const gutterOf = (width) => (width < 600 ? 52 : 58);
const rightEdge = 10;

class Timeline {
  constructor(host, model, report) {
    this.model = model;
    this.report = report;
    this.view = new View(0, model.span);
    this.source = model.charged;
    this.status = new Status();
    this.apart = el("p", { class: "app-status" }, "Points and rings are from different sources, which see a request begin at different moments: the same request may be shown at two latencies.");
    this.stack = el("div", {
      class: "app-stack", tabindex: 0, role: "application", "aria-roledescription": "timeline",
      "aria-label": "Timeline of " + model.subject + ". Plus and minus zoom, arrow keys move, Escape shows all, Enter opens the slowest request in view.",
    });
    this.cross = el("div", { class: "app-cross", "aria-hidden": "true" });
    this.mark = el("div", { class: "app-mark", "aria-hidden": "true" });
    this.cross.hidden = this.mark.hidden = true;
    this.when = el("span", { class: "app-when", "aria-hidden": "true" });
    this.sources = choice("requests of", model.requests.map((r, i) => (fileName(r.source) || "the evidence") + ": " + count(r.count) + (i === model.charged && model.routes.length ? ", whose slow time is charged above" : "")), (i) => {
      this.show(i);
      report.noted("timeline");
    });
    this.sources.select.value = String(this.source);
    host.append(el("div", { class: "app-part" },
      this.bar = el("div", { class: "app-bar" }, this.sources, zoomButtons(this.view, "timeline"), hint()),
      this.status.element, this.apart, this.stack));
    this.tracks = [];
    if (model.requests.length) this.tracks.push(new RequestTrack(this));
    for (const b of model.bands) if (b.at.length) this.tracks.push(new BandTrack(this, b));
    for (const c of model.charts) if (c.curves.length) this.tracks.push(new ChartTrack(this, c));
    if (this.tracks.length > (model.requests.length ? 1 : 0)) this.tracks.push(new AxisTrack(this));
    for (const t of this.tracks) this.stack.append(t.element);
    this.bar.insertBefore(saver(model.subject, "timeline", () => this.pictures()), this.bar.lastChild);
    this.table = el("table", { class: "app-table app-curves" });
    this.figures = el("details", { class: "app-details" }, el("summary", {}, "the same in figures, for the time above"),
      el("div", { class: "app-scroll", tabindex: 0, role: "region", "aria-label": "Figures of the timeline" }, this.table));
    this.figures.addEventListener("toggle", () => this.fill());
    host.lastChild.append(this.figures);
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
    this.view.onchange(() => report.noted("timeline"));
    this.prepare();
  }

  // show shows the requests of a source.
  show(i) {
    this.source = i;
    this.sources.select.value = String(i);
    this.prepare();
    this.draw();
  }

  // only shows the requests of a route, null: of all; of a source that knows it.
  only(route) {
    const knows = (i) => this.model.requests[i].routes.includes(route), { requests } = this.model;
    if (route !== null && requests.length && !knows(this.source)) this.source = Math.max(requests.findIndex((_, i) => knows(i)), 0);
    if (requests.length) this.show(this.source);
    else this.draw();
  }

  // prepare lays out the points of the source that was chosen.
  prepare() {
    const p = this.model.requests[this.source] || null, { route } = this.report;
    this.points = p && route !== null ? ofRoute(p, route) : p;
    this.apart.hidden = true;
    if (!p) return;
    let low = Infinity, high = 0; // of all routes, so that they can be compared
    for (const v of p.latency) {
      if (v > high) high = v;
      if (v < low) low = v;
    }
    // Requests whose states are known can be opened, whatever source they are of.
    const { slow } = this.model, all = [];
    for (let i = 0; i < slow.length; i++) {
      const r = slow.request(i);
      if (!r.apart && (route === null || r.route === route)) all.push({ ...r, index: i });
    }
    all.sort((a, b) => a.at - b.at);
    this.apart.hidden = all.every((r) => r.source === p.source);
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

  draw() { for (const step of this.steps()) step(); }

  steps() {
    this.measure();
    if (!this.width) return []; // not shown
    this.axis = windowTicks(this.model, this.view, this.plotWidth);
    const { route } = this.report;
    const apart = this.model.charts.some((c) => c.route === route && c.route);
    for (const t of this.tracks) t.element.hidden = Boolean(t.chart && (t.chart.route ? t.chart.route !== route : apart && t.chart.id === "slow"));
    return [...this.tracks.filter((t) => !t.element.hidden).map((t) => () => t.draw()), () => {
      this.drawMark();
      this.say();
      this.fill();
    }];
  }

  // fill writes what is drawn as a table, if that is open.
  fill() {
    if (!this.figures.open || !this.width) return;
    const rows = this.tracks.filter((t) => !t.element.hidden).flatMap((t) => t.rows());
    this.table.replaceChildren(el("caption", { class: "app-spoken" }, "Figures of the timeline"),
      el("thead", {}, el("tr", {}, ...["what", "least", "mean", "most", "from"].map((h, i) => el("th", { scope: "col", class: i > 0 && i < 4 ? "app-num" : null }, h)))),
      el("tbody", {}, ...rows.map((r) => el("tr", {}, el("th", { scope: "row" }, r.what), ...["least", "mean", "most"].map((k) => el("td", { class: "app-num", "data-label": r[k] ? k : null }, r[k] || "")), el("td", {}, r.source || "")))));
  }

  // pictures are what can be saved: all of it, or one row with the axis.
  pictures() {
    const shown = this.tracks.filter((t) => t.picture && !t.element.hidden), axis = this.tracks.find((t) => t instanceof AxisTrack);
    const one = (t, last) => {
      const p = t.picture(), a = axis && last && !(t instanceof RequestTrack) ? record(axis.surface, () => axis.draw()) : null;
      if (a) {
        p.drawing.out.push(`<g transform="translate(0 ${p.drawing.height})">`, ...a.out, "</g>");
        p.drawing.height += a.height;
      }
      t.draw();
      if (a) axis.draw();
      return p;
    };
    const note = (all) => {
      all[0].note = [this.status.shown.textContent, all[0].note].filter(Boolean).join(" · ");
      return all;
    };
    return [{ name: "all of the timeline", make: () => note(shown.map((t, i) => one(t, i === shown.length - 1))) },
      ...shown.map((t) => ({ name: t.name || t.title.textContent, make: () => note([one(t, true)]) }))];
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
    if (this.points && this.points.together) {
      words.push("only " + this.report.route + ": points, each the slowest of the requests drawn together");
    } else if (this.points) {
      if (this.report.route !== null) words.push("only " + (this.report.route || "requests without a route"));
      words.push(c.requests === 0 ? "no requests" : count(c.requests) + (c.requests === 1 ? " request" : " requests") + ", " + count(c.slow) + " slow" + (c.failed ? ", " + count(c.failed) + " failed" : ""));
      if (c.requests) words.push("slowest " + duration(c.slowest));
    }
    const cycles = c.bands["gc-cycle"] !== undefined ? c.bands["gc-cycle"] : c.bands["gc-mark"];
    if (cycles !== undefined) words.push(count(cycles) + (cycles === 1 ? " GC cycle" : " GC cycles"));
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

  // rows are its figures in words: {what, least, mean, most, source}.
  rows() { return []; }
  count() {}
  at() {}
  under() { return null; }
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
