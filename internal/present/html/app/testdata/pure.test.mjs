// The functions that need no document. Run by TestScript; by hand:
//   SCRIPT=script node --test testdata/pure.test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const names = ["column", "search", "figure", "scale", "view", "density", "cover", "curve", "lane", "tree", "link"];
const source = names.map((n) => readFileSync(`${process.env.SCRIPT}/${n}.js`, "utf8")).join("\n");
const app = new Function(`"use strict";${source}
return { column, decode, lowerBound, upperBound, digits, duration, bytes, count, percent, fileName, amount, clock, moment, plain, timeTicks, logTicks, linearTicks, logScale,
  View, inWindow, rows, density, nearest, cover, watched, intervalAt, constant, extremes, stacked, valueAt, shares, runs, laneSpans, laneTotals, spanAt, pack, tree, boxes, find, topBySelf, path, ofRoute, readLink, writeLink, windowText, readWindow };`)();

// random is a generator with a seed, so that a failure can be repeated.
function random(seed) {
  return () => (seed = (seed * 48271) % 2147483647) / 2147483647;
}

test("figures", () => {
  for (const [got, want] of [
    [app.duration(0), "0 ns"], [app.duration(999), "999 ns"], [app.duration(999.6), "1 µs"], [app.duration(51_743_212), "51.7 ms"], [app.duration(999_600), "1 ms"],
    [app.duration(1.5e9), "1.5 s"], [app.duration(125e9), "2 min 5 s"], [app.duration(7260e9), "2 h 1 min"], [app.duration(7199e9 + 3540e9), "2 h 59 min"], [app.duration(864e12), "10 days"], [app.duration(-2500), "−2.5 µs"],
    [app.bytes(0), "0 B"], [app.bytes(122 * 1048576), "122 MiB"], [app.bytes(1023.9), "1 KiB"], [app.count(14516), "14,516"], [app.count(10_200_000), "10.2 M"],
    [app.percent(0), "0 %"], [app.percent(0.0004), "<0.1 %"], [app.percent(0.0123), "1.2 %"], [app.percent(1), "100 %"],
    [app.fileName("/var/log/a.txt"), "a.txt"], [app.fileName("a.txt"), "a.txt"], [app.fileName("/day/a.txt, /day/b.txt"), "a.txt, b.txt"],
    [app.amount(28309, "ms/s"), "28.3"], [app.amount(187e3, "ms/s"), "187"], [app.amount(0.53, "s/s"), "0.53"], [app.amount(0.53, "share"), "53 %"], [app.amount(0.53, "1"), "0.53"], [app.amount(1760, "1/s"), "1,760/s"], [app.amount(1.25, "cores"), "1.25 CPUs"], [app.amount(1, "cores"), "1 CPU"],
    [app.clock(11882e9 + 123_456_789, 1e9), "03:18:02"], [app.clock(11882e9 + 123_456_789, 1e6), "03:18:02.123"], [app.clock(86400e9 + 1e9, 1e9), "00:00:01"],
    [app.plain(40_135_000, 1e3), "40.135 ms"], [app.plain(0, 1e3, 50e6), "0.000 ms"], [app.plain(1500, 500), "1.5 µs"], [app.plain(1560 * 60e9, 60e9), "26:00 h"], [app.plain(700e9, 1e9), "11:40 min"],
  ]) assert.equal(got, want);
});

test("ticks of time are round, inside and few enough", () => {
  const next = random(11);
  for (let i = 0; i < 2000; i++) {
    const lo = next() * 1e12, span = 100 * Math.pow(10, next() * 12), width = 200 + next() * 1500;
    const { step, ticks } = app.timeTicks(lo, lo + span, width, 80, 11882e9);
    assert.ok(ticks.length <= width / 80 + 1, `${ticks.length} ticks in ${width}`);
    for (const t of ticks) {
      assert.ok(t >= lo - 1 && t <= lo + span + 1);
      const k = (t + 11882e9) / step;
      assert.ok(Math.abs(k - Math.round(k)) * step < 1, `${t} is no multiple of ${step}`);
    }
  }
});

