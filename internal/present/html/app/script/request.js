// One slow request: what it did and waited for, a typical one beside it.

// So many states the table has before it is asked for all, on the screen and on paper.
const longest = 100, longestPrinted = 20;

class RequestPart {
  constructor(host, model, report) {
    this.model = model;
    this.report = report;
    this.index = -1;
    this.choice = choice("request", [], (i) => report.select(i));
    this.choice.hidden = false;
    this.none = el("p", { class: "app-status" });
    this.before = button("↑ slower", "the next slower request (k)", () => this.move(-1));
    this.after = button("↓ less slow", "the next less slow request (j)", () => this.move(1));
    this.inTimeline = button("in the timeline", "show this request in the timeline", () => report.goTo("timeline"));
    this.inProcessors = button("on the processors", "show this request on the processors", () => report.goTo("processors"));
    this.zoom = el("span", {});
    this.facts = el("p", { class: "app-facts" });
    this.legend = el("ul", { class: "app-legend" });
    this.surface = new Surface("");
    this.plot = el("div", { class: "app-stack", tabindex: 0, role: "application", "aria-roledescription": "time line of a request" }, this.surface.canvas);
    this.tip = new Tooltip(this.plot);
    this.table = el("table", { class: "app-table app-states" });
    this.more = button("show all", null, () => {
      this.all = !this.all;
      this.fill();
    });
    this.part = el("div", { class: "app-part" },
      el("div", { class: "app-bar" }, this.choice, el("span", { class: "app-buttons", role: "group", "aria-label": "other requests" }, this.before, this.after),
        this.zoom, el("span", { class: "app-buttons" }, this.inTimeline, this.inProcessors), this.save = el("span", {})),
      this.none, this.facts, this.plot, this.legend, el("div", { class: "app-scroll", tabindex: 0, role: "region", "aria-label": "States of the request" }, this.table), this.more);
    this.facts.setAttribute("aria-live", "polite");
    host.append(this.part);
    this.view = new View(0, 1);
    this.only(report.route);
    this.save.append(saver(model.subject, "request", () => [{
      name: "request " + (this.index + 1), make: () => {
        const drawing = record(this.surface, () => this.draw());
        this.draw();
        return [{ title: "Request " + (this.index + 1), note: this.facts.textContent, legend: this.sums.map(([m, d]) => ({ text: this.title(m) + " " + duration(d), colour: palette.get(palette.mechanism(m)) })), drawing }];
      },
    }]));
    this.zoom.append(zoomButtons(this.view, "request"));
    this.redraw = once(() => this.draw());
    this.view.onchange(this.redraw);
    gestures(this.plot, this.view, {
      plot: () => ({ left: this.left, width: this.width }),
      hover: (x, y) => this.hover(x, y),
      leave: () => this.leave(),
      tap: (x, y) => this.hover(x, y),
      key: (e) => this.key(e),
    });
    this.part.addEventListener("keydown", (e) => {
      if (e.target === this.plot || e.target.closest("select, input") || e.ctrlKey || e.metaKey || e.altKey) return;
      if (this.key(e)) e.preventDefault();
    });
  }

  key(e) {
    if (e.key === "j") this.move(1);
    else if (e.key === "k") this.move(-1);
    else return false;
    return true;
  }

  move(by) {
    const i = this.listed[this.listed.indexOf(this.index) + by];
    if (i !== undefined) this.report.select(i);
  }

  // only lists the requests of a route, null: of all.
  only(route) {
    const { model } = this;
    this.listed = [];
    const options = [];
    for (let i = 0; i < model.slow.length; i++) {
      const r = model.slow.request(i);
      if (route !== null && r.route !== route) continue;
      this.listed.push(i);
      options.push(el("option", { value: i }, "#" + (i + 1) + " · " + duration(r.latency) + (r.route ? " · " + r.route : "") + (model.anchored && !r.apart ? " · " + moment(model, r.at, 1e6) : "")));
    }
    this.none.hidden = this.listed.length > 0;
    if (!this.listed.length) {
      this.none.textContent = "No states are known of requests of " + (route || "no route") + ": this one is of another route.";
      this.only(null);
      this.none.hidden = false;
      return;
    }
    this.choice.select.replaceChildren(...options);
    this.choice.select.value = String(this.index);
    this.ends();
  }

  // ends says whether there are requests before and after this one in the list.
  ends() {
    const at = this.listed.indexOf(this.index);
    this.before.disabled = at === 0;
    this.after.disabled = at === this.listed.length - 1;
  }

