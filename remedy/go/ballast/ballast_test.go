package ballast

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// What a ballast does to a process is measured in one of its own, whose heap is
// fresh and whose collector is at its defaults: this test's binary, started again.
const task = "BALLAST_TEST_TASK"

var tasks = map[string]func() interface{}{
	"cycles":           func() interface{} { return cycles(0) },
	"cycles ballasted": func() interface{} { return cycles(mib256) },
}

const mib256 = 256 << 20

func TestMain(m *testing.M) {
	do := tasks[os.Getenv(task)]
	if do == nil {
		os.Exit(m.Run())
	}
	if err := json.NewEncoder(os.Stdout).Encode(do()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// inProcess does a task in a process of its own.
func inProcess(t *testing.T, name string, answer interface{}) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOGC=") && !strings.HasPrefix(v, "GOMEMLIMIT=") && !strings.HasPrefix(v, "GODEBUG=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, task+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
}

var garbage []byte

// cycles is how often the collector runs while 1 GiB of garbage is made, and how
// large the heap may become.
func cycles(ballast int) (c struct {
	Cycles uint32
	Goal   uint64
}) {
	New(ballast)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := 0; i < 1<<30/4096; i++ {
		garbage = make([]byte, 4096)
	}
	runtime.ReadMemStats(&after)
	c.Cycles, c.Goal = after.NumGC-before.NumGC, before.NextGC
	return c
}

func TestCollectionsFall(t *testing.T) {
	var plain, ballasted struct {
		Cycles uint32
		Goal   uint64
	}
	inProcess(t, "cycles", &plain)
	inProcess(t, "cycles ballasted", &ballasted)
	t.Logf("for 1 GiB of garbage: %d cycles, with a ballast of 256 MiB %d", plain.Cycles, ballasted.Cycles)
	// Without: a goal of 4 MiB, some 250 cycles, fewer where others use the CPUs and a cycle takes long. With: a goal of
	// 512 MiB, so that each cycle but the first has at least 256 MiB of garbage to collect.
	if plain.Goal > 16<<20 {
		t.Errorf("heap goal %d without a ballast: this test needs a program that collects often", plain.Goal)
	}
	if ballasted.Goal < 2*mib256 {
		t.Errorf("heap goal %d with a ballast of %d: it is not counted as live", ballasted.Goal, mib256)
	}
	if most := uint32(1<<30/mib256 + 1); ballasted.Cycles > most || ballasted.Cycles >= plain.Cycles {
		t.Errorf("%d cycles with a ballast, %d without: want fewer, and at most %d", ballasted.Cycles, plain.Cycles, most)
	}
}

// It is held whether or not the value New returned is kept.
func TestHeldUntilRelease(t *testing.T) {
	const size = 64 << 20
	before := live()
	func() { New(size) }()
	if grown := live() - before; grown < size-1<<20 {
		t.Errorf("the live heap grew by %d, want %d", grown, size)
	}
	for b := range held {
		if got := b.Size(); got != size {
			t.Errorf("Size() = %d, want %d", got, size)
		}
		b.Release()
		b.Release()
		if got := b.Size(); got != 0 {
			t.Errorf("Size() = %d after Release, want 0", got)
		}
	}
	if left := live() - before; left > 1<<20 {
		t.Errorf("the live heap is %d larger after Release than before New", left)
	}
}

func live() int {
	runtime.GC()
	runtime.GC() // the first may have swept only some of it
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestNothingToHold(t *testing.T) {
	for _, size := range []int{0, -1} {
		b := New(size)
		if got := b.Size(); got != 0 {
			t.Errorf("New(%d).Size() = %d, want 0", size, got)
		}
		b.Release()
	}
}
