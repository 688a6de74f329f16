package golang

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// GC that fills the samples of the kernel's CPU clock is the program's own asking where the stacks show such a call in several seconds, and
// else the pacer's.
func TestForcedByProfile(t *testing.T) {
	for name, tt := range map[string]struct {
		asks   int // seconds in which the program is seen to ask
		by     string
		forced bool
	}{
		"FreeOSMemory in each second": {20, "runtime/debug.FreeOSMemory", true},
		"runtime.GC at times":         {6, "runtime.GC", true},
		"once, at the start":          {1, "runtime.GC", false},
		"never":                       {0, "runtime.GC", false},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "oncpu.txt"}), "kernelstacks")
		s := p.Subject(evidence.Subject{Runtime: "go"})
		stack := func(functions ...string) evidence.StackID {
			frames := make([]evidence.Frame, len(functions))
			for i, f := range functions {
				frames[i] = evidence.Frame{Func: p.Name(f)}
			}
			return p.Stack(frames)
		}
		marks := stack("runtime.scanObject", "runtime.gcDrain", "runtime.gcBgMarkWorker", "runtime.goexit")
		asks := stack("runtime.sweepone", tt.by, "main.(*harbour).manifest", "net/http.HandlerFunc.ServeHTTP", "runtime.goexit")
		const period = int64(10e6)
		for second := range int64(20) {
			for k := range int64(20) {
				x := evidence.Sample{Subject: s, Lane: 7, Time: second*1e9 + k*period, Stack: marks, Type: p.Name(evidence.SampleOnCPU), Value: period}
				if k == 19 && int(second) < tt.asks {
					x.Stack = asks
				}
				p.Sample(x)
			}
		}
		p.Close()
		c := &check.Case{Bundle: b, Subject: s}
		v := judgeForced(c)
		if v.Supported() != tt.forced || tt.forced && !strings.Contains(v.Title, "main.(*harbour).manifest requests GC cycles ("+tt.by+")") {
			t.Errorf("%s: %v %q", name, v.Supported(), v.Title)
		}
		if v.Supported() {
			c.Found = append(c.Found, check.Found{ID: ForcedGC.ID, Verdict: v})
		}
		if rate, ok := judgeGCProfile(c); !ok || (rate.Rule == check.Matters) == tt.forced {
			t.Errorf("%s: the pacer's cycles: %v %q", name, ok, rate.Summary)
		}
	}
}
