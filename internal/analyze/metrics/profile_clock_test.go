package metrics

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestClockedProfile: where no profile was taken, the kernel's CPU clock tells what GC takes of a Go program; of other programs, and of few
// samples, it tells nothing.
func TestClockedProfile(t *testing.T) {
	for _, x := range []struct {
		name    string
		entry   string
		samples int64
		ok      bool
	}{{"Go", "runtime.goexit.abi0", 400, true}, {"C", "__libc_start_main", 400, false}, {"few samples", "runtime.goexit", 40, false}} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "oncpu.txt"}), "kernelstacks")
		id := p.Subject(evidence.Subject{PID: 7})
		stack := func(functions ...string) evidence.StackID {
			var frames []evidence.Frame
			for _, f := range append(functions, x.entry) {
				frames = append(frames, evidence.Frame{Func: p.Name(f)})
			}
			return p.Stack(frames)
		}
		assist, worker := stack("runtime.scanObject", "runtime.gcDrainN", "runtime.gcAssistAlloc", "runtime.mallocgc", "main.list"), stack("runtime.scanObject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
		own := stack("encoding/json.Marshal", "main.list")
		for i := range x.samples {
			p.Sample(evidence.Sample{Subject: id, Time: i * 1e7, Type: p.Name(evidence.SampleOnCPU), Stack: []evidence.StackID{assist, worker, own, own}[i%4], Value: 1e7})
		}
		p.Close()
		got, ok := ProfileOf(b, id)
		if ok != x.ok || ok && (got.GC != got.All/2 || got.Assist != got.All/4 || got.Marked != got.GC) {
			t.Errorf("%s: %+v, %v", x.name, got, ok)
		}
	}
}
