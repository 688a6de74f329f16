// From payloads to pictures, when the document is read.

const partNames = ["timeline", "request", "processors", "flames"];

// Report is the parts of one payload and what is chosen in them.
class Report {
  constructor(n, model, before) {
    this.n = n;
    this.model = model;
    this.before = before; // the model of the run before a change, where both are compared
    this.index = -1;
    this.selected = null;
    this.route = null; // all
    this.picked = false; // the reader chose the request
    this.at = ""; // the part that was used last
    const has = {
      timeline: model.requests.length + model.bands.length + model.charts.length > 0, request: model.slow.length > 0,
      processors: model.processors.length > 0, flames: model.flames.length > 0,
    };
    this.hosts = {};
    this.drawable = [];
    for (const name of partNames) {
      const host = document.querySelector(`.mount[data-view="${name}"][data-n="${n}"]`);
      this.hosts[name] = host;
      this[name] = null;
      if (host && has[name]) this.drawable.push(name);
      else if (host) host.hidden = true;
    }
    this.routes = new RoutesPart(n, model, this);
    if (model.slow.length) this.select(0, false, true);
  }

  // steps make and draw the parts, each in little time: what a step returns is to be done next.
  steps() {
    const make = { timeline: Timeline, request: RequestPart, processors: ProcessorsPart, flames: FlamesPart };
    return this.drawable.map((name) => () => {
      this[name] = new make[name](this.hosts[name], this.model, this);
      return [() => this[name].steps()];
    });
  }

  // choose shows only the requests of a route, null: of all.
  choose(route) {
    if (route !== null && !this.routes.rows.has(route) || route === this.route) return;
    this.route = route;
    if (this.request) {
      this.request.only(route);
      const first = this.request.listed[0];
      if (route !== null && this.selected.route !== route && this.model.slow.request(first).route === route) this.select(first, false);
    }
    if (this.timeline) this.timeline.only(route);
    this.routes.show(route);
    this.noted("routes");
  }

  // noted says that the reader changed what a part shows.
  noted(name) {
    this.at = name + "-" + this.n;
    if (this.changed) this.changed();
  }

  // link adds what is chosen to what a link holds; follow takes it from one.
  link(values) {
    const key = (k) => (this.n ? this.n + "." : "") + k, { timeline: t } = this;
    if (this.route !== null) values.set(key("route"), this.route);
    if (t && t.source !== this.model.charged) values.set(key("source"), String(t.source));
    if (t && !t.view.isFull) values.set(key("zoom"), windowText(t.view.lo, t.view.hi));
    if (this.picked) values.set(key("request"), String(this.index + 1));
  }

  follow(values) {
    const get = (k) => values.get((this.n ? this.n + "." : "") + k), { timeline: t } = this;
    const route = get("route"), source = Number(get("source")), zoom = readWindow(get("zoom")), request = Number(get("request"));
    this.choose(route === undefined ? null : route);
    if (t) {
      if (t.source !== source && this.model.requests[source] && get("source")) t.show(source);
      if (zoom) t.view.set(...zoom);
      else t.view.reset();
    }
    if (request >= 1) this.select(request - 1);
  }

  // select chooses a slow request in all parts; open: it is to be looked at.
  select(i, open, quiet) {
    if (i < 0 || i >= this.model.slow.length) return;
    this.index = i;
    this.selected = this.model.slow.request(i);
    if (this.request) this.request.show(i);
    if (!quiet) {
      this.picked = true;
      this.noted("request");
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
      for (const step of part.steps()) step();
    }
    this.routes.draw();
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
      const first = reports.find(Boolean);
      reports[n] = new Report(n, model, first && document.querySelector("section.metrics") ? first.model : undefined);
    } catch (err) {
      complain(n, err);
    }
  }
  const first = reports.find(Boolean), drawing = new Turns(reports);
  const again = () => {
    palette.refresh();
    drawing.finish();
    for (const r of reports) if (r) r.draw();
  };
  if (first) saveFigures(first.model.subject);
  follow(reports, drawing);
  watch(reports, again);
  const took = { decode: decoded - began };
  window.unstall = {
    ready: shown().then((now) => {
      took.usable = now;
      return drawing.inTurns();
    }).then(() => {
      Object.assign(took, { draw: drawing.took, longest: drawing.longest });
      expose(reports);
      return shown();
    }).then((now) => Object.assign(took, { total: now })),
  };
}

