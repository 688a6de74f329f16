package check

import "slices"

// Step is the question about a slow service that a cause belongs to. Steps are asked cheapest first, and reports list ruled-out
// causes in this order.
type Step string

// The steps, and what each asks.
const (
	StepEntrance   Step = "entrance"   // did requests wait before the service began with them?
	StepDependency Step = "dependency" // did its dependencies answer late?
	StepPool       Step = "pool"       // did requests wait for a limited resource: a connection, a thread?
	StepProcessors Step = "processors" // did it wait for CPUs or memory?
	StepDisks      Step = "disks"      // did it wait for disks?
	StepCollector  Step = "collector"  // did its collector delay it?
	StepLocks      Step = "locks"      // did its requests block each other?
	StepTraffic    Step = "traffic"    // did more requests come than agreed?
	StepRest       Step = "rest"       // everything else: leaks, rare stops
)

// Steps are all steps in order.
var Steps = []Step{StepEntrance, StepDependency, StepPool, StepProcessors, StepDisks, StepCollector, StepLocks, StepTraffic, StepRest}

// Place returns the position of a step in the order; an unknown step, as of a diagnosis by another
// version, comes last.
func (s Step) Place() int {
	if i := slices.Index(Steps, s); i >= 0 {
		return i
	}
	return len(Steps) - 1
}
