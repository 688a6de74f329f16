package procfs

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// maxThreadNames is how many names the threads of one process may have; others are left out.
const maxThreadNames = 32

// threadNames is the CPU time (ns) of a process's threads by name. A runtime names the threads of a pool alike but for a number at the end,
// which is cut off; the kernel keeps 15 bytes of a name (PR_SET_NAME).
type threadNames struct {
	of  map[int64]string   // the series of each thread
	run map[string]float64 // by series
}

// setName gives a thread its name.
func (t *threadNames) setName(tid int64, name string) {
	if short := strings.TrimRight(strings.TrimRight(name, "0123456789"), "-_#:./ @"); short != "" {
		name = short
	}
	series := evidence.SeriesProcessThreadsRunOf + ":" + name
	if t.of == nil {
		t.of, t.run = make(map[int64]string), make(map[string]float64)
	}
	if _, met := t.run[series]; !met {
		if len(t.run) >= maxThreadNames {
			delete(t.of, tid)
			return
		}
		t.run[series] = 0
	}
	t.of[tid] = series
}

// addRun adds CPU time of a thread.
func (t *threadNames) addRun(tid, ns int64) {
	if series, named := t.of[tid]; named {
		t.run[series] += float64(ns)
	}
}

// runTimes yields the series, in order, with their CPU time; none if all threads have one name.
func (t *threadNames) runTimes() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		if len(t.run) < 2 {
			return
		}
		for _, series := range slices.Sorted(maps.Keys(t.run)) {
			if !yield(series, t.run[series]) {
				return
			}
		}
	}
}
