package jvm

import (
	"math"

	"github.com/unstall/unstall/evidence"
)

// rates are what a collector's log says of the memory that the program uses, over the
// window. NaN is not known.
type rates struct {
	alloc   float64 // bytes/s
	promote float64 // bytes/s
	each    float64 // bytes allocated between two young collections, in the mean
	// Of young collections' time on processors, all threads of the collector together.
	user, system float64 // s
	real         float64 // s of wall time of those pauses that tell it
}

// ratesOf reads allocation from what the heap grew by between two pauses, and promotion
// from what the old generation grew by in young ones.
func (g *collector) ratesOf() rates {
	r := rates{alloc: math.NaN(), promote: math.NaN(), each: math.NaN()}
	var grown, took, promoted, collected float64
	n := 0
	for i, p := range g.pauses {
		if p.of == evidence.PauseYoung || p.of == evidence.PauseMixed {
			if before, after := g.oldOf(p); p.of == evidence.PauseYoung && after >= before {
				promoted += after - before
				collected++
			} else if p.of == evidence.PauseYoung && after < before {
				collected++
			}
		}
		if i == 0 {
			continue
		}
		if d := g.between(g.pauses[i-1], p); d >= 0 {
			grown += d
			took += float64(p.from-g.pauses[i-1].from) / 1e9
			n++
		}
	}
	if took > 0 {
		r.alloc, r.each = grown/took, grown/float64(n)
	}
	if collected > 0 && g.span > 0 {
		r.promote = promoted / g.span
	}
	r.user, r.system, r.real = g.cpu(g.pauses)
	return r
}

// oldOf is the old generation's size before and after a pause, NaN where neither it nor
// heap and young generation are told.
func (g *collector) oldOf(p pause) (before, after float64) {
	before, after = g.get(p, evidence.OldBefore), g.get(p, evidence.OldAfter)
	if math.IsNaN(before) || math.IsNaN(after) {
		before = g.get(p, evidence.HeapBefore) - g.get(p, evidence.YoungBefore)
		after = g.get(p, evidence.HeapAfter) - g.get(p, evidence.YoungAfter)
	}
	return before, after
}

// cpu is the time on processors in user mode and in the kernel of all the collector's
// threads in some pauses, and the wall time of those that tell it, s; NaN where none does.
func (g *collector) cpu(p pauses) (user, system, real float64) {
	told := 0
	for _, x := range p {
		u, s := g.get(x, evidence.UserCPU), g.get(x, evidence.SystemCPU)
		if math.IsNaN(u) || math.IsNaN(s) {
			continue
		}
		told++
		user += u / 1e9
		system += s / 1e9
		real += x.seconds()
	}
	if told == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return user, system, real
}

// processors is how many processors the JVM may use; 0 unknown.
func (g *collector) processors() float64 { return float64(g.c.Bundle.CPUsOf(g.c.Subject)) }