  show(i) {
    const { model } = this;
    this.index = i;
    const r = this.request = model.slow.request(i);
    this.states = model.slow.states(i);
    this.typical = this.contrast(r);
    this.marked = -1;
    this.all = false;
    this.choice.select.value = String(i);
    this.ends();
    this.inTimeline.hidden = r.apart;
    this.inProcessors.hidden = this.report.traceOf(r) < 0;
    this.facts.replaceChildren(el("strong", {}, duration(r.latency)), [
      r.route, r.slow ? "" : "not slow", model.anchored && !r.apart ? "began " + moment(model, r.at, 1e3) + " UTC" : "began " + plain(r.at, 1e3) + " in", r.lane ? model.lanes + " " + r.lane : "",
      r.outcome && r.outcome !== "ok" ? r.outcome : "", this.states.length + (this.states.length === 1 ? " state" : " states"), r.origin ? "from " + r.origin : "",
    ].filter(Boolean).map((s) => " · " + s).join(""));
    const end = this.states.reduce((m, s) => Math.max(m, s.at + s.dur), r.latency);
    this.view.min = this.view.lo = 0;
    this.view.max = this.view.hi = Math.max(end, 1);
    this.view.least = Math.min(100, this.view.max);
    this.view.lo = 1; // not yet what set() is asked for, so that all who listen hear of it
    this.view.reset();
    this.sum();
    this.fill();
    this.draw();
  }

  // contrast is a request that was not slow: of the same route, if one is known.
  contrast(r) {
    const { typical } = this.model;
    let best = -1;
    for (let i = 0; i < typical.length; i++) {
      const same = typical.request(i).route === r.route;
      if (best < 0 || same && typical.request(best).route !== r.route) best = i;
    }
    return best < 0 ? null : { request: typical.request(best), states: typical.states(best) };
  }

  // charged calls f with what a state is charged to, in parts if it is split.
  charged(s, f) {
    let rest = s.dur;
    for (const p of s.parts) {
      f(p.mechanism, p.dur);
      rest -= p.dur;
    }
    if (rest > 0 || !s.parts.length) f(s.mechanism, rest);
  }

  sum() {
    const by = new Map();
    for (const s of this.states) this.charged(s, (m, d) => by.set(m, (by.get(m) || 0) + d));
    this.kinds = [...by.keys()];
    if (this.typical) for (const s of this.typical.states) this.charged(s, (m) => { if (!this.kinds.includes(m)) this.kinds.push(m); });
    this.sums = [...by].sort((a, b) => b[1] - a[1]);
    this.legend.replaceChildren(...this.sums.map(([m, d]) =>
      el("li", {}, swatch(palette.get(palette.mechanism(m))), this.title(m) + " ", el("strong", {}, duration(d)), el("span", { class: "app-muted" }, " " + percent(d / this.request.latency).replaceAll(" ", "\u00a0")))));
  }

  title(m) { return this.model.titles[m] || m || "unexplained"; }

  draw() {
    if (!this.request) return;
    const width = this.plot.clientWidth;
    if (!width) return;
    this.left = 0;
    this.width = width;
    const lane = 46, small = 20;
    const rows = [{ y: 18, h: lane, states: this.states, words: "this request, " + duration(this.request.latency), latency: this.request.latency }];
    if (this.typical) {
      rows.push({ y: 18 + lane + 24, h: small, states: this.typical.states, latency: this.typical.request.latency,
        words: "one that was not slow, " + duration(this.typical.request.latency) + (this.typical.request.route ? ", " + this.typical.request.route : "") + ", at the same scale" });
    }
    this.rows = rows;
    const bottom = rows[rows.length - 1].y + rows[rows.length - 1].h;
    const ctx = this.surface.clear(width, bottom + 24);
    const { step, ticks } = timeTicks(this.view.lo, this.view.hi, width, 80, 0);
    ctx.strokeStyle = palette.get("line");
    ctx.lineWidth = 1;
    ctx.beginPath();
    for (const t of ticks) {
      const x = Math.round(this.view.x(t, width)) + 0.5;
      ctx.moveTo(x, 18);
      ctx.lineTo(x, bottom);
    }
    ctx.stroke();
    for (const row of rows) this.drawRow(ctx, row);
    timeAxis(ctx, this.view, 0, width - 8, bottom + 1, ticks, (t) => plain(t, step, this.view.hi));
    const text = this.sums.slice(0, 5).map(([m, d]) => this.title(m) + " " + duration(d)).join(", ");
    this.surface.label("States of the request over its " + duration(this.request.latency) + ": " + text);
    this.plot.setAttribute("aria-label", "Time line of request " + (this.index + 1) + ", " + duration(this.request.latency) + ": " + text + ". The table below has the same. j and k go to other requests, plus and minus zoom.");
  }

