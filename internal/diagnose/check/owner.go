package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
)

// Site is a place in the program.
type Site struct {
	Function string    // the program's own function, "main.(*Journal).Append"; "": none is on the stack
	Line     int32     // of Function, 0 unknown
	Callee   string    // the function of a library or the runtime that it called, "os.(*File).Sync"; "": none
	Callers  [2]string // the program's own functions that led to Function, nearest first: "main.(*Shop).order:77"; "": none
}

// String returns "main.(*Journal).Append:41", or the parts of it that are known.
func (s Site) String() string {
	switch {
	case s.Function == "":
		return s.Callee
	case s.Line > 0:
		return fmt.Sprintf("%s:%d", s.Function, s.Line)
	}
	return s.Function
}

// Path returns the place with the program's own functions that led to it: "main.(*Store).price:41 ← main.(*Shop).prices:77".
// It is "" where the stack shows none of the program's functions.
func (s Site) Path() string {
	if s.Function == "" {
		return ""
	}
	path := s.String()
	for _, caller := range s.Callers {
		if caller != "" {
			path += evidence.Link + caller
		}
	}
	return path
}

// SiteOf finds the program's own code in a stack: its innermost frame, and what that called.
func (c *Case) SiteOf(stack evidence.StackID) Site {
	s, _ := c.findSite(stack)
	return s
}

// findSite is [Case.SiteOf] and returns the frame of the site's function, too, counted from the innermost.
func (c *Case) findSite(stack evidence.StackID) (s Site, at int) {
	if stack == 0 {
		return s, 0
	}
	if c.OnThreads() {
		v := c.Threads().View(c.Subject, stack)
		s.Function = v.Owner
		frames := c.Bundle.Stacks.Frames(stack)
		if at = v.User; at < 0 && v.Owner != "" {
			at = v.Owns
		}
		at = min(max(0, at), len(frames))
		if v.User > 0 && v.User <= len(frames) {
			if callee := c.Bundle.Names.Text(frames[v.User-1].Func); threadstack.IsFunction(callee) && !threadstack.RunsAny(callee) {
				s.Callee = threadstack.Short(callee)
			}
		}
		for n, i := range v.Callers {
			if i > 0 && i < len(frames) {
				s.Callers[n] = threadstack.Bare(threadstack.Short(c.Bundle.Names.Text(frames[i].Func)))
			}
		}
		return s, at
	}
	frames := c.Bundle.Stacks.Frames(stack)
	own := c.ownModule()
	for _, strict := range []bool{true, false} { // a program of an unknown build may consist only of libraries
		for i, f := range frames {
			name := c.Bundle.Names.Text(f.Func)
			if strict && !ownGo(name, own) || !strict && isStandardLibrary(name) {
				continue
			}
			s.Function, s.Line = name, f.Line
			if i > 0 {
				s.Callee = c.Bundle.Names.Text(frames[i-1].Func)
			}
			s.findCallers(c.Bundle, frames[i+1:], own)
			return s, i
		}
	}
	for _, f := range slices.Backward(frames) { // a library's goroutine: the function it was started with
		if s.Callee = c.Bundle.Names.Text(f.Func); s.Callee != "runtime.goexit" {
			break
		}
	}
	return s, 0
}

// findCallers finds the callers of a function of Go in the frames beyond it.
func (s *Site) findCallers(b *evidence.Bundle, beyond []evidence.Frame, own string) {
	last, found := s.Function, 0
	for _, f := range beyond {
		name := b.Names.Text(f.Func)
		if found == len(s.Callers) || !ownGo(name, own) || name == last || name == last+"-fm" { // a method value's wrapper
			continue
		}
		s.Callers[found], last = Site{Function: name, Line: f.Line}.String(), name
		found++
	}
}

