// Flames: where time or samples went, by stack; the root above.

const rowHeight = 18;
// flameColour is the colour of a kind: a mechanism of the ledger has its own.
const flameColour = (kind) => (kind.startsWith("m-") ? kind : flameColours[kind] || "f-own");

const flameColours = { own: "f-own", library: "f-library", runtime: "f-runtime", libc: "f-libc", gc: "f-gc", kernel: "f-kernel", wait: "f-wait", idle: "f-wait" };
const kindTitles = { own: "the program's own code", library: "libraries", runtime: "the runtime", libc: "libc", gc: "GC", kernel: "the kernel", wait: "waiting", idle: "idle threads" };

// foldAt is how high a flame is that scrolls in its box (40rem).
const foldAt = 640;

// The ways to look at a flame.
const flameWays = ["who is called", "who calls (inverted)", "one function (sandwich)"];
const calls = 0, callers = 1, sandwich = 2;

class FlamesPart {
  constructor(host, model, report) {
    this.model = model;
    this.report = report;
    this.trees = new Map();
    this.way = calls;
    this.choice = choice("flame", model.flames.map((f) => f.title), (i) => this.flame(i));
    this.ways = choice("show", flameWays, (i) => this.look(i));
    this.idle = el("input", { type: "checkbox", onchange: () => this.look(this.way) });
    this.idleBox = el("label", { class: "app-choice" }, this.idle, "idle threads");
    this.since = el("input", { type: "checkbox", onchange: () => this.look(this.way) });
    this.sinceBox = el("label", { class: "app-choice" }, this.since, "what changed since before");
    this.words = el("input", { type: "search", class: "app-search", placeholder: "function or package", "aria-label": "search in the flame", oninput: () => this.search(this.words.value) });
    this.found = el("span", { class: "app-found", role: "status", "aria-live": "polite" });
    this.crumbs = el("nav", { class: "app-crumbs", "aria-label": "stack above what is shown" });
    this.surface = new Surface("");
    this.plot = el("div", { class: "app-stack app-flame", tabindex: 0, role: "application", "aria-roledescription": "flame graph" }, this.surface.canvas);
    this.frame = el("div", { class: "app-flamebox" }, this.plot);
    this.over = el("div", { class: "app-over" }, this.frame); // so that the tooltip is not cut off with it
    this.tip = new Tooltip(this.over);
    this.spoken = el("p", { class: "app-spoken", role: "status", "aria-live": "polite" });
    this.legend = el("ul", { class: "app-legend" });
    this.cut = el("p", { class: "app-status" });
    this.table = el("table", { class: "app-table" });
    host.append(el("div", { class: "app-part" },
      el("div", { class: "app-bar" }, this.choice, this.ways, this.idleBox, this.sinceBox, this.words, this.found,
        saver(model.subject, "flame", () => [{ name: "flame " + (model.flames[this.current || 0].title), make: () => this.picture() }]),
        button("speedscope", "save what is shown for speedscope.app", () => this.export()),
        el("span", { class: "app-hint" }, el("span", { class: "app-fine" }, "click: only what is below · arrow keys and Enter · Esc: all"), el("span", { class: "app-coarse" }, "tap: only what is below"))),
      this.crumbs, this.over, this.legend, this.cut, this.spoken,
      el("details", { class: "app-details" }, el("summary", {}, "the 20 functions with most of their own"),
        el("div", { class: "app-scroll", tabindex: 0, role: "region", "aria-label": "Functions by their own share" }, this.table))));
    this.plot.addEventListener("pointermove", (e) => this.hover(e));
    this.plot.addEventListener("pointerleave", () => this.tip.hide());
    this.plot.addEventListener("click", (e) => this.click(e));
    this.plot.addEventListener("keydown", (e) => this.key(e));
    this.plot.addEventListener("blur", () => this.draw());
    this.flame(0, true);
  }

  flame(i, quiet) {
    this.current = i;
    this.choice.select.value = String(i);
    const f = this.model.flames[i];
    this.idleBox.hidden = !f.kind.includes("idle");
    if (!this.idleBox.hidden && f.kind.every((k, n) => n === 0 || k === "idle")) this.idle.checked = true; // else nothing would be shown
    this.sinceBox.hidden = !this.was(f);
    this.about = null;
    const deep = this.whole(f, i).depth.reduce((m, v) => Math.max(m, v), 0) * rowHeight > foldAt;
    this.look(f.id === "threads-waiting" || f.id.startsWith("threads") && deep ? callers : calls, quiet); // what blocks is at the top, however deep the stacks are
  }

