package check

import (
	"cmp"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// called is a function of the program, and what it called.
type called struct{ function, callee string }

// work is time, or a number of samples, by where it passed.
type work struct {
	c      *Case
	at     map[called]float64
	stacks map[evidence.StackID]float64 // that part of at whose stacks are all known
}

func newWork(c *Case) *work {
	return &work{c, make(map[called]float64), make(map[evidence.StackID]float64)}
}

// add adds work that passed in a stack.
func (w *work) add(stack evidence.StackID, n float64) {
	site := w.c.SiteOf(stack)
	w.at[called{site.Function, site.Callee}] += n
	w.stacks[stack] += n
}

// rankEfforts returns the functions with their share of the work, the largest first, each with what it called most.
func (w *work) rankEfforts(origin evidence.Origin) (out []Effort) {
	delete(w.at, called{})
	var total float64
	byFunction := make(map[string]float64)
	best := make(map[string]called)
	for k, n := range w.at {
		total += n
		name := cmp.Or(k.function, k.callee)
		byFunction[name] += n
		if b, ok := best[name]; !ok || n > w.at[b] || n == w.at[b] && k.callee < b.callee {
			best[name] = k
		}
	}
	for name, n := range byFunction {
		k := best[name]
		out = append(out, Effort{Site: Site{Function: k.function, Callee: k.callee}, Share: n / total, Origin: origin})
	}
	sorting.Short(out, func(a, b Effort) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name(), b.Name())) })
	for i := range out[:min(len(out), 3)] { // those that a report shows
		out[i].Inner = w.c.InnerOf(out[i].Site, w.stacks)
	}
	return out
}

// InnerOf returns the function farthest from the program's own function of a site, among those called beyond the site's callee, that at
// least half of the work of that function is in; "" if there is none. Stacks have the work in each.
func (c *Case) InnerOf(site Site, stacks map[evidence.StackID]float64) string {
	type part struct {
		work  float64
		depth int // calls from the site to the first of this function
	}
	if site.Function == "" {
		return ""
	}
	var total float64
	parts := make(map[string]part)
	for stack, n := range stacks {
		s, at := c.findSite(stack)
		if s.Function != site.Function {
			continue
		}
		total += n
		var met []string
		for depth, f := range slices.Backward(c.Bundle.Stacks.Frames(stack)[:at]) {
			name := c.Bundle.Names.Text(f.Func)
			if slices.Contains(met, name) || !threadstack.IsFunction(name) || threadstack.RunsAny(name) {
				continue
			}
			met = append(met, name)
			p := parts[name]
			parts[name] = part{p.work + n, max(p.depth, at-depth)}
		}
	}
	inner := ""
	for name, p := range parts {
		most := parts[inner]
		if 2*p.work >= total && (inner == "" || cmp.Or(cmp.Compare(most.work, p.work), cmp.Compare(p.depth, most.depth), cmp.Compare(inner, name)) > 0) {
			inner = name
		}
	}
	if c.OnThreads() {
		inner = threadstack.Short(inner)
	}
	if inner == site.Callee {
		return ""
	}
	return inner
}
