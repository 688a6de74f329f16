package diagnose

import (
	"slices"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Thresholds for bursts: how many there are, how many slow requests begin in each, which part of the time lies between them, the
// least slow part in them and the most between them, by how much equal distances differ from their median, and how many of the slow requests one may have.
const (
	fewBursts    = 3
	burstSlow    = 5
	burstQuiet   = .3
	burstShare   = .5
	quietShare   = .1
	evenDistance = .25
	mostInOne    = .8  // of the slow requests of all bursts: with more of them in one, the others are its fringe
	burstCells   = 512 // of time, each of which is slow or not
)

// findBursts finds the stretches that the slow requests begin in: nil where these lie in one stretch, or all over the time.
func findBursts(b *evidence.Bundle, l *ledger.Ledger) *Bursts {
	if len(l.Rows) < onsetRequests || l.To <= l.From {
		return nil
	}
	width := (l.To-l.From)/burstCells + 1
	var all, slow [burstCells]int
	cell := func(row int) int {
		return int(min(max(0, b.Requests.End.At(row)-b.Requests.Latency(row)-l.From)/width, burstCells-1))
	}
	for _, row := range l.Rows {
		all[cell(row)]++
	}
	for _, row := range l.Slow {
		slow[cell(row)]++
	}
	type span struct{ from, to, all, slow int }
	var bursts []span
	quiet := 0 // cells with requests, none of them slow, since the last slow one
	for i := range burstCells {
		switch n := len(bursts); {
		case all[i] == 0:
		case slow[i] == 0:
			quiet++
		case n > 0 && quiet < quietCells:
			bursts[n-1].to = i
			quiet = 0
		default:
			bursts = append(bursts, span{from: i, to: i})
			quiet = 0
		}
	}
	for i := range bursts {
		x := &bursts[i]
		for k := x.from; k <= x.to; k++ {
			x.all, x.slow = x.all+all[k], x.slow+slow[k]
		}
	}
	bursts = slices.DeleteFunc(bursts, func(x span) bool { return x.slow < burstSlow }) // now and then one is slow
	inAll, inSlow, most, cells := 0, 0, 0, 0
	var lengths, distances []int64
	for i, x := range bursts {
		inAll, inSlow, cells = inAll+x.all, inSlow+x.slow, cells+x.to-x.from+1
		most = max(most, x.slow)
		lengths = append(lengths, int64(x.to-x.from+1)*width)
		if i > 0 {
			distances = append(distances, int64(x.from-bursts[i-1].from)*width)
		}
	}
	rest := len(l.Rows) - inAll
	if len(bursts) < fewBursts || rest <= 0 || float64(cells) > (1-burstQuiet)*burstCells || float64(most) > mostInOne*float64(inSlow) {
		return nil
	}
	out := &Bursts{Count: len(bursts), LastS: float64(stats.QuantileOf(lengths, .5)) / 1e9,
		Slow: float64(inSlow) / float64(inAll), Between: float64(len(l.Slow)-inSlow) / float64(rest)}
	if out.Slow < burstShare || out.Between > quietShare {
		return nil
	}
	if every, even := stats.EvenDistances(distances, evenDistance, 1); even == len(distances) {
		out.EveryS = stats.FiniteOrNil(float64(every) / 1e9)
	}
	return out
}

// quietCells is how many cells with requests, none of them slow, lie between two bursts.
const quietCells = 8
