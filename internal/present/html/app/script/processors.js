// Processors: what each P of a trace ran, and the requests in flight meanwhile.

const workTitles = {
  idle: "idle", request: "requests", assist: "requests, helping GC (mark assist)", collector: "GC workers", background: "background goroutines",
  runtime: "the runtime", stopped: "stop-the-world",
};
const mostFlights = 14; // rows of requests in flight

class ProcessorsPart {
  constructor(host, model, report) {
    this.model = model;
    this.report = report;
    this.choice = choice("trace", model.processors.map((p) => p.source || "trace"), (i) => this.trace(i));
    this.here = button("go to the request", "show the chosen request on the processors", () => this.goTo(this.report.selected));
    this.zoom = el("span", {});
    this.status = new Status();
    this.surface = new Surface("");
    this.flights = new Surface("");
    this.flightsHead = el("div", { class: "app-head" });
    this.stack = el("div", { class: "app-stack", tabindex: 0, role: "application", "aria-roledescription": "processors over time" },
      this.surface.canvas, this.flightsHead, this.flights.canvas);
    this.legend = el("ul", { class: "app-legend" });
    this.table = el("table", { class: "app-table app-shares" });
    this.mark = el("div", { class: "app-mark", "aria-hidden": "true" });
    this.cross = el("div", { class: "app-cross", "aria-hidden": "true" });
    this.when = el("span", { class: "app-when" });
    this.cross.append(this.when);
    this.mark.hidden = this.cross.hidden = true;
    this.stack.append(this.mark, this.cross);
    this.tip = new Tooltip(this.stack);
    this.view = new View(0, 1);
    this.zoom.append(zoomButtons(this.view, "trace"));
    host.append(el("div", { class: "app-part" },
      el("div", { class: "app-bar" }, this.choice, this.zoom, el("span", { class: "app-buttons" }, this.here),
        saver(model.subject, "processors", () => [{ name: "processors", make: () => this.picture() }]), hint()),
      this.status.element, this.legend, this.stack,
      el("details", { class: "app-details" }, el("summary", {}, "share of time by work, for each processor, in the window above"),
        el("div", { class: "app-scroll", tabindex: 0, role: "region", "aria-label": "Share of time by work" }, this.table))));
    this.redraw = once(() => this.draw());
    this.view.onchange(this.redraw);
    gestures(this.stack, this.view, {
      plot: () => ({ left: this.gutter, width: this.width }),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.leave(),
      tap: (x, y) => this.tap(x, y),
    });
    let busiest = 0;
    model.processors.forEach((p, i) => { if (this.spans(p) > this.spans(model.processors[busiest])) busiest = i; });
    this.trace(busiest, true);
  }

  spans(p) { return p.lanes.reduce((n, l) => n + l.at.length, 0); }

  trace(i, quiet) {
    const p = this.model.processors[i];
    this.current = i;
    this.data = p;
    this.choice.select.value = String(i);
    this.kinds = p.works.length;
    this.view.min = 0;
    this.view.max = Math.max(p.span, 1);
    this.view.least = Math.min(100, this.view.max);
    this.view.lo = 0;
    this.view.hi = this.view.max;
    const { slow } = this.model;
    this.inTrace = [];
    for (let k = 0; k < slow.length; k++) {
      const r = slow.request(k);
      const at = r.at - p.at;
      if (this.report.traceOf(r) === i) this.inTrace.push({ index: k, at, until: at + r.latency, latency: r.latency });
    }
    if (quiet) return;
    for (const f of this.view.listeners) f(this.view);
    this.draw();
  }

  picture() {
    const lanes = record(this.surface, () => this.draw()), flights = record(this.flights, () => this.draw());
    this.draw();
    const all = [{
      title: "What " + this.data.lanes.length + " processors ran", note: this.status.shown.textContent, drawing: lanes,
      legend: [...this.legend.children].map((li) => ({ text: li.textContent, colour: li.firstChild.style.background })),
    }];
    if (flights.height) all.push({ title: this.flightsHead.textContent, drawing: flights });
    return all;
  }

  // goTo shows a request of the traces.
  goTo(r) {
    const i = r ? this.report.traceOf(r) : -1;
    if (i < 0) return;
    if (i !== this.current) this.trace(i);
    const at = r.at - this.data.at;
    this.view.set(at - r.latency * 0.25, at + r.latency * 1.25);
    this.draw();
  }

