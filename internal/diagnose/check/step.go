package check

import "slices"

// Step is a cause's place in the order in which one asks of a slow service, cheapest
// question first. What was ruled out is told in this order.
type Step string

// The steps, and what each asks.
const (
	StepEntrance   Step = "entrance"   // did requests wait before it took them up?
	StepDependency Step = "dependency" // did those answer late whom it calls?
	StepPool       Step = "pool"       // did requests wait for what they must get hold of before?
	StepProcessors Step = "processors" // did the kernel give it processors, and memory, at once?
	StepDisks      Step = "disks"      // did the disks let it go on?
	StepCollector  Step = "collector"  // did its collector hold it up?
	StepLocks      Step = "locks"      // did its requests hold each other up?
	StepTraffic    Step = "traffic"    // were so many requests to come at all?
	StepRest       Step = "rest"       // what is asked when all of that is answered: leaks, rare stops
)

// Steps are all of them in their order.
var Steps = []Step{StepEntrance, StepDependency, StepPool, StepProcessors, StepDisks, StepCollector, StepLocks, StepTraffic, StepRest}

// Place returns the position of a step in the order; an unknown step, as of a diagnosis by another
// version, comes last.
func (s Step) Place() int {
	if i := slices.Index(Steps, s); i >= 0 {
		return i
	}
	return len(Steps) - 1
}
