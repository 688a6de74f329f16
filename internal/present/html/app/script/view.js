// The window that is shown of a span of time, and what changes it.

class View {
  constructor(min, max) {
    this.min = min;
    this.max = Math.max(max, min + 1);
    this.least = Math.min(100, this.max - min); // ns: zooming ends here
    this.lo = this.min;
    this.hi = this.max;
    this.listeners = [];
  }

  get span() { return this.hi - this.lo; }
  get isFull() { return this.lo <= this.min && this.hi >= this.max; }

  onchange(f) { this.listeners.push(f); }

  // set shows [lo, hi], moved and widened so that it is inside the span and not
  // narrower than the least.
  set(lo, hi) {
    if (hi < lo) [lo, hi] = [hi, lo];
    let span = Math.min(Math.max(hi - lo, this.least), this.max - this.min);
    if (!(span > 0)) span = this.max - this.min;
    const middle = (lo + hi) / 2;
    lo = hi - lo === span ? lo : middle - span / 2;
    lo = Math.min(Math.max(lo, this.min), this.max - span);
    hi = span === this.max - this.min ? this.max : lo + span;
    if (lo === this.lo && hi === this.hi) return false;
    this.lo = lo;
    this.hi = hi;
    for (const f of this.listeners) f(this);
    return true;
  }

  // zoom makes the window wider (factor > 1) or narrower around a time.
  zoom(factor, around) {
    const span = Math.min(Math.max(this.span * factor, this.least), this.max - this.min);
    const share = (around - this.lo) / this.span;
    const lo = around - share * span;
    return this.set(lo, lo + span);
  }

  pan(by) { return this.set(this.lo + by, this.hi + by); }
  reset() { return this.set(this.min, this.max); }

  // x is where a time is drawn in `width` pixels; time is the way back.
  x(t, width) { return (t - this.lo) / this.span * width; }
  time(x, width) { return this.lo + x / width * this.span; }
}
