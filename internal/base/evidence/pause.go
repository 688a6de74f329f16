package evidence

// Pause is which part of a collection stopped the world, whatever the collector calls
// it: what causes ask for. The collector's own name is the interval's Cause.
type Pause uint8

// Parts of collections. A collector of one generation has none that are young.
const (
	PauseOther       Pause = iota
	PauseYoung             // collects the young generation
	PauseMixed             // the young generation and some of the old
	PauseFull              // the whole heap, on purpose or for want of memory
	PauseInitialMark       // begins a concurrent cycle, without a collection
	PauseRemark            // ends concurrent marking
	PauseCleanup           // between the phases of a concurrent cycle
	PauseDegenerated       // a concurrent cycle that could not keep up, finished with the world stopped
	numPauses
)

var pauseNames = [numPauses]string{"other", "young", "mixed", "full", "initial mark", "remark", "cleanup", "degenerated"}

func (p Pause) String() string {
	if p < numPauses {
		return pauseNames[p]
	}
	return "unknown"
}

// PauseOf says which part of a collection pause i is; false where its source does not tell.
func (v *Intervals) PauseOf(i int) (Pause, bool) {
	x, ok := v.Get(i, PauseOf)
	return Pause(x), ok
}

// NameOf returns the name that a key of names ([Trigger], [Failure]) holds for row i, 0 if none.
func (v *Intervals) NameOf(i int, k Key) NameID {
	x, _ := v.Get(i, k)
	return NameID(x)
}
