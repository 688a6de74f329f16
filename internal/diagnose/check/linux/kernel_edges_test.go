package linux_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/kernelstacks"
)

// verdictsOf are the answers about threads that go on like that for 10 s.
func verdictsOf(t *testing.T, threads ...thread) map[string]diagnose.Verdict {
	t.Helper()
	running, waiting := kernelTexts(threads)
	b := incident.NewBundle()
	dir := t.TempDir()
	for name, text := range map[string]string{"oncpu.txt": running, "offcpu.txt": waiting} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := format.Read(context.Background(), []format.Format{kernelstacks.Format}, format.File(name), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]diagnose.Verdict)
	for _, v := range d.Verdicts {
		if out[v.Cause] = v; !strings.HasPrefix(v.Cause, "linux.") {
			continue
		}
		for _, fault := range checktest.Faults(v.Verdict, v.Decision) {
			t.Errorf("%s: %s (%s)", v.Cause, fault, v.Summary)
		}
	}
	return out
}

// Without requests a wait in the kernel is found from a quarter of the time of threads with work on; a little less is left open, and hardly any is
// ruled out.
func TestThreadsAtTheEdge(t *testing.T) {
	busy := func(in string, part float64) thread {
		return thread{ran: .95 - part, waits: map[string]float64{in: part}}
	}
	for _, x := range []struct {
		cause check.Check
		in    string
	}{{linux.DiskSync, "fsync"}, {linux.DiskSync, "dsync"}, {linux.DiskBusy, "disk"}, {linux.MemoryReclaim, "reclaim"}, {linux.Swap, "swap"}} {
		for part, want := range map[float64]string{.05: check.RuledOut, .2: check.Inconclusive, .3: check.Supported, .6: check.Supported} {
			v, asked := verdictsOf(t, busy(x.in, part))[x.cause.ID]
			if !asked || v.Verdict != want {
				t.Errorf("%s, %s for %.0f %%: %q, want %s: %s %s", x.cause.ID, x.in, 100*part, v.Verdict, want, v.Title, v.Summary)
			}
		}
	}
}

// CPU time in the kernel is found where it is much of what the process runs, and runs enough to matter.
func TestCPUInTheKernelAtTheEdge(t *testing.T) {
	for _, x := range []struct {
		about string
		cause check.Check
		in    string
		part  float64 // of the process's CPU time
		ran   float64 // CPUs
		want  bool
	}{
		{"softirq, a third of a CPU", linux.Softirq, "softirq", .4, .95, true},
		{"softirq, a fifth of the CPU time", linux.Softirq, "softirq", .2, .95, false},
		{"softirq, most of little", linux.Softirq, "softirq", .8, .1, false},
		{"new memory, half of a CPU", linux.PageFaults, "fault", .55, .95, true},
		{"new memory, a tenth of it", linux.PageFaults, "fault", .1, .95, false},
		{"new memory, most of little", linux.PageFaults, "fault", .8, .1, false},
	} {
		v := verdictsOf(t, thread{ran: x.ran * x.part, in: x.in}, thread{ran: x.ran * (1 - x.part)})[x.cause.ID]
		if found := v.Verdict == check.Supported; found != x.want {
			t.Errorf("%s: %q: %s %s", x.about, v.Verdict, v.Title, v.Summary)
		}
	}
}

// Threads that wait for their work wait for nothing else, however long.
func TestIdleThreadsAreNoCause(t *testing.T) {
	for about, threads := range map[string][]thread{
		"a loop":             {{ran: .05, waits: map[string]float64{"poll": .94}}},
		"a pool":             {{waits: map[string]float64{"futex": .99}}, {waits: map[string]float64{"futex": .99}}, {ran: .2, waits: map[string]float64{"poll": .79}}},
		"a timer":            {{ran: .02, waits: map[string]float64{"sleep": .97}}},
		"a reader of a pipe": {{ran: .1, waits: map[string]float64{"read": .89}}},
	} {
		for id, v := range verdictsOf(t, threads...) {
			if strings.HasPrefix(id, "linux.") && v.Verdict == check.Supported {
				t.Errorf("%s: %s: %s", about, id, v.Title)
			}
		}
	}
}