  steps() { return [() => this.draw()]; }

  draw() {
    const total = this.stack.clientWidth;
    if (!total) return;
    const { data, view } = this;
    const r = this.report.selected;
    this.here.disabled = !r || this.report.traceOf(r) < 0;
    this.gutter = Math.max(30, 12 + 7 * Math.max(...data.lanes.map((l) => l.name.length), 1));
    const width = this.width = Math.max(total - this.gutter - rightEdge, 20);
    const n = data.lanes.length;
    this.laneHeight = n <= 16 ? 24 : n <= 48 ? 16 : 11;
    this.gap = n <= 48 ? 3 : 1;
    const height = this.height = n * (this.laneHeight + this.gap);
    const ctx = this.surface.clear(total, height + 22);
    const { ticks, step, words } = this.ticks(width);
    this.step = step;
    ctx.font = palette.font(Math.min(11, this.laneHeight));
    const colours = data.works.map((w) => "w-" + w);
    const ratio = this.surface.ratio, w = Math.max(1, Math.round(width * ratio)), k = width / w;
    const chosen = this.report.index + 1;
    this.totals = [];
    data.lanes.forEach((l, i) => {
      const y = i * (this.laneHeight + this.gap);
      ctx.fillStyle = palette.get("w-idle");
      ctx.fillRect(this.gutter, y, width, this.laneHeight);
      const table = shares(view.lo, view.hi, w, this.kinds, (add) => laneSpans(l, view.lo, view.hi, (from, to, work, part) => { if (work) add(from, to, work, part); }));
      drawRuns(ctx, table, w, colours, k, this.gutter, y, this.laneHeight);
      this.names(ctx, l, y, width);
      if (chosen > 0 && l.request) this.markSpans(ctx, l, y, width, chosen);
      ctx.fillStyle = palette.get("muted");
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      ctx.font = palette.font(Math.min(11, this.laneHeight));
      ctx.fillText(l.name, this.gutter - 6, y + this.laneHeight / 2 + 0.5);
      this.totals.push(laneTotals(l, view.lo, view.hi, this.kinds));
    });
    timeAxis(ctx, view, this.gutter, width, height, ticks, words);
    this.drawFlights(total, ticks);
    this.shadeRequest();
    this.say();
  }

  ticks(width) {
    if (this.data.apart || !this.model.anchored) {
      const t = timeTicks(this.view.lo, this.view.hi, width, 80, 0);
      return { ...t, words: (v) => plain(v, t.step, this.view.hi) };
    }
    const at = this.data.at;
    const w = windowTicks(this.model, { lo: this.view.lo + at, hi: this.view.hi + at }, width);
    return { step: w.step, ticks: w.ticks.map((t) => t - at), words: (t, i) => w.words(t + at, i) };
  }

  moment(t, step) {
    return this.data.apart || !this.model.anchored ? plain(t, step) : moment(this.model, t + this.data.at, step);
  }

  // names writes the functions in spans that are wide enough.
  names(ctx, l, y, width) {
    if (this.laneHeight < 16) return;
    const { view } = this;
    const first = Math.max(0, upperBound(l.at, view.lo) - 1), last = lowerBound(l.at, view.hi);
    if (last - first > 2000) return;
    ctx.font = palette.font(10);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (let i = first; i < last; i++) {
      const a = Math.max(0, view.x(l.at[i], width)), b = Math.min(width, view.x(l.at[i] + l.dur[i], width));
      if (b - a < 34 || !l.work[i]) continue;
      const name = l.text(i) || workTitles[this.data.works[l.work[i]]];
      const text = fit(ctx, name, b - a - 6);
      if (!text) continue;
      ctx.fillStyle = palette.on("w-" + this.data.works[l.work[i]]);
      ctx.fillText(text, this.gutter + a + 3, y + this.laneHeight / 2 + 0.5);
    }
  }

  markSpans(ctx, l, y, width, chosen) {
    const { view } = this;
    const last = lowerBound(l.at, view.hi);
    ctx.fillStyle = palette.get("ink");
    for (let i = Math.max(0, upperBound(l.at, view.lo) - 1); i < last; i++) {
      if (l.request[i] !== chosen) continue;
      const a = Math.max(0, view.x(l.at[i], width)), b = Math.min(width, view.x(l.at[i] + l.dur[i], width));
      ctx.fillRect(this.gutter + a, y + this.laneHeight - 3, Math.max(b - a, 2), 4);
    }
  }