test("logarithmic ticks", () => {
  assert.deepEqual(app.logTicks(1e5, 1e8, 4).major, [1e5, 1e6, 1e7, 1e8]);
  assert.ok(app.logTicks(1e5, 1e8, 20).major.includes(5e6));
  assert.ok(app.logTicks(1, 1e12, 5).major.length <= 5);
});

test("linear ticks of bytes are powers of two", () => {
  assert.deepEqual(app.linearTicks(130 * 1048576, 3, "bytes"), [0, 64, 128].map((v) => v * 1048576));
  assert.deepEqual(app.linearTicks(1.9, 3, "cores"), [0, 1]);
  assert.deepEqual(app.linearTicks(0, 3, "1"), [0]);
});

test("a link reads back", () => {
  const values = new Map([["route", "GET /a b/{id}?x=1&y=100%,#ü+"], ["zoom", "12,345"], ["request", "3"]]);
  for (const at of ["", "timeline-0"]) {
    const got = app.readLink(app.writeLink(at, values));
    assert.equal(got.at, at);
    assert.deepEqual([...got.values], [...values]);
  }
  assert.equal(app.writeLink("timeline-0", new Map([["zoom", "1,2"]])), "#at=timeline-0&zoom=1,2");
  assert.equal(app.writeLink("", new Map()), "");
  assert.deepEqual(app.readLink("#where-0"), { at: "where-0", values: new Map() });
  assert.deepEqual(app.readWindow(app.windowText(1.4, 9.6e12)), [1, 9.6e12]);
  for (const bad of ["", "1", "2,1", "a,b", "1,2,3", undefined]) assert.equal(app.readWindow(bad), null, bad);
  assert.equal(app.readLink("#route=%&x").values.get("route"), "%");
});

test("what is drawn together covers as much as it lasted", () => {
  const band = { at: Float64Array.of(0, 500), dur: Float64Array.of(400, 100), until: Float64Array.of(400, 600), number: Uint8Array.of(9, 1), longest: Float64Array.of(20, 100), busy: Float64Array.of(100, 100) };
  const c = app.cover(band, 0, 1000, 10);
  assert.equal(c.share, 0.2);
  assert.equal(c.count, 10);
  assert.deepEqual([...c.shares].map((v) => Math.round(v * 100)), [25, 25, 25, 25, 0, 100, 0, 0, 0, 0]);
});

test("points of a route", () => {
  const p = { tick: 1, routes: ["", "a", "b"], at: Uint32Array.of(1, 2, 3), latency: Float64Array.of(10, 20, 30), number: Uint32Array.of(1, 5, 1), route: Uint8Array.of(1, 2, 1), flags: Uint8Array.of(0, 1, 2), detail: null };
  const a = app.ofRoute(p, "a"), b = app.ofRoute(p, "b");
  assert.deepEqual([...a.at], [1, 3]);
  assert.deepEqual([...a.flags], [0, 2]);
  assert.equal(a.together, false);
  assert.deepEqual([...b.latency], [20]);
  assert.equal(b.together, true);
  assert.equal(app.ofRoute(p, "c").at.length, 0);
  assert.equal(app.ofRoute({ ...p, route: null }, "").at.length, 3);
});

test("a view stays inside, whatever it is asked for", () => {
  const next = random(5), v = new app.View(0, 1e9);
  for (let i = 0; i < 5000; i++) {
    const r = next();
    if (r < 0.3) v.set(next() * 2e9 - 5e8, next() * 2e9 - 5e8);
    else if (r < 0.6) v.zoom(next() * 4, v.lo + next() * v.span);
    else if (r < 0.9) v.pan((next() - 0.5) * 1e9);
    else v.reset();
    assert.ok(v.lo >= 0 && v.hi <= 1e9 && v.span >= 99.999, `${v.lo} ${v.hi}`);
  }
  v.reset();
  v.zoom(0.5, 2.5e8);
  assert.ok(Math.abs(v.x(2.5e8, 100) - 25) < 1e-6); // what is under the pointer stays there
  let heard = 0;
  v.onchange(() => heard++);
  v.set(v.lo, v.hi);
  assert.equal(heard, 0);
});

function pointsOf(n, seed) {
  const next = random(seed), at = Uint32Array.from({ length: n }, () => next() * 1e6).sort();
  return {
    tick: 10, at, latency: Float64Array.from(at, () => 1e4 * Math.pow(10, 3 * next())), number: Uint32Array.from(at, () => 1 + next() * 5),
    flags: Uint8Array.from(at, () => (next() < 0.02 ? 1 : 0) | (next() < 0.01 ? 2 : 0)),
  };
}

