package diagnose

import (
	"slices"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/ledger"
)

// Onset is since when requests are slow.
type Onset struct {
	At     *time.Time `json:"at"`     // null where no clock is anchored
	From   float64    `json:"from_s"` // since the beginning of the evidence about requests
	Within bool       `json:"within"` // it began then; else requests were slow before there is evidence
	Before float64    `json:"before"` // part of the requests that were slow until then, where it is within
	Since  float64    `json:"since"`  // and from then on
}

// What makes a moment that from which on requests are slow: so many came before it and after it, over such a part of the time
// each, and of those after it so many times as large a part was slow, and as large a part at least.
const (
	onsetRequests = 50
	onsetTime     = .1
	onsetTimes    = 5.
	onsetShare    = .05
)

// onset finds since when requests are slow: the moment that divides them best into those before, of which next to none is, and
// those after it. Nil where none was slow.
func onset(b *evidence.Bundle, l *ledger.Ledger) *Onset {
	if len(l.Slow) == 0 || l.To <= l.From {
		return nil
	}
	slow := make(map[int]bool, len(l.Slow))
	for _, i := range l.Slow {
		slow[i] = true
	}
	rows := slices.Clone(l.Rows)
	began := func(i int) int64 { return b.Requests.End.At(i) - b.Requests.Latency(i) }
	slices.SortStableFunc(rows, func(i, j int) int { return int(min(1, max(-1, began(i)-began(j)))) })
	out := &Onset{}
	at := l.From
	least, n, most := onsetTime*float64(l.To-l.From), 0, 0.
	for k, i := range rows {
		if slow[i] {
			before, after := float64(n)/float64(max(1, k)), float64(len(l.Slow)-n)/float64(len(rows)-k)
			t := began(i)
			if k >= onsetRequests && len(rows)-k >= onsetRequests && float64(t-l.From) >= least && float64(l.To-t) >= least &&
				after >= onsetShare && after >= onsetTimes*before && after-before > most {
				most, at = after-before, t
				out.Within, out.Before, out.Since = true, before, after
			}
			n++
		}
	}
	out.From = float64(at-l.From) / 1e9
	if clock := b.Clocks[b.Requests.Clock.At(rows[0])]; clock.Anchored() {
		t := time.Unix(0, at).UTC()
		out.At = &t
	}
	return out
}