  // drawFlights shows the slowest requests in view as rows of their states.
  drawFlights(total, ticks) {
    const { view, width, gutter, model } = this;
    const inView = this.inTrace.filter((f) => f.until > view.lo && f.at < view.hi);
    const chosen = this.report.index;
    const own = inView.find((f) => f.index === chosen); // the chosen one has the first row to itself
    const others = inView.filter((f) => f !== own).sort((a, b) => b.latency - a.latency).slice(0, 60).sort((a, b) => a.at - b.at);
    const row = pack(others), first = own ? 1 : 0;
    this.flown = own ? [{ ...own, row: 0 }] : [];
    others.forEach((f, i) => { if (row[i] + first < mostFlights) this.flown.push({ ...f, row: row[i] + first }); });
    const kept = this.flown.length;
    this.flightsHead.textContent = !inView.length ? (this.inTrace.length ? "No request whose states are kept is in flight here" : "") :
      (kept < inView.length ? "The slowest requests in flight, " + count(kept) + " of the " + count(inView.length) + " whose states are kept (zoom in for the others)" : "Requests in flight whose states are kept") + ", in the colours of what each was charged to";
    const used = kept ? Math.max(...this.flown.map((f) => f.row)) + 1 : 0;
    const h = 9, gap = 3;
    this.flightHeight = h + gap;
    this.flights.canvas.hidden = !used;
    if (!used) return;
    const ctx = this.flights.clear(total, used * (h + gap) + 2);
    ctx.strokeStyle = palette.get("line");
    ctx.beginPath();
    for (const t of ticks) {
      const x = Math.round(gutter + view.x(t, width)) + 0.5;
      ctx.moveTo(x, 0);
      ctx.lineTo(x, used * (h + gap));
    }
    ctx.stroke();
    for (const f of this.flown) {
      const a = Math.max(0, view.x(f.at, width)), b = Math.min(width, view.x(f.until, width));
      const w = Math.max(1, Math.round((b - a) * this.flights.ratio));
      const lo = Math.max(view.lo, f.at) - f.at, hi = Math.min(view.hi, f.until) - f.at;
      const states = model.slow.states(f.index);
      const kinds = [...new Set(states.flatMap((s) => [s.mechanism, ...s.parts.map((p) => p.mechanism)]))];
      const table = shares(lo, hi, w, kinds.length, (add) => {
        for (const s of states) {
          if (!s.parts.length) add(s.at, s.at + s.dur, kinds.indexOf(s.mechanism), 1);
          else for (const p of s.parts) add(s.at, s.at + s.dur, kinds.indexOf(p.mechanism), s.dur ? p.dur / s.dur : 0);
        }
      });
      drawRuns(ctx, table, w, kinds.map((m) => palette.mechanism(m)), (b - a) / w, gutter + a, f.row * (h + gap) + 1, h);
      if (f.index !== chosen) continue;
      ctx.strokeStyle = palette.get("ink");
      ctx.lineWidth = 1.5;
      ctx.strokeRect(gutter + a, f.row * (h + gap) + 0.5, Math.max(b - a, 2), h + 1);
    }
    this.flights.label(count(kept) + " requests in flight, each a bar of the states it was in");
  }

  shadeRequest() {
    const r = this.report.selected, { view, width } = this;
    const at = r && this.report.traceOf(r) === this.current ? r.at - this.data.at : null;
    this.mark.hidden = at === null || at > view.hi || at + r.latency < view.lo;
    if (this.mark.hidden) return;
    const a = Math.max(0, view.x(at, width)), b = Math.min(width, view.x(at + r.latency, width));
    this.mark.style.left = this.gutter + a + "px";
    this.mark.style.width = Math.max(b - a, 1) + "px";
  }

