// From payloads to pictures, when the document is read.

const partNames = ["timeline", "request", "processors", "flames"];

// Report is the parts of one payload and what is chosen in them.
class Report {
  constructor(n, model) {
    this.n = n;
    this.model = model;
    this.index = -1;
    this.selected = null;
    const has = {
      timeline: model.requests.length + model.bands.length + model.charts.length > 0, request: model.slow.length > 0,
      processors: model.processors.length > 0, flames: model.flames.length > 0,
    };
    const make = { timeline: Timeline, request: RequestPart, processors: ProcessorsPart, flames: FlamesPart };
    this.hosts = {};
    for (const name of partNames) {
      const host = document.querySelector(`.mount[data-view="${name}"][data-n="${n}"]`);
      this.hosts[name] = host;
      this[name] = host && has[name] ? new make[name](host, model, this) : null;
      if (host && !has[name]) host.hidden = true;
    }
    if (model.slow.length) this.select(0, false, true);
  }

  // select chooses a slow request in all parts; open: it is to be looked at.
  select(i, open, quiet) {
    if (i < 0 || i >= this.model.slow.length) return;
    this.index = i;
    this.selected = this.model.slow.request(i);
    if (this.request) this.request.show(i);
    if (!quiet) {
      if (this.timeline) this.timeline.draw();
      if (this.processors) this.processors.draw();
    }
    if (open) this.reveal("request");
  }

  // traceOf is the trace whose processors ran a request, -1: none.
  traceOf(r) {
    return this.model.processors.findIndex((p) => p.source === r.source && r.at >= p.at - 1 && r.at <= p.at + p.span);
  }

  // goTo shows the chosen request in another part.
  goTo(name) {
    const r = this.selected;
    if (!r || !this[name]) return;
    if (name === "processors") this.processors.goTo(r);
    else this.timeline.view.set(r.at - r.latency * 2, r.at + r.latency * 3);
    this.reveal(name);
  }

  reveal(name) {
    const host = this.hosts[name];
    if (!host) return;
    const box = host.getBoundingClientRect();
    if (box.top >= 0 && box.top < innerHeight * 0.5) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    (host.closest("section") || host).scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  }

  draw() {
    for (const name of partNames) {
      const part = this[name];
      if (!part) continue;
      if (part.refresh) part.refresh();
      else part.draw();
    }
  }

  // resize draws again what has another width than it was drawn for.
  get widths() { return partNames.map((n) => (this.hosts[n] ? this.hosts[n].clientWidth : 0)).join(); }
}

function start() {
  const began = performance.now();
  palette = new Palette();
  const reports = [];
  let decoded = began;
  for (const script of document.querySelectorAll('script[type="application/json"][id^="data-"]')) {
    const n = Number(script.id.slice(5));
    try {
      const model = decode(JSON.parse(script.textContent));
      decoded = performance.now();
      reports[n] = new Report(n, model);
    } catch (err) {
      complain(n, err);
    }
  }
  const again = () => {
    palette.refresh();
    for (const r of reports) if (r) r.draw();
  };
  again();
  watch(reports, again);
  const drawn = performance.now();
  expose(reports, new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => {
    resolve({ decode: decoded - began, draw: drawn - decoded, total: performance.now() });
  }))));
}

// complain says in the page that its data could not be drawn.
function complain(n, err) {
  console.error(err);
  for (const name of partNames) {
    const host = document.querySelector(`.mount[data-view="${name}"][data-n="${n}"]`);
    if (host && !host.firstChild) host.append(el("p", { class: "app-status" }, "This cannot be drawn: " + err.message + "."));
  }
}

// watch draws again when the width, the colours or the resolution change, and for paper.
function watch(reports, again) {
  const soon = once(() => {
    for (const r of reports) {
      if (!r || r.drawnAt === r.widths) continue;
      r.drawnAt = r.widths;
      r.draw();
    }
  });
  for (const r of reports) {
    if (!r) continue;
    r.drawnAt = r.widths;
    const observer = new ResizeObserver(soon);
    for (const name of partNames) if (r.hosts[name]) observer.observe(r.hosts[name]);
  }
  darkScheme.addEventListener("change", again);
  document.addEventListener("themechange", again);
  const ratio = () => matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => {
    again();
    ratio();
  }, { once: true });
  ratio();
  addEventListener("beforeprint", () => {
    printing = true;
    again();
  });
  addEventListener("afterprint", () => {
    printing = false;
    again();
  });
}

// expose is what tests of the page hold on to.
function expose(reports, ready) {
  const zooms = (part, element) => ({
    window: () => [part.view.lo, part.view.hi],
    full: () => [part.view.min, part.view.max],
    zoom: (from, to) => {
      part.view.set(from, to);
      part.draw();
    },
    reset: () => {
      part.view.reset();
      part.draw();
    },
    redraw: () => {
      const began = performance.now();
      part.draw();
      return performance.now() - began;
    },
    element,
  });
  window.unstall = {
    ready,
    reports: reports.map((r) => r && {
      timeline: r.timeline && { ...zooms(r.timeline, r.timeline.stack), counts: () => r.timeline.counts(), place: (i) => r.timeline.place(i) },
      request: r.request && { selected: () => r.index, select: (i) => r.select(i), count: () => r.model.slow.length, element: r.request.plot },
      processors: r.processors && { ...zooms(r.processors, r.processors.stack), trace: (i) => r.processors.trace(i), shares: () => r.processors.shares() },
      flames: r.flames && {
        flame: (i) => r.flames.flame(i), zoom: (node) => r.flames.zoom(node),
        search: (text) => {
          r.flames.words.value = text;
          return r.flames.search(text);
        },
        focused: () => r.flames.tree.name[r.flames.root], place: (node) => r.flames.place(node), element: r.flames.plot,
      },
    }),
  };
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
