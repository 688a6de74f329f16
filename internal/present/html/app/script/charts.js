// Curves over time, drawn by uPlot on the timeline's axis.

const curveColours = {
  cpu: { user: "m-own", system: "m-kernel" },
  "cpu-host": { user: "m-own", system: "m-kernel", softirq: "m-client", steal: "m-host_cpu", iowait: "m-pool" },
  "cpu-quota": { throttled: "m-host_cpu" },
  allocation: { allocated: "m-own" }, promotion: { promoted: "m-kernel" },
  pauses: { young: "m-collector_cpu", mixed: "m-pool", full: "m-stop_the_world", "initial-mark": "m-dependency", remark: "m-queue", cleanup: "m-timer", degenerated: "m-lock", other: "m-unexplained" },
  heap: { used: "m-collector_cpu", after: "m-own", old: "m-kernel", limit: "ink", goal: "ink", snapshot: "m-collector_cpu", "goal-snapshot": "ink" },
  collected: { used: "m-collector_cpu", after: "m-own" },
  assist: { assist: "m-mark_assist", "assist-wait": "muted" },
  rate: { rate: "m-own" },
  "pool-threads": { pool: "m-task_wait", limit: "ink" }, "pool-queue": { queue: "m-task_wait" }, "pool-completed": { completed: "m-own" },
  concurrency: { server: "m-dependency" }, contentions: { contentions: "m-lock" }, "gc-time": { gc: "m-collector_cpu" },
};
const otherColours = ["m-own", "m-collector_cpu", "m-dependency", "m-background_cpu", "m-lock", "m-kernel", "m-queue", "m-pool"];

// distinct replaces colours that an earlier curve has, as far as there are others.
function distinct(colours) {
  const taken = new Set();
  return colours.map(colour => {
    const free = taken.has(colour) && otherColours.find(other => !taken.has(other) && !colours.includes(other));
    const mine = free || colour;
    taken.add(mine);
    return mine;
  });
}

const chartHeight = 98;

class ChartTrack extends Track {
  constructor(timeline, chart) {
    super(timeline, "", "chart");
    this.name = chart.title + (chart.route ? ", of " + chart.route : "");
    this.title.append(this.name, el("span", { class: "app-unit" }, unitWords(chart.unit)));
    this.chart = chart;
    this.peaks = [];
    const known = curveColours[chart.id] || {};
    this.colours = distinct(chart.curves.map((c, i) => known[c.id] || (palette.style.getPropertyValue("--m-" + c.id) ? "m-" + c.id : otherColours[i % otherColours.length])));
    this.values = chart.curves.map(() => el("span", { class: "app-value" }));
    this.keys = chart.curves.map((c, i) => el("span", { class: "app-key", title: c.source ? "from " + c.source : null }, swatch(""), c.title + " ", this.values[i]));
    this.figures.append(chart.stacked && chart.curves.length > 1 ? "from below:" : "", ...this.keys);
    this.box = el("div", { class: "app-plot", role: "img" });
    const values = chart.curves.map(constant); // words are enough where none ever changes
    this.flat = values.every(Number.isFinite);
    if (this.flat) {
      this.figures.replaceChildren(chart.curves.map((c, i) => c.title + " stayed at " + amount(values[i], chart.unit)).join(", "));
    } else {
      this.element.append(this.box);
    }
  }

  make(width, gutter) {
    if (this.plot) this.plot.destroy();
    this.made = { width, gutter, palette: palette.known, ratio: printing ? 2 : devicePixelRatio };
    const { chart, timeline: t } = this;
    const series = [{}], bands = [];
    this.colours.forEach((name, i) => this.keys[i].firstChild.style.background = palette.get(name));
    if (chart.stacked) {
      for (let i = chart.curves.length - 1; i >= 0; i--) { // the sum of all first, so that the lower ones are upon it
        series.push({ stroke: palette.get(this.colours[i]), fill: palette.get(this.colours[i]), width: 0.5, points: { show: false } });
      }
    } else {
      chart.curves.forEach((c, i) => {
        const colour = palette.get(this.colours[i]);
        if (c.readings) {
          const points = { show: true, size: 6, width: 1.4, stroke: colour, fill: c.id.startsWith("goal") ? palette.get("bg") : colour };
          series.push({ stroke: colour, width: 0, points }, { show: false });
          return;
        }
        const dash = c.id === "goal" || c.id === "limit" ? [4, 3] : undefined;
        series.push({ stroke: colour, width: 1.4, dash, points: { show: false } }, { stroke: colour, width: 0.7, alpha: 0.7, points: { show: false } });
        const [r, g, b] = palette.rgb(this.colours[i]);
        bands.push({ series: [2 * i + 1, 2 * i + 2], fill: `rgba(${r},${g},${b},0.28)` });
      });
    }
    this.plot = new uPlot({
      width, height: chartHeight, series, bands, padding: [7, rightEdge, 1, 0], legend: { show: false }, cursor: { show: false }, pxAlign: 1,
      select: { show: false },
      scales: { x: { time: false, range: () => [t.view.lo, t.view.hi] }, y: { range: () => [0, this.top] } },
      axes: [
        { size: 8, ticks: { show: false }, values: () => [], splits: () => t.axis.ticks, grid: { stroke: palette.get("line"), width: 1 } },
        {
          size: gutter, gap: 4, font: palette.font(11), stroke: palette.get("muted"), ticks: { show: false }, grid: { stroke: palette.get("line"), width: 1 },
          splits: () => linearTicks(this.top, 3, chart.unit), values: (_, splits) => splits.map((v) => axisAmount(v, chart.unit)),
        },
      ],
    }, this.data, this.box);
  }

