package metrics

import (
	"cmp"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Pinned is the waits of virtual threads that kept their carrier, the OS thread that runs them
// (https://docs.oracle.com/en/java/javase/21/core/virtual-threads.html#GUID-04C03FFC-066D-4857-85B9-E5A27A875AF9), from a
// runtime's own events about waits of some length.
type Pinned struct {
	Waits   int
	Waited  int64   // ns, total
	Span    int64   // ns that were watched
	Mean    float64 // mean number of carriers that were kept
	Most    int     // most carriers kept at once
	Full    Spans   // when the kept carriers were as many as the process has CPUs, and by default carriers; nil: unknown
	All     float64 // share of the time in Full
	Longest int64   // ns
	Sites   []PinnedSite
	Origin  evidence.Origin
}

// PinnedSite is a place where threads were pinned; sites with most time come first.
type PinnedSite struct {
	Stack  evidence.StackID
	Reason string // as the runtime gives it, "" unknown
	Waits  int
	Waited int64
	Origin evidence.Origin
}

// PinnedOf reads the pinned waits; nil: not watched.
func PinnedOf(b *evidence.Bundle, subject evidence.SubjectID) *Pinned {
	p := &Pinned{}
	for _, c := range b.Covered(subject, evidence.CoverPinned) {
		p.Span += c.Until - c.From
		p.Origin = c.Origin
	}
	if p.Span <= 0 {
		return nil
	}
	type end struct {
		at    int64
		delta int
	}
	type key struct {
		stack evidence.StackID
		cause evidence.NameID
	}
	var ends []end
	sites := make(map[key]int)
	v := &b.Intervals
	for _, i := range v.Select(evidence.Pinned, subject) {
		took := v.End[i] - v.Start[i]
		p.Waits++
		p.Waited += took
		p.Longest = max(p.Longest, took)
		ends = append(ends, end{v.Start[i], 1}, end{v.End[i], -1})
		k := key{v.Stack.At(i), v.Cause.At(i)}
		n, known := sites[k]
		if !known {
			n = len(p.Sites)
			sites[k] = n
			p.Sites = append(p.Sites, PinnedSite{Stack: k.stack, Reason: b.Names.Text(k.cause), Origin: v.Origin.At(i)})
		}
		p.Sites[n].Waits++
		p.Sites[n].Waited += took
	}
	sorting.Short(p.Sites, func(x, y PinnedSite) int { return cmp.Compare(y.Waited, x.Waited) })
	sorting.Short(ends, func(x, y end) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.delta, y.delta)) })
	carriers := b.Subjects[subject].CPUs
	at := 0
	for n, e := range ends {
		at += e.delta
		p.Most = max(p.Most, at)
		if n+1 < len(ends) && carriers > 0 && at >= carriers {
			p.Full = p.Full.Add(e.at, ends[n+1].at)
		}
	}
	p.Mean = float64(p.Waited) / float64(p.Span)
	for _, x := range p.Full {
		p.All += float64(x.To-x.From) / float64(p.Span)
	}
	return p
}
