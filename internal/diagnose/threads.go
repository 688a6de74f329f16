package diagnose

import (
	"github.com/unstall/unstall/internal/analyze/threads"
)

// ThreadStacks is what the threads of a process did.
type ThreadStacks struct {
	Subject string
	*threads.Summary
}

// Threads returns what the threads of each process did at the moment when most had work, where the
// evidence has their stacks. It is nil in a Diagnosis that was not made by [Run] or whose evidence
// was dropped by [Diagnosis.Forget].
func (d *Diagnosis) Threads() []ThreadStacks {
	if d.kept == nil {
		return nil
	}
	return d.kept.threads
}

func (r *run) summarizeThreads() (out []ThreadStacks) {
	t := r.incident.Threads()
	for _, s := range t.Subjects() {
		if name, ok := r.name[s]; ok {
			out = append(out, ThreadStacks{Subject: name, Summary: t.Summary(s)})
		}
	}
	return out
}
