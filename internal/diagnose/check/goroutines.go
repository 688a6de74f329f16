package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/gostack"
)

// servingGoroutines are the goroutines of a Go program that serve requests and are parked in the program's own code, as profiles of all goroutines show them.
type servingGoroutines struct {
	known bool             // there are such profiles
	waits []parkedAt       // until another goroutine goes on
	all   map[string]int64 // goroutines that are parked in the midst of a request, by the function with which they begin
	looks int              // profiles
}

// parkedAt is goroutines that are parked at one place, over all profiles.
type parkedAt struct {
	site   Site
	funcs  []string // of the stack, innermost first
	count  int64
	origin evidence.Origin
}

// startedBy reports whether the goroutines were started within a function.
func (p *parkedAt) startedBy(function string) bool {
	return isStartedIn(goroutineRoot(p.funcs), function)
}

// isStartedIn reports whether a function with which goroutines begin is written within another: Go names it by that one.
func isStartedIn(root, function string) bool {
	rest, within := strings.CutPrefix(root, function)
	return within && (strings.HasPrefix(rest, ".func") || strings.HasPrefix(rest, ".gowrap"))
}

// goroutineRoot returns the function with which a goroutine began.
func goroutineRoot(funcs []string) string {
	for _, f := range slices.Backward(funcs) {
		if f != "runtime.goexit" {
			return f
		}
	}
	return ""
}

// readServing reads the profiles. A goroutine serves requests if it began in a known server, or was started within a function in which one that serves is
// parked, as servers do that give each request a time limit.
func readServing(c *Case) *servingGoroutines {
	out := &servingGoroutines{all: make(map[string]int64)}
	kind := c.Bundle.Names.Lookup("goroutine")
	if kind == 0 {
		return out
	}
	var all []*parkedAt
	by := make(map[evidence.StackID]*parkedAt)
	looks := make(map[evidence.ArtifactID]bool)
	s := &c.Bundle.Samples
	for i := range s.Len() {
		if s.Type[i] != kind || s.Subject[i] != c.Subject && !c.Bundle.Agree(c.Bundle.Subjects[s.Subject[i]], c.Bundle.Subjects[c.Subject]) {
			continue
		}
		if a, ok := s.Origin[i].Artifact(); ok {
			looks[a] = true
		}
		p := by[s.Stack[i]]
		if p == nil {
			p = &parkedAt{origin: s.Origin[i], site: c.ownSite(s.Stack[i])}
			for _, f := range c.Bundle.Stacks.Frames(s.Stack[i]) {
				p.funcs = append(p.funcs, c.Bundle.Names.Text(f.Func))
			}
			by[s.Stack[i]] = p
			all = append(all, p)
		}
		p.count += s.Value[i]
	}
	out.known, out.looks = len(all) > 0, len(looks)
	within := make(map[string]bool) // the functions in which goroutines that serve are parked
	for _, p := range all {
		if slices.ContainsFunc(p.funcs, gostack.Serves) {
			if place := gostack.Place(p.funcs); place != "" {
				within[place] = true
			}
		}
	}
	for _, p := range all {
		root := goroutineRoot(p.funcs)
		serves := slices.ContainsFunc(p.funcs, gostack.Serves)
		for f := range within {
			serves = serves || isStartedIn(root, f)
		}
		if !serves {
			continue
		}
		of, reason := gostack.WaitOf(p.funcs).For, gostack.ParkedFor(p.funcs)
		if isServing(p.funcs) && (of != gostack.Nothing || reason != "") {
			out.all[root] += p.count
		}
		if p.site.Function == "" {
			continue
		}
		switch {
		case of == gostack.Answer, of == gostack.Connection: // for what they call
		case of == gostack.Lock, of == gostack.Pool, of == gostack.Join, reason == gostack.ParkedForReceive, reason == gostack.ParkedForSend, reason == gostack.ParkedForSelect, reason == gostack.ParkedForCondition, reason == gostack.ParkedForOthers:
			out.waits = append(out.waits, *p)
		}
	}
	return out
}

// isServing says whether a goroutine of a server is in the midst of a request: not if it waits for the next one of its connection, or watches whether the
// client is still there.
func isServing(funcs []string) bool {
	return !slices.ContainsFunc(funcs, func(f string) bool { return strings.HasPrefix(f, "net/http.(*connReader).") }) && len(funcs) > 0
}

