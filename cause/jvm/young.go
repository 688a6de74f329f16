package jvm

import (
	"errors"
	"math"

	"github.com/unstall/unstall/cause"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/model/younggen"
	"github.com/unstall/unstall/reading"
)

// ErrNoYoung says that nothing of a young generation was recorded.
var ErrNoYoung = errors.New("no young collection was watched: record the process (unstall record PID), or give the collector's log, written from the start by -Xlog:gc*,safepoint:file=gc.log:time,uptime,level,tags (before JDK 9 -Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps)")

// YoungOf is what the model of young generations starts from: the collections of the
// case's JVM as recorded.
func YoungOf(c *cause.Case) (younggen.Situation, error) {
	g := collectorOf(c)
	if g == nil {
		return younggen.Situation{}, ErrNoYoung
	}
	s, err := g.young()
	if err != nil {
		return s, err
	}
	if load, ok := g.loadOf(g.Pauses); ok {
		s.Knee, s.Rate = &load.knee, load.offered
	} else if l := c.Ledger; l != nil && g.meets() {
		s.Rate = l.Requests.Rate
	}
	return s, nil
}

// YoungPauses are the young collections of a case's JVM, for back-tests of the model.
func YoungPauses(c *cause.Case) []younggen.Pause {
	g := collectorOf(c)
	if g == nil {
		return nil
	}
	return g.youngPauses(g.Pauses)
}

func (g *collector) young() (s younggen.Situation, err error) {
	y, err := younggen.Fit(g.youngPauses(g.Pauses))
	if err != nil {
		return s, err
	}
	y.Collector = g.Name
	y.Size = g.youngSize(y)
	if heap := g.Capacity.Number; !math.IsNaN(heap) {
		y.Heap = heap
	}
	y.OldLive = g.oldLive()
	a, _ := g.Origin.Artifact()
	s = younggen.Situation{Generation: y, Source: g.c.Bundle.Artifacts[a].Name, Version: g.c.Bundle.Subjects[g.c.Subject].Version, Room: g.roomBeside()}
	return s, nil
}

// oldLive is the least that was in the old generation once it had been collected; where it
// never was the most that was seen, which holds what has died there, too. 0 unknown.
func (g *collector) oldLive() (bytes float64) {
	collected := false
	for _, p := range g.Pauses {
		_, after := g.OldOf(p)
		if p.Of == evidence.PauseFull || p.Of == evidence.PauseRemark {
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
func (g *collector) youngPauses(all reading.Pauses) (out []younggen.Pause) {
	for i, p := range all {
		if p.Of != evidence.PauseYoung && p.Of != evidence.PauseMixed {
			continue
		}
		x := younggen.Pause{At: float64(p.From) / 1e9, Took: p.Seconds(), Allocated: math.NaN(),
			Survived: g.Get(p, evidence.YoungAfter), Capacity: g.Get(p, evidence.YoungCapacity), Promoted: math.NaN()}
		if before, after := g.OldOf(p); p.Of == evidence.PauseYoung {
			x.Promoted = math.Max(0, after-before)
		}
		if i > 0 {
			x.Allocated = g.Between(all[i-1], p)
		}
		out = append(out, x)
	}
	return out
}

// defaultRatio is SurvivorRatio where nobody set it
// (https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html).
const defaultRatio = 8

// youngSize is what -Xmn would have to be for the young generation as it is: a flag tells,
// else the log's capacity with the survivor space that it leaves out, else what was seen in
// it; 0 unknown.
func (g *collector) youngSize(y *younggen.Generation) float64 {
	if least, most := g.Told(evidence.FactNewSize), g.Told(evidence.FactMaxNewSize); most > 0 && least == most {
		return most
	}
	if whole := g.Told(evidence.FactYoungCapacity); whole > 0 {
		return whole
	}
	if y.Size > 0 && (g.Is("ParNew") || g.Is("Serial") || g.Is("Parallel")) {
		ratio := g.Told(evidence.FactSurvivorRatio)
		if ratio == 0 {
			ratio = defaultRatio
		}
		return y.Size * (ratio + 2) / (ratio + 1)
	}
	if y.Size > 0 {
		return y.Size
	}
	most := 0.
	for _, p := range g.Pauses {
		if x := g.Get(p, evidence.YoungBefore); x > most {
			most = x
		}
	}
	return most
}

// largerYoung is the flag for a young generation so many times as large, "" where its size
// is not known. The heap grows by as much where it could not hold it.
func (g *collector) largerYoung(times float64) string {
	s, err := g.young()
	if err != nil || s.Size == 0 || g.Is("G1") || g.Is("ZGC") || g.Is("Shenandoah") {
		return ""
	}
	return s.Flags(times)
}