  // was is the same flame of the report before, undefined where there is none.
  was(f) { return this.report && this.report.before ? this.report.before.flames.find((o) => o.id === f.id) : undefined; }

  // look shows the flame in one of the ways.
  look(way, quiet) {
    const f = this.model.flames[this.current];
    this.way = way;
    this.ways.select.value = String(way);
    const whole = this.whole(f, this.current);
    if (way === sandwich && !this.about) this.about = this.tree && this.root > 0 ? this.tree.name[this.root] : topBySelf(whole, 1).map((e) => e.name)[0];
    const key = [this.current, this.idle.checked, way, way === sandwich ? this.about : ""].join("\0");
    if (!this.trees.has(key)) this.trees.set(key, way === calls ? whole : way === callers ? inverted(whole) : called(whole, this.about));
    this.tree = this.trees.get(key);
    this.upper = way === sandwich ? inverted(whole, this.about) : null;
    this.delta = null;
    if (this.since.checked && !this.sinceBox.hidden && way !== sandwich) {
      const was = this.whole(this.was(f), "was " + this.current);
      this.delta = changed(this.tree, way === callers ? inverted(was) : was);
    }
    this.root = this.at = 0;
    this.match = find(this.tree, this.words.value);
    if (quiet) return;
    this.fill();
    this.draw();
    this.tell();
  }

  // whole is a flame as a tree, without idle threads unless they are asked for.
  whole(f, key) {
    key = key + "\0" + this.idle.checked;
    if (!this.trees.has(key)) this.trees.set(key, tree(this.idle.checked ? f : without(f, "idle")));
    return this.trees.get(key);
  }

  export() {
    const f = this.model.flames[this.current], name = this.model.subject + " " + f.title;
    download(new Blob([speedscopeOf(this.tree, name)], { type: "application/json" }), name.replace(/[^\p{L}\p{N}.-]+/gu, "-") + ".speedscope.json");
  }

  zoom(node) {
    this.root = this.at = node;
    this.tip.hide();
    this.draw();
    this.speak(node);
  }

  search(text) {
    this.match = find(this.tree, text);
    this.tell();
    this.draw();
    return this.match.value / (this.tree.value[0] || 1);
  }

  tell() {
    const { match, tree: t } = this;
    this.found.textContent = !this.words.value.trim() ? "" : match.count ? percent(match.value / (t.value[0] || 1)) + " · " + amount(match.value, t.unit) + " in " + count(match.count) + (match.count === 1 ? " frame" : " frames") : "not found";
  }

  draw() {
    const width = this.plot.clientWidth;
    if (!width) return;
    const t = this.tree;
    this.boxes = boxes(t, this.root, width, 1.5);
    if (this.upper) { // who calls is above it, the nearest next to it
      const above = boxes(this.upper, 0, width, 1.5).filter((b) => b.row > 0), high = above.reduce((m, b) => Math.max(m, b.row), 0);
      this.boxes = [...this.boxes.map((b) => ({ ...b, row: b.row + high })), ...above.map((b) => ({ ...b, row: high - b.row, tree: this.upper }))];
    }
    const deepest = this.boxes.reduce((m, b) => Math.max(m, b.row), 0);
    const ctx = this.surface.clear(width, (deepest + 1) * rowHeight + 2);
    const above = new Set(path(t, this.root));
    above.delete(this.root);
    const searching = this.match.count > 0;
    ctx.font = palette.font(11);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (const b of this.boxes) {
      const y = b.row * rowHeight;
      const of = b.tree || t, mine = !b.tree;
      const name = b.node < 0 ? "f-wait" : flameColour(of.kind[b.node]);
      const hit = mine && b.node >= 0 && this.match.found[b.node];
      ctx.globalAlpha = mine && above.has(b.node) ? 0.5 : searching && !hit ? 0.4 : 1;
      const w = Math.max(b.w - (b.w > 4 ? 1 : 0), 0.75);
      const by = this.delta && b.node >= 0 ? this.delta[b.node] : 0;
      ctx.fillStyle = palette.get(this.delta ? "line" : name);
      ctx.fillRect(b.x, y, w, rowHeight - 1);
      if (Math.abs(by) >= 0.005) {
        ctx.globalAlpha = Math.min(0.45, 0.1 + 2 * Math.abs(by));
        ctx.fillStyle = palette.get(by > 0 ? "accent" : "m-own");
        ctx.fillRect(b.x, y, w, rowHeight - 1);
      }
      ctx.globalAlpha = 1;
      if (hit) {
        ctx.strokeStyle = palette.get("accent");
        ctx.lineWidth = 2;
        ctx.strokeRect(b.x + 1, y + 1, Math.max(w - 2, 1), rowHeight - 3);
      }
      if (mine && b.node === this.at && document.activeElement === this.plot) {
        ctx.strokeStyle = palette.get("ink");
        ctx.lineWidth = 2;
        ctx.strokeRect(b.x + 1, y + 1, Math.max(w - 2, 2), rowHeight - 3);
      }
      if (b.node < 0 || b.w < 24) continue;
      const text = fit(ctx, short(of.name[b.node], b.w, ctx), b.w - 8);
      ctx.fillStyle = this.delta || mine && above.has(b.node) || searching && !hit ? palette.get("ink") : palette.on(name);
      if (text) ctx.fillText(text, b.x + 4, y + rowHeight / 2);
    }
    this.crumb();
    const top = topBySelf(t, 3).map((e) => e.name + " " + percent(e.self / (t.value[0] || 1))).join(", ");
    this.surface.label(t.title + ", " + amount(t.value[0], t.unit) + "; most of their own: " + top);
    this.plot.setAttribute("aria-label", t.title + " as a flame graph of " + count(t.value.length) + " frames; most of their own: " + top + ". The table below lists them. Arrow keys go from frame to frame, Enter looks closer, Escape shows all.");
  }

