package diagnose

import (
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/analyze/threads"
)

// ThreadStacks is what the threads of a process did.
type ThreadStacks struct {
	Subject string
	*threads.Summary
}

// Threads are what the threads of each process did, where stacks of them are in the
// evidence: at the moment when most had work. It is nil in a Diagnosis that was not
// made by [Run] or has forgotten what it was made of.
func (d *Diagnosis) Threads() []ThreadStacks {
	if d.kept == nil {
		return nil
	}
	return d.kept.threads
}

func (r *run) threads() (out []ThreadStacks) {
	t := threads.Of(r.b, platform.Stacks())
	for _, s := range t.Subjects() {
		if name, ok := r.name[s]; ok {
			out = append(out, ThreadStacks{Subject: name, Summary: t.Summary(s)})
		}
	}
	return out
}
