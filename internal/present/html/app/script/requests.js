// The row of requests: every one a point, cells of points where they are crowded.

// cellSize is in CSS pixels: smaller where cells would be crowded.
const cellSize = (points, area) => (points * 9 < area * 0.7 ? 3 : 2);
const fewPoints = 4000; // so many are drawn as dots of their own
const fewSpans = 1200; // so many also show how long they lasted

class RequestTrack extends Track {
  constructor(timeline) {
    super(timeline, "Latency of requests", "requests");
    this.surface = new Surface("");
    this.element.append(this.surface.canvas);
    const { threshold } = timeline.model;
    const legend = (mark, text) => el("span", { class: "app-key" }, el("span", { class: "app-dot app-dot-" + mark, "aria-hidden": "true" }), text);
    this.figures.append(legend("usual", "a request"), legend("slow", threshold ? "slow, over " + duration(threshold) : "slow, by the rule of its route"));
    this.openKey = legend("open", "what it waited for is known: click");
    this.failedKey = legend("failed", "failed");
    this.figures.append(this.openKey, this.failedKey);
  }

  draw() {
    const { timeline: t, surface } = this, { view, points: p } = t;
    const whole = t.model.requests[t.source], of = t.report.route;
    this.title.textContent = "Latency of " + (of === null ? "the " + count(whole.count) + " requests" : of || "requests without a route") + (whole.source ? " in " + fileName(whole.source) : "") + ", by when they began";
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
      this.closed(f),
    ].filter(Boolean);
  }

  rows() {
    const { points: p } = this.timeline, d = this.density;
    if (!d || !d.requests || p.together) return [];
    let least = Infinity, sum = 0;
    for (let i = d.first; i < d.last; i++) {
      least = Math.min(least, p.latency[i]);
      sum += p.latency[i];
    }
    return [{ what: this.title.textContent + " (" + count(d.requests) + ", " + count(d.slowCount) + " slow)", least: duration(least), mean: p.number ? "" : duration(sum / (d.last - d.first)), most: duration(p.latency[d.slowest]), source: fileName(p.source) }];
  }

  picture() {
    const legend = [{ text: "a request", colour: palette.get("m-own") }];
    const { threshold } = this.timeline.model;
    legend.push({ text: threshold ? "slow, over " + duration(threshold) : "slow, by the rule of its route", colour: palette.get("accent") });
    return { title: this.title.textContent, legend, drawing: record(this.surface, () => this.draw()) };
  }

  // closed says why the request of a point cannot be opened.
  closed(flags) {
    const { model, report, points: p } = this.timeline;
    if (flags & isTraced) return "its states are not in this page, which keeps those of " + count(model.slow.length) + " requests" + (flags & isSlow ? "" : ", slow ones first");
    if (!model.slow.length) return "what it waited for was not recorded" + (report.hosts.request ? "" : ": see Not seen");
    const other = model.slow.request(0).source;
    return other === p.source ? "what it waited for was not recorded" : "what it waited for is known of requests in " + fileName(other) + " only: the rings";
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