  say() {
    const { view, data } = this;
    const all = new Float64Array(this.kinds);
    for (const t of this.totals) t.forEach((v, k) => { all[k] += v; });
    const sum = all.reduce((a, b) => a + b, 0) || 1;
    const step = Math.pow(10, Math.floor(Math.log10(view.span)) - 2);
    this.status.say(this.moment(view.lo, step) + " to " + this.moment(view.hi, step) + " · " + duration(view.span) + " · " +
      data.lanes.length + (data.lanes.length === 1 ? " processor" : " processors"));
    this.legend.replaceChildren(...data.works.map((w, k) => el("li", {}, swatch(palette.get("w-" + w)), workTitles[w] + " ", el("strong", {}, percent(all[k] / sum)))));
    const words = data.works.map((w, k) => workTitles[w] + " " + percent(all[k] / sum)).filter((_, k) => all[k] > 0).join(", ");
    this.surface.label("What " + data.lanes.length + " processors ran: " + words);
    this.stack.setAttribute("aria-label", "What " + data.lanes.length + " processors ran over " + duration(view.span) + ": " + words + ". Plus and minus zoom, arrow keys move, Escape shows all.");
    this.table.replaceChildren(el("caption", { class: "app-spoken" }, "Share of time by work"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "processor"), ...data.works.map((w) => el("th", { scope: "col", class: "app-num" }, workTitles[w])))),
      el("tbody", {}, ...data.lanes.map((l, i) => el("tr", {}, el("th", { scope: "row" }, l.name),
        ...data.works.map((w, k) => el("td", { class: "app-num", "data-label": workTitles[w] }, percent(this.totals[i][k] / view.span)))))));
  }

  // shares is the table as numbers.
  shares() {
    return this.data.lanes.map((l, i) => Object.fromEntries([["lane", l.name], ...this.data.works.map((w, k) => [w, this.totals[i][k] / this.view.span])]));
  }

  hover(x, y) {
    const { view, data } = this;
    if (x < this.gutter - 2 || x > this.gutter + this.width + 2) {
      this.leave();
      return;
    }
    const t = view.time(x - this.gutter, this.width);
    this.cross.hidden = false;
    this.cross.style.left = x + "px";
    this.when.textContent = this.moment(t, Math.max(1, Math.pow(10, Math.floor(Math.log10(view.span / this.width)))));
    this.when.classList.toggle("app-flip", x > this.gutter + this.width - 110);
    const i = Math.floor(y / (this.laneHeight + this.gap));
    const flight = this.flightAt(t, y);
    this.stack.classList.toggle("app-hit", flight !== null);
    if (flight) {
      const r = this.model.slow.request(flight.index);
      this.tip.show(x, y, [{ text: "request #" + (flight.index + 1) + " · " + duration(r.latency), strong: true }, r.route, "click: what it waited for"].filter(Boolean));
      return;
    }
    if (i < 0 || i >= data.lanes.length) {
      this.tip.hide();
      return;
    }
    const l = data.lanes[i], s = spanAt(l, t, 2 * view.span / this.width);
    if (s < 0) {
      this.tip.show(x, y, [{ text: l.name + " · idle", strong: true, colour: palette.get("w-idle") }]);
      return;
    }
    const work = data.works[l.work[s]];
    const lines = [{ text: l.name + " · " + workTitles[work] + " · " + duration(l.dur[s]), strong: true, colour: palette.get("w-" + work) }, l.text(s), "from " + this.moment(l.at[s], 1e3)];
    for (let k = lowerBound(l.share, s); l.share[k] === s; k++) {
      if (l.sharePart[k] > 0) lines.push({ text: workTitles[data.works[l.shareWork[k]]] + " " + percent(l.sharePart[k]), colour: palette.get("w-" + data.works[l.shareWork[k]]) });
    }
    if (l.request && l.request[s] > 0) lines.push("request #" + l.request[s] + " · click: what it waited for");
    this.tip.show(x, y, lines.filter(Boolean));
  }

  flightAt(t, y) {
    const top = this.flights.canvas.offsetTop;
    if (this.flights.canvas.hidden || y < top) return null;
    const row = Math.floor((y - top) / this.flightHeight), slack = 3 * this.view.span / this.width;
    return (this.flown || []).find((f) => f.row === row && t >= f.at - slack && t <= f.until + slack) || null;
  }

  tap(x, y) {
    this.hover(x, y);
    const t = this.view.time(x - this.gutter, this.width);
    const flight = this.flightAt(t, y);
    if (flight) {
      this.report.select(flight.index, true);
      return;
    }
    const l = this.data.lanes[Math.floor(y / (this.laneHeight + this.gap))];
    const s = l ? spanAt(l, t, 2 * this.view.span / this.width) : -1;
    if (s >= 0 && l.request && l.request[s] > 0) this.report.select(l.request[s] - 1, true);
  }

  leave() {
    this.cross.hidden = true;
    this.tip.hide();
  }
}
