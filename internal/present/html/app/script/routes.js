// The table of routes: choosing one shows only its requests, and what these lost.

class RoutesPart {
  constructor(n, model, report) {
    this.model = model;
    this.report = report;
    this.section = document.getElementById("routes-" + n);
    const where = document.getElementById("where-" + n);
    this.rows = new Map();
    for (const th of this.section ? this.section.querySelectorAll("th[data-route]") : []) {
      const route = th.dataset.route;
      const b = el("button", { type: "button", class: "app-route", "aria-pressed": "false", onclick: () => report.choose(report.route === route ? null : route) }, th.textContent);
      th.replaceChildren(b);
      this.rows.set(route, b);
    }
    if (!this.rows.size) return;
    this.status = new Status();
    this.all = button("all routes", "show the requests of all routes", () => report.choose(null));
    this.bar = el("div", { class: "app-bar app-chosen" }, this.status.element, this.all);
    this.section.append(this.bar);
    this.part = el("div", { class: "app-part app-of-route" });
    this.head = el("p", { class: "app-facts" });
    this.surface = new Surface("");
    this.legend = el("ul", { class: "app-legend" });
    this.part.append(this.head, this.surface.canvas, this.legend);
    if (where) where.append(this.part);
    this.part.hidden = this.bar.hidden = true;
  }

  // show says what is shown of a route, null: of all.
  show(route) {
    for (const [r, b] of this.rows) {
      b.setAttribute("aria-pressed", String(r === route));
      b.closest("tr").classList.toggle("app-marked", r === route);
    }
    if (!this.rows.size) return;
    this.bar.hidden = route === null;
    this.part.hidden = route === null;
    if (route === null) return;
    const found = this.model.routes.find((r) => r.name === route), charged = this.model.requests[this.model.charged];
    const title = route || "requests without a route", points = this.report.timeline && this.report.timeline.points;
    const words = ["Only " + title + " is shown below"];
    if (points && points.of === route) words.push(points.at.length ? "timeline: requests of " + fileName(points.source) : "timeline: no requests of this route");
    words.push(found ? count(found.slow) + " slow" : this.model.routes.length && charged ? "where the time went: " + fileName(charged.source) + " names its requests otherwise (" + this.model.routes.slice(0, 3).map((r) => r.name || "no route").join(", ") + ")" : "none of them was slow");
    this.status.say(words.join(" · "));
    this.draw();
  }

  draw() {
    const found = this.rows.size && this.report.route !== null && this.model.routes.find((r) => r.name === this.report.route);
    if (!this.part) return;
    this.part.hidden = !found;
    if (!found) return;
    const all = this.model.routes.reduce((s, r) => s + r.time, 0) || 1, total = found.time || 1;
    this.head.replaceChildren("Of this, ", el("strong", {}, found.name || "requests without a route"), " lost " + duration(found.time) + " (" + percent(found.time / all) + "), in " + count(found.slow) + (found.slow === 1 ? " slow request" : " slow requests"));
    const width = this.part.clientWidth, height = 24;
    if (!width) return;
    const ctx = this.surface.clear(width, height);
    let x = 0;
    for (const p of found.parts) {
      const w = p.time / total * width;
      ctx.fillStyle = palette.get(palette.mechanism(p.mechanism));
      ctx.fillRect(x, 0, Math.max(w - (w > 3 ? 1.5 : 0), 0), height);
      const text = percent(p.time / total);
      ctx.font = palette.font(11, 600);
      ctx.textBaseline = "middle";
      ctx.fillStyle = palette.on(palette.mechanism(p.mechanism));
      if (ctx.measureText(text).width < w - 10) ctx.fillText(text, x + 5, height / 2 + 0.5);
      x += w;
    }
    const title = (m) => this.model.titles[m] || m;
    this.surface.label("Where the slow time of " + found.name + " went: " + found.parts.map((p) => title(p.mechanism) + " " + duration(p.time)).join(", "));
    this.legend.replaceChildren(...found.parts.filter((p) => p.time > total / 1000).map((p) =>
      el("li", {}, swatch(palette.get(palette.mechanism(p.mechanism))), title(p.mechanism) + " ", el("strong", {}, duration(p.time)), el("span", { class: "app-muted" }, " " + percent(p.time / total)))));
  }
}