  draw() {
    if (this.flat) return;
    const { chart, timeline: t } = this, { view, plotWidth } = t;
    const w = Math.max(2, Math.round(plotWidth)), step = view.span / w;
    const xs = new Float64Array(w);
    for (let x = 0; x < w; x++) xs[x] = view.lo + (x + 0.5) * step;
    const max = (a, b) => a.reduce((m, v) => (v !== null && v > m ? v : m), b);
    this.peaks = [];
    if (chart.stacked) {
      const sums = stacked(chart.curves, view.lo, view.hi, w);
      this.data = [xs, ...sums.slice().reverse()];
      this.highest = max(sums[sums.length - 1], 0);
      this.peaks = chart.curves.map((c) => max(extremes(c, view.lo, view.hi, w).high, -Infinity));
    } else {
      this.data = [xs];
      this.highest = 0;
      for (const c of chart.curves) {
        const { high, low } = extremes(c, view.lo, view.hi, w);
        if (!c.readings) [high, low].forEach(widen);
        this.data.push(high, low);
        this.peaks.push(max(high, -Infinity));
        this.highest = max(high, this.highest);
      }
    }
    this.top = this.highest > 0 ? this.highest * 1.06 : 1;
    const m = this.made;
    if (!m || m.palette !== palette.known || m.gutter !== t.gutter || m.ratio !== (printing ? 2 : devicePixelRatio)) this.make(t.width, t.gutter);
    else {
      this.plot.batch(() => {
        if (m.width !== t.width) this.plot.setSize({ width: m.width = t.width, height: chartHeight });
        this.plot.setData(this.data, false);
        this.plot.setScale("x", { min: view.lo, max: view.hi });
        this.plot.setScale("y", { min: 0, max: this.top });
      });
    }
    this.at(null);
    this.box.setAttribute("aria-label", chart.title + ": " + chart.curves.map((c, i) => c.title + " " + (this.peaks[i] > -Infinity ? "at most " + amount(this.peaks[i], chart.unit) : "not known here")).join(", "));
  }

  rows() {
    const { view, plotWidth } = this.timeline, w = Math.max(2, Math.round(plotWidth));
    return this.chart.curves.map((c) => {
      const { high, low } = extremes(c, view.lo, view.hi, w), unit = this.chart.unit, words = (v) => (Number.isFinite(v) ? amount(v, unit) : "");
      const least = low.reduce((m, v) => (v !== null && v < m ? v : m), Infinity), most = high.reduce((m, v) => (v !== null && v > m ? v : m), -Infinity);
      return { what: this.name + (this.chart.curves.length > 1 || c.title !== this.chart.title ? ": " + c.title : ""), least: words(least), mean: words(average(c, view.lo, view.hi)), most: words(most), source: c.source };
    });
  }

