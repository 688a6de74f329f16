package jvm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// mostAllocators is how many allocating places are listed.
const mostAllocators = 3

var leastAllocated = check.Threshold{Name: "share of all that is allocated from which a place is reported", Value: .05, Unit: "1",
	Why: "a report has room for some", Source: "arithmetic: at most twenty places can have it"}

// topAllocators returns the places in the program that allocate most, as a flight recording
// samples them, each with its main class; code is the first place, "" if none is known.
func (g *collector) topAllocators() (out []check.Evidence, code string) {
	all := metrics.ReadAllocations(g.c.Bundle, g.c.Subject, threadstack.JVM)
	if all == nil || all.Bytes <= 0 {
		return nil, ""
	}
	type place struct {
		bytes  float64
		types  map[string]float64
		origin evidence.Origin
	}
	places := make(map[string]*place)
	for _, s := range all.Sites {
		if s.Owner == "" {
			continue
		}
		p := places[s.Owner]
		if p == nil {
			p = &place{types: make(map[string]float64), origin: s.Origin}
			places[s.Owner] = p
		}
		p.bytes += s.Bytes
		p.types[s.Type] += s.Bytes
	}
	names := slices.SortedFunc(maps.Keys(places), func(a, b string) int {
		return cmp.Or(cmp.Compare(places[b].bytes, places[a].bytes), cmp.Compare(a, b))
	})
	for _, name := range names[:min(mostAllocators, len(names))] {
		p := places[name]
		share := p.bytes / all.Bytes
		if share < leastAllocated.Value {
			break
		}
		top := slices.MinFunc(slices.Collect(maps.Keys(p.types)), func(a, b string) int {
			return cmp.Or(cmp.Compare(p.types[b], p.types[a]), cmp.Compare(a, b))
		})
		out = append(out, g.c.Figure("alloc.at_share", fmt.Sprintf("share of what is allocated in %s, mostly %s (sampled)", name, top), share, "1", p.origin))
		code = cmp.Or(code, name)
	}
	return out, code
}

// topSurvivors returns the classes, with the places that allocated them, of the objects that a
// flight recording sampled and found still alive (jdk.OldObjectSample), the most first; code is
// the first known place.
func (g *collector) topSurvivors() (out []check.Evidence, code string) {
	b := g.c.Bundle
	typ := b.Names.Lookup(evidence.SampleOldObject)
	if typ == 0 {
		return nil, ""
	}
	type kind struct{ class, at string }
	counts := make(map[kind]int64)
	origins := make(map[kind]evidence.Origin)
	var sum int64
	s := &b.Samples
	for i := range s.Len() {
		if s.Type[i] != typ || s.Subject[i] != g.c.Subject {
			continue
		}
		k := kind{b.Names.Text(s.Class[i]), g.c.SiteOf(s.Stack[i]).Function}
		counts[k] += s.Value[i]
		origins[k] = s.Origin[i]
		sum += s.Value[i]
	}
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b kind) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.class, b.class), cmp.Compare(a.at, b.at))
	})
	for _, k := range kinds[:min(mostAllocators, len(kinds))] {
		share := float64(counts[k]) / float64(sum)
		if share < leastAllocated.Value {
			break
		}
		text := "share of the sampled live objects that are " + cmp.Or(k.class, "of an unnamed class")
		if k.at != "" {
			text += ", allocated in " + k.at
		}
		out = append(out, g.c.Figure("alive.share", text, share, "1", origins[k]))
		code = cmp.Or(code, k.at)
	}
	return out, code
}
