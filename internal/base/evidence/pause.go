package evidence

import "iter"

// Pause is the part of a collection that stopped the world, independent of the collector's own name, which is the interval's Cause.
type Pause uint8

// Parts of collections. A collector with one generation has no young ones.
const (
	PauseOther       Pause = iota
	PauseYoung             // collects the young generation
	PauseMixed             // the young generation and some of the old
	PauseFull              // the whole heap, on request or for lack of memory
	PauseInitialMark       // begins a concurrent cycle, without a collection
	PauseRemark            // ends concurrent marking
	PauseCleanup           // between the phases of a concurrent cycle
	PauseDegenerated       // a concurrent cycle that did not keep up, finished with the world stopped
	numPauses
)

var pauseNames = [numPauses]string{"other", "young", "mixed", "full", "initial mark", "remark", "cleanup", "degenerated"}

func (p Pause) String() string {
	if p < numPauses {
		return pauseNames[p]
	}
	return "unknown"
}

// PauseOf returns the part of a collection that pause i is; false where its source does not tell.
func (v *Intervals) PauseOf(i int) (Pause, bool) {
	x, ok := v.Get(i, PauseOf)
	return Pause(x), ok
}

// Repeats returns how many equal pauses row i stands for.
func (v *Intervals) Repeats(i int) int64 {
	if !v.Has(Repeated) {
		return 1
	}
	n, _ := v.Get(i, Repeated)
	return max(1, int64(n))
}

// EachPause returns the beginning and the end of each pause that row i stands for, ns.
func (v *Intervals) EachPause(i int) iter.Seq2[int64, int64] {
	return func(yield func(from, to int64) bool) {
		n := v.Repeats(i)
		each := (v.End[i] - v.Start[i]) / n
		for k := range n {
			from := v.Start[i] + k*each
			to := from + each
			if k == n-1 {
				to = v.End[i]
			}
			if !yield(from, to) {
				return
			}
		}
	}
}

// NameOf returns the name in a key of names ([Trigger], [Failure]) of row i, 0 if none.
func (v *Intervals) NameOf(i int, k Key) NameID {
	x, _ := v.Get(i, k)
	return NameID(x)
}