  picture() {
    const drawing = record(this.surface, () => this.draw());
    this.draw();
    const legend = [...this.legend.children].map((li) => ({ text: li.textContent, colour: li.firstChild.style.background }));
    return [{ title: this.tree.title, note: path(this.tree, this.root).map((i) => last(this.tree.name[i])).join(" › ") + ", " + this.figure(this.root), legend, drawing }];
  }

  crumb() {
    const t = this.tree, up = path(t, this.root);
    if (this.upper) {
      this.crumbs.hidden = false;
      this.crumbs.replaceChildren(el("span", { class: "app-muted" }, "callers of "), el("strong", {}, last(this.about)), el("span", { class: "app-muted" }, " above it, what it calls below; " + this.figure(0) + ". Click another function to look at that."));
      return;
    }
    const shown = up.length > 8 ? [...up.slice(0, 2), -1, ...up.slice(-5)] : up;
    this.crumbs.hidden = up.length < 2;
    this.crumbs.replaceChildren(...shown.flatMap((i, k) => {
      const sep = k ? [el("span", { "aria-hidden": "true", class: "app-muted" }, " › ")] : [];
      if (i < 0) return [...sep, "…"];
      if (i === this.root) return [...sep, el("strong", {}, last(t.name[i])), el("span", { class: "app-muted" }, " " + this.figure(i))];
      return [...sep, el("button", { type: "button", class: "app-crumb", title: t.name[i], onclick: () => this.zoom(i) }, last(t.name[i]))];
    }));
  }

  figure(i) {
    const t = this.tree;
    const all = this.upper ? this.whole(this.model.flames[this.current], this.current) : t;
    return amount(t.value[i], t.unit) + ", " + percent(t.value[i] / (all.value[0] || 1));
  }

