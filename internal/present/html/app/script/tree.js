// A flame's tree: from parents of nodes to where each is drawn.

// tree adds to a flame what drawing and searching need: children by value, depth,
// own value.
function tree(f) {
  const n = f.value.length;
  const self = Float64Array.from(f.value), depth = new Uint16Array(n);
  const children = Array.from({ length: n }, () => []);
  for (let i = 1; i < n; i++) {
    const p = f.parent[i];
    self[p] -= f.value[i];
    depth[i] = depth[p] + 1;
    children[p].push(i);
  }
  for (let i = 0; i < n; i++) {
    if (self[i] < 0) self[i] = 0;
    children[i].sort((a, b) => f.value[b] - f.value[a] || (f.name[a] < f.name[b] ? -1 : 1));
  }
  return { ...f, self, depth, children };
}

// path is a node with all above it, the root first.
function path(t, node) {
  const out = [];
  for (let i = node; i >= 0; i = t.parent[i]) out.push(i);
  return out.reverse();
}

// boxes lays out what is seen when a node fills the width: those above it as full
// rows, those below by value. Neighbours too narrow for `least` pixels become one
// box without a node (-1).
function boxes(t, node, width, least) {
  const out = [];
  const up = path(t, node);
  for (const i of up) out.push({ node: i, x: 0, w: width, row: t.depth[i], n: 1 });
  if (!t.value[node]) return out;
  const k = width / t.value[node];
  const stack = [[node, 0]];
  while (stack.length) {
    const [p, left] = stack.pop();
    let x = left, rest = 0, restAt = 0, restCount = 0;
    for (const c of t.children[p]) {
      const w = t.value[c] * k;
      if (w < least) { // children descend: all that follow are as narrow
        if (!restCount) restAt = x;
        rest += w;
        restCount++;
      } else {
        out.push({ node: c, x, w, row: t.depth[c], n: 1 });
        stack.push([c, x]);
      }
      x += w;
    }
    if (restCount) out.push({ node: -1, parent: p, x: restAt, w: rest, row: t.depth[p] + 1, n: restCount });
  }
  return out;
}

// find are the nodes whose name has the words in it, and the value of all of them
// without counting one that is below another twice.
function find(t, words) {
  const needle = words.trim().toLowerCase();
  const found = new Uint8Array(t.value.length);
  if (!needle) return { found, value: 0, count: 0 };
  const inside = new Uint8Array(found.length);
  let value = 0, count = 0;
  for (let i = 0; i < found.length; i++) {
    const p = t.parent[i];
    inside[i] = p >= 0 && (inside[p] || found[p]) ? 1 : 0;
    if (!t.name[i].toLowerCase().includes(needle)) continue;
    found[i] = 1;
    count++;
    if (!inside[i]) value += t.value[i];
  }
  return { found, value, count };
}

// topBySelf sums own and whole values by name: the whole of a function that calls
// itself counts once.
function topBySelf(t, most) {
  const by = new Map();
  for (let i = 0; i < t.value.length; i++) {
    let e = by.get(t.name[i]);
    if (!e) by.set(t.name[i], e = { name: t.name[i], kind: t.kind[i], self: 0, total: 0 });
    e.self += t.self[i];
    let above = t.parent[i];
    while (above >= 0 && t.name[above] !== t.name[i]) above = t.parent[above];
    if (above < 0) e.total += t.value[i];
  }
  return [...by.values()].filter((e) => e.self > 0).sort((a, b) => b.self - a.self).slice(0, most);
}
