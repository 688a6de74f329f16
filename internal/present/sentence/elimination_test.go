package sentence

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// What was ruled out comes in the order in which one would ask, each question's first
// answer before any second one, and says where its figures are from if that differs.
func TestEliminate(t *testing.T) {
	v := func(id string, step check.Step, summary string, sources ...string) diagnose.Verdict {
		x := diagnose.Verdict{Cause: id, Step: step, Summary: summary, Verdict: "ruled_out"}
		for _, s := range sources {
			x.Evidence = append(x.Evidence, diagnose.Evidence{Source: s})
		}
		return x
	}
	all := []diagnose.Verdict{
		v("jvm.full-gc", check.StepCollector, "none", "gc.log"), v("jvm.explicit-gc", check.StepCollector, "none", "gc.log"),
		v("service.traffic-surge", check.StepTraffic, "9/s", "access.log", "--expect-rate", "access.log"), v("another.version's", "?", "1 of 2"),
		v("redis.fork", check.StepRest, ""), v("jvm.lock-contention", check.StepLocks, "0 ms", "jstack.txt"), v("service.pool-exhausted", check.StepPool, "7 of 10", "pool.csv"),
		v("linux.swap", check.StepProcessors, "0 pages"), v("service.dependency-slow", check.StepDependency, "12 ms", "spans.json"),
	}
	sortRuledOut(all)
	var got []string
	for _, x := range all {
		got = append(got, x.Cause+": "+x.Summary)
	}
	const want = `service.dependency-slow: 12 ms [spans.json]
service.pool-exhausted: 7 of 10 [pool.csv]
linux.swap: 0 pages
jvm.full-gc: none [gc.log]
jvm.lock-contention: 0 ms [jstack.txt]
service.traffic-surge: 9/s [access.log]
jvm.explicit-gc: none [gc.log]
another.version's: 1 of 2
redis.fork: `
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	one := []diagnose.Verdict{v("a.gc", check.StepCollector, "none", "trace.out"), v("a.lock-contention", check.StepLocks, "0 ms", "trace.out")}
	if sortRuledOut(one); one[0].Summary != "none" {
		t.Errorf("all from one file: %q", one[0].Summary)
	}
}
