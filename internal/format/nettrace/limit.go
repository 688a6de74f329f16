package nettrace

import "github.com/unstall/unstall/internal/format/nettrace/eventpipe"

// Signs that a place is a limit: while some requests wait there, the number of those past it is its usual maximum. In the first
// half of a session, those past it may have come before.
const (
	leastLimited = 10  // samples, at each of which one more begins to wait
	mostlyBeyond = .6  // mean number past it, relative to the most frequent one
	mostLeaving  = .25 // part of the samples that may see more: requests that have released it, and not ended
)

// limitAt returns how many a place lets in, 0 if it is no limit.
//
// The requests past it are found in one of two ways: by the next await of the method that waits,
// which requests that did not wait have as well; or, if another method holds the
// resource, by the requests that have waited, until they end. These are all only while some request
// always waits.
func limitAt(p *awaitPlace, ended map[eventpipe.GUID]int64, within []*await, since, until int64) int {
	half := since + (until-since)/2
	var inside, after tally
	waiting, queued := 0, make(map[eventpipe.GUID]bool)
	for _, x := range p.rows {
		if x.start < half {
			continue
		}
		n := 0
		clear(queued)
		for _, y := range p.rows {
			switch {
			case y == x || y.start > x.start:
			case y.end == 0 || y.end > x.start:
				waiting++
				queued[y.activity] = true
			case ended[y.activity] > x.start:
				n++
			}
		}
		after.add(n)
		n = 0
		for _, y := range within {
			if y.start <= x.start && (y.end == 0 || y.end > x.start) && y.activity != x.activity && !queued[y.activity] { // the wait itself may be for a method that awaits
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

// tally counts the requests of each sample.
type tally struct {
	looks, sum, most int // the most frequent number
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

// findLimit returns the number that recurs, 0 if there is none.
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
