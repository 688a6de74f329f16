package inspect

import (
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
)

// Threads is what the threads of a process did, at the recorded moment when most of them had work.
type Threads struct {
	Subject string        `json:"subject"`
	At      *time.Time    `json:"at"` // null: unknown
	Threads int           `json:"threads"`
	Pool    int           `json:"pool"`    // of the threads, those of the runtime's pool or of one of the program's
	Busy    int           `json:"busy"`    // of the pool: with work
	Blocked int           `json:"blocked"` // of those: waiting
	Samples int           `json:"samples"` // in all files
	Groups  []ThreadGroup `json:"groups"`

	Summary *threads.Summary `json:"-"`
}

// ThreadGroup is threads that do the same at the same place.
type ThreadGroup struct {
	Threads int      `json:"threads"`
	Name    string   `json:"name"`    // a JVM's thread names without their numbers: "http-nio-8080-exec"; "" for runtimes without names
	Role    string   `json:"role"`    // "pool", "main", "io", "gate", "timer", "finalizer", "runtime", ""
	State   string   `json:"state"`   // "running", "task wait", "idle", …
	Pattern string   `json:"pattern"` // ".Result", "lock", …
	Owner   string   `json:"owner"`   // the user's first function below the wait
	Samples int      `json:"samples"`
	Stack   []string `json:"stack"` // of one of them, innermost first
}

func threadsOf(b *evidence.Bundle) (out []Threads) {
	t := threads.Of(b, platform.Stacks())
	titles := b.Titles()
	for _, id := range t.Subjects() {
		s := t.Summary(id)
		x := Threads{Subject: titles[id], Threads: s.Threads, Pool: s.Pool, Busy: s.Busy, Blocked: s.Blocked, Samples: s.Samples, Summary: s}
		if s.At != 0 && isAnchored(b, s.Rows[0].Origin) {
			x.At = utcTime(s.At)
		}
		for i := range s.Groups {
			g := &s.Groups[i]
			x.Groups = append(x.Groups, ThreadGroup{Threads: g.Count, Name: g.View.Pool, Role: string(g.View.Role), State: g.View.State.String(), Pattern: g.View.Pattern,
				Owner: g.View.Owner, Samples: g.Seen, Stack: g.Frames})
		}
		out = append(out, x)
	}
	return out
}

// isAnchored says whether the times of an artifact's samples are times of day, by the clock of its
// coverage.
func isAnchored(b *evidence.Bundle, o evidence.Origin) bool {
	a, _ := o.Artifact()
	for _, c := range b.Coverage {
		if of, ok := c.Origin.Artifact(); ok && of == a {
			return b.Clocks[c.Clock].Anchored()
		}
	}
	return false
}
