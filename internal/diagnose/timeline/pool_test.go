package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// poolBundle is a .NET process whose pool climbs from 2 to 12 threads in 20 s while
// its processors are idle; with or without what /proc says of it.
func poolBundle(procfs bool) *evidence.Bundle {
	const start = int64(1e18)
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "events.nettrace"}), "nettrace")
	s := p.Subject(evidence.Subject{Runtime: "dotnet", PID: 7, Name: "Shop", CPUs: 2})
	series := func(name string, at func(i int) float64) {
		x := evidence.Series{Subject: s, Name: name, Origin: p.Origin(1)}
		for i := range 21 {
			x.T, x.V = append(x.T, start+int64(i)*1e9), append(x.V, at(i))
		}
		p.Series(x)
	}
	constant := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	series(evidence.SeriesPoolThreads, func(i int) float64 { return float64(2 + i/2) })
	series(evidence.SeriesPoolQueue, constant(29))
	series(evidence.SeriesPoolCompleted, constant(2))
	series(evidence.SeriesCPU, constant(4))
	series(evidence.SeriesWorkingSet, constant(152e6))
	series(evidence.SeriesRequestsInFlight, constant(125))
	series(evidence.SeriesContentions, constant(3))
	adjusted := func(at int64, reason string, threads float64) {
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.PoolAdjusted, Start: start + at, End: start + at, Cause: p.Name(reason),
			Origin: p.Origin(at), Extra: []evidence.Extra{{Key: evidence.PoolThreads, Value: threads}}})
	}
	adjusted(1e9, "Warmup", 2)
	for i := range int64(10) {
		adjusted(2e9*(i+1), "Starvation", float64(3+i))
	}
	stack := p.Stack([]evidence.Frame{
		{Func: p.Name("System.Private.CoreLib!System.Threading.Monitor.Enter(object)")},
		{Func: p.Name("Shop!Shop.Ledger+<Append>d__3.MoveNext()")},
		{Func: p.Name("System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch()")},
	})
	p.Interval(evidence.Interval{Subject: s, Lane: 71, Holder: 72, Kind: evidence.LockWait, Start: start + 3e9, End: start + 4e9, Stack: stack, Origin: p.Origin(3)})
	for _, kind := range []string{evidence.CoverThreadPool, evidence.CoverWaits, evidence.CoverGC} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: start, Until: start + 20e9})
	}
	if procfs {
		series("process.cpu", constant(.08))
		series("process.rss", constant(160e6))
	}
	p.Close()
	b.Unify()
	b.Align()
	return b
}

func TestPool(t *testing.T) {
	for _, procfs := range []bool{false, true} {
		x := Of(poolBundle(procfs), nil, 0)
		if x.Lanes != "thread" {
			t.Errorf("its requests run on a %s", x.Lanes)
		}
		var got []string
		for _, c := range x.Charts {
			var curves []string
			for _, v := range c.Curves {
				curves = append(curves, fmt.Sprintf("%s ≤ %g", v.ID, slices.Max(v.V)))
			}
			got = append(got, c.ID+": "+strings.Join(curves, ", "))
		}
		want := []string{
			"pool-threads: pool ≤ 12, limit ≤ 6", "cpu-percent: cpu ≤ 4", "pool-queue: queue ≤ 29", "pool-completed: completed ≤ 2", "concurrency: server ≤ 125",
			"contentions: contentions ≤ 3", "memory: rss ≤ 1.52e+08",
		}
		if procfs { // which says more of the processor and the memory
			want = []string{
				"pool-threads: pool ≤ 12, limit ≤ 6", "cpu: user ≤ 0.08", "pool-queue: queue ≤ 29", "pool-completed: completed ≤ 2", "concurrency: server ≤ 125",
				"contentions: contentions ≤ 3", "memory: rss ≤ 1.6e+08",
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("charts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		got = nil
		for _, v := range x.Bands {
			got = append(got, fmt.Sprintf("%s, %s: %d, %s", v.ID, v.Title, len(v.From), v.Text[0]))
			if len(v.Watched) != 1 || v.Watched[0] != [2]int64{1e18, 1e18 + 20e9} {
				t.Errorf("%s was watched in %v", v.ID, v.Watched)
			}
		}
		want = []string{
			"pool-starving, pool adjusted: starvation: 10, to 3 threads",
			"pool-adjusted, pool adjusted: warmup: 1, to 2 threads",
			"lock-wait, waits for a lock: 1, thread 71, held by thread 72, System.Private.CoreLib!System.Threading.Monitor.Enter(object) ← Shop!Shop.Ledger.Append()",
		}
		if !slices.Equal(got, want) {
			t.Errorf("bands\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{"CooperativeBlocking": "cooperative blocking", "Starvation": "starvation", "ThreadTimedOut": "thread timed out", "": "", "IO": "io"} {
		if got := splitCamelCase(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