// shown resolves to when what was done so far is on the screen (ms).
function shown() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))));
}

// Turns is the drawing of all parts: step by step, so that the page answers its reader meanwhile, or at once where a part is asked for.
class Turns {
  constructor(reports) {
    this.todo = reports.flatMap((r) => (r ? r.steps().map((step) => [r, step]) : []));
    this.took = this.longest = 0; // ms: all steps, and the longest turn
  }

  next() {
    const [r, step] = this.todo.shift();
    try {
      const more = step();
      if (more) this.todo.unshift(...more.map((s) => [r, s]));
    } catch (err) {
      complain(r.n, err);
      this.todo = this.todo.filter(([other]) => other !== r);
    }
  }

  // turn does steps for so many ms, one at least.
  turn(most) {
    const began = performance.now();
    let took = 0;
    for (; this.todo.length && took < most; took = performance.now() - began) this.next();
    this.took += took;
    this.longest = Math.max(this.longest, took);
  }

  finish() { this.turn(Infinity); }

  async inTurns() {
    while (this.todo.length) {
      this.turn(turnMost);
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
}

const turnMost = 30; // ms: with the step that is under way then, what a reader does is answered within 50 ms or so

// follow keeps the page's address a link to what is seen, and does what it says. Where a reader comes back to a place, all above it is drawn first.
function follow(reports, drawing) {
  const all = reports.filter(Boolean);
  const go = () => {
    const { at, values } = readLink(location.hash);
    if (!values.size) return false;
    drawing.finish();
    for (const r of all) r.follow(values);
    const place = document.getElementById(at);
    if (place) place.scrollIntoView({ block: "start" });
    return true;
  };
  let timer = 0, used = null;
  const write = () => {
    const values = new Map();
    for (const r of all) r.link(values);
    const hash = values.size ? writeLink(used ? used.at : readLink(location.hash).at, values) : "";
    if (hash === location.hash || !hash && !readLink(location.hash).values.size) return;
    try {
      history.replaceState(null, "", hash || location.href.replace(/#.*/, ""));
    } catch {
      location.replace(hash || "#"); // a page whose address may not be changed otherwise
    }
  };
  const [came] = performance.getEntriesByType("navigation");
  if (location.hash || came && came.type !== "navigate") drawing.finish();
  go();
  for (const r of all) {
    r.changed = () => {
      used = r;
      clearTimeout(timer);
      timer = setTimeout(write, 150);
    };
  }
  addEventListener("hashchange", () => {
    if (go()) return;
    used = null; // a place in the page was chosen: what is seen there stays in the link
    write();
  });
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
function expose(reports) {
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
  Object.assign(window.unstall, {
    reports: reports.map((r) => r && {
      route: () => r.route, choose: (route) => r.choose(route),
      timeline: r.timeline && { ...zooms(r.timeline, r.timeline.stack), counts: () => r.timeline.counts(), place: (i) => r.timeline.place(i) },
      request: r.request && { selected: () => r.index, select: (i) => r.select(i), count: () => r.model.slow.length, element: r.request.plot },
      processors: r.processors && { ...zooms(r.processors, r.processors.stack), trace: (i) => r.processors.trace(i), shares: () => r.processors.shares() },
      flames: r.flames && {
        flame: (i) => r.flames.flame(i), zoom: (node) => r.flames.zoom(node),
        search: (text) => {
          r.flames.words.value = text;
          return r.flames.search(text);
        },
        focused: () => r.flames.tree.name[r.flames.root], look: (way) => r.flames.look(way), zoom: (node) => r.flames.zoom(node), shown: () => [...r.flames.tree.name], kinds: () => [...r.flames.tree.kind],
        values: () => [...r.flames.tree.value], callers: () => (r.flames.upper ? [...r.flames.upper.name] : []), delta: () => (r.flames.delta ? [...r.flames.delta] : []),
        idle: (on) => {
          r.flames.idle.checked = on;
          r.flames.look(r.flames.way);
        },
        since: (on) => {
          r.flames.since.checked = on;
          r.flames.look(r.flames.way);
        },
        speedscope: () => speedscopeOf(r.flames.tree, "test"), place: (node) => r.flames.place(node), element: r.flames.plot,
      },
    }),
  });
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
