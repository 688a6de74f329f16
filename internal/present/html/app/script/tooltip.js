// What is under the pointer, in words beside it.

class Tooltip {
  constructor(host) {
    this.host = host;
    this.element = el("div", { class: "app-tip", role: "tooltip" });
    this.element.hidden = true;
    host.append(this.element);
  }

  // show puts lines beside (x, y) of the host; a line is a text or {text, strong,
  // colour}.
  show(x, y, lines) {
    const key = JSON.stringify(lines);
    if (key !== this.key) {
      this.key = key;
      this.element.replaceChildren(...lines.filter(Boolean).map((l) => {
        if (typeof l === "string") return el("div", {}, l);
        return el("div", l.strong ? { class: "app-strong" } : {}, l.colour ? swatch(l.colour) : null, l.text);
      }));
    }
    this.element.hidden = false;
    const w = this.element.offsetWidth, h = this.element.offsetHeight;
    const box = this.host.getBoundingClientRect();
    let left = x + 14;
    if (left + w > this.host.clientWidth) left = x - w - 14;
    left = Math.max(Math.min(left, this.host.clientWidth - w), 0);
    let top = y + 14;
    if (box.top + top + h > innerHeight) top = y - h - 10;
    if (box.top + top < 0) top = -box.top;
    this.element.style.transform = "translate(" + Math.round(left) + "px," + Math.round(top) + "px)";
  }

  hide() { this.element.hidden = true; }
}