  // picture draws the curves as they are on the canvas, which is not ours to write down.
  picture() {
    const { chart, timeline: t } = this, d = new Drawing(), left = t.gutter, width = t.plotWidth, top = 7, height = chartHeight - top - 9;
    const legend = chart.curves.map((c, i) => ({ text: c.title + (this.flat ? "" : " " + this.values[i].textContent), colour: palette.get(this.colours[i]) }));
    Object.assign(d, { width: t.width, height: this.flat ? 4 : chartHeight });
    const unit = unitWords(chart.unit), title = this.name + (unit ? " · " + unit : "");
    if (this.flat) return { title, note: this.figures.textContent, drawing: d };
    const y = (v) => top + height * (1 - v / this.top), [xs, ...series] = this.data, x = (i) => left + t.view.x(xs[i], width);
    d.lineWidth = 1;
    d.strokeStyle = palette.get("line");
    d.font = palette.font(11);
    d.fillStyle = palette.get("muted");
    d.textAlign = "right";
    d.textBaseline = "middle";
    for (const v of linearTicks(this.top, 3, chart.unit)) {
      d.beginPath();
      d.moveTo(left, y(v));
      d.lineTo(left + width, y(v));
      d.stroke();
      d.fillText(axisAmount(v, chart.unit), left - 4, y(v));
    }
    d.beginPath();
    for (const at of t.axis.ticks) {
      d.moveTo(left + t.view.x(at, width), top);
      d.lineTo(left + t.view.x(at, width), top + height);
    }
    d.stroke();
    // runs calls f with the beginnings and ends of what is known of a series.
    const runsOf = (s, f) => {
      for (let i = 0; i < s.length; i++) {
        if (s[i] === null) continue;
        const from = i;
        while (i + 1 < s.length && s[i + 1] !== null) i++;
        f(from, i);
      }
    };
    const area = (s, below, colour, alpha) => runsOf(s, (from, to) => {
      d.beginPath();
      d.moveTo(x(from), y(s[from]));
      for (let i = from + 1; i <= to; i++) d.lineTo(x(i), y(s[i]));
      for (let i = to; i >= from; i--) d.lineTo(x(i), y(below ? below[i] ?? 0 : 0));
      d.fillStyle = palette.get(colour);
      d.globalAlpha = alpha;
      d.fill();
      d.globalAlpha = 1;
    });
    const line = (s, colour) => {
      d.beginPath();
      runsOf(s, (from, to) => {
        d.moveTo(x(from), y(s[from]));
        for (let i = from + 1; i <= to; i++) d.lineTo(x(i), y(s[i]));
        if (from === to) d.lineTo(x(from) + 0.5, y(s[from]));
      });
      d.strokeStyle = palette.get(colour);
      d.stroke();
    };
    if (chart.stacked) {
      series.forEach((s, i) => area(s, null, this.colours[chart.curves.length - 1 - i], 1));
    } else {
      chart.curves.forEach((c, i) => {
        const high = series[2 * i], low = series[2 * i + 1];
        if (c.readings) {
          d.fillStyle = palette.get(this.colours[i]);
          d.beginPath();
          high.forEach((v, k) => {
            if (v === null) return;
            d.moveTo(x(k) + 3, y(v));
            d.arc(x(k), y(v), 3);
          });
          d.fill();
          return;
        }
        area(high, low, this.colours[i], 0.28);
        d.lineWidth = 1.4;
        d.setLineDash(c.id === "goal" || c.id === "limit" ? [4, 3] : []);
        line(high, this.colours[i]);
        d.setLineDash([]);
      });
    }
    return { title, legend, drawing: d };
  }

  // at shows the values of a moment; of none, the highest in view.
  at(t) {
    if (this.flat) return;
    this.chart.curves.forEach((c, i) => {
      const v = t === null ? this.peaks[i] : valueAt(c, t, this.reach);
      this.values[i].textContent = Number.isFinite(v) ? (t === null && v > 0 ? "at most " : "") + amount(v, this.chart.unit) : "–";
    });
  }

  // reach is how far from a reading (ns) the pointer still means it.
  get reach() { return 4 * this.timeline.view.span / this.timeline.plotWidth; }

  under(x, y, t) {
    if (this.flat) return null;
    const lines = this.chart.curves.map((c, i) => {
      const v = valueAt(c, t, this.reach);
      return Number.isFinite(v) ? { text: c.title + " " + amount(v, this.chart.unit), colour: palette.get(this.colours[i]) } : "";
    }).filter(Boolean);
    if (this.chart.stacked) lines.reverse(); // as they are drawn: the last is on top
    return lines.length ? [{ text: this.chart.title, strong: true }, ...lines] : null;
  }
}

// widen makes what is known at a single pixel three pixels wide, so that it can be seen: a heap with one collection.
function widen(values) {
  for (let x = 0, known = false; x < values.length; x++) {
    const alone = values[x] !== null && !known && (x + 1 === values.length || values[x + 1] === null);
    known = values[x] !== null;
    if (!alone) continue;
    if (x > 0) values[x - 1] = values[x];
    if (x + 1 < values.length) values[++x] = values[x - 1];
  }
}

// axisAmount is shorter than amount: the unit is in the title.
function axisAmount(v, unit) {
  if (unit.startsWith("bytes")) return v === 0 ? "0" : bytes(v);
  if (unit === "ms/s" || unit === "s/s" || unit === "share" || unit === "ns" || unit === "ms" || unit === "s") return v === 0 ? "0" : amount(v, unit);
  return Math.abs(v) >= 1e5 ? count(v).replace(/^(\d+),000$/, "$1 k") : digits(v);
}

function unitWords(unit) {
  const atOnce = "how many at a time, on average";
  return { "": "", 1: "", bytes: "", ns: "", ms: "", s: "", "bytes/s": "per second", "1/s": "per second", "ms/s": atOnce, "s/s": atOnce, share: "share of the time", cores: "CPUs" }[unit] ?? unit;
}
