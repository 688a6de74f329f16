package hsperf

import (
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// facts are which collector it is and how large the parts of the heap are, as the
// last snapshot has them.
func (p *parser) facts(id evidence.SubjectID) {
	origin := p.b.Origin(p.line)
	if c := p.collector(); c != "" {
		p.b.Fact(evidence.Fact{Subject: id, Key: evidence.FactCollector, Value: c, Number: math.NaN(), Origin: origin})
	}
	for _, x := range capacities {
		if v, ok := p.capacity(x.part); ok && v > 0 {
			p.b.Fact(evidence.Fact{Subject: id, Key: x.fact, Value: strconv.FormatInt(v, 10), Number: float64(v), Origin: origin})
		}
	}
}

// policies are the collectors by the counter sun.gc.policy.name.
var policies = map[string]string{
	"Copy:MSC": "Serial", "ParScav:MSC": "Parallel", "ParScav:PSMarkSweep": "Parallel",
	"ParNew:CMS": "ParNew+CMS", "GarbageFirst": "G1",
}

// collector is the collector as people call it, "" if the counters do not tell.
func (p *parser) collector() string {
	if c := policies[p.words("sun.gc.policy.name")]; c != "" {
		return c
	}
	for i := range mostOf {
		switch name := p.words("sun.gc.collector." + strconv.Itoa(i) + ".name"); {
		case strings.HasPrefix(name, "ZGC minor"), strings.HasPrefix(name, "ZGC major"):
			return "generational ZGC"
		case strings.HasPrefix(name, "Z concurrent"), strings.HasPrefix(name, "ZGC"):
			return "ZGC"
		case strings.HasPrefix(name, "Shenandoah"):
			if strings.Contains(p.words("java.rt.vmArgs"), "ShenandoahGCMode=generational") {
				return "generational Shenandoah"
			}
			return "Shenandoah"
		}
	}
	return ""
}

// capacities are facts and the counter that has them, below sun.gc.generation.
var capacities = []struct{ fact, part string }{
	{evidence.FactYoungCapacity, "0.capacity"},
	{evidence.FactEdenCapacity, "0.space.0.capacity"},
	{evidence.FactOldCapacity, "1.capacity"},
}

// capacity is how large a part of a heap with generations is.
func (p *parser) capacity(part string) (int64, bool) {
	if p.words("sun.gc.generation.0.space.0.name") != "eden" || p.words("sun.gc.generation.1.name") != "old" {
		return 0, false
	}
	return p.value("sun.gc.generation." + part)
}
