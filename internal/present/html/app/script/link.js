// The link to what is seen: the hash of the page's address holds what was chosen.
// "#where-0" alone is a place in the page, as everywhere.

// readLink is what a hash says: {at: id of a place, values: Map of key to text}.
function readLink(hash) {
  const text = hash.replace(/^#/, ""), values = new Map();
  const clear = (s) => {
    try {
      return decodeURIComponent(s.replace(/\+/g, "%20"));
    } catch {
      return s; // a lone %
    }
  };
  if (!text.includes("=")) return { at: clear(text), values };
  for (const pair of text.split("&")) {
    const i = pair.indexOf("=");
    if (i > 0) values.set(pair.slice(0, i), clear(pair.slice(i + 1)));
  }
  const at = values.get("at") || "";
  values.delete("at");
  return { at, values };
}

// writeLink is the hash for that, "" where nothing was chosen.
function writeLink(at, values) {
  if (!values.size) return at ? "#" + encodeURIComponent(at) : "";
  const pairs = at ? [["at", at], ...values] : [...values];
  return "#" + pairs.map(([k, v]) => k + "=" + encodeURIComponent(v).replace(/%2F/g, "/").replace(/%20/g, "+").replace(/%2C/g, ",")).join("&");
}

// windowText and readWindow write a window of time as ns since the beginning.
function windowText(lo, hi) { return Math.round(lo) + "," + Math.round(hi); }

function readWindow(text) {
  const m = /^(-?\d+),(-?\d+)$/.exec(text || "");
  return m && Number(m[2]) > Number(m[1]) ? [Number(m[1]), Number(m[2])] : null;
}