  fill() {
    const t = this.tree, all = t.value[0] || 1;
    const title = (k) => kindTitles[k] || k.startsWith("m-") && (this.model.titles[k.slice(2)] || k.slice(2));
    const kinds = [...new Set(t.kind.slice(1))].filter(title); // the root is of no kind
    const shown = this.delta ? [["accent", "more of all than before"], ["m-own", "less"]] : kinds.map((k) => [flameColour(k), title(k)]);
    this.legend.replaceChildren(...shown.map(([colour, words]) => el("li", {}, swatch(palette.get(colour)), words)));
    this.cut.textContent = t.cut > 0 ? amount(t.cut, t.unit) + (t.unit === "1" ? " of the samples" : "") + " (" + percent(t.cut / all) + ") in frames too small to be kept: part of those above them." : "";
    this.cut.hidden = !(t.cut > 0);
    this.table.replaceChildren(el("caption", { class: "app-spoken" }, "Functions by their own share of " + t.title),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "app-num" }, "own"), el("th", { scope: "col", class: "app-num" }, "%"),
        el("th", { scope: "col", class: "app-num" }, "with all below"), el("th", { scope: "col", class: "app-num" }, "%"), el("th", { scope: "col" }, "function"))),
      el("tbody", {}, ...topBySelf(t, 20).map((e) => el("tr", {}, el("td", { class: "app-num", "data-label": "own" }, amount(e.self, t.unit)), el("td", { class: "app-num" }, percent(e.self / all)),
        el("td", { class: "app-num", "data-label": "with all below" }, amount(e.total, t.unit)), el("td", { class: "app-num" }, percent(e.total / all)), el("td", { class: "app-where" }, swatch(palette.get(flameColour(e.kind))), e.name)))));
  }

  boxAt(e) {
    const r = this.surface.canvas.getBoundingClientRect();
    const x = e.clientX - r.left, row = Math.floor((e.clientY - r.top) / rowHeight);
    let best = null;
    for (const b of this.boxes || []) if (b.row === row && x >= b.x - 0.5 && x <= b.x + Math.max(b.w, 1)) best = b;
    return { x, y: e.clientY - r.top, b: best };
  }

  hover(e) {
    const { x, y: inside, b } = this.boxAt(e), y = inside - this.frame.scrollTop;
    if (!b) {
      this.tip.hide();
      return;
    }
    const t = b.tree || this.tree, all = (this.whole(this.model.flames[this.current], this.current).value[0]) || 1;
    if (b.node < 0) {
      this.tip.show(x, y, [{ text: count(b.n) + " narrow " + (b.n === 1 ? "frame" : "frames"), strong: true }, "called by " + t.name[b.parent], "click: look closer"]);
      return;
    }
    const i = b.node;
    this.tip.show(x, y, [{ text: t.name[i], strong: true, colour: palette.get(flameColour(t.kind[i])) },
      "with all below " + amount(t.value[i], t.unit) + ", " + percent(t.value[i] / all), "own " + amount(t.self[i], t.unit) + ", " + percent(t.self[i] / all),
      this.delta ? (this.delta[i] >= 0 ? "+" : "−") + percent(Math.abs(this.delta[i])) + " of all since before" : "",
      !b.tree && this.root > 0 && t.value[this.root] ? percent(t.value[i] / t.value[this.root]) + " of " + last(t.name[this.root]) : ""].filter(Boolean));
  }

  click(e) {
    const { b } = this.boxAt(e);
    if (!b) return;
    const node = b.node >= 0 ? b.node : b.parent;
    if (!this.upper) return this.zoom(node);
    const name = (b.tree || this.tree).name[node];
    if (name !== this.about) { // the other function is what is looked at
      this.about = name;
      this.look(sandwich);
    }
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target !== this.plot) return;
    const t = this.tree, up = t.parent[this.at];
    const beside = (by) => {
      if (up < 0 || this.at === this.root) return this.at;
      const row = t.children[up];
      return row[row.indexOf(this.at) + by] ?? this.at;
    };
    const to = {
      ArrowDown: () => t.children[this.at][0] ?? this.at,
      ArrowUp: () => (up < 0 ? this.at : up),
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
      Home: () => this.root,
    }[e.key];
    if (to) {
      e.preventDefault();
      this.at = to();
      if (this.root !== 0 && !path(t, this.at).includes(this.root)) this.root = this.at;
      this.draw();
      this.speak(this.at);
    } else if (e.key === "Enter") {
      e.preventDefault();
      this.zoom(this.at);
    } else if (e.key === "Escape") {
      e.preventDefault();
      this.zoom(0);
    }
  }

  speak(i) { this.spoken.textContent = this.tree.name[i] + ", " + this.figure(i) + ", own " + amount(this.tree.self[i], this.tree.unit); }

  place(node) {
    const b = (this.boxes || []).find((v) => v.node === node);
    if (!b || b.w < 2) return null;
    const r = this.surface.canvas.getBoundingClientRect();
    return { x: r.left + b.x + b.w / 2, y: r.top + (b.row + 0.5) * rowHeight };
  }

  steps() { return [() => this.fill(), () => this.draw()]; }
}

// last is a function's name without the path of its package.
function last(name) {
  return name.slice(name.lastIndexOf("/") + 1);
}

function short(name, width, ctx) {
  return ctx.measureText(name).width <= width - 8 ? name : last(name);
}
