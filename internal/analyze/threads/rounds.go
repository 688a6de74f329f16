package threads

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Rounds returns the moments with looks at a process's threads, by time, each with the last look at every thread.
func (t *Threads) Rounds(s evidence.SubjectID) (out [][]Sample) {
	for looks := t.looks[s]; len(looks) > 0; {
		n := burstLength(looks)
		out = append(out, latestByLane(looks[:n]))
		looks = looks[n:]
	}
	return out
}

// Moments returns bursts split into moments, by time: a sampling profiler visits all threads repeatedly within a burst, and each round is a
// moment. A burst of any other source is one moment.
func (t *Threads) Moments(s evidence.SubjectID) [][][]Sample {
	all, known := t.moments[s]
	if !known {
		all = t.copyMoments(s)
		if t.moments != nil {
			t.moments[s] = all
		}
	}
	return slices.Clone(all)
}

func (t *Threads) copyMoments(s evidence.SubjectID) (out [][][]Sample) {
	for _, rounds := range t.splitRounds(s) {
		var moments [][]Sample
		for _, round := range rounds {
			looks := make([]Sample, len(round))
			for i, l := range round {
				looks[i] = *l
			}
			moments = append(moments, looks)
		}
		out = append(out, moments)
	}
	return out
}

// splitRounds returns the looks of each moment of each burst.
func (t *Threads) splitRounds(s evidence.SubjectID) (out [][][]*Sample) {
	looks := t.looks[s]
	of := t.of[t.b.Subjects[s].Runtime]
	for from := 0; from < len(looks); {
		n := burstLength(looks[from:])
		at := make([]*Sample, n)
		for i := range at {
			at[i] = &looks[from+i]
		}
		from += n
		switch {
		case of.Apart:
			for _, round := range splitRepeats(at) {
				out = append(out, [][]*Sample{round})
			}
		case of.Rounds:
			out = append(out, splitRepeats(at))
		default:
			out = append(out, [][]*Sample{newestByLane(at)})
		}
	}
	return out
}

// mostMoments is how many moments of a burst are kept; of more, as many are chosen evenly.
const mostMoments = 64

// splitRepeats splits a burst where a thread is seen again. Where looks were joined, rounds cannot be separated.
func splitRepeats(looks []*Sample) (out [][]*Sample) {
	in := make(map[evidence.LaneID]bool)
	from, most := 0, 0
	for i, l := range looks {
		if l.Count > 1 {
			return [][]*Sample{newestByLane(looks)}
		}
		if l.Lane != 0 && in[l.Lane] {
			out = append(out, looks[from:i])
			most = max(most, i-from)
			clear(in)
			from = i
		}
		in[l.Lane] = true
	}
	if len(looks)-from >= most { // else the round was cut off
		out = append(out, looks[from:])
	}
	if n := len(out); n > mostMoments {
		for i := range mostMoments {
			out[i] = out[i*n/mostMoments]
		}
		out = out[:mostMoments]
	}
	return out
}
