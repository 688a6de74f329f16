// Saving pictures: each as SVG, or as PNG that is made of it.

// saver lets the reader save the pictures of a part. pictures are [{name, title, make}];
// make gives what svgOf wants, once it is asked for.
function saver(heading, what, pictures) {
  const list = pictures(), select = el("select", { class: "app-select-box", "aria-label": "picture of the " + what + " to save" });
  const fill = () => {
    const now = select.value;
    select.replaceChildren(...pictures().map((p) => el("option", { value: p.name }, p.name)));
    if (now && [...select.options].some((o) => o.value === now)) select.value = now;
  };
  fill();
  select.addEventListener("focus", fill);
  const make = () => {
    const all = pictures(), p = all.find((x) => x.name === select.value) || all[0];
    return { name: p.name, ...svgOf(heading, p.make()) };
  };
  const named = (p, ext) => (heading + " " + p.name).replace(/[^\p{L}\p{N}.-]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80) + "." + ext;
  return el("span", { class: "app-save app-buttons", role: "group", "aria-label": "save the picture" }, el("span", { class: "app-muted" }, "save"), list.length > 1 ? select : null,
    button("SVG", "save as SVG: " + what, () => {
      const p = make();
      download(new Blob([p.text], { type: "image/svg+xml" }), named(p, "svg"));
    }),
    button("PNG", "save as PNG: " + what, () => {
      const p = make();
      raster(p).then((blob) => download(blob, named(p, "png")), (err) => console.error(err));
    }));
}

// raster draws an SVG at twice its size.
function raster(p) {
  return new Promise((resolve, reject) => {
    const image = new Image(), ratio = Math.min(2, 16000 / Math.max(p.width, p.height)); // browsers draw no larger canvas
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = Math.round(p.width * ratio);
      canvas.height = Math.round(p.height * ratio);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large to be drawn"))), "image/png");
    };
    image.onerror = () => reject(new Error("the picture cannot be drawn"));
    image.src = "data:image/svg+xml," + encodeURIComponent(p.text);
  });
}

function download(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// saveFigures adds that to pictures that were drawn beforehand.
function saveFigures(subject) {
  for (const figure of document.querySelectorAll("figure.stack, figure.chart")) {
    const svg = figure.querySelector("svg"), title = figure.getAttribute("aria-label").split(":")[0];
    if (!svg) continue;
    const make = () => [{ title, note: figure.getAttribute("aria-label").slice(title.length + 1).trim(), drawing: drawnBefore(svg) }];
    const place = figure.closest("section").querySelector(".legend") || figure; // not between a bar and what its colours mean
    place.after(el("div", { class: "app-bar app-below noprint" }, saver(subject, title, () => [{ name: title, make }])));
  }
}

// drawnBefore copies an SVG of the page with the colours that its rules give it.
function drawnBefore(svg) {
  const box = svg.getBoundingClientRect(), copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((e, i) => {
    const s = getComputedStyle(e);
    for (const k of ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity", "color", "font-size", "font-family", "font-weight", "text-anchor"]) to[i].setAttribute(k, s.getPropertyValue(k));
    to[i].removeAttribute("class");
  });
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  const patterns = document.querySelector("svg.defs");
  if (patterns) copy.prepend(patterns.querySelector("defs").cloneNode(true));
  for (const p of copy.querySelectorAll(".pattern")) for (const [k, v] of Object.entries({ stroke: "currentColor", "stroke-opacity": 0.55, fill: "none", "stroke-width": 1.2 })) p.setAttribute(k, v);
  return { out: [new XMLSerializer().serializeToString(copy)], width: box.width, height: box.height };
}
