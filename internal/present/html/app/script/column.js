// Columns of numbers and what is made of them; the Go package comment says how a
// payload is written.

const columnTypes = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };

// column decodes {"u16": "base64"}; null where it was left out.
function column(c) {
  if (!c) return null;
  const kind = Object.keys(c)[0];
  if (kind === "var") return packed(fromBase64(c.var));
  const Type = columnTypes[kind];
  if (!Type) throw new Error("column of unknown type " + kind);
  const bytes = fromBase64(c[kind]);
  if (bytes.length % Type.BYTES_PER_ELEMENT) throw new Error("column of " + kind + " has " + bytes.length + " bytes");
  return littleEndian ? new Type(bytes.buffer) : swapped(bytes, Type);
}

// packed decodes integers of 7 bits a byte, the lowest first; the last byte of each is below 128.
function packed(bytes) {
  let n = 0;
  for (const b of bytes) if (b < 128) n++;
  const out = new Float64Array(n);
  for (let i = 0, at = 0; i < n; i++) {
    let v = 0, scale = 1;
    for (; bytes[at] >= 128; at++, scale *= 128) v += (bytes[at] - 128) * scale;
    out[i] = v + bytes[at++] * scale;
  }
  return out;
}

// starts are the beginnings of spans, by the gap before each.
function starts(gap, dur) {
  const out = new Float64Array(gap.length);
  for (let i = 0, at = 0; i < out.length; i++, at += dur[i - 1]) out[i] = at += gap[i];
  return out;
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

function swapped(bytes, Type) {
  const size = Type.BYTES_PER_ELEMENT;
  for (let i = 0; i < bytes.length; i += size) bytes.subarray(i, i + size).reverse();
  return new Type(bytes.buffer);
}

// decode turns a payload into what is drawn.
function decode(p) {
  if (p.version !== 1) throw new Error("the data is of version " + p.version + ", this page draws version 1");
  const text = (i) => p.strings[i] || "";
  return {
    subject: p.subject, from: BigInt(p.from), span: p.span, anchored: p.anchored, lanes: p.lanes || "thread", threshold: p.threshold,
    omitted: p.omitted || [], titles: p.titles,
    requests: p.requests.map((r) => points(r, p.tick)), charged: p.charged || 0, routes: p.routes || [],
    bands: p.bands.map(band),
    charts: p.charts.map((c) => ({ ...c, curves: c.curves.map(curve) })),
    slow: requestList(p.slow, text),
    typical: requestList(p.typical, text),
    processors: p.processors.map((t) => ({ ...t, lanes: t.lanes.map((l) => lane(l, text)) })),
    flames: p.flames.map((f) => ({ ...f, parent: column(f.parent), value: column(f.value), name: texts(f.name, text), kind: texts(f.kind, text) })),
  };
}

function texts(c, text) {
  return Array.from(column(c), text);
}

function points(r, tick) {
  const at = column(r.at);
  return {
    source: r.source, count: r.count, cell: r.cell, routes: r.routes, tick, at, latency: column(r.latency),
    number: column(r.number), route: column(r.route), flags: column(r.flags) || new Uint8Array(at.length), detail: column(r.detail),
  };
}

function band(b) {
  const at = column(b.at), dur = column(b.dur);
  const until = new Float64Array(at.length); // the latest end so far: ascending, for searching
  let latest = -Infinity;
  for (let i = 0; i < at.length; i++) until[i] = latest = Math.max(latest, at[i] + dur[i]);
  return { id: b.id, title: b.title, source: b.source, text: b.text || null, at, dur, until, number: column(b.number), longest: column(b.longest), busy: column(b.busy), since: column(b.since), end: column(b.until) };
}

function curve(c) {
  return { id: c.id, title: c.title, source: c.source, t: column(c.t), v: column(c.v), max: column(c.max), readings: c.readings === true, sloped: c.sloped === true };
}

// requestList gives access to requests and their states by index.
function requestList(r, text) {
  const at = column(r.at), latency = column(r.latency), lane = column(r.lane), first = column(r.first);
  const slow = column(r.slow), apart = column(r.apart), number = column(r.states.number);
  const words = {}, s = r.states;
  for (const k of ["source", "origin", "route", "outcome"]) words[k] = column(r[k]);
  const dur = column(s.dur), began = column(s.at), sWords = {};
  for (const k of ["kind", "mechanism", "what", "where", "holder"]) sWords[k] = column(s[k]);
  const part = column(s.part) || [], partMechanism = column(s.partMechanism), partDur = column(s.partDur);
  const word = (c, i) => text(c ? c[i] : 0);
  return {
    length: at.length,
    request(i) {
      return {
        at: at[i], latency: latency[i], lane: lane ? lane[i] : 0, source: word(words.source, i), origin: word(words.origin, i),
        route: word(words.route, i), outcome: word(words.outcome, i), slow: Boolean(slow && slow[i]), apart: Boolean(apart && apart[i]),
      };
    },
    states(i) {
      const out = [];
      let next = 0;
      let k = lowerBound(part, first[i]);
      for (let j = first[i]; j < first[i + 1]; j++) {
        const state = { at: began ? began[j] : next, dur: dur[j], number: number && number[j] > 1 ? number[j] : 1, parts: [] };
        for (const w in sWords) state[w] = word(sWords[w], j);
        for (; k < part.length && part[k] === j; k++) state.parts.push({ mechanism: word(partMechanism, k), dur: partDur ? partDur[k] : 0 });
        next = state.at + state.dur;
        out.push(state);
      }
      return out;
    },
  };
}

function lane(l, text) {
  const dur = column(l.dur), at = l.gap ? starts(column(l.gap), dur) : column(l.at), n = at.length;
  const name = column(l.text);
  const share = column(l.share) || new Uint8Array(0);
  return {
    name: l.name, at, dur, work: column(l.work) || new Uint8Array(n), request: column(l.request),
    text: (i) => (name ? text(name[i]) : ""),
    share, shareWork: column(l.shareWork) || new Uint8Array(share.length), sharePart: column(l.sharePart) || new Float32Array(share.length),
  };
}
