package exchanges

import (
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// An answer of several writes is small if it is shorter than a segment can be (bytes): of a longer one the kernel sends full segments at once.
const (
	mostSegment  = 65483 // of the loopback device, whose MTU is 64 KiB less one byte, with addresses and timestamps taken off
	answersLeast = 20    // of a route
)

// emitSplitAnswers tells of the routes whose answers are small and sent in several writes.
func (p *parser) emitSplitAnswers() {
	sends, sizes := make(map[evidence.NameID][]int64), make(map[evidence.NameID][]int64)
	for i := range p.requests {
		if x := &p.requests[i]; x.first > 0 && x.what != 0 && !x.multiplexed && !x.isStreamed() {
			sends[x.what], sizes[x.what] = append(sends[x.what], x.sends), append(sizes[x.what], x.out)
		}
	}
	for _, route := range slices.Sorted(maps.Keys(sends)) {
		writes := stats.QuantileOf(sends[route], .5)
		if len(sends[route]) >= answersLeast && writes > 1 && stats.QuantileOf(sizes[route], .5) <= mostSegment {
			p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactAnswerWrites, Value: p.b.Text(route), Number: float64(writes), From: p.from, Until: p.until, Origin: p.b.Origin(1)})
		}
	}
}
