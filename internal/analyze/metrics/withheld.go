package metrics

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Withheld is the part of a process's pauses for which the host gave it no processor. While the world is stopped only the
// collector works. So a second in which the process was stopped for .3 s and used .05 s of processor time has at least .25 s of
// pause in which no thread of the process ran; if its threads were ready for that long and no quota held them, others had the
// processors. It is a lower bound: other work in that second only makes it smaller.
type Withheld struct {
	stopped Spans
	cells   []withheldCell
}

// withheldCell is the time between two of the kernel's accounts of the process.
type withheldCell struct {
	Window
	part float64 // of the stopped time
}

// WithheldFrom returns an empty Withheld where the kernel's account of the process is not known.
func WithheldFrom(b *evidence.Bundle, subject evidence.SubjectID, stopped Spans) (h Withheld) {
	if len(stopped) == 0 {
		return h
	}
	h.stopped = stopped
	w := Window{stopped[0].From, stopped[len(stopped)-1].To}
	waits, used := RunDelay(b, subject, w), ProcessorTime(b, subject, w)
	if !waits.Known() || !used.Known() {
		return h
	}
	quota := ThrottledQueues(b, subject, w)
	for i := range len(waits.T) - 1 {
		at := Window{waits.T[i], waits.T[i+1]}
		sum := float64(stopped.Within(at.From, at.Until)) / 1e9
		if sum <= 0 || !(waits.V[i] > 0) {
			continue
		}
		if q := quota.Over(at); q.Known() && q.Number > 0 {
			continue // a quota stops the collector as well: a mechanism of its own
		}
		ran := used.Over(at)
		if !ran.Known() {
			continue
		}
		if none := min(sum-ran.Number*at.Seconds(), waits.V[i]*at.Seconds()); none > 0 {
			h.cells = append(h.cells, withheldCell{at, none / sum})
		}
	}
	return h
}

// Part returns the part, 0…1, of the pauses within [from, until) in which the process was ready and did not run.
func (h *Withheld) Part(from, until int64) float64 {
	if len(h.cells) == 0 {
		return 0
	}
	all := h.stopped.Within(from, until)
	if all <= 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(h.cells, from, func(c withheldCell, t int64) int { return cmp.Compare(c.Until, t) })
	sum := 0.
	for ; i < len(h.cells) && h.cells[i].From < until; i++ {
		c := &h.cells[i]
		sum += c.part * float64(h.stopped.Within(max(c.From, from), min(c.Until, until)))
	}
	return sum / float64(all)
}
