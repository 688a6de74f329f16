package metrics

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// added are the figures of processes that are summed over a master and its workers.
var added = []string{evidence.SeriesProcessCPU, evidence.SeriesProcessCPUSystem, evidence.SeriesProcessMinorFaults, evidence.SeriesProcessMajorFaults}

// CountWorkers counts a master's workers as the master: a master only starts them, so that its service's use of resources,
// and what others leave the service, refer to all of them. The workers are then no neighbours of it. Master tells which
// runtimes have masters.
func CountWorkers(b *evidence.Bundle, master func(runtime string) bool) {
	children := make(map[evidence.SubjectID][]int)
	for i := range b.Facts {
		if f := &b.Facts[i]; f.Key == evidence.FactWorker && master(b.Subjects[f.Subject].Runtime) {
			children[f.Subject] = append(children[f.Subject], int(f.Number))
		}
	}
	gone := make(map[int]bool)
	for i := range b.Series {
		own := &b.Series[i]
		of := children[own.Subject]
		if len(of) == 0 || !slices.Contains(added, own.Name) {
			continue
		}
		from, _ := own.Origin.Artifact()
		all := []*evidence.Series{own}
		for j := range b.Series {
			x := &b.Series[j]
			if a, _ := x.Origin.Artifact(); a == from && x.Name == own.Name && slices.Contains(of, b.Subjects[x.Subject].PID) && !gone[j] {
				all, gone[j] = append(all, x), true
			}
		}
		if len(all) > 1 {
			b.Series[i] = addSeries(*own, all)
		}
	}
	if len(gone) == 0 {
		return
	}
	kept := b.Series[:0:0]
	for i := range b.Series {
		if !gone[i] {
			kept = append(kept, b.Series[i])
		}
	}
	b.Series = kept
}

// addSeries adds up series, each of which holds its value until the next reading.
func addSeries(like evidence.Series, all []*evidence.Series) evidence.Series {
	out := like
	out.T, out.V = nil, nil
	for _, s := range all {
		out.T = append(out.T, s.T...)
	}
	slices.Sort(out.T)
	out.T = slices.Compact(out.T)
	out.V = make([]float64, len(out.T))
	for _, s := range all {
		k := 0
		for i, t := range out.T {
			for k < len(s.T) && s.T[k] <= t {
				k++
			}
			if k > 0 && (k < len(s.T) || s.T[k-1] == t) { // after its last reading the value is unknown
				out.V[i] += s.V[k-1]
			}
		}
	}
	return out
}
