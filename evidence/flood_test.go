package evidence

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkProcessorFlood adds what a trace of some 500 MB tells: spans as short as
// those of a busy scheduler, far more than there is room for.
func BenchmarkProcessorFlood(b *testing.B) {
	const lanes, spans = 8, 8_000_000
	dur := make([]int64, 1<<16)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range dur {
		dur[i] = 200 + int64(rng.ExpFloat64()*4000)
	}
	b.ReportAllocs()
	for b.Loop() {
		var l ProcessorLog
		var logs [lanes]*LaneLog
		var at [lanes]int64
		for i := range logs {
			logs[i] = l.Lane(i, 0)
		}
		for i := range spans {
			n := i % lanes
			d := dur[i%len(dur)]
			s := ProcessorSpan{From: at[n] + d/4, To: at[n] + d/4 + d, Work: 1 + Work(d%3), Lane: 1 + LaneID(d%512), Name: 1 + NameID(d%16), Number: 1}
			logs[n].Add(&s)
			at[n] = s.To
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/spans, "ns/span")
}
