// Requests as points, summed up by cells of the picture.

const isSlow = 1, isFailed = 2, isUnfinished = 4, isTraced = 8;

// inWindow are the indices [first, last) of points that began in [lo, hi] ns.
function inWindow(p, lo, hi) {
  return [lowerBound(p.at, Math.floor(lo / p.tick)), upperBound(p.at, hi / p.tick)];
}

// ofRoute are the points of one route. One that stands for several requests is of the
// route of the slowest of them; how many of the others are, is not known.
function ofRoute(p, route) {
  const r = p.routes.indexOf(route), keep = [];
  let together = false;
  for (let i = 0; r >= 0 && i < p.at.length; i++) {
    if ((p.route ? p.route[i] : 0) !== r) continue;
    keep.push(i);
    together = together || Boolean(p.number && p.number[i] > 1);
  }
  const pick = (c) => (c ? c.constructor.from(keep, (i) => c[i]) : null);
  return { ...p, of: route, together, at: pick(p.at), latency: pick(p.latency), number: null, route: pick(p.route), flags: pick(p.flags), detail: pick(p.detail) };
}

// rows puts each latency in one of `height` rows, the highest latency in row 0.
function rows(latency, scale, height) {
  const out = new Uint16Array(latency.length);
  for (let i = 0; i < out.length; i++) {
    const y = Math.round((1 - scale(Math.max(latency[i], 1))) * (height - 1));
    out[i] = y < 0 ? 0 : y >= height ? height - 1 : y;
  }
  return out;
}

// density counts the requests of each cell: those that were slow and those that
// were not, and whether one failed. A slow or failed one is never averaged away: it
// has planes of its own.
function density(p, row, lo, hi, width, height, into) {
  const d = into && into.usual.length === width * height ? into : {
    usual: new Uint32Array(width * height), slow: new Uint32Array(width * height), failed: new Uint8Array(width * height),
  };
  d.usual.fill(0);
  d.slow.fill(0);
  d.failed.fill(0);
  const [first, last] = inWindow(p, lo, hi);
  const { at, flags, number } = p;
  const k = p.tick * width / (hi - lo), from = lo / p.tick;
  let requests = 0, slow = 0, failed = 0, slowest = -1;
  const latency = p.latency;
  for (let i = first; i < last; i++) {
    let x = ((at[i] - from) * k) | 0;
    if (x < 0) x = 0;
    else if (x >= width) x = width - 1;
    const cell = row[i] * width + x;
    const n = number ? number[i] : 1;
    const f = flags[i];
    requests += n;
    if (f & isSlow) {
      d.slow[cell] += n;
      slow += n;
    } else d.usual[cell] += n;
    if (f & isFailed) {
      d.failed[cell] = 1;
      failed += n;
    }
    if (slowest < 0 || latency[i] > latency[slowest]) slowest = i;
  }
  d.first = first;
  d.last = last;
  d.requests = requests;
  d.slowCount = slow;
  d.failedCount = failed;
  d.slowest = slowest;
  return d;
}

// nearest is the index of the point closest to (x, y), within `reach` pixels; of
// several as close, the slowest. -1: none.
function nearest(p, row, view, width, rowHeight, x, y, reach, accept) {
  const [first, last] = inWindow(p, view.time(x - reach, width), view.time(x + reach, width));
  let best = -1, least = reach * reach;
  for (let i = first; i < last; i++) {
    if (accept && !accept(i)) continue;
    const dx = view.x(p.at[i] * p.tick, width) - x, dy = (row[i] + 0.5) * rowHeight - y;
    const d = dx * dx + dy * dy;
    if (d < least || d === least && best >= 0 && p.latency[i] > p.latency[best]) {
      least = d;
      best = i;
    }
  }
  return best;
}
