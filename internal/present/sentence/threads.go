package sentence

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
)

// ThreadGroup is what some threads do, in words.
type ThreadGroup struct {
	Line  string // "37 of 41 pool threads · waiting for a task (.Result) · Shop!CartController.Get()"
	Stack string // "Task<T>.Result ← CartController.Get() ← …"
}

// Threads says what threads did: all of them in one line, the largest groups of those that have
// work one by one, and the others in one line again, "" if there are none.
func Threads(s *threads.Summary, most int) (all string, groups []ThreadGroup, rest string) {
	all = units.Plural(s.Threads, "thread")
	if s.Pool > 0 {
		all += fmt.Sprintf(", %s of %s (%s)", units.Count(s.Pool), s.Pools(), Working(s))
	}
	idle, others := 0, 0
	for i := range s.Groups {
		g := &s.Groups[i]
		switch {
		case g.Idle(), g.View.Role == threadstack.Main && g.View.State != evidence.Running: // it waits for the program's end
			idle += g.Count
		case len(groups) == most:
			others += g.Count
		default:
			groups = append(groups, ThreadGroup{Line: threadstack.WithoutFutex(g.Sentence(s)), Stack: strings.Join(stripModules(g.Summary()), " ← ")})
		}
	}
	var parts []string
	if others > 0 {
		parts = append(parts, units.Plural(others, "more thread")+" busy")
	}
	if idle > 0 {
		parts = append(parts, units.Plural(idle, "thread")+" idle")
	}
	return all, groups, strings.Join(parts, ", ")
}

// stripModules removes the modules from a stack, in place: types tell where a frame is.
func stripModules(frames []string) []string {
	for i, f := range frames {
		if _, function, ok := strings.Cut(f, "!"); ok {
			frames[i] = function
		}
	}
	return frames
}

// Working says how many threads of the pool have work, and how many of these wait.
func Working(s *threads.Summary) string {
	switch {
	case s.Busy == 0:
		return "none busy"
	case s.Blocked == 0:
		return units.Count(s.Busy) + " busy, none waiting"
	}
	return units.Count(s.Busy) + " busy, " + units.Count(s.Blocked) + " of them waiting"
}
