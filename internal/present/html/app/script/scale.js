// Where axes have their ticks.

const timeSteps = (() => {
  const out = [];
  for (let p = 1; p < 1e9; p *= 10) out.push(p, 2 * p, 5 * p);
  return out.concat([1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((s) => s * 1e9));
})();

// timeTicks are round times (ns) in [lo, hi], at most as many as fit when a label
// takes `each` of `width` pixels. Times are round as seen from `zero`.
function timeTicks(lo, hi, width, each, zero) {
  const least = (hi - lo) * each / Math.max(width, 1);
  const step = timeSteps.find((s) => s >= least) || Math.ceil(least / 86400e9) * 86400e9;
  const out = [];
  for (let k = Math.ceil((lo + zero) / step); ; k++) {
    const t = k * step - zero;
    if (t > hi || out.length > 1000) break;
    out.push(t);
  }
  return { step, ticks: out };
}

// logTicks are decades in [lo, hi], with 2 and 5 between them where `most` allows;
// `major` are those with a label.
function logTicks(lo, hi, most) {
  const all = (factors) => {
    const out = [];
    for (let p = Math.floor(Math.log10(lo)); p <= Math.log10(hi); p++) {
      for (const f of factors) {
        const v = Number(f + "e" + p);
        if (v >= lo && v <= hi) out.push(v);
      }
    }
    return out;
  };
  const minor = all([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const major = all(factors);
    if (major.length <= most) return { major, minor };
  }
  const decades = all([1]);
  const skip = Math.ceil(decades.length / Math.max(most, 1));
  return { major: decades.filter((_, i) => i % skip === 0), minor: decades };
}

// linearTicks are round figures from 0 to hi; of bytes, round in powers of two.
function linearTicks(hi, most, unit) {
  if (!(hi > 0)) return [0];
  const raw = hi / Math.max(most, 1);
  let step;
  if (unit.startsWith("bytes")) {
    const p = Math.pow(1024, Math.max(0, Math.floor(Math.log(raw) / Math.log(1024))));
    step = p * ([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].find((f) => f * p >= raw) || 1024);
  } else {
    const p = Number("1e" + Math.floor(Math.log10(raw)));
    step = p * ([1, 2, 5, 10].find((f) => f * p >= raw * (1 - 1e-9)) || 10);
  }
  const out = [];
  for (let k = 0; k * step <= hi * (1 + 1e-9); k++) out.push(k * step);
  return out;
}

// logScale maps [lo, hi] to [0, 1].
function logScale(lo, hi) {
  const a = Math.log(lo), k = 1 / (Math.log(hi) - a);
  const f = (v) => (Math.log(v) - a) * k;
  f.invert = (y) => Math.exp(a + y / k);
  return f;
}
