package sentence

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unstall/unstall/diagnose"
)

// steps are the questions in the order in which they are asked of a slow service, cheapest
// first: whom it calls, what it must get hold of before, whether it had processors, what
// its collector did, who held its locks, and whether so many requests were to come at all.
var steps = []func(field, name string) bool{
	func(_, name string) bool { return name == "dependency-slow" },
	func(_, name string) bool { return name == "pool-exhausted" || name == "threadpool-starvation" },
	func(field, name string) bool {
		return field == "linux" || name == "over-capacity" || name == "gc-cpu-starved"
	},
	func(_, name string) bool {
		return strings.Contains(name, "gc") || strings.HasPrefix(name, "memory-limit") || name == "allocation-stall" || name == "cms-concurrent-mode-failure" || strings.HasPrefix(name, "g1-")
	},
	func(_, name string) bool { return name == "lock-contention" },
	func(_, name string) bool { return name == "traffic-surge" },
}

func stepOf(cause string) int {
	field, name, _ := strings.Cut(cause, ".")
	for i, is := range steps {
		if is(field, name) {
			return i
		}
	}
	return len(steps)
}

// eliminate puts what was ruled out in the order of the steps: of each the first, so that
// every question has its answer among the first lines, then the others. Where figures are
// from several places, each says from which.
func eliminate(verdicts []diagnose.Verdict) {
	asked := make(map[int]int)
	type ranked struct {
		v    diagnose.Verdict
		rank [2]int
	}
	all := make([]ranked, len(verdicts))
	sources := make(map[string]bool)
	for i, v := range verdicts {
		step := stepOf(v.Cause)
		again := 0
		if v.Summary == "" || step == len(steps) || asked[step] > 0 {
			again = 1
		} else {
			asked[step]++
		}
		all[i] = ranked{v, [2]int{again, step}}
		if s := decidedBy(&v); s != "" {
			sources[s] = true
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank[0], b.rank[0]), cmp.Compare(a.rank[1], b.rank[1]))
	})
	for i := range all {
		v := all[i].v
		if s := decidedBy(&v); len(sources) > 1 && s != "" && v.Summary != "" {
			v.Summary += " [" + s + "]"
		}
		verdicts[i] = v
	}
}

// decidedBy is the file that a verdict's figures are from, without its place and position;
// of several the one that has most of them.
func decidedBy(v *diagnose.Verdict) (best string) {
	n := make(map[string]int)
	for _, e := range v.Evidence {
		if s := fileOf(e.Origin); s != "" {
			if n[s]++; n[s] > n[best] || best == "" {
				best = s
			}
		}
	}
	return best
}

func fileOf(origin string) string {
	name := filepath.Base(origin)
	if i := strings.LastIndexByte(name, ':'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i]
	}
	if origin == "" {
		return ""
	}
	return name
}
