// Rows of what lasts: collector cycles, pauses, a quota's stops.

const bandColours = {
  "gc-cycle": "m-mark_assist", "gc-mark": "w-collector", "gc-concurrent": "w-collector", "stop-the-world": "w-stopped", "safepoint": "m-stop_the_world", "allocation-stall": "m-allocation_stall", "cpu-throttled": "m-host_cpu",
  "pool-starving": "m-task_wait", "pool-adjusted": "m-queue", "lock-wait": "m-lock", "command": "m-own", "server-stall": "m-background_cpu",
};

const bandHeight = 14;
const markWidth = 2; // of a moment

class BandTrack extends Track {
  constructor(timeline, band) {
    super(timeline, band.title, "band");
    this.band = band;
    this.colour = bandColours[band.id] || "m-unexplained";
    this.moments = band.at.every((_, i) => longestOf(band, i) === 0); // nothing of it lasts
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
      ctx.globalAlpha = this.moments ? 1 : 0.45 + 0.55 * s;
      const wide = (x - from) * k;
      ctx.fillRect(left + from * k, 0, this.moments ? Math.max(wide, markWidth) : wide, bandHeight);
    }
    ctx.globalAlpha = 1;
    this.words(ctx, left, width);
    const time = seen.reduce((sum, [from, to]) => sum + to - from, 0), all = time > 0.999 * view.span;
    const figures = c.count === 0 ? (time === 0 ? "not recorded here" : all ? "none" : "none in the " + duration(time) + " recorded") :
      this.moments ? count(c.count) + (c.count === 1 ? " time" : " times") : count(c.count) + " · longest " + duration(longestOf(band, c.longest)) + (time > 0 ? " · " + percent(Math.min(1, c.share * view.span / time)) + " of the " + (all ? "time" : duration(time) + " recorded") : "");
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

  rows() {
    const { band } = this, c = this.cover;
    if (!c) return [];
    return [{ what: band.title + ": " + (c.count ? count(c.count) : this.figures.textContent), most: c.count && !this.moments ? duration(longestOf(band, c.longest)) : "", source: band.source }];
  }

  picture() { return { title: this.title.textContent, note: this.figures.textContent, drawing: record(this.surface, () => this.draw()) }; }

  count(out) { if (this.cover) out.bands[this.band.id] = this.cover.count; }

  under(x, y, t) {
    const { band } = this, { view, plotWidth, model } = this.timeline;
    const i = intervalAt(band, t, 3 * view.span / plotWidth);
    if (i < 0) return watched(band, t, t + 1).length ? null : [{ text: band.title, strong: true }, "not recorded at this time"];
    const n = band.number ? band.number[i] : 1;
    return [
      { text: band.title + (this.moments ? "" : " · " + duration(band.dur[i])), strong: true, colour: palette.get(this.colour) },
      (this.moments && n === 1 ? "at " : "from ") + moment(model, band.at[i], 1e3),
      band.text && band.text[i] ? band.text[i] : "",
      n > 1 ? count(n) + " drawn together" + (this.moments ? "" : ", the longest " + duration(longestOf(band, i))) : "",
      band.source ? "from " + band.source : "",
    ].filter(Boolean);
  }
}