// CallSite returns the program's own function that sent most of the time of the calls to a peer, as [Site.Path] does. It is "" where the stacks of calls are not known, or show none of the program's functions.
func (c *Case) CallSite(peer evidence.NameID) string {
	v := &c.Bundle.Intervals
	sums := make(map[evidence.StackID]int64)
	for i, k := range v.Kind {
		if k == evidence.Call && v.Subject.At(i) == c.Subject && v.Cause.At(i) == peer && v.Stack.At(i) != 0 {
			sums[v.Stack.At(i)] += v.End[i] - v.Start[i]
		}
	}
	longest := make(map[string]int64)
	site := ""
	for _, stack := range slices.Sorted(maps.Keys(sums)) {
		s := c.SiteOf(stack)
		if s.Function == "" {
			continue
		}
		text := s.Path()
		if longest[text] += sums[stack]; site == "" || longest[text] > longest[site] {
			site = text
		}
	}
	return site
}

// Threads returns the thread samples of all processes whose runtime has stacks that tell what a
// thread does.
func (c *Case) Threads() *threads.Threads {
	if c.Looks != nil {
		return c.Looks()
	}
	return Once(c, func(c *Case) *threads.Threads { return threads.Of(c.Bundle, platform.Stacks()) })
}

// Sites returns [Case.SiteOf] as a function that returns its parts and caches each stack.
func (c *Case) Sites() ledger.Site {
	known := Once(c, func(*Case) map[evidence.StackID]Site { return make(map[evidence.StackID]Site) })
	return func(stack evidence.StackID) (function, callee string) {
		s, ok := known[stack]
		if !ok {
			s = c.SiteOf(stack)
			known[stack] = s
		}
		return s.Function, s.Callee
	}
}

// Places returns where slow requests spent their time, without subtracting what other causes
// explain.
func (c *Case) Places() []ledger.Place {
	return Once(c, func(c *Case) places { return c.Ledger.Places(c.Sites(), ledger.Claimed{}) })
}

type places []ledger.Place

// ownModule returns the path of the main module of a Go program, "" if unknown.
func (c *Case) ownModule() string {
	f, _ := c.Bundle.Fact(c.Subject, evidence.FactGoModule)
	path, _, _ := strings.Cut(f.Value, " ")
	return path
}

// ownGo says whether a Go function belongs to the program itself: to its main package or main
// module. Where the module is not known, it is any package outside the standard library whose path
// has no domain.
func ownGo(f, module string) bool {
	switch {
	case strings.HasPrefix(f, "main."):
		return true
	case module != "":
		return strings.HasPrefix(f, module) && len(f) > len(module) && (f[len(module)] == '/' || f[len(module)] == '.')
	}
	first, _, _ := strings.Cut(f, "/")
	return !isStandardLibrary(f) && !(first != f && strings.Contains(first, "."))
}

// isStandardLibrary says whether a Go function belongs to the standard library, judged by its
// name.
func isStandardLibrary(f string) bool {
	if first, _, nested := strings.Cut(f, "/"); nested {
		return stdDirs[first]
	}
	pkg, _, ok := strings.Cut(f, ".")
	return ok && stdPackages[pkg]
}

var (
	stdDirs     = map[string]bool{"net": true, "internal": true, "crypto": true, "database": true, "encoding": true, "runtime": true, "container": true, "go": true, "io": true, "log": true, "os": true, "path": true, "sync": true, "text": true, "html": true, "mime": true, "math": true, "compress": true, "archive": true, "vendor": true, "regexp": true, "index": true, "image": true, "hash": true, "unicode": true, "testing": true, "time": true}
	stdPackages = map[string]bool{"net": true, "runtime": true, "bufio": true, "io": true, "sync": true, "syscall": true, "time": true, "context": true, "fmt": true, "os": true, "bytes": true, "strings": true, "strconv": true, "sort": true, "reflect": true, "errors": true, "log": true, "math": true, "slices": true, "maps": true, "regexp": true, "expvar": true, "flag": true, "hash": true, "unicode": true, "mime": true, "path": true, "html": true, "image": true, "testing": true, "iter": true, "cmp": true, "unique": true, "weak": true, "embed": true, "plugin": true, "type..eq": true, "crypto": true}
)
