package calibrate

import (
	"fmt"

	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/base/units"
)

// Sentence says what kind of work takes a service's CPU time, and which load the service is most like.
func (r *Result) Sentence() string {
	t := r.Target
	switch {
	case t == nil:
		return "Kernel counters of known workloads on this machine."
	case t.Class == workload.Idle:
		return fmt.Sprintf("%s used too little CPU time to classify its work.", t.Name)
	}
	text := fmt.Sprintf("%s %d: %s", t.Name, t.PID, t.Class.Title())
	if t.Share != nil {
		text = fmt.Sprintf("%s of the CPU time of %s %d is %s", units.Percent(*t.Share), t.Name, t.PID, t.Class.Title())
	}
	if n := r.nearestRow(); n != nil {
		text += fmt.Sprintf("; the most similar load is %q (%s)", n.Name, n.About)
	}
	return text + "."
}
