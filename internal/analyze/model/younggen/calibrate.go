package younggen

import (
	"errors"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/base/evidence"
)

// ErrNone says that nothing of a young generation was recorded.
var ErrNone = errors.New("no young collection was recorded: record the process (unstall record PID), or give a GC log written from the start with -Xlog:gc*,safepoint:file=gc.log:time,uptime,level,tags (before JDK 9 -Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps)")

// answerQuestion answers from what was recorded.
func answerQuestion(q model.Question) (*model.Answer, error) {
	g := metrics.JVMCollector(q.Bundle, q.Subject, metrics.Scope{Beside: q.Ledger.RequestsOf()})
	if g == nil {
		return nil, ErrNone
	}
	s, err := SituationOf(q.Bundle, q.Subject, g)
	if err != nil {
		return nil, err
	}
	if load, ok := LoadOf(q.Bundle, q.Subject, q.Ledger, g); ok {
		s.Knee, s.Rate = &load.Knee, load.Offered
	} else if g.Meets(q.Ledger.RequestsOf()) {
		s.Rate = q.Ledger.Requests.Rate
	}
	return s.Ask(q.Name, q.Wanted)
}

// SituationOf is a young generation as its collector was recorded, whatever the load.
func SituationOf(b *evidence.Bundle, subject evidence.SubjectID, g *metrics.Collector) (s Situation, err error) {
	y, err := Fit(Pauses(g))
	if err != nil {
		return s, err
	}
	y.Collector = g.Name
	y.Size = sizeOf(g, y)
	if heap := g.Capacity.Number; !math.IsNaN(heap) {
		y.Heap = heap
	}
	y.OldLive = oldLive(g)
	a, _ := g.Origin.Artifact()
	s = Situation{Generation: y, Source: b.Artifacts[a].Name, Version: b.Subjects[subject].Version}
	if room, _ := metrics.RoomOf(b, subject); room.Known() {
		s.Room = room.Number
	}
	return s, nil
}

// oldLive is the least that was in the old generation once it had been collected; where it
// never was the most that was seen, which holds what has died there, too. 0 unknown.
func oldLive(g *metrics.Collector) (bytes float64) {
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

// Pauses are a collector's young collections, with what was allocated since the pause
// before each, of whatever kind.
func Pauses(g *metrics.Collector) (out []Pause) {
	for i, p := range g.Pauses {
		if p.Of != evidence.PauseYoung && p.Of != evidence.PauseMixed {
			continue
		}
		x := Pause{At: float64(p.From) / 1e9, Took: p.Seconds(), Allocated: math.NaN(),
			Survived: g.Get(p, evidence.YoungAfter), Capacity: g.Get(p, evidence.YoungCapacity), Promoted: math.NaN()}
		if before, after := g.OldOf(p); p.Of == evidence.PauseYoung {
			x.Promoted = math.Max(0, after-before)
		}
		if i > 0 {
			x.Allocated = g.Between(g.Pauses[i-1], p)
		}
		out = append(out, x)
	}
	return out
}

// defaultRatio is SurvivorRatio unless it is set
// (https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html).
const defaultRatio = 8

// sizeOf is what -Xmn would have to be for the young generation as it is: a flag tells,
// else the log's capacity with the survivor space that it leaves out, else what was seen in
// it; 0 unknown.
func sizeOf(g *metrics.Collector, y *Generation) float64 {
	if least, most := g.Flag(evidence.FactNewSize), g.Flag(evidence.FactMaxNewSize); most > 0 && least == most {
		return most
	}
	if whole := g.Flag(evidence.FactYoungCapacity); whole > 0 {
		return whole
	}
	if y.Size > 0 && (g.Is("ParNew") || g.Is("Serial") || g.Is("Parallel")) {
		ratio := g.Flag(evidence.FactSurvivorRatio)
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