test("density counts every request in the window once", () => {
  const p = pointsOf(20000, 3), scale = app.logScale(1e4, 1e7);
  const row = app.rows(p.latency, scale, 100);
  for (const [lo, hi] of [[0, 1e7], [1e6, 3e6], [5_000_000, 5_000_100]]) {
    const d = app.density(p, row, lo, hi, 300, 100);
    let usual = 0, slow = 0, failed = 0, slowest = 0;
    for (let i = 0; i < p.at.length; i++) {
      const t = p.at[i] * p.tick;
      if (t < lo || t > hi) continue;
      if (p.flags[i] & 1) slow += p.number[i];
      else usual += p.number[i];
      if (p.flags[i] & 2) failed += p.number[i];
      slowest = Math.max(slowest, p.latency[i]);
    }
    const sum = (a) => a.reduce((x, y) => x + y, 0);
    assert.equal(sum(d.usual), usual);
    assert.equal(sum(d.slow), slow);
    assert.equal(d.requests, usual + slow);
    assert.equal(d.failedCount, failed);
    if (d.slowest >= 0) assert.equal(p.latency[d.slowest], slowest);
  }
});

test("the nearest dot", () => {
  const p = pointsOf(500, 9), view = new app.View(0, 1e7), row = app.rows(p.latency, app.logScale(1e4, 1e7), 100);
  const next = random(2);
  for (let k = 0; k < 300; k++) {
    const x = next() * 800, y = next() * 200, i = app.nearest(p, row, view, 800, 2, x, y, 12);
    const distance = (j) => (view.x(p.at[j] * p.tick, 800) - x) ** 2 + ((row[j] + 0.5) * 2 - y) ** 2;
    let best = Infinity;
    for (let j = 0; j < p.at.length; j++) best = Math.min(best, distance(j));
    if (i < 0) assert.ok(best >= 144);
    else assert.equal(distance(i), best);
  }
});

function bandOf(n, seed, longest) {
  const next = random(seed), at = Float64Array.from({ length: n }, () => next() * 1e9).sort(), dur = Float64Array.from(at, () => next() * longest);
  let end = -Infinity;
  return { at, dur, until: Float64Array.from(at, (v, i) => (end = Math.max(end, v + dur[i]))) };
}

test("no interval vanishes, and none is where nothing was", () => {
  const b = bandOf(300, 4, 2e6);
  for (const [lo, hi, width] of [[0, 1e9, 500], [2e8, 3e8, 500], [2e8, 2.001e8, 700]]) {
    const c = app.cover(b, lo, hi, width), k = width / (hi - lo);
    const expected = new Uint8Array(width);
    let n = 0;
    for (let i = 0; i < b.at.length; i++) {
      const end = b.at[i] + b.dur[i];
      if (end <= lo || b.at[i] > hi) continue;
      n++;
      for (let x = Math.floor(Math.max(0, (b.at[i] - lo) * k)); x <= Math.min(width - 1, Math.floor((end - lo) * k)); x++) expected[x] = 1;
    }
    assert.equal(c.count, n);
    for (let x = 0; x < width; x++) {
      if (!expected[x]) assert.equal(c.shares[x], 0);
      assert.ok(c.shares[x] <= 1);
    }
    for (let i = 0; i < b.at.length; i++) {
      if (b.at[i] < lo || b.at[i] >= hi) continue;
      assert.ok(c.shares[Math.floor((b.at[i] - lo) * k)] > 0, "an interval is not drawn");
    }
  }
  const apart = bandOf(300, 4, 0);
  apart.at.forEach((v, i) => { apart.until[i] = v + (apart.dur[i] = Math.min(2e6, (apart.at[i + 1] ?? 1e9) - v)); });
  for (const width of [10, 500, 3000]) { // where they do not overlap, pixels sum to the time they cover
    const c = app.cover(apart, 1e8, 9e8, width);
    assert.ok(Math.abs(c.shares.reduce((a, b) => a + b, 0) / width - c.share) < 1e-3);
  }
  const nested = { at: [0, 10], dur: [1000, 5], until: [1000, 1000] };
  assert.equal(app.intervalAt(nested, 500, 1), 0);
  assert.equal(app.intervalAt(nested, 12, 1), 1); // the shorter one
  assert.equal(app.intervalAt(nested, 2000, 1), -1);
  assert.equal(app.cover(nested, 0, 2000, 100).share, 0.5); // not twice
  assert.deepEqual(app.watched({ since: [0, 100], end: [50, 200] }, 40, 150), [[40, 50], [100, 150]]);
  assert.deepEqual(app.watched({ since: null }, 40, 150), [[40, 150]]);
});