// Thresholds of [Case.ParkedHandlers]. Goroutines that serve requests over HTTP/2 are not looked at, as no request is known to be theirs. Profiles of all
// goroutines show a few moments.
var (
	ParkedLeast = Threshold{Name: "goroutines that serve requests, parked at one place, in all profiles", Value: 5, Unit: "count",
		Why: "fewer may be there by chance", Source: "arithmetic: of five goroutines that are at any place half of the time all are at one in 3 % of cases (2⁻⁵)"}
	ParkedMost = Threshold{Name: "part of the server's goroutines that are parked there", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
	ParkedTimes = Threshold{Name: "ratio of the goroutines parked there on average and of the slow requests in progress of which it is not observed what they do, at most and as its inverse at least", Value: 3, Unit: "times",
		Why: "what requests wait for has as many goroutines as requests that wait; goroutines that are always there, as those of streams, are more", Source: "Little's law; judgement: three profiles know a mean of five within a factor of two"}
)

// ParkedHandlers returns where the goroutines that serve requests are parked, by profiles of all goroutines, if that is where the slow requests are of which
// was not observed what they did for unseen in all (ns); nil if it is not.
func (c *Case) ParkedHandlers(unseen int64) *WaitingCode {
	of := Once(c, readServing)
	l := c.Ledger
	if !of.known || l == nil || l.To <= l.From {
		return nil
	}
	roots := make(map[string][]parkedAt)
	for _, p := range of.waits {
		root := goroutineRoot(p.funcs)
		roots[root] = append(roots[root], p)
	}
	var best *WaitingCode
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		w := mostOf(roots[root])
		if w == nil || float64(w.Count) < ParkedLeast.Value || float64(w.Count) < ParkedMost.Value*float64(of.all[root]) {
			continue
		}
		if w.Of = of.all[root]; best == nil || w.Count > best.Count {
			best = w
		}
	}
	if best == nil {
		return nil
	}
	parked, waiting := float64(best.Count)/float64(of.looks), float64(unseen)/float64(l.To-l.From)
	if parked > ParkedTimes.Value*waiting || waiting > ParkedTimes.Value*parked {
		return nil
	}
	return best
}

// ownSite is [Case.SiteOf] of a Go program's stack that has a function of the program itself, not of a library; else it is empty.
func (c *Case) ownSite(stack evidence.StackID) (s Site) {
	own := c.ownModule()
	for _, f := range c.Bundle.Stacks.Frames(stack) {
		if ownGo(c.Bundle.Names.Text(f.Func), own) {
			return c.SiteOf(stack)
		}
	}
	return s
}

// WaitingCode is where goroutines that serve requests wait in the program's own code, by profiles of all goroutines.
type WaitingCode struct {
	Site   Site
	Count  int64 // of these goroutines, over all profiles
	Of     int64 // of all that serve and wait for other goroutines
	Origin evidence.Origin
}

// String writes the place with what it called: "main.(*tariffs).of:28 (calling syncx.(*lockedGroup).Do) ← main.(*shop).tariff:41".
func (w *WaitingCode) String() string {
	path := w.Site.Path()
	if w.Site.Callee == "" || strings.HasPrefix(w.Site.Callee, "runtime.") || strings.HasPrefix(w.Site.Callee, "sync.") {
		return path
	}
	first, rest, more := strings.Cut(path, evidence.Link)
	path = fmt.Sprintf("%s (calling %s)", first, w.Site.Callee)
	if more {
		path += evidence.Link + rest
	}
	return path
}

// WaitingCode returns where at least half of the goroutines that serve requests wait for others. A stack that a request was seen on, and in which only libraries are, leaves those that
// were started within one of its functions: these serve the request meanwhile. It returns nil where profiles of goroutines do not show it.
func (c *Case) WaitingCode(seen evidence.StackID) *WaitingCode {
	of := Once(c, readServing)
	if !of.known {
		return nil
	}
	waits := of.waits
	if seen != 0 {
		if site := c.ownSite(seen); site.Function != "" {
			return &WaitingCode{Site: site}
		}
		var started []parkedAt
		for _, f := range c.Bundle.Stacks.Frames(seen) {
			name := c.Bundle.Names.Text(f.Func)
			if started = slices.DeleteFunc(slices.Clone(waits), func(p parkedAt) bool { return !p.startedBy(name) }); len(started) > 0 {
				break
			}
		}
		waits = started
	}
	return mostOf(waits)
}

func mostOf(all []parkedAt) (best *WaitingCode) {
	by := make(map[string]*WaitingCode)
	var of int64
	for i := range all {
		p := &all[i]
		of += p.count
		k := p.site.Path()
		if by[k] == nil {
			by[k] = &WaitingCode{Site: p.site, Origin: p.origin}
		}
		by[k].Count += p.count
		if w := by[k]; best == nil || w.Count > best.Count || w.Count == best.Count && k < best.Site.Path() {
			best = w
		}
	}
	if best == nil || 2*best.Count < of {
		return nil
	}
	best.Of = of
	return best
}
