// A lane: spans that follow each other, each of one kind or of several by share.

// shares fills `width` × `kinds` shares of each pixel's time by kind. spans is
// called with a function add(from, to, kind, part) and must cover [lo, hi].
function shares(lo, hi, width, kinds, spans) {
  const out = new Float32Array(width * kinds);
  const k = width / (hi - lo);
  spans((from, to, kind, part) => {
    if (to <= lo || from >= hi) return;
    const x0 = (Math.max(from, lo) - lo) * k, x1 = (Math.min(to, hi) - lo) * k;
    let a = Math.min(width - 1, x0 | 0);
    const b = Math.min(width - 1, x1 | 0);
    if (a === b) {
      out[a * kinds + kind] += (x1 - x0) * part;
      return;
    }
    out[a * kinds + kind] += (a + 1 - x0) * part;
    for (a++; a < b; a++) out[a * kinds + kind] += part;
    out[b * kinds + kind] += (x1 - b) * part;
  });
  return out;
}

// runs joins neighbouring pixels whose shares are alike into [from, to) with the
// parts they are stacked of, largest kind numbers last.
function runs(table, width, kinds) {
  const out = [];
  let last = null;
  for (let x = 0; x < width; x++) {
    const o = x * kinds;
    if (last && alike(table, last.o, o, kinds)) {
      last.to = x + 1;
      continue;
    }
    last = { from: x, to: x + 1, o };
    out.push(last);
  }
  return out;
}

function alike(table, a, b, kinds) {
  for (let k = 0; k < kinds; k++) if (Math.abs(table[a + k] - table[b + k]) > 0.004) return false;
  return true;
}

// laneSpans calls add for the spans of a processor's lane in [lo, hi].
function laneSpans(l, lo, hi, add) {
  let i = Math.max(0, upperBound(l.at, lo) - 1);
  let s = lowerBound(l.share, i);
  for (; i < l.at.length && l.at[i] < hi; i++) {
    const from = l.at[i], to = from + l.dur[i];
    if (l.share[s] !== i) {
      add(from, to, l.work[i], 1);
      continue;
    }
    for (; l.share[s] === i; s++) add(from, to, l.shareWork[s], l.sharePart[s]);
  }
}

// laneTotals are ns by kind of work in [lo, hi]; what is not covered is idle (0).
function laneTotals(l, lo, hi, kinds) {
  const out = new Float64Array(kinds);
  let known = 0;
  laneSpans(l, lo, hi, (from, to, work, part) => {
    const d = Math.max(0, Math.min(to, hi) - Math.max(from, lo)) * part;
    out[work] += d;
    known += d;
  });
  out[0] += Math.max(0, hi - lo - known);
  return out;
}

// spanAt is the index of the span at a time, within `slack` ns; -1: none.
function spanAt(l, t, slack) {
  const i = upperBound(l.at, t) - 1;
  if (i >= 0 && t <= l.at[i] + l.dur[i]) return i;
  const before = i >= 0 ? t - l.at[i] - l.dur[i] : Infinity;
  const after = i + 1 < l.at.length ? l.at[i + 1] - t : Infinity;
  if (Math.min(before, after) > slack) return -1;
  return before <= after ? i : i + 1;
}

// pack puts intervals (ascending beginnings) in as few rows as hold them without
// overlap; the row of each.
function pack(list) {
  const ends = [];
  return list.map(({ at, until }) => {
    let row = ends.findIndex((end) => end <= at);
    if (row < 0) row = ends.length;
    ends[row] = until;
    return row;
  });
}
