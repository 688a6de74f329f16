package metrics

// BackToBack is the share of marking time above which cycles run back to back: the collector then marks for longer than it
// rests.
const BackToBack = .5

// backToBackTime is how long (s) cycles must run back to back to be a state of the process: a shorter time may be one burst
// of allocations.
const backToBackTime = 10

// backToBackCycles is the least number of logged cycles in such a stretch.
const backToBackCycles = 5

// LongestBackToBack returns the longest stretch in which cycles ran back to back. It takes cycles that the log skips to mark
// as long as their neighbours. It returns nil if there is no such stretch, or if the collector was read from several
// recordings.
func (g *Collector) LongestBackToBack() *Collector {
	a, ok := g.Origin.Artifact()
	if !ok || g.bundle.Artifacts[a].Series != "" {
		return nil
	}
	from, until := 0, 0 // of the best stretch, by cycle
	begin := 0
	for i := range g.Cycles {
		if i > 0 && !backToBack(g.Cycles[i-1], g.Cycles[i]) {
			begin = i
		}
		if g.Cycles[i].From-g.Cycles[begin].From > g.Cycles[until].From-g.Cycles[from].From {
			from, until = begin, i
		}
	}
	if until-from < backToBackCycles {
		return nil
	}
	w := Window{g.Cycles[from].From, g.Cycles[until].From}
	if w.Seconds() < backToBackTime {
		return nil
	}
	var rows []int
	for _, x := range g.Cycles[from : until+1] {
		rows = append(rows, x.Row)
	}
	return readGo(g.bundle, g.subject, g.source, a, rows, w)
}

// backToBack reports whether the time between the beginnings of two consecutive logged cycles is mostly marking.
func backToBack(last, x Cycle) bool {
	beat, mark := float64(x.From-last.From), last.Mark
	if skipped, _ := skippedBetween(last, x); skipped > 0 {
		beat, mark = beat/(skipped+1), (last.Mark+x.Mark)/2
	}
	return mark >= BackToBack*beat && !x.Forced
}
