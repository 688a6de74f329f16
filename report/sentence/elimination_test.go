package sentence

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/diagnose"
)

// What was ruled out comes in the order in which one would ask, each question's first
// answer before any second one, and says where its figures are from if that differs.
func TestEliminate(t *testing.T) {
	v := func(cause, summary string, origins ...string) diagnose.Verdict {
		x := diagnose.Verdict{Cause: cause, Summary: summary, Verdict: "ruled_out"}
		for _, o := range origins {
			x.Evidence = append(x.Evidence, diagnose.Evidence{Origin: o})
		}
		return x
	}
	all := []diagnose.Verdict{
		v("jvm.full-gc", "none", "logs/gc.log:7"), v("jvm.explicit-gc", "none", "logs/gc.log"), v("service.traffic-surge", "9/s", "access.log", "--expect-rate", "access.log"),
		v("redis.fork", ""), v("jvm.lock-contention", "0 ms", "jstack.txt:12"), v("service.pool-exhausted", "7 of 10", "pool.csv:2"), v("linux.swap", "0 pages"), v("service.dependency-slow", "12 ms", "spans.json"),
	}
	eliminate(all)
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
redis.fork: `
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	one := []diagnose.Verdict{v("a.gc", "none", "trace.out"), v("a.lock-contention", "0 ms", "trace.out")}
	if eliminate(one); one[0].Summary != "none" {
		t.Errorf("all from one file: %q", one[0].Summary)
	}
}
