package jvm

import (
	"errors"
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/predict"
)

// ErrNoYoung says that nothing of a young generation was recorded.
var ErrNoYoung = errors.New("no young collection was watched: record the process (unstall record PID), or give the collector's log, written from the start by -Xlog:gc*,safepoint:file=gc.log:time,uptime,level,tags (before JDK 9 -Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps)")

// YoungOf is what the model of young generations starts from: the collections of the
// case's JVM as recorded.
func YoungOf(c *cause.Case) (predict.YoungSituation, error) {
	g := collectorOf(c)
	if g == nil {
		return predict.YoungSituation{}, ErrNoYoung
	}
	s, err := g.young()
	if err != nil {
		return s, err
	}
	if load, ok := g.loadOf(g.pauses); ok {
		s.Knee, s.Rate = &load.knee, load.offered
	} else if l := c.Ledger; l != nil && g.meets() {
		s.Rate = l.Requests.Rate
	}
	return s, nil
}

// YoungPauses are the young collections of a case's JVM, for back-tests of the model.
func YoungPauses(c *cause.Case) []predict.YoungPause {
	g := collectorOf(c)
	if g == nil {
		return nil
	}
	return g.youngPauses(g.pauses)
}

func (g *collector) young() (s predict.YoungSituation, err error) {
	y, err := predict.NewYoungGen(g.youngPauses(g.pauses))
	if err != nil {
		return s, err
	}
	y.Collector = g.name
	y.Size = g.youngSize(y)
	if heap := g.capacity(); !math.IsNaN(heap) {
		y.Heap = heap
	}
	y.OldLive = g.oldLive()
	a, _ := g.origin.Artifact()
	s = predict.YoungSituation{YoungGen: y, Source: g.c.Bundle.Artifacts[a].Name, Version: g.c.Bundle.Subjects[g.c.Subject].Version, Room: g.roomBeside()}
	return s, nil
}

// oldLive is the least that was in the old generation once it had been collected; where it
// never was the most that was seen, which holds what has died there, too. 0 unknown.
func (g *collector) oldLive() (bytes float64) {
	collected := false
	for _, p := range g.pauses {
		_, after := g.oldOf(p)
		if p.of == evidence.PauseFull || p.of == evidence.PauseRemark {
			if !collected {
				bytes = math.Inf(1)
			}
			collected = true
		}
		switch {
		case math.IsNaN(after):
		case collected:
			bytes = min(bytes, after)
		default:
			bytes = max(bytes, after)
		}
	}
	if math.IsInf(bytes, 1) {
		return 0
	}
	return bytes
}

// youngPauses are the young collections of some pauses, with what was allocated since the
// pause before each, of whatever kind.
func (g *collector) youngPauses(all pauses) (out []predict.YoungPause) {
	for i, p := range all {
		if p.of != evidence.PauseYoung && p.of != evidence.PauseMixed {
			continue
		}
		x := predict.YoungPause{At: float64(p.from) / 1e9, Took: p.seconds(), Allocated: math.NaN(),
			Survived: g.get(p, evidence.YoungAfter), Capacity: g.get(p, evidence.YoungCapacity), Promoted: math.NaN()}
		if before, after := g.oldOf(p); p.of == evidence.PauseYoung {
			x.Promoted = math.Max(0, after-before)
		}
		if i > 0 {
			x.Allocated = g.between(all[i-1], p)
		}
		out = append(out, x)
	}
	return out
}

// between is what was allocated from one pause to the next, bytes; NaN unknown. A
// concurrent collector frees memory between two pauses: then only the young generation,
// which it leaves alone, tells.
func (g *collector) between(p, q pause) float64 {
	after, before := g.get(p, evidence.YoungAfter), g.get(q, evidence.YoungBefore)
	if math.IsNaN(after) || math.IsNaN(before) {
		after, before = g.get(p, evidence.HeapAfter), g.get(q, evidence.HeapBefore)
	}
	if before < after || q.from <= p.to {
		return math.NaN()
	}
	return before - after
}

// defaultRatio is SurvivorRatio where nobody set it
// (https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html).
const defaultRatio = 8

// youngSize is what -Xmn would have to be for the young generation as it is: a flag tells,
// else the log's capacity with the survivor space that it leaves out, else what was seen in
// it; 0 unknown.
func (g *collector) youngSize(y *predict.YoungGen) float64 {
	if least, most := g.told(evidence.FactNewSize), g.told(evidence.FactMaxNewSize); most > 0 && least == most {
		return most
	}
	if whole := g.told(evidence.FactYoungCapacity); whole > 0 {
		return whole
	}
	if y.Size > 0 && (g.is("ParNew") || g.is("Serial") || g.is("Parallel")) {
		ratio := g.told(evidence.FactSurvivorRatio)
		if ratio == 0 {
			ratio = defaultRatio
		}
		return y.Size * (ratio + 2) / (ratio + 1)
	}
	if y.Size > 0 {
		return y.Size
	}
	most := 0.
	for _, p := range g.pauses {
		if x := g.get(p, evidence.YoungBefore); x > most {
			most = x
		}
	}
	return most
}

// largerYoung is the flag for a young generation so many times as large, "" where its size
// is not known. The heap grows by as much where it could not hold it.
func (g *collector) largerYoung(times float64) string {
	s, err := g.young()
	if err != nil || s.Size == 0 || g.is("G1") || g.is("ZGC") || g.is("Shenandoah") {
		return ""
	}
	return s.Flags(times)
}
