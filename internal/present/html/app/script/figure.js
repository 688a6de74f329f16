// Figures in words: three digits, a unit, the same everywhere.

const minus = "−";

// digits writes with three significant digits, and more before the point if need be.
function digits(v) {
  const a = Math.abs(v);
  if (a >= 1000) return grouped(Math.round(v));
  const places = a >= 100 || a === 0 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(a)));
  return trimmed(v.toFixed(places)).replace("-", minus);
}

function trimmed(s) {
  return s.includes(".") ? s.replace(/\.?0+$/, "") : s;
}

function grouped(v) {
  return String(v).replace("-", minus).replace(/\B(?=(\d{3})+$)/g, ",");
}

// duration writes ns.
function duration(ns) {
  const a = Math.abs(ns);
  if (a < 999.5) return digits(ns) + " ns";
  if (a < 999.5e3) return digits(ns / 1e3) + " µs";
  if (a < 999.5e6) return digits(ns / 1e6) + " ms";
  if (a < 120e9) return digits(ns / 1e9) + " s";
  const s = Math.round(ns / 1e9);
  if (s < 7200) return Math.floor(s / 60) + " min" + (s % 60 ? " " + (s % 60) + " s" : "");
  if (s >= 172800) return digits(s / 86400) + " days";
  const minutes = Math.round(s / 60);
  return Math.floor(minutes / 60) + " h" + (minutes % 60 ? " " + (minutes % 60) + " min" : "");
}

function bytes(v) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let k = 0;
  while (Math.abs(v) >= 1023.5 && k < units.length - 1) {
    v /= 1024;
    k++;
  }
  return digits(v) + " " + units[k];
}

function count(v) {
  if (v < 1e6) return grouped(Math.round(v));
  return v < 1e9 ? digits(v / 1e6) + " M" : digits(v / 1e9) + " G";
}

function percent(share) {
  const p = share * 100;
  if (p > 0 && p < 0.1) return "<0.1 %";
  return (p >= 99.95 || p === 0 ? p.toFixed(0) : p >= 10 ? p.toFixed(0) : p.toFixed(1)) + " %";
}

// fileName is a source, or several, without folders.
function fileName(source) {
  return source.split(", ").map((s) => s.slice(s.lastIndexOf("/") + 1)).join(", ");
}

// amount writes a figure of a chart or flame in its unit.
function amount(v, unit) {
  switch (unit) {
    case "ns": return duration(v);
    case "bytes": return bytes(v);
    case "bytes/s": return bytes(v) + "/s";
    case "1":
    case "": return digits(v);
    case "share": return percent(v);
    case "s/s": return digits(v); // how many at a time, on average
    case "ms/s": return digits(v / 1e3);
    case "cores": return digits(v) + (digits(v) === "1" ? " CPU" : " CPUs");
    case "1/s": return (Math.abs(v) >= 1e6 ? count(v) : digits(v)) + "/s";
    default: return (Math.abs(v) >= 1e6 ? count(v) : digits(v)) + " " + unit;
  }
}

// clock writes a time of day (ns since midnight, UTC) with as many places as a
// step (ns) needs.
function clock(ns, step) {
  const day = 86400e9;
  ns = ((ns % day) + day) % day;
  const whole = Math.floor(ns / 1e9 + 1e-9);
  const two = (v) => String(v).padStart(2, "0");
  let out = two(Math.floor(whole / 3600)) + ":" + two(Math.floor(whole / 60) % 60) + ":" + two(whole % 60);
  const places = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9)));
  if (places > 0) out += "." + String(Math.round(ns - whole * 1e9)).padStart(9, "0").slice(0, places);
  return out;
}

// moment writes a time of a window: of day if that is known, else since its start.
function moment(model, ns, step) {
  if (!model.anchored) return plain(ns, step);
  return clock(Number(model.from % 86400000000000n) + ns, step);
}

// plain writes an offset (ns) with as many places as a step needs, in the unit that
// suits `scale`: the largest of those it stands beside.
function plain(ns, step, scale = ns) {
  const a = Math.abs(scale);
  const [unit, size] = a >= 1e9 || step >= 1e9 ? ["s", 1e9] : a >= 1e6 || step >= 1e6 ? ["ms", 1e6] : a >= 1e3 || step >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  if (unit === "s" && step >= 1e9 && a >= 600e9) {
    const two = (v) => String(Math.floor(v)).padStart(2, "0"), sign = ns < 0 ? minus : "", s = Math.abs(ns) / 1e9;
    if (a >= 7200e9 && step >= 60e9) return sign + Math.floor(s / 3600) + ":" + two(s % 3600 / 60) + " h";
    return sign + Math.floor(s / 60) + ":" + two(s % 60) + " min";
  }
  const places = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  const [whole, part] = (Math.abs(ns) / size).toFixed(places).split(".");
  return (ns < 0 ? minus : "") + grouped(whole) + (part ? "." + part : "") + " " + unit;
}
