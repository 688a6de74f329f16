package routes

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// besides is the least weight of another handler called at the same place, as a share of the handler's own in profiles of one kind: handlers of
// metrics and health checks have less.
const besides = .1

// hasOtherHandler reports whether a process's profiles show another handler that is called on the same line: a handler that never waits leaves no
// stack in a trace, but it computes and allocates. Handlers of profiles themselves do not count.
func hasOtherHandler(b *evidence.Bundle, process evidence.SubjectID, handler evidence.NameID) bool {
	s := &b.Samples
	var places []call // that call the handler
	wraps := make(map[evidence.NameID]bool)
	own := make(map[evidence.NameID]int64) // by kind of sample
	var without []int
	for i := range s.Len() {
		if s.Subject[i] != process || s.Value[i] <= 0 {
			continue
		}
		frames := b.Stacks.Frames(s.Stack[i])
		at := outermostFrame(frames, handler)
		if at < 0 {
			without = append(without, i)
			continue
		}
		own[s.Type[i]] += s.Value[i]
		for n, f := range frames[at+1:] {
			wraps[f.Func] = true
			if c := (call{f.Func, f.Line}); n == 0 && !slices.Contains(places, c) {
				places = append(places, c)
			}
		}
	}
	others := make(map[evidence.NameID]int64)
	for _, i := range without {
		frames := b.Stacks.Frames(s.Stack[i])
		for n := len(frames) - 1; n > 0; n-- {
			called := frames[n-1].Func
			if !slices.Contains(places, call{frames[n].Func, frames[n].Line}) || wraps[called] || strings.HasPrefix(b.Names.Text(called), "net/http/pprof.") {
				continue
			}
			others[s.Type[i]] += s.Value[i]
			break
		}
	}
	for kind, v := range others {
		if float64(v) >= besides*float64(own[kind]) {
			return true
		}
	}
	return false
}

// outermostFrame returns the position of a function's outermost frame, -1 if it has none.
func outermostFrame(frames []evidence.Frame, f evidence.NameID) int {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Func == f {
			return i
		}
	}
	return -1
}
