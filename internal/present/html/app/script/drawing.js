// Pictures as SVG: what is drawn on a canvas, written down instead.

// Drawing takes what parts ask of a canvas' context and makes elements of SVG of it.
class Drawing {
  constructor() {
    this.out = [];
    this.width = this.height = 0;
    this.saved = [];
    this.state = {
      fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "11px sans-serif", textAlign: "left", textBaseline: "alphabetic", dash: [], within: null,
    };
    for (const k of Object.keys(this.state)) Object.defineProperty(this, k, { get: () => this.state[k], set: (v) => { this.state[k] = v; } });
    this.ruler = document.createElement("canvas").getContext("2d");
    this.path = [];
  }

  save() { this.saved.push({ ...this.state }); }
  restore() { Object.assign(this.state, this.saved.pop()); }
  beginPath() { this.path = []; }
  moveTo(x, y) { this.path.push("M" + place(x) + " " + place(y)); }
  lineTo(x, y) { this.path.push("L" + place(x) + " " + place(y)); }
  setLineDash(dash) { this.dash = dash; }

  rect(x, y, w, h) { this.path.push("M" + place(x) + " " + place(y) + "h" + place(w) + "v" + place(h) + "h" + place(-w) + "Z"); }

  // arc is a whole circle: parts of one are not drawn anywhere.
  arc(x, y, r) { this.path.push("M" + place(x + r) + " " + place(y) + "a" + place(r) + " " + place(r) + " 0 1 0 " + place(-2 * r) + " 0a" + place(r) + " " + place(r) + " 0 1 0 " + place(2 * r) + " 0"); }

  // clip keeps what follows inside the path, until what was saved is restored.
  clip() {
    this.within = "c" + Drawing.clips++;
    this.out.push(`<clipPath id="${this.within}"><path d="${this.path.join("")}"/></clipPath>`);
  }

  fill() { if (this.path.length) this.add("path", { d: this.path.join(""), fill: this.fillStyle }); }
  fillRect(x, y, w, h) { this.add("rect", { x: place(x), y: place(y), width: place(w), height: place(h), fill: this.fillStyle }); }
  clearRect(x, y, w, h) { this.add("rect", { x: place(x), y: place(y), width: place(w), height: place(h), fill: palette.get("bg") }); }
  stroke() { if (this.path.length) this.add("path", { d: this.path.join(""), fill: "none", ...this.line() }); }
  strokeRect(x, y, w, h) { this.add("rect", { x: place(x), y: place(y), width: place(w), height: place(h), fill: "none", ...this.line() }); }

  line() { return { stroke: this.strokeStyle, "stroke-width": place(this.lineWidth), "stroke-dasharray": this.dash.length ? this.dash.join(" ") : null }; }

  drawImage(image, x, y, w, h) {
    this.add("image", { href: image.toDataURL("image/png"), x: place(x), y: place(y), width: place(w), height: place(h), preserveAspectRatio: "none", style: "image-rendering:pixelated" });
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  fillText(text, x, y) {
    const m = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font), size = m ? Number(m[2]) : 11;
    const down = { middle: 0.35, top: 0.8, alphabetic: 0 }[this.textBaseline] || 0;
    this.add("text", {
      x: place(x), y: place(y + down * size), fill: this.fillStyle, "font-size": size, "font-family": m ? m[3] : null, "font-weight": m && m[1] ? m[1] : null,
      "text-anchor": { center: "middle", right: "end" }[this.textAlign] || null,
    }, text);
  }

  add(name, attributes, text) {
    const a = { ...attributes, opacity: this.globalAlpha < 1 ? place(this.globalAlpha) : null, "clip-path": this.within ? `url(#${this.within})` : null };
    const words = Object.keys(a).filter((k) => a[k] !== null).map((k) => " " + k + '="' + escaped(String(a[k])) + '"').join("");
    this.out.push("<" + name + words + (text === undefined ? "/>" : ">" + escaped(text) + "</" + name + ">"));
  }
}

Drawing.clips = 0;

// place is a coordinate: hundredths of a pixel are more than can be seen.
function place(v) { return Math.round(v * 100) / 100; }

function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");
}

// record is what a part draws on a surface when it is asked to; the canvas is drawn
// anew by whoever asks.
function record(surface, draw) {
  const real = surface.ctx, drawing = new Drawing();
  surface.ctx = surface.recording = drawing;
  try {
    draw();
  } finally {
    surface.ctx = real;
    surface.recording = null;
  }
  return drawing;
}

// svgOf is a document of pictures below each other, each {title, note, legend: [{text,
// colour}], drawing}.
function svgOf(heading, pictures) {
  const margin = 16, width = Math.max(...pictures.map((p) => p.drawing.width)), page = new Drawing(), body = [];
  let y = margin;
  const words = (text, size, weight, colour) => {
    page.font = palette.font(size, weight);
    page.fillStyle = palette.get(colour);
    page.textBaseline = "top";
    for (const line of wrapped(page, text, width)) {
      page.fillText(line, margin, y);
      y += size * 1.4;
    }
  };
  words(heading, 11, null, "muted");
  for (const p of pictures) {
    y += 4;
    words(p.title, 13, 600, "ink");
    if (p.note) words(p.note, 11, null, "muted");
    page.font = palette.font(11);
    let x = margin;
    for (const k of p.legend || []) {
      const w = page.measureText(k.text).width + 30;
      if (x > margin && x + w > margin + width) {
        x = margin;
        y += 16;
      }
      page.fillStyle = k.colour;
      page.fillRect(x, y + 1, 9, 9);
      page.fillStyle = palette.get("ink");
      page.fillText(k.text, x + 13, y);
      x += w;
    }
    if ((p.legend || []).length) y += 18;
    page.out.push(`<g transform="translate(${margin} ${place(y + 4)})">`, ...p.drawing.out, "</g>");
    y += p.drawing.height + 10;
  }
  const w = Math.ceil(width + 2 * margin), h = Math.ceil(y + margin - 8), title = escaped(pictures.map((p) => p.title).join("; "));
  body.push(`<svg xmlns="${namespace()}" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">`, `<title>${title}</title>`, `<rect width="${w}" height="${h}" fill="${palette.get("bg")}"/>`, ...page.out, "</svg>");
  return { text: body.join("\n"), width: w, height: h };
}

// namespace is SVG's, which the page has no other need to name.
function namespace() {
  const t = document.createElement("template");
  t.innerHTML = "<svg></svg>";
  return t.content.firstChild.namespaceURI;
}

// wrapped are the lines of a text that is not to be wider than `width`.
function wrapped(ctx, text, width) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? line + " " + word : word;
    if (line && ctx.measureText(longer).width > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return line ? [...lines, line] : lines;
}
