// The document: elements made of text, and what is said to those who do not see.

// el makes an element. Texts become text nodes, never markup.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const k in attributes) {
    const v = attributes[k];
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
}

function button(text, label, onclick) {
  return el("button", { type: "button", class: "app-button", "aria-label": label, title: label, onclick }, text);
}

// choice is a labelled select over options; null where there is nothing to choose.
function choice(label, options, onchange) {
  const select = el("select", { class: "app-select-box", onchange: () => onchange(Number(select.value)) },
    ...options.map((o, i) => el("option", { value: i }, o)));
  const box = el("label", { class: "app-choice" }, label + " ", select);
  box.hidden = options.length < 2;
  box.select = select;
  return box;
}

function swatch(colour) {
  const s = el("span", { class: "app-swatch", "aria-hidden": "true" });
  s.style.background = colour;
  return s;
}

// Status is a line that is also read out, once what it says has settled.
class Status {
  constructor() {
    this.shown = el("p", { class: "app-status" });
    this.spoken = el("p", { class: "app-spoken", role: "status", "aria-live": "polite" });
    this.element = el("div", {}, this.shown, this.spoken);
  }

  say(text) {
    if (text === this.shown.textContent) return;
    this.shown.textContent = text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.spoken.textContent = text; }, 500);
  }
}

// once runs f at the next frame, however often it is asked to before.
function once(f) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      f();
    });
  };
}