  drawRow(ctx, row) {
    const { view, width, kinds } = this, ratio = this.surface.ratio;
    ctx.font = palette.font(11);
    ctx.fillStyle = palette.get("muted");
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillText(fit(ctx, row.words, width), 0, row.y - 5);
    const w = Math.max(1, Math.round(width * ratio)), k = width / w;
    const known = new Map(kinds.map((m, i) => [m, i]));
    const table = shares(view.lo, view.hi, w, kinds.length, (add) => {
      for (const s of row.states) {
        if (s.at > view.hi || s.at + s.dur < view.lo) continue;
        this.charged(s, (m, d) => { if (s.dur) add(s.at, s.at + s.dur, known.get(m), d / s.dur); });
      }
    });
    drawRuns(ctx, table, w, kinds.map((m) => palette.mechanism(m)), k, 0, row.y, row.h);
    // edges and words of those that are wide enough
    ctx.font = palette.font(11);
    ctx.textBaseline = "middle";
    ctx.strokeStyle = palette.get("bg");
    for (const s of row.states) {
      const a = view.x(s.at, width), b = view.x(s.at + s.dur, width);
      if (b < 0 || a > width || b - a < 4) continue;
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(b, row.y);
      ctx.lineTo(b, row.y + row.h);
      ctx.stroke();
      const left = Math.max(a, 0), room = Math.min(b, width) - left - 8;
      if (room < 24 || row.h < 30) continue;
      // in the part of the height that is its mechanism's
      let above = 0, own = 0;
      this.charged(s, (m, d) => {
        const part = s.dur ? d / s.dur * row.h : row.h;
        if (m === s.mechanism) own += part;
        else if (known.get(m) < known.get(s.mechanism)) above += part;
      });
      const lines = own < 15 ? [] : [this.title(s.mechanism), ...(own < 32 ? [] : [duration(s.dur)])].map((l) => fit(ctx, l, room)).filter(Boolean);
      ctx.fillStyle = palette.on(palette.mechanism(s.mechanism));
      lines.forEach((l, n) => ctx.fillText(l, left + 4, row.y + above + own / 2 + (n - (lines.length - 1) / 2) * 15 + 0.5));
    }
    if (row === this.rows[0] && this.marked >= 0) {
      const s = this.states[this.marked];
      const a = Math.max(view.x(s.at, width), 0), b = Math.min(view.x(s.at + s.dur, width), width);
      ctx.strokeStyle = palette.get("ink");
      ctx.lineWidth = 2;
      ctx.strokeRect(a, row.y - 1, Math.max(b - a, 2), row.h + 2);
    }
  }

  stateAt(states, t, slack) {
    let best = -1, distance = slack;
    states.forEach((s, i) => {
      const d = t < s.at ? s.at - t : t > s.at + s.dur ? t - s.at - s.dur : 0;
      if (d < distance || d === 0 && (best < 0 || states[best].dur > s.dur || distance > 0)) {
        best = i;
        distance = d;
      }
    });
    return best;
  }

  hover(x, y) {
    const row = this.rows && this.rows.find((r) => y >= r.y - 2 && y <= r.y + r.h + 2);
    const t = this.view.time(x, this.width);
    const i = row ? this.stateAt(row.states, t, 3 * this.view.span / this.width) : -1;
    if (i < 0) {
      this.leave();
      return;
    }
    if (row === this.rows[0]) this.highlight(i);
    const s = row.states[i];
    const lines = [{ text: this.title(s.mechanism) + " · " + duration(s.dur), strong: true, colour: palette.get(palette.mechanism(s.mechanism)) },
      s.kind + (s.number > 1 ? ", " + count(s.number) + " states drawn together" : "") + ", " + plain(s.at, 1e3) + " in", s.what, s.holder ? (s.holder.startsWith("CPUs: ") ? "" : "held by ") + s.holder : ""];
    if (s.parts.length > 1) this.charged(s, (m, d) => { if (d > 0) lines.push({ text: this.title(m) + " " + duration(d), colour: palette.get(palette.mechanism(m)) }); });
    if (s.where) lines.push(s.where);
    this.tip.show(x, y, lines.filter(Boolean));
  }

  leave() {
    this.tip.hide();
    this.highlight(-1);
  }

