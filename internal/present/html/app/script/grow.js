// Other ways to look at a flame: who calls, one function, without idle threads, and what changed.

// Growing builds a flame node by node; what has the same parent, name and kind is one.
class Growing {
  constructor(f, name, kind) {
    Object.assign(this, { id: f.id, title: f.title, unit: f.unit, cut: 0, parent: [-1], name: [name], kind: [kind], value: [0], index: new Map() });
  }

  below(parent, name, kind, value) {
    const key = parent + "\0" + kind + "\0" + name;
    let i = this.index.get(key);
    if (i === undefined) {
      this.index.set(key, i = this.name.length);
      this.parent.push(parent);
      this.name.push(name);
      this.kind.push(kind);
      this.value.push(0);
    }
    this.value[i] += value;
    return i;
  }

  done() { return tree(this); }
}

// inverted has the innermost frames at the root, and above each who called it. Of a function alone
// it has that at the root: what is below it counts to it.
function inverted(t, name) {
  const g = new Growing(t, name === undefined ? t.name[0] : name, name === undefined ? t.kind[0] : kindOf(t, name));
  for (let i = 1; i < t.value.length; i++) {
    const value = name === undefined ? t.self[i] : t.name[i] === name && !within(t, i, name) ? t.value[i] : 0;
    if (!(value > 0)) continue;
    g.value[0] += value;
    for (let at = name === undefined ? i : t.parent[i], to = 0; at > 0; at = t.parent[at]) to = g.below(to, t.name[at], t.kind[at], value);
  }
  return g.done();
}

// called is what a function calls, wherever it is called from itself.
function called(t, name) {
  const g = new Growing(t, name, kindOf(t, name)), to = new Int32Array(t.value.length).fill(-1);
  for (let i = 1; i < t.value.length; i++) {
    if (t.name[i] === name && !within(t, i, name)) {
      to[i] = 0;
      g.value[0] += t.value[i];
    } else if (to[t.parent[i]] >= 0) {
      to[i] = g.below(to[t.parent[i]], t.name[i], t.kind[i], t.value[i]);
    }
  }
  return g.done();
}

// without leaves out what is of a kind, and its time.
function without(f, kind) {
  if (!f.kind.includes(kind)) return f;
  const g = new Growing(f, f.name[0], f.kind[0]), to = new Int32Array(f.value.length).fill(-1);
  to[0] = 0;
  g.value[0] = f.value[0];
  for (let i = 1; i < f.value.length; i++) {
    const p = to[f.parent[i]];
    if (f.kind[i] === kind) {
      if (p >= 0) for (let at = p; at >= 0; at = g.parent[at]) g.value[at] -= f.value[i];
    } else if (p >= 0) {
      to[i] = g.below(p, f.name[i], f.kind[i], f.value[i]);
    }
  }
  g.cut = f.cut;
  return g;
}

// changed gives each node by how much its share of all grew since another flame, 1 for all of it; what is gone is in none.
function changed(t, was) {
  const shares = new Map(), key = (f, keys, i) => (i === 0 ? "" : keys[f.parent[i]] + "\0" + f.name[i]);
  const keysOf = (f) => {
    const keys = [];
    for (let i = 0; i < f.value.length; i++) keys.push(key(f, keys, i));
    return keys;
  };
  const before = keysOf(was), all = was.value[0] || 1;
  for (let i = 0; i < before.length; i++) shares.set(before[i], (shares.get(before[i]) || 0) + was.value[i] / all);
  const now = keysOf(t), total = t.value[0] || 1;
  return Float64Array.from(now, (k, i) => t.value[i] / total - (shares.get(k) || 0));
}

function within(t, i, name) {
  for (let at = t.parent[i]; at > 0; at = t.parent[at]) if (t.name[at] === name) return true;
  return false;
}

function kindOf(t, name) {
  const i = t.name.indexOf(name);
  return i < 0 ? "own" : t.kind[i];
}

// speedscopeOf is a tree in the file format of https://www.speedscope.app, as it is looked at: a sample for each stack with
// time of its own.
function speedscopeOf(t, name) {
  const frames = [], index = new Map(), samples = [], weights = [];
  const frame = (words) => {
    if (!index.has(words)) {
      index.set(words, frames.length);
      frames.push({ name: words });
    }
    return index.get(words);
  };
  for (let i = 1; i < t.value.length; i++) {
    if (!(t.self[i] > 0)) continue;
    samples.push(path(t, i).slice(1).map((n) => frame(t.name[n])));
    weights.push(t.self[i]);
  }
  const unit = t.unit === "ns" ? "nanoseconds" : t.unit === "bytes" ? "bytes" : "none";
  return JSON.stringify({
    $schema: "https://www.speedscope.app/file-format-schema.json", shared: { frames }, name, exporter: "unstall", activeProfileIndex: 0,
    profiles: [{ type: "sampled", name: t.title, unit, startValue: 0, endValue: weights.reduce((a, b) => a + b, 0), samples, weights }],
  });
}
