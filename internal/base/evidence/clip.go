package evidence

import "slices"

// Clip keeps only the evidence within [from, until), ns; a zero end is open. Requests count by their end. Intervals, coverage and
// processors' occupancy are shortened. Facts and samples of another time are dropped; samples without a time stay. Times are times
// of day or, where nothing in the bundle has any, since the clocks started. Call it after [Bundle.Align].
func (b *Bundle) Clip(from, until int64) {
	if until == 0 {
		until = 1<<63 - 1
	}
	dated := b.Dated()
	placed := func(c ClockID) bool { return b.Clocks[c].Anchored() || !dated }
	inside := func(c ClockID, t int64) bool { return placed(c) && t >= from && t < until }

	var requests Requests
	moved := make([]RequestID, b.Requests.Len()+1) // by what a request was
	for i := range b.Requests.Len() {
		if inside(b.Requests.Clock.At(i), b.Requests.End.At(i)) {
			row := b.Requests.Row(i)
			moved[i+1] = requests.addRow(&row)
		}
	}
	b.Requests = requests

	old := b.Intervals
	var kept Intervals
	var figures []Extra
	for i := range old.Len() {
		x := Interval{Subject: old.Subject.At(i), Clock: old.Clock.At(i), Lane: old.Lane.At(i), Kind: old.Kind[i], Start: max(old.Start[i], from), End: min(old.End[i], until),
			Request: moved[old.Request.At(i)], Stack: old.Stack.At(i), Cause: old.Cause.At(i), Holder: old.Holder.At(i), Origin: old.Origin.At(i)}
		figures = old.extras.appendTo(figures[:0], i)
		x.Extra = figures
		moment := old.Start[i] == old.End[i] && inside(old.Clock.At(i), old.Start[i])
		if (x.End > x.Start || moment) && placed(x.Clock) {
			kept.addRow(&x)
		}
	}
	b.Intervals = kept

	samples := b.Samples
	var left Samples
	for i, t := range samples.Time {
		if t == 0 || t >= from && t < until {
			left.addRow(samples.rowAt(i))
		}
	}
	b.Samples = left

	for i := range b.Series {
		if s := &b.Series[i]; placed(s.Clock) {
			s.T, s.V = s.partWithin(from, until)
		}
	}

	var processors []Occupancy
	for _, p := range b.Processors {
		if placed(p.Clock) && p.clipTo(from, until) {
			processors = append(processors, p)
		}
	}
	b.Processors = processors

	var coverage []Coverage
	for _, c := range b.Coverage {
		if !placed(c.Clock) {
			continue
		}
		c.From, c.Until = max(c.From, from), min(c.Until, until)
		if c.Until > c.From {
			coverage = append(coverage, c)
		}
	}
	b.Coverage = coverage

	var facts []Fact
	for _, f := range b.Facts {
		if f.From == 0 || f.From < until && f.Until > from {
			facts = append(facts, f)
		}
	}
	b.Facts = facts
}

// Dated reports whether any evidence has a time of day.
func (b *Bundle) Dated() bool {
	for _, c := range b.Coverage {
		if b.Clocks[c.Clock].Anchored() {
			return true
		}
	}
	return false
}

// partWithin returns the part of a series in [from, until), with the value on either side, which holds at its ends.
func (s *Series) partWithin(from, until int64) ([]int64, []float64) {
	first, _ := slices.BinarySearch(s.T, from)
	last, _ := slices.BinarySearch(s.T, until)
	if first > 0 && (first == len(s.T) || s.T[first] > from) {
		first--
	}
	if last < len(s.T) {
		last++ // the previous value holds until then
	}
	return s.T[first:max(first, last)], s.V[first:max(first, last)]
}
