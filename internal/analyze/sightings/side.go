package sightings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Side is how far outside a source saw requests.
type Side uint8

// Sides, the innermost first.
const (
	ByTrace   Side = iota
	ByRuntime      // a runtime whose events tell what requests await, but not everything they do
	BySpans
	ByLog
	ByKernel
	ByProxy
	ByLoad
)

func (s Side) String() string {
	return [...]string{"trace", "runtime", "spans", "log", "kernel", "proxy", "clients"}[s]
}

// SideOf returns the side of a row.
func SideOf(b *evidence.Bundle, row int) Side { return Sides(b)(row) }

// Sides answers [SideOf] for many rows.
func Sides(b *evidence.Bundle) func(row int) Side {
	clients := Clients(b)
	return func(row int) Side {
		switch from := b.VantageOf(row); {
		case clients(row): // which may have the lane of a traced request by now
			return ByLoad
		case from == evidence.FromProxy:
			return ByProxy
		case from == evidence.FromKernel: // likewise
			return ByKernel
		case from == evidence.FromSpans:
			return BySpans
		case b.Requests.Lane.At(row) != 0:
			return ByTrace
		}
		return ByLog
	}
}

// source is the requests of a subject from one artifact, or from all load generators.
type source struct {
	subject   evidence.SubjectID
	artifact  evidence.ArtifactID // of load generators the first
	artifacts []evidence.ArtifactID
	side      Side
	rows      []int
	mean      float64 // latency, ns
}

// listSources returns the sources with a time of day, by subject, the innermost first; of several proxies those in front take longer. Traced are
// the sources with known states.
func listSources(b *evidence.Bundle, traced map[evidence.SubjectID]map[evidence.ArtifactID][]int) []*source {
	type key struct {
		s evidence.SubjectID
		a evidence.ArtifactID
	}
	const load = evidence.ArtifactID(-1)
	of := make(map[key]*source)
	r := &b.Requests
	if oneArtifact(r) { // it has millions of rows
		return nil
	}
	side := Sides(b)
	for i := range r.Len() {
		a, ok := r.Origin.At(i).Artifact()
		if !ok || !r.Timed(i) || !b.Clocks[r.Clock.At(i)].Anchored() {
			continue
		}
		at := side(i)
		k := key{r.Subject.At(i), a}
		if at == ByLoad {
			k.a = load
		}
		x := of[k]
		if x == nil {
			x = &source{subject: k.s, artifact: a, side: at}
			of[k] = x
		}
		if len(x.artifacts) == 0 || x.artifacts[len(x.artifacts)-1] != a && !slices.Contains(x.artifacts, a) {
			x.artifacts = append(x.artifacts, a)
		}
		x.rows = append(x.rows, i)
		x.mean += float64(r.Latency(i))
	}
	all := slices.Collect(maps.Values(of))
	for _, x := range all {
		x.mean /= float64(len(x.rows))
		if x.side == ByTrace && traced[x.subject][x.artifact] == nil {
			x.side = ByRuntime
		}
	}
	slices.SortFunc(all, func(x, y *source) int {
		return cmp.Or(cmp.Compare(x.subject, y.subject), cmp.Compare(x.side, y.side), cmp.Compare(x.mean, y.mean), cmp.Compare(x.artifact, y.artifact))
	})
	return all
}

// oneArtifact says whether all requests are of one artifact.
func oneArtifact(r *evidence.Requests) bool {
	var first evidence.ArtifactID
	for i, o := range r.Origin.All() {
		a, _ := o.Artifact()
		if i == 0 {
			first = a
		}
		if a != first {
			return false
		}
	}
	return true
}
