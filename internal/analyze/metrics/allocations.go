package metrics

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Allocations is what a process allocated, by type and place, over the whole recording. It comes from .NET's allocation
// ticks (GC keyword at level 5), AllocationSampled of .NET 10, or a JVM's flight recording. Bytes of small objects are
// extrapolated from one in 100 KiB; large objects are recorded one by one.
type Allocations struct {
	Window         // from the first record to the last, across separate sessions
	Span   float64 // s that were watched
	Lost   int64   // events lost: bytes are lower bounds if there are any
	Bytes  float64
	Large  float64 // of Bytes, on the large object heap
	Count  float64 // large objects
	Sites  []AllocationSite
	Types  []AllocationType
	// Deaths are the objects that died in generation 2 or as large objects, by where they were allocated, most bytes
	// first; nil: the recording did not ask collections for what survives them.
	Deaths []AllocationSite
	Live   []AllocationType // the heap by type from a heap snapshot, most bytes first: Count is the number of all objects
	Origin evidence.Origin
}

// AllocationSite is one stack that allocates objects of one type. Sites are sorted by large bytes, then by bytes,
// descending.
type AllocationSite struct {
	Type   string // "System.Byte[]"
	Stack  evidence.StackID
	Owner  string // the nearest of the user's own code: "Shop!OrderBook.Statement()"; "": none
	Serves string // the outermost of the user's own code, where that handles a request: the route's handler; "": none
	Bytes  float64
	Large  float64 // of Bytes, on the large object heap
	Count  float64 // large objects
	Origin evidence.Origin
}

// AllocationType sums up all allocations of a type.
type AllocationType struct {
	Type                string
	Bytes, Large, Count float64
}

// allocationCovers are the coverages that a recording of allocations may have.
var allocationCovers = []string{evidence.CoverAllocation, evidence.CoverDeaths, evidence.CoverClasses}

// StackReader tells what a stack of a runtime's threads shows, and the program's name.
type StackReader func(of threadstack.Stack, entry string) threadstack.View

// ReadAllocations reads a process's allocations; nil: they were not recorded.
func ReadAllocations(b *evidence.Bundle, subject evidence.SubjectID, read StackReader) *Allocations {
	a := &Allocations{}
	var watched Spans
	for _, kind := range allocationCovers {
		for _, c := range b.Covered(subject, kind) {
			if a.Origin == 0 {
				a.Origin = c.Origin
			}
			if kind == evidence.CoverAllocation {
				watched = watched.withSpan(c.From, c.Until)
				a.Lost += c.Lost
			}
		}
	}
	if a.Origin == 0 {
		return nil
	}
	if len(watched) > 0 {
		a.Window = Window{watched[0].From, watched[len(watched)-1].To}
		a.Span = float64(watched.Within(a.From, a.Until)) / 1e9
	}
	a.readSites(b, subject, read)
	a.sumTypes()
	a.readLive(b, subject)
	return a
}

func (a *Allocations) readSites(b *evidence.Bundle, subject evidence.SubjectID, read StackReader) {
	deaths := b.Names.Lookup(evidence.SampleGen2Deaths)
	all, large, objects := b.Names.Lookup(evidence.SampleAllocated), b.Names.Lookup(evidence.SampleLargeAllocated), b.Names.Lookup(evidence.SampleLargeObjects)
	type key struct {
		stack evidence.StackID
		class evidence.NameID
	}
	at := make(map[key]int)
	s := &b.Samples
	for i := range s.Len() {
		t := s.Type[i]
		if t != 0 && t == deaths && s.Subject[i] == subject {
			owner, serves := ownerOf(b, subject, s.Stack[i], read)
			a.Deaths = append(a.Deaths, AllocationSite{Type: b.Names.Text(s.Class[i]), Stack: s.Stack[i], Owner: owner, Serves: serves, Bytes: float64(s.Value[i]), Origin: s.Origin[i]})
		}
		if s.Subject[i] != subject || t == 0 || t != all && t != large && t != objects {
			continue
		}
		k := key{s.Stack[i], s.Class[i]}
		n, ok := at[k]
		if !ok {
			n = len(a.Sites)
			at[k] = n
			owner, serves := ownerOf(b, subject, k.stack, read)
			a.Sites = append(a.Sites, AllocationSite{Type: b.Names.Text(k.class), Stack: k.stack, Owner: owner, Serves: serves, Origin: s.Origin[i]})
		}
		x, v := &a.Sites[n], float64(s.Value[i])
		switch t {
		case all:
			x.Bytes += v
			a.Bytes += v
		case large:
			x.Large += v
			a.Large += v
		case objects:
			x.Count += v
			a.Count += v
		}
	}
	sorting.Short(a.Sites, func(x, y AllocationSite) int {
		return cmp.Or(-cmp.Compare(x.Large, y.Large), -cmp.Compare(x.Bytes, y.Bytes))
	})
}

func ownerOf(b *evidence.Bundle, subject evidence.SubjectID, stack evidence.StackID, read StackReader) (owner, serves string) {
	of := threadstack.Of(b, stack)
	v := read(of, b.Subjects[subject].Name)
	if v.Request && v.Outer >= 0 && !v.Library {
		serves = threadstack.Short(of.Frames[v.Outer])
	}
	return v.Owner, serves
}

func (a *Allocations) sumTypes() {
	at := make(map[string]int)
	for _, x := range a.Sites {
		n, ok := at[x.Type]
		if !ok {
			n = len(a.Types)
			at[x.Type] = n
			a.Types = append(a.Types, AllocationType{Type: x.Type})
		}
		t := &a.Types[n]
		t.Bytes, t.Large, t.Count = t.Bytes+x.Bytes, t.Large+x.Large, t.Count+x.Count
	}
	sorting.Short(a.Types, func(x, y AllocationType) int { return -cmp.Compare(x.Bytes, y.Bytes) })
}

// readLive reads the objects on the heap by type.
func (a *Allocations) readLive(b *evidence.Bundle, subject evidence.SubjectID) {
	space, objects := b.Names.Lookup(evidence.SampleLive), b.Names.Lookup(evidence.SampleLiveObjects)
	at := make(map[evidence.NameID]int)
	s := &b.Samples
	for i := range s.Len() {
		t := s.Type[i]
		if s.Subject[i] != subject || t == 0 || t != space && t != objects {
			continue
		}
		n, ok := at[s.Class[i]]
		if !ok {
			n = len(a.Live)
			at[s.Class[i]] = n
			a.Live = append(a.Live, AllocationType{Type: b.Names.Text(s.Class[i])})
		}
		if t == space {
			a.Live[n].Bytes += float64(s.Value[i])
		} else {
			a.Live[n].Count += float64(s.Value[i])
		}
	}
	sorting.Short(a.Live, func(x, y AllocationType) int { return -cmp.Compare(x.Bytes, y.Bytes) })
}

// LargeSites returns the sites that allocate large objects, most bytes first.
func (a *Allocations) LargeSites() []AllocationSite {
	n := slices.IndexFunc(a.Sites, func(x AllocationSite) bool { return x.Large == 0 })
	if n < 0 {
		return a.Sites
	}
	return a.Sites[:n]
}
