package hsperf

import (
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// emitFacts writes the collector and the sizes of the heap's parts in the last
// snapshot.
func (p *parser) emitFacts(id evidence.SubjectID) {
	origin := p.b.Origin(p.line)
	if c := p.collectorName(); c != "" {
		p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactCollector, Value: c, Number: math.NaN(), Origin: origin})
	}
	for _, x := range capacities {
		if v, ok := p.capacityOf(x.part); ok && v > 0 {
			p.b.Fact(evidence.Fact{Subject: id, Key: x.fact, Value: strconv.FormatInt(v, 10), Number: float64(v), Origin: origin})
		}
	}
}

// policies maps the counter sun.gc.policy.name to collectors.
var policies = map[string]string{
	"Copy:MSC": "Serial", "ParScav:MSC": "Parallel", "ParScav:PSMarkSweep": "Parallel",
	"ParNew:CMS": "ParNew+CMS", "GarbageFirst": "G1",
}

// collectorName returns the collector's usual name, "" if the counters do not show it.
func (p *parser) collectorName() string {
	if c := policies[p.counterText("sun.gc.policy.name")]; c != "" {
		return c
	}
	for i := range mostOf {
		switch name := p.counterText("sun.gc.collector." + strconv.Itoa(i) + ".name"); {
		case strings.HasPrefix(name, "ZGC minor"), strings.HasPrefix(name, "ZGC major"):
			return "generational ZGC"
		case strings.HasPrefix(name, "Z concurrent"), strings.HasPrefix(name, "ZGC"):
			return "ZGC"
		case strings.HasPrefix(name, "Shenandoah"):
			if strings.Contains(p.counterText("java.rt.vmArgs"), "ShenandoahGCMode=generational") {
				return "generational Shenandoah"
			}
			return "Shenandoah"
		}
	}
	return ""
}

// capacities maps facts to their counters, below sun.gc.generation.
var capacities = []struct{ fact, part string }{
	{evidence.FactYoungCapacity, "0.capacity"},
	{evidence.FactEdenCapacity, "0.space.0.capacity"},
	{evidence.FactOldCapacity, "1.capacity"},
}

// capacityOf returns the size of a part of a heap with generations.
func (p *parser) capacityOf(part string) (int64, bool) {
	if p.counterText("sun.gc.generation.0.space.0.name") != "eden" || p.counterText("sun.gc.generation.1.name") != "old" {
		return 0, false
	}
	return p.counterNumber("sun.gc.generation." + part)
}
