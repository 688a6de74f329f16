package threaddump

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// findCircles finds threads of the dump that wait for each other in a circle: each for a monitor,
// or for a synchronizer of java.util.concurrent whose owner a dump with jstack -l names, which the
// next thread holds. The JVM searches for deadlocks when it makes a dump, but its result is
// missing if a dump was cut, or was made by another tool; it knows the owner of a synchronizer
// without -l. So a circle that either search finds is reported once.
//
// A wait with a timeout ends by itself, and is no part of a deadlock.
func (p *parser) findCircles() {
	owner := make(map[string]int)
	for i := range p.dump {
		for _, o := range p.dump[i].held {
			if o != p.dump[i].wait.object {
				owner[o] = i
			}
		}
	}
	next := func(i int) int {
		t := &p.dump[i]
		if t.wait.object == "" || t.wait.use != evidence.ToLock && t.wait.use != evidence.ToPark || strings.HasPrefix(t.state, "TIMED") {
			return -1
		}
		if j, ok := owner[t.wait.object]; ok && j != i {
			return j
		}
		return -1
	}
	const unseen = -1
	walk := make([]int, len(p.dump)) // the walk that visited the thread first
	for i := range walk {
		walk[i] = unseen
	}
	for i := range p.dump {
		j := i
		for j >= 0 && walk[j] == unseen {
			walk[j] = i
			j = next(j)
		}
		if j < 0 || walk[j] != i {
			continue
		}
		circle := []int{j}
		for k := next(j); k != j; k = next(k) {
			circle = append(circle, k)
		}
		p.emitCircle(circle)
	}
	p.told = p.told[:0]
}

// mostChained is how many threads of a circle are listed with their locks.
const mostChained = 8

// emitCircle writes a circle.
func (p *parser) emitCircle(circle []int) {
	var names, chain []string
	for n, i := range circle {
		t := &p.dump[i]
		name := strings.ToValidUTF8(t.name[:min(len(t.name), maxName)], "?")
		names = append(names, name)
		if n < mostChained {
			after := &p.dump[circle[(n+1)%len(circle)]]
			chain = append(chain, fmt.Sprintf("%q waits for %s, which %q holds", name, cmp.Or(t.wait.class, "a lock"), strings.ToValidUTF8(after.name[:min(len(after.name), maxName)], "?")))
		}
	}
	same := func(told []string) bool {
		a, b := slices.Sorted(slices.Values(told)), slices.Sorted(slices.Values(names))
		return slices.Equal(a, b)
	}
	said := 0.
	origin := p.b.Origin(p.dump[circle[0]].line)
	if slices.ContainsFunc(p.told, same) {
		said = 1
	} else if !slices.ContainsFunc(p.found, same) {
		value := `"` + strings.Join(names, `", "`) + `"`
		p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactDeadlock, Value: value, Number: float64(len(names)), Origin: origin})
		p.b.Warnf(p.dump[circle[0]].line, "a deadlock: %s wait for each other's locks and never continue", value)
	}
	if slices.ContainsFunc(p.found, same) {
		return
	}
	if len(p.found) < maxHeld {
		p.found = append(p.found, names)
	}
	p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactDeadlockChain, Value: strings.Join(chain, "; "), Number: said, Origin: origin})
}