test("a curve's peaks and gaps survive any width", () => {
  const next = random(8), n = 5000;
  const c = { t: Float64Array.from({ length: n }, (_, i) => i * 1000), v: Float32Array.from({ length: n }, () => next()), max: null };
  c.v[1234] = 99;
  c.v[4000] = NaN;
  for (const width of [7, 100, 1000]) {
    const { high, low } = app.extremes(c, 0, n * 1000, width);
    assert.equal(Math.max(...high.filter((v) => v !== null)), 99);
    high.forEach((h, x) => assert.ok(h === null || h >= low[x]));
  }
  const gap = app.extremes(c, 4000e3, 4001e3, 10);
  assert.deepEqual(gap.high, new Array(10).fill(null));
  assert.ok(Number.isNaN(app.valueAt(c, 4000.5e3)));
  assert.equal(app.valueAt(c, 1234.5e3), 99);
  assert.ok(Number.isNaN(app.valueAt(c, -1)));
});

test("readings are known at their moments only", () => {
  const c = { t: Float64Array.of(15, 55, 58), v: Float64Array.of(7, 3, 9), max: null, readings: true };
  const { high, low } = app.extremes(c, 0, 100, 10), n = null;
  assert.deepEqual(high, [n, 7, n, n, n, 9, n, n, n, n]);
  assert.deepEqual(low, [n, 7, n, n, n, 3, n, n, n, n]);
  assert.deepEqual([16, 40, 56, 57].map((t) => app.valueAt(c, t, 5)), [7, NaN, 3, 9]);
});

test("a curve that never changes", () => {
  const of = (v, max) => app.constant({ v: Float64Array.from(v), max: max ? Float64Array.from(max) : null });
  assert.deepEqual([of([0, 0]), of([2, NaN, 2]), of([2, 3]), of([2, 2], [2, 5]), of([NaN])], [0, 2, NaN, NaN, NaN]);
});

test("a stack shows the moment of the highest sum, not a sum of peaks", () => {
  const a = { t: [0, 10, 20, 30, 40], v: [1, 0, 3, 0, 0] }, b = { t: [0, 15, 20, 30], v: [0, 2, 0, 0] };
  const [low, high] = app.stacked([a, b], 0, 40, 1);
  assert.deepEqual([low[0], high[0]], [3, 3]);
  const fine = app.stacked([a, b], 0, 40, 8);
  assert.deepEqual(fine[1].slice(0, 6), [1, 1, 0, 2, 3, 3]);
});

test("shares of a lane add up", () => {
  const next = random(6), l = { at: [], dur: [], work: [], share: [1, 1], shareWork: [1, 2], sharePart: [0.25, 0.5] };
  for (let t = 0; t < 1e6;) {
    const d = Math.ceil(next() * 3000);
    l.at.push(t);
    l.dur.push(d);
    l.work.push(1 + Math.floor(next() * 3));
    t += d + (next() < 0.2 ? 500 : 0);
  }
  const lo = 1234, hi = 654_321, width = 333;
  const table = app.shares(lo, hi, width, 4, (add) => app.laneSpans(l, lo, hi, add));
  const totals = app.laneTotals(l, lo, hi, 4);
  for (let k = 1; k < 4; k++) {
    let sum = 0;
    for (let x = 0; x < width; x++) sum += table[x * 4 + k];
    assert.ok(Math.abs(sum / width * (hi - lo) - totals[k]) < 50, `kind ${k}: ${sum} ${totals[k]}`);
  }
  assert.ok(Math.abs(totals.reduce((a, b) => a + b, 0) - (hi - lo)) < 1e-3);
  let at = 0;
  for (const r of app.runs(table, width, 4)) {
    assert.equal(r.from, at);
    at = r.to;
  }
  assert.equal(at, width);
  assert.equal(app.spanAt(l, l.at[5] + 1, 0), 5);
});

