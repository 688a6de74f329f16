package replay

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// visibleCauses are the causes visible in figures of each second: their sick recordings set off a rule that names them. Causes that
// only stacks, traces and logs show, such as a lock that is held for long, are not among them.
var visibleCauses = []string{
	"dotnet.gc-cpu-starved", "dotnet.gen2-pause", "dotnet.induced-gc", "dotnet.loh-churn", "dotnet.mid-life-objects",
	"go.gc-rate", "go.memory-limit-thrash",
	"jvm.cms-concurrent-mode-failure", "jvm.explicit-gc", "jvm.full-gc", "jvm.g1-evacuation-failure", "jvm.g1-humongous",
	"jvm.gc-cpu-starved", "jvm.gc-kernel-time", "jvm.metaspace-gc", "jvm.old-gen-leak", "jvm.young-gc-rate",
	"linux.softirq", "linux.swap", "linux.thp-stall",
	"redis.connections", "redis.memory-limit", "redis.slow-command",
}

// TestRecordings evaluates the shipped rules against the recordings of each cause, as if the service had continued the
// same way. A sick recording sets off a rule that names its cause within a minute or so; a healthy one sets off nothing.
func TestRecordings(t *testing.T) {
	rules, err := rule.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob("../../../diagnose/check/testdata/*/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, dir := range dirs {
		cause, which := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		healthy := strings.HasPrefix(which, "healthy")
		if !healthy && (which != "sick" || !slices.Contains(visibleCauses, cause)) {
			continue
		}
		t.Run(cause+"/"+which, func(t *testing.T) {
			t.Parallel()
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "truth.json") })
			artifacts, done, _ := discover.Files(files, os.Stdin)
			defer done()
			b := incident.NewBundle()
			for _, a := range artifacts {
				_ = incident.Read(context.Background(), a, b) // this test does not depend on files that cannot be read
			}
			r, err := Run(context.Background(), rules, nil, lasting(Sources(b, 0)))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, ev := range r.Alarms() {
				// A few seconds of repeated requests say nothing here, because slow ones come back by construction.
				if healthy && !strings.HasPrefix(ev.Rule.ID, "requests.") {
					t.Errorf("%s: %s: %.3g, bound %.3g", ev.Subject.Key, ev.Rule.ID, ev.Value, ev.Bound)
				}
				found = found || slices.Contains(ev.Rule.Causes, cause) && ev.At-r.From < int64(75*time.Second)
			}
			if !healthy && !found {
				t.Errorf("no rule that names %s was set off: %d alarms", cause, len(r.Alarms()))
			}
		})
	}
}

// lasting extends a recording of a few seconds to three minutes, as if the service had continued the same way.
func lasting(sources []Source) []Source {
	from, until := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range sources {
		for _, x := range s.Series {
			from, until = min(from, x.T[0]), max(until, x.T[len(x.T)-1])
		}
	}
	span := max(until-from, int64(3*time.Second)) + int64(time.Second)
	if len(sources) == 0 || span > int64(time.Minute) {
		return sources
	}
	for i := range sources {
		for k := range sources[i].Series {
			x := &sources[i].Series[k]
			t, v := x.T, x.V
			x.T, x.V = nil, nil
			for n := int64(0); n*span < int64(3*time.Minute); n++ {
				for j := range t {
					x.T, x.V = append(x.T, t[j]+n*span), append(x.V, v[j])
				}
			}
		}
	}
	return sources
}
