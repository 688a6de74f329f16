// Intervals by pixel: how much of each pixel's time they cover.

// cover fills shares (one per pixel, 0…1) of the intervals of a band in [lo, hi].
// One that is shorter than a pixel still leaves a share above 0 where it is. Neighbours
// drawn together cover as much of their time as they lasted.
function cover(band, lo, hi, width) {
  const shares = new Float32Array(width);
  const { at, dur, until } = band;
  const k = width / (hi - lo);
  const first = upperBound(until, lo), last = upperBound(at, hi);
  let n = 0, longest = -1, time = 0, reached = lo;
  for (let i = first; i < last; i++) {
    const end = at[i] + dur[i];
    if (end < lo) continue;
    n += band.number ? band.number[i] : 1;
    if (longest < 0 || longestOf(band, i) > longestOf(band, longest)) longest = i;
    const from = Math.max(at[i], lo), to = Math.min(end, hi), part = band.busy && dur[i] > 0 ? Math.min(1, band.busy[i] / dur[i]) : 1;
    if (to > reached) { // ascending beginnings: what is beyond the furthest end yet is covered anew
      time += (to - Math.max(from, reached)) * part;
      reached = to;
    }
    const x0 = (from - lo) * k, x1 = (to - lo) * k;
    let a = Math.min(width - 1, x0 | 0);
    const b = Math.min(width - 1, x1 | 0);
    if (a === b) {
      shares[a] += Math.max((x1 - x0) * part, 1e-6);
      continue;
    }
    shares[a] += (a + 1 - x0) * part;
    for (a++; a < b; a++) shares[a] = part;
    if (x1 > b) shares[b] += (x1 - b) * part;
  }
  for (let x = 0; x < width; x++) if (shares[x] > 1) shares[x] = 1;
  return { shares, first, last, count: n, longest, share: time / (hi - lo) };
}

// watched are the parts of [lo, hi] in which a band was looked for.
function watched(band, lo, hi) {
  if (!band.since) return [[lo, hi]];
  const out = [];
  for (let i = 0; i < band.since.length; i++) {
    const from = Math.max(lo, band.since[i]), to = Math.min(hi, band.end[i]);
    if (to > from) out.push([from, to]);
  }
  return out;
}

function longestOf(band, i) {
  return band.longest ? band.longest[i] : band.dur[i];
}

// intervalAt is the interval of a band at a time, with `slack` ns to both sides; the
// shortest of several, for that is the hardest to hit. -1: none.
function intervalAt(band, t, slack) {
  const last = upperBound(band.at, t + slack);
  let best = -1, distance = Infinity;
  for (let i = upperBound(band.until, t - slack - 1e-9); i < last; i++) {
    const end = band.at[i] + band.dur[i];
    if (end < t - slack) continue;
    const d = t < band.at[i] ? band.at[i] - t : t > end ? t - end : 0;
    if (d < distance || d === distance && band.dur[i] < band.dur[best]) {
      distance = d;
      best = i;
    }
  }
  return best;
}
