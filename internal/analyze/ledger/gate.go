package ledger

import (
	"fmt"
	"sort"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// gate is a limit at which requests were seen waiting, with the number of requests under way over time. Looks tell how
// many requests the limit admits at a time. While more than these are under way, the rest of the time around a look is a
// wait at the limit, even where few were under way at the very moment of the look.
type gate struct {
	words evidence.NameID
	beats []beat
}

// beat is a moment at which the number of requests under way changed.
type beat struct {
	at      int64
	waiting float64 // the waiting part of those under way from here on
	sum     float64 // integral of that part over time up to here, ns
}

// The number of requests under way tells of a limit only where three things hold: it is the only limit, the requests that
// do not wait at it were at most twice as many as it admits, and many looks saw a waiting request.
const (
	twiceAsMany  = 2
	enoughAtGate = 10
)

// findGate returns the limit by which the time between looks is split, nil where there is none.
func (l *Ledger) findGate(t *threads.Threads, cells []cell, m meanwhile) *gate {
	limits := t.Limits(l.Subject)
	if m.clients || len(limits) != 1 || limits[0].Workers || limits[0].Carriers || limits[0].Looks < enoughAtGate {
		return nil
	}
	words := l.b.Names.Lookup(limits[0].Words())
	if words == 0 {
		return nil
	}
	var on, n float64 // requests that do not wait while others do
	for i := range cells {
		if w := waitingAt(cells[i].parts, words); w > 0 {
			at := (cells[i].first + cells[i].last) / 2
			on += (1 - w) * m.inFlight(at)
			n++
		}
	}
	return l.gateOf(words, on/n, float64(limits[0].Most))
}

// gatedAwaits returns the limit by which awaits without a known request are split, nil where there is none. Like looks,
// awaits that are recorded for single moments tell nothing of the time between.
func (l *Ledger) gatedAwaits() *gate {
	var words evidence.NameID
	most := 0
	for i := range l.awaiteds {
		if s := &l.awaiteds[i]; s.mechanism == Pool {
			if words != 0 && words != s.Cause {
				return nil
			}
			words = s.Cause
			if _, err := fmt.Sscanf(l.b.Names.Text(words), "limit of %d at", &most); err != nil {
				return nil
			}
		}
	}
	if words == 0 {
		return nil
	}
	x := &l.b.Samples
	kinds := l.awaitKinds()
	var under, n float64 // requests under way
	inFlight := l.newMeanwhile().inFlight
	for i := range x.Len() {
		if _, ok := kinds[x.Type[i]]; ok && x.Subject[i] == l.Subject && x.Value[i] > 0 {
			under += float64(x.Value[i]) * inFlight(x.Time[i])
			n += float64(x.Value[i])
		}
	}
	w := waitingAt(l.awaiteds, words)
	if n == 0 || w == 0 {
		return nil
	}
	return l.gateOf(words, (1-w)*under/n, float64(most))
}

// gateOf returns nil unless the requests seen not waiting are, on average, at most twice as many as the limit admits.
func (l *Ledger) gateOf(words evidence.NameID, on, most float64) *gate {
	if !(on <= twiceAsMany*most) { // also if on is NaN: no request was seen
		return nil
	}
	return &gate{words: words, beats: l.listBeats(max(on, most))}
}

// waitingAt returns the part of the time that is waits at a limit.
func waitingAt(parts []share, words evidence.NameID) (w float64) {
	for i := range parts {
		if parts[i].mechanism == Pool && parts[i].Cause == words {
			w += parts[i].part
		}
	}
	return w
}

// listBeats returns the moments at which requests began or ended, for a limit that admits getOn of them at a time.
func (l *Ledger) listBeats(getOn float64) []beat {
	starts, ends := l.allUnderWay()
	all := make([]beat, 0, len(starts)+len(ends))
	for i, k := 0, 0; i < len(starts) || k < len(ends); {
		at := int64(0)
		if i < len(starts) && (k == len(ends) || starts[i] <= ends[k]) {
			at = starts[i]
			i++
		} else {
			at = ends[k]
			k++
		}
		x := beat{at: at}
		if n := float64(i - k); n > getOn {
			x.waiting = 1 - getOn/n
		}
		if last := len(all) - 1; last >= 0 {
			x.sum = all[last].sum + all[last].waiting*float64(at-all[last].at)
		}
		all = append(all, x)
	}
	return all
}

// upTo returns the time (ns per request under way) that requests waited before a moment.
func (g *gate) upTo(at int64) float64 {
	i := sort.Search(len(g.beats), func(i int) bool { return g.beats[i].at > at }) - 1
	if i < 0 {
		return 0
	}
	return g.beats[i].sum + g.beats[i].waiting*float64(at-g.beats[i].at)
}

// splitShares corrects what looks saw of a time [from, to) by the number of requests under way in it. The shares of all
// come from looks that met waits. The time that no look covers does not grow.
func (g *gate) splitShares(parts []share, all []share, from, to int64) []share {
	if g == nil || to <= from {
		return parts
	}
	was, is := waitingAt(parts, g.words), (g.upTo(to)-g.upTo(from))/float64(to-from)
	var known float64
	for i := range parts {
		known += parts[i].part
	}
	if known <= 0 || was == 0 && is == 0 || was >= known {
		return parts
	}
	is = min(is, 1) * known
	out := make([]share, 0, len(parts)+1)
	for _, s := range parts {
		if s.mechanism == Pool && s.Cause == g.words {
			s.part *= is / was
		} else {
			s.part *= (known - is) / (known - was)
		}
		out = append(out, s)
	}
	if was == 0 {
		of := waitingAt(all, g.words)
		for _, s := range all {
			if s.mechanism == Pool && s.Cause == g.words {
				s.part *= is / of
				out = append(out, s)
			}
		}
	}
	return out
}
