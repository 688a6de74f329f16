// Curves by pixel: the highest and the lowest of each, so that no peak is lost.

// at is the index of the point that holds at t, -1 before the first.
function holds(c, t) {
  return upperBound(c.t, t) - 1;
}

// constant is the value that a curve has wherever it is known, NaN if it changes.
function constant(c) {
  let value = NaN;
  for (const values of c.max ? [c.v, c.max] : [c.v]) {
    for (const v of values) {
      if (v !== v || v === value) continue;
      if (value === value) return NaN;
      value = v;
    }
  }
  return value;
}

// extremes gives each of `width` pixels of [lo, hi] the highest and lowest value that
// held in it; null where nothing is known. A curve ends at its last point; one of
// readings is known at them only.
function extremes(c, lo, hi, width) {
  const high = new Array(width).fill(null), low = new Array(width).fill(null);
  const step = (hi - lo) / width, end = c.t.length ? c.t[c.t.length - 1] : 0;
  if (c.readings) {
    for (let i = lowerBound(c.t, lo); i < c.t.length && c.t[i] <= hi; i++) {
      const x = Math.min(width - 1, Math.floor((c.t[i] - lo) / step)), v = c.v[i];
      if (v !== v) continue;
      high[x] = Math.max(high[x] ?? v, v);
      low[x] = Math.min(low[x] ?? v, v);
    }
    return { high, low };
  }
  if (c.sloped) {
    for (let x = 0, i = Math.max(0, holds(c, lo)); x < width; x++) {
      const from = lo + x * step, to = from + step;
      const put = (v) => {
        if (v !== v) return;
        high[x] = Math.max(high[x] ?? v, v);
        low[x] = Math.min(low[x] ?? v, v);
      };
      put(valueAt(c, from));
      while (i < c.t.length && c.t[i] < from) i++;
      for (; i < c.t.length && c.t[i] < to; i++) put(c.v[i]);
      put(valueAt(c, to));
    }
    return { high, low };
  }
  let i = holds(c, lo);
  for (let x = 0; x < width; x++) {
    const from = lo + x * step, to = from + step;
    if (i < 0 && c.t.length && c.t[0] < to) i = 0;
    while (i >= 0 && i + 1 < c.t.length && c.t[i + 1] <= from) i++;
    if (i < 0) continue;
    if (from > end && i === c.t.length - 1) break;
    let h = -Infinity, l = Infinity;
    for (;;) {
      const v = c.v[i], m = c.max ? c.max[i] : v;
      if (m > h) h = m; // false for NaN
      if (v < l) l = v;
      if (i + 1 >= c.t.length || c.t[i + 1] >= to) break;
      i++;
    }
    if (h > -Infinity) high[x] = h;
    if (l < Infinity) low[x] = l;
  }
  return { high, low };
}

// stacked gives each pixel the values, one upon the other, of the moment in it at
// which their sum was highest.
function stacked(curves, lo, hi, width) {
  const out = curves.map(() => new Array(width).fill(null));
  const step = (hi - lo) / width;
  const i = curves.map((c) => holds(c, lo));
  const value = (k) => {
    const c = curves[k];
    if (i[k] < 0 || !c.t.length) return NaN;
    return c.v[i[k]];
  };
  for (let x = 0; x < width; x++) {
    const from = lo + x * step, to = from + step;
    for (let k = 0; k < curves.length; k++) {
      const t = curves[k].t;
      while (i[k] + 1 < t.length && t[i[k] + 1] <= from) i[k]++;
    }
    let best = null, most = -Infinity;
    for (;;) {
      let sum = 0, known = false;
      const now = curves.map((c, k) => {
        const v = from > c.t[c.t.length - 1] ? NaN : value(k);
        if (v === v) {
          known = true;
          sum += v;
          return v;
        }
        return 0;
      });
      if (known && sum > most) {
        most = sum;
        best = now;
      }
      let next = Infinity;
      for (let k = 0; k < curves.length; k++) {
        const t = curves[k].t;
        if (i[k] + 1 < t.length && t[i[k] + 1] < next) next = t[i[k] + 1];
      }
      if (next >= to) break;
      for (let k = 0; k < curves.length; k++) {
        const t = curves[k].t;
        while (i[k] + 1 < t.length && t[i[k] + 1] <= next) i[k]++;
      }
    }
    if (!best) continue;
    let sum = 0;
    for (let k = 0; k < curves.length; k++) out[k][x] = sum += best[k];
  }
  return out;
}

// average is the mean over [lo, hi] of what is known of a curve; of readings, of those
// in it. NaN where nothing is.
function average(c, lo, hi) {
  let sum = 0, known = 0;
  for (let i = Math.max(holds(c, lo), 0); i < c.t.length && c.t[i] <= hi; i++) {
    const v = c.sloped && i + 1 < c.t.length ? (valueAt(c, Math.max(c.t[i], lo)) + valueAt(c, Math.min(c.t[i + 1], hi))) / 2 : c.v[i], next = i + 1 < c.t.length ? c.t[i + 1] : c.t[i];
    const weight = c.readings ? (c.t[i] >= lo ? 1 : 0) : Math.min(next, hi) - Math.max(c.t[i], lo);
    if (v !== v || !(weight > 0)) continue;
    sum += v * weight;
    known += weight;
  }
  return known > 0 ? sum / known : NaN;
}

// valueAt is what a curve had at a time; NaN where nothing is known. Of readings it
// is the nearest within `reach`.
function valueAt(c, t, reach) {
  if (c.readings) {
    const after = lowerBound(c.t, t), i = after > 0 && (after === c.t.length || t - c.t[after - 1] < c.t[after] - t) ? after - 1 : after;
    return i < c.t.length && Math.abs(c.t[i] - t) <= reach ? c.v[i] : NaN;
  }
  const i = holds(c, t);
  if (i < 0 || t > c.t[c.t.length - 1]) return NaN;
  if (c.sloped && i + 1 < c.t.length) return c.v[i] + (c.v[i + 1] - c.v[i]) * (t - c.t[i]) / (c.t[i + 1] - c.t[i]); // NaN towards what is not known
  return c.v[i];
}
