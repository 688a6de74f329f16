package nettrace

import "github.com/unstall/unstall/internal/format/nettrace/eventpipe"

// What makes a place a limit: while some wait there, as many as ever are beyond it. The first
// half of a session has those beyond it who came before.
const (
	leastLimited = 10  // looks, at each of which one more begins to wait
	mostlyBeyond = .6  // of as many as there are most often, in the mean
	mostLeaving  = .25 // of the looks may see more: who has given it back, and not ended
)

// limitAt is how many a place lets in, 0 if it is no limit.
//
// Who is beyond it is told in one of two ways: by what the method that waits goes on to
// await, which who did not have to wait does as well; or, where another method holds what was waited
// for, by the requests that have waited, until they end, which are all of them only while there
// is always somebody who waits.
func limitAt(p *awaitPlace, ended map[eventpipe.GUID]int64, within []*await, since, until int64) int {
	half := since + (until-since)/2
	var inside, after tally
	waiting := 0
	for _, x := range p.rows {
		if x.start < half {
			continue
		}
		n := 0
		for _, y := range p.rows {
			switch {
			case y == x || y.start > x.start:
			case y.end == 0 || y.end > x.start:
				waiting++
			case ended[y.activity] > x.start:
				n++
			}
		}
		after.add(n)
		n = 0
		for _, y := range within {
			if y.start <= x.start && (y.end == 0 || y.end > x.start) && y.activity != x.activity {
				n++
			}
		}
		inside.add(n)
	}
	if k := inside.findLimit(); k > 0 {
		return k
	}
	if waiting < after.looks {
		return 0
	}
	return after.findLimit()
}

// tally counts how many each look saw.
type tally struct {
	looks, sum, most int // most often
	counts           map[int]int
}

func (t *tally) add(n int) {
	if t.counts == nil {
		t.counts = make(map[int]int)
	}
	t.looks++
	t.sum += n
	if t.counts[n]++; t.counts[n] > t.counts[t.most] || t.counts[n] == t.counts[t.most] && n > t.most {
		t.most = n
	}
}

// findLimit returns the number that is seen again and again, 0 if there is none.
func (t *tally) findLimit() int {
	leaving := 0
	for n, looks := range t.counts {
		if n > t.most {
			leaving += looks
		}
	}
	if t.looks < leastLimited || t.most == 0 || float64(leaving) > mostLeaving*float64(t.looks) || float64(t.sum) < mostlyBeyond*float64(t.most*t.looks) {
		return 0
	}
	return t.most
}