test("packed rows do not overlap", () => {
  const next = random(12), list = Array.from({ length: 400 }, () => ({ at: next() * 1e6 })).sort((a, b) => a.at - b.at);
  for (const v of list) v.until = v.at + next() * 5e4;
  const row = app.pack(list);
  for (let i = 0; i < list.length; i++) for (let j = 0; j < i; j++) if (row[i] === row[j]) assert.ok(list[j].until <= list[i].at);
});

test("a flame's boxes, search and table", () => {
  const f = { title: "t", unit: "1", parent: Int32Array.from([-1, 0, 0, 1, 3, 0]), value: [100, 60, 30, 50, 20, 0.5], name: ["root", "f", "g", "h", "f", "tiny"], kind: ["own", "own", "own", "own", "own", "own"] };
  const t = app.tree(f);
  assert.deepEqual([...t.self], [9.5, 10, 30, 30, 20, 0.5]);
  const all = app.boxes(t, 0, 100, 1);
  assert.deepEqual(all.filter((b) => b.node >= 0).map((b) => b.node).sort(), [0, 1, 2, 3, 4]);
  const rest = all.find((b) => b.node < 0);
  assert.equal(rest.n, 1);
  assert.equal(rest.x, 90);
  const near = app.boxes(t, 3, 200, 1);
  assert.deepEqual(near.find((b) => b.node === 4), { node: 4, x: 0, w: 80, row: 3, n: 1 });
  assert.deepEqual(near.filter((b) => b.w === 200).map((b) => b.node), [0, 1, 3]);
  assert.equal(app.find(t, "F").value, 60); // the inner one is in the outer one
  assert.equal(app.find(t, "F").count, 2);
  assert.equal(app.find(t, " ").count, 0);
  assert.deepEqual(app.topBySelf(t, 2).map((e) => [e.name, e.self, e.total]), [["f", 30, 60], ["g", 30, 30]]);
});

test("a payload is what was put in", () => {
  const m = app.decode(JSON.parse(readFileSync(process.env.PAYLOAD, "utf8")));
  const want = JSON.parse(readFileSync(process.env.EXPECTED, "utf8"));
  const list = (r) => Array.from({ length: r.length }, (_, i) => ({ ...r.request(i), states: r.states(i) }));
  const got = {
    from: String(m.from), span: m.span, anchored: m.anchored, threshold: m.threshold,
    requests: m.requests.map((p) => ({ source: p.source, at: Array.from(p.at, (v) => v * p.tick), latency: [...p.latency], flags: [...p.flags], detail: p.detail && [...p.detail], number: p.number && [...p.number], route: Array.from(p.at, (_, i) => p.routes[p.route ? p.route[i] : 0]) })),
    bands: m.bands.map((b) => ({ id: b.id, at: [...b.at], dur: [...b.dur], text: b.text, since: [...b.since], end: [...b.end] })),
    charts: m.charts.map((c) => ({ id: c.id, curves: c.curves.map((v) => ({ readings: v.readings, t: [...v.t], v: Array.from(v.v, (x) => (Number.isNaN(x) ? null : x)) })) })),
    slow: list(m.slow), typical: list(m.typical),
    processors: m.processors.map((p) => ({ at: p.at, span: p.span, lanes: p.lanes.map((l) => ({
      name: l.name, at: [...l.at], dur: [...l.dur], work: Array.from(l.work, (w) => p.works[w]), request: l.request && [...l.request], text: Array.from(l.at, (_, i) => l.text(i)),
      share: Array.from(l.share, (s, k) => [s, p.works[l.shareWork[k]], Number(l.sharePart[k].toFixed(6))]) })) })),
    flames: m.flames.map((f) => ({ id: f.id, parent: [...f.parent], name: f.name, kind: f.kind, value: [...f.value] })),
  };
  assert.deepEqual(got, want);
  assert.throws(() => app.decode({ version: 2 }), /version 2/);
  assert.throws(() => app.column({ u32: "AAA=" }), /2 bytes/);
});