  highlight(i) {
    if (this.marked === i) return;
    this.marked = i;
    for (const tr of this.table.querySelectorAll("tr[data-i]")) tr.classList.toggle("app-marked", Number(tr.dataset.i) === i);
    this.redraw();
  }

  fill() {
    const order = this.states.map((_, i) => i);
    let shown = order;
    const most = printing ? longestPrinted : longest;
    if (!this.all && order.length > most) {
      shown = order.slice().sort((a, b) => this.states[b].dur - this.states[a].dur).slice(0, most).sort((a, b) => a - b);
    }
    const some = (f) => this.states.some(f);
    const columns = [
      ["at", (s) => plain(s.at, 1e3, this.request.latency), "app-num"], ["took", (s) => duration(s.dur), "app-num"], ["state", (s) => s.kind + (s.number > 1 ? " ×" + s.number : "")],
      ["charged to", (s) => this.chargedCell(s), "app-charged"],
      some((s) => s.what) && ["what", (s) => s.what, "app-long"], some((s) => s.holder) && ["held by", (s) => s.holder.replaceAll(" %", "\u00a0%"), "app-long"], some((s) => s.where) && ["where", (s) => s.where, "app-where"],
    ].filter(Boolean);
    const head = el("thead", {}, el("tr", {}, ...columns.map(([name, , c]) => el("th", { scope: "col", class: c === "app-num" ? c : null }, name))));
    const body = el("tbody", {}, ...shown.map((i) => {
      const s = this.states[i];
      const tr = el("tr", { "data-i": i, tabindex: -1 }, ...columns.map(([name, f, c]) => {
        const v = f(s);
        return el("td", { class: c || null, "data-label": v ? name : null }, v);
      }));
      tr.addEventListener("pointerenter", () => this.highlight(i));
      tr.addEventListener("focus", () => this.highlight(i));
      tr.addEventListener("click", () => {
        const room = Math.max(s.dur, this.view.max / 1000);
        if (s.at < this.view.lo || s.at + s.dur > this.view.hi || s.dur < this.view.span / 100) this.view.set(s.at - room, s.at + s.dur + room);
        this.highlight(i);
      });
      return tr;
    }));
    body.addEventListener("pointerleave", () => this.highlight(-1));
    body.addEventListener("keydown", (e) => this.step(e));
    if (body.firstChild) body.firstChild.tabIndex = 0;
    this.table.replaceChildren(el("caption", { class: "app-spoken" }, "States of request " + (this.index + 1)), head, body);
    this.more.hidden = this.states.length <= most || printing && this.all;
    this.more.textContent = this.all ? "show the " + most + " longest" : "the " + most + " longest of " + count(this.states.length) + (printing ? " states" : " · show all");
  }

  step(e) {
    const tr = e.target.closest("tr");
    const next = e.key === "ArrowDown" ? tr.nextElementSibling : e.key === "ArrowUp" ? tr.previousElementSibling : null;
    if (!next) {
      if (e.key === "Enter") tr.click();
      return;
    }
    e.preventDefault();
    tr.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  chargedCell(s) {
    const out = el("span", {});
    const parts = [];
    this.charged(s, (m, d) => { if (d > 0 || !s.dur) parts.push([m, d]); });
    parts.sort((a, b) => b[1] - a[1]);
    for (const [m, d] of parts) {
      out.append(el("span", { class: "app-key" }, swatch(palette.get(palette.mechanism(m))), this.title(m) + (parts.length > 1 ? " " + duration(d).replaceAll(" ", "\u00a0") : "")), " ");
    }
    return out;
  }

  steps() {
    if (this.index < 0) return [() => this.show(this.report.index)];
    this.sum();
    return [() => this.fill(), () => this.draw()];
  }
}

// drawRuns paints a table of shares: one colour where there is one kind, else the
// kinds stacked.
function drawRuns(ctx, table, width, colours, k, left, y, h) {
  for (const run of runs(table, width, colours.length)) {
    let sum = 0;
    for (let c = 0; c < colours.length; c++) sum += table[run.o + c];
    if (!(sum > 0)) continue;
    const full = sum < 1 && sum > 0.98 ? 1 : Math.max(sum, 1);
    let top = y;
    for (let c = 0; c < colours.length; c++) {
      const part = table[run.o + c] / (full === 1 && sum > 0.98 ? sum : full);
      if (!part) continue;
      ctx.fillStyle = palette.get(colours[c]);
      ctx.fillRect(left + run.from * k, top, (run.to - run.from) * k, part * h);
      top += part * h;
    }
  }
}
