package threaddump

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A thread that waits to be notified releases the monitor of the object that it waits for, and no other that it holds: who is to notify it, and needs one of
// these before, never does (nested monitor lockout). A wait with a timeout ends by itself.

// findNested writes the threads of a dump that wait so.
func (p *parser) findNested() {
	n, first := 0, -1
	for i := range p.dump {
		if len(p.dump[i].nestedMonitors()) == 0 {
			continue
		}
		if n++; first < 0 {
			first = i
		}
	}
	if n == 0 {
		return
	}
	t := &p.dump[first]
	name := strings.ToValidUTF8(t.name[:min(len(t.name), maxName)], "?")
	p.b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactNestedWait, Value: name + evidence.Link + t.waiter + evidence.Link + strings.Join(t.nestedMonitors(), ", "), Number: float64(n), Origin: p.b.Origin(t.line)})
}

// nestedMonitors returns the classes of the monitors that a thread holds besides that of the object it waits for. That one is the innermost it holds,
// unless the dump names another object.
func (t *thread) nestedMonitors() []string {
	if t.waiter == "" || !strings.HasPrefix(t.state, "WAITING") {
		return nil
	}
	if t.wait.object != "" && !slices.Contains(t.held, t.wait.object) {
		return append(slices.Clip(t.classes), t.kept...)
	}
	if len(t.classes) < 2 {
		return t.kept
	}
	return append(slices.Clip(t.classes[1:]), t.kept...)
}
