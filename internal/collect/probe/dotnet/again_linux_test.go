package dotnet

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/lab/dotnetapp"
)

// childOf is the variable with the PID of the process that a child of this test records.
const childOf = "UNSTALL_TEST_RECORDS"

// TestRecorder is not a test: it is the recorder that TestAgainAndAgain kills.
func TestRecorder(t *testing.T) {
	pid := os.Getenv(childOf)
	if pid == "" {
		t.Skip("run by TestAgainAndAgain")
	}
	target := discover.Target{Runtime: "dotnet"}
	if _, err := fmt.Sscan(pid, &target.PID); err != nil {
		t.Fatal(err)
	}
	_ = probetest.One(t, findAccess, target).Record(t.Context(), probe.Plan{For: time.Minute}, probetest.NewSink())
}

// TestAgainAndAgain records a service twenty times in a row, and kills the recorder in the middle of one more recording. The
// service answers all the time, keeps no thread of a session, and is as fast as before.
func TestAgainAndAgain(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) *dotnetapp.App{"3.1": dotnetapp.Start, "9": dotnetapp.Start9} {
		t.Run(name, func(t *testing.T) {
			a := start(t)
			record := live(t, a)
			threads := func() int {
				list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", a.PID))
				return len(list)
			}
			ask := func() time.Duration {
				began := time.Now()
				answer, err := http.Get(a.URL + "/api/diagscenario/cpu?rounds=10")
				if err != nil || answer.StatusCode != http.StatusOK {
					t.Errorf("no answer: %v %v", answer, err)
					return 0
				}
				_ = answer.Body.Close()
				return time.Since(began)
			}
			median := func() time.Duration {
				var all []time.Duration
				for range 60 {
					all = append(all, ask())
				}
				return time.Duration(stats.Median(all))
			}
			probetest.Record(t, record, probe.Plan{For: time.Second}) // starts threads that stay, such as the counters'
			median()
			before, had := median(), threads()

			ctx, stop := context.WithCancel(t.Context())
			var asking sync.WaitGroup
			var slowest time.Duration
			asking.Go(func() {
				for ctx.Err() == nil {
					slowest = max(slowest, ask())
				}
			})
			for range 20 {
				to := probetest.Record(t, record, probe.Plan{For: 300 * time.Millisecond})
				if len(to.Kept) == 0 || len(to.Warnings) > 0 { // on a busy host one look may take the whole time
					t.Errorf("recorded %d artifacts, warned %q", len(to.Kept), to.Warnings)
				}
			}
			c := exec.Command(os.Args[0], "-test.run=^TestRecorder$")
			c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childOf, a.PID))
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			records := func() bool { return threads() > had }
			for deadline := time.Now().Add(20 * time.Second); !records() && time.Now().Before(deadline); {
				probe.Wait(ctx, 20*time.Millisecond)
			}
			probe.Wait(ctx, 500*time.Millisecond)
			_ = c.Process.Kill()
			_ = c.Wait()
			stop()
			asking.Wait()
			back(t, threads, had) // threads that a pool added for a busy host also go when no request comes
			var after []time.Duration
			for range 5 { // on a busy host one may be slow for other reasons
				after = append(after, median())
			}
			t.Logf("median %v before, %v after; while it was recorded at most %v", before, slices.Min(after), slowest)
			if least := slices.Min(after); least > 2*before {
				t.Errorf("the median is %v, was %v", least, before)
			}
			if slowest > 10*time.Second {
				t.Errorf("an answer took %v", slowest)
			}
		})
	}
}
