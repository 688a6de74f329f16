package metrics

// skippedBetween returns how many cycles a log skips between two consecutive ones, by the runtime's numbers, and the time (ns)
// that they take if all of them come at one interval.
func skippedBetween(last, x Cycle) (cycles, ns float64) {
	n := x.Number - last.Number - 1
	if !(n >= 1) || x.From <= last.From {
		return 0, 0
	}
	return n, float64(x.From-last.From) * n / (n + 1)
}

// subtractSkipped takes the time of skipped cycles out of the watched time.
func (g *Collector) subtractSkipped(rows []int) {
	var last Cycle
	for n, i := range rows {
		x := cycleOf(&g.bundle.Intervals, i)
		cycles, ns := 0.0, 0.0
		if n > 0 {
			cycles, ns = skippedBetween(last, x)
		}
		if cycles > 0 {
			part := float64(min(x.From, g.Until)-max(last.From, g.From)) / float64(x.From-last.From)
			if part > 0 {
				g.Missing += part * cycles
				g.Span -= part * ns / 1e9
			}
		}
		last = x
	}
}
