package gopprof

import (
	"bytes"
	"crypto/sha256"
	"math"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestLiveCPU profiles this process until a sample fell into work of a
// limited amount.
func TestLiveCPU(t *testing.T) {
	for work := 1 << 16; work <= 1<<26; work *= 4 {
		var buf bytes.Buffer
		if err := pprof.StartCPUProfile(&buf); err != nil {
			t.Skip(err)
		}
		burn(work)
		pprof.StopCPUProfile()
		b := suite.MustRead(t, buf.Bytes())
		if number(t, b, "profile.hz") != 100 {
			t.Fatalf("hz %v", number(t, b, "profile.hz"))
		}
		if sumOf(b, "cpu", "") != number(t, b, "profile.cpuTotal") {
			t.Fatalf("samples add up to %v, the total is %v", sumOf(b, "cpu", ""), number(t, b, "profile.cpuTotal"))
		}
		if sumOf(b, "cpu", "gopprof.burn") == 0 {
			continue
		}
		if b.Subjects[0].Runtime != "go" || !strings.HasPrefix(b.Subjects[0].Name, "gopprof") {
			t.Errorf("subject %+v", b.Subjects[0])
		}
		if from, until := b.Window(); from == 0 || until <= from || !b.Clocks[0].Anchored() {
			t.Errorf("window %d to %d", from, until)
		}
		return
	}
	t.Fatal("no sample in the work")
}

//go:noinline
func burn(n int) (sum [32]byte) {
	for range n {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

// sumOf adds up the samples of a type whose stack has a function whose name
// contains a text.
func sumOf(b *evidence.Bundle, typ, function string) (sum float64) {
	for i := range b.Samples.Len() {
		if b.Names.Text(b.Samples.Type[i]) != typ {
			continue
		}
		for _, f := range b.Stacks.Frames(b.Samples.Stack[i]) {
			if strings.Contains(b.Names.Text(f.Func), function) {
				sum += float64(b.Samples.Value[i])
				break
			}
		}
	}
	return sum
}

var kept [][]byte

//go:noinline
func keep(n int) {
	for range n {
		kept = append(kept, make([]byte, 1<<20))
	}
}

// TestLiveHeap keeps 64 MiB, in pieces larger than the sampling rate.
func TestLiveHeap(t *testing.T) {
	keep(64)
	defer func() { kept = nil }()
	runtime.GC() // the heap profile shows the last cycle
	runtime.GC()
	for _, name := range []string{"heap", "allocs"} {
		for debug := range 2 {
			var buf bytes.Buffer
			if err := pprof.Lookup(name).WriteTo(&buf, debug); err != nil {
				t.Fatal(err)
			}
			b := suite.MustRead(t, buf.Bytes())
			if got := sumOf(b, "inuse_space", "gopprof.keep") / (64 << 20); got < 0.8 || got > 1.6 {
				t.Errorf("%s, debug=%d: %.2f of what is kept was found", name, debug, got)
			}
			want := name
			if debug == 1 {
				want = "heap" // both texts are the same
				if number(t, b, "HeapAlloc") < 64<<20 || number(t, b, "NumGC") < 2 || number(t, b, "Sys") == 0 {
					t.Error("runtime.MemStats are wrong")
				}
				checkScaling(t, buf.Bytes(), b)
			}
			if f, _ := b.Fact(-1, "profile.kind"); f.Value != want {
				t.Errorf("%s, debug=%d: kind %s", name, debug, f.Value)
			}
			if len(b.Covered(-1, evidence.CoverHeap)) != 1 || len(b.Warnings) > 0 {
				t.Errorf("%s, debug=%d: coverage %v, warnings %v", name, debug, b.Coverage, b.Warnings)
			}
		}
	}
}

// checkScaling compares the scaled values with those of the pprof library for the same text.
func checkScaling(t *testing.T, text []byte, b *evidence.Bundle) {
	p, err := profile.ParseData(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, typ := range p.SampleType {
		var want float64
		for _, s := range p.Sample {
			want += float64(s.Value[i])
		}
		if got := sumOf(b, typ.Type, ""); math.Abs(got-want) > 0.001*want {
			t.Errorf("%s: %.0f, the pprof library says %.0f", typ.Type, got, want)
		}
	}
}

//go:noinline
func park(started *sync.WaitGroup, until chan struct{}) {
	started.Done()
	<-until
}

func TestLiveGoroutines(t *testing.T) {
	const n = 50
	var started, ended sync.WaitGroup
	until := make(chan struct{})
	started.Add(n)
	for range n {
		ended.Go(func() { park(&started, until) })
	}
	started.Wait()
	defer ended.Wait()
	defer close(until)
	for debug := range 3 {
		var buf bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&buf, debug); err != nil {
			t.Fatal(err)
		}
		b := suite.MustRead(t, buf.Bytes())
		if got := sumOf(b, "goroutine", "gopprof.park"); got != n {
			t.Errorf("debug=%d: %v goroutines found, want %d", debug, got, n)
		}
		if got, all := number(t, b, "goroutines"), sumOf(b, "goroutine", ""); got != all || got <= n {
			t.Errorf("debug=%d: total %v, sum %v", debug, got, all)
		}
		if len(b.Warnings) > 0 || len(b.Covered(-1, evidence.CoverGoroutines)) != 1 {
			t.Errorf("debug=%d: warnings %v, coverage %v", debug, b.Warnings, b.Coverage)
		}
	}
}

// TestLiveLocks causes contention until the profiles have seen some.
func TestLiveLocks(t *testing.T) {
	runtime.SetBlockProfileRate(1)
	defer runtime.SetBlockProfileRate(0)
	defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
	for range 10000 {
		contend()
		if pprof.Lookup("mutex").Count() > 0 && pprof.Lookup("block").Count() > 0 {
			break
		}
	}
	for _, name := range []string{"mutex", "block"} {
		var delay [2]float64
		for debug := range 2 {
			var buf bytes.Buffer
			if err := pprof.Lookup(name).WriteTo(&buf, debug); err != nil {
				t.Fatal(err)
			}
			b := suite.MustRead(t, buf.Bytes())
			if f, _ := b.Fact(-1, "profile.kind"); f.Value != name {
				t.Errorf("%s, debug=%d: kind %q", name, debug, f.Value)
			}
			if sumOf(b, "contentions", "") == 0 || len(b.Covered(-1, evidence.CoverLocks)) != 1 {
				t.Errorf("%s, debug=%d: %s", name, debug, render(b, nil))
			}
			delay[debug] = sumOf(b, "delay", "gopprof.contend")
		}
		if delay[0] == 0 || math.Abs(delay[0]-delay[1]) > 0.01*delay[0]+1000 {
			t.Errorf("%s: delay %v as protobuf, %v as text", name, delay[0], delay[1])
		}
	}
}

//go:noinline
func contend() {
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				mu.Lock()
				runtime.Gosched()
				mu.Unlock()
			}
		})
	}
	group.Wait()
}

var custom = pprof.NewProfile("gopprof.connections")

func TestLiveOthers(t *testing.T) {
	custom.Add(t, 0)
	defer custom.Remove(t)
	for _, name := range []string{"threadcreate", "gopprof.connections", "goroutineleak"} {
		p := pprof.Lookup(name)
		if p == nil {
			continue // goroutineleak is an experiment in 1.26
		}
		for debug := range 2 {
			var buf bytes.Buffer
			if err := p.WriteTo(&buf, debug); err != nil {
				t.Fatal(err)
			}
			b := suite.MustRead(t, buf.Bytes())
			if f, _ := b.Fact(-1, "profile.kind"); f.Value != name {
				t.Errorf("%s, debug=%d: kind %q", name, debug, f.Value)
			}
			if name != "goroutineleak" && b.Samples.Len() == 0 {
				t.Errorf("%s, debug=%d: no samples", name, debug)
			}
		}
	}
}

// TestCorpus compares recorded profiles with the output of go tool pprof -top.
func TestCorpus(t *testing.T) {
	gc := make(map[string]float64)
	for _, c := range []struct {
		name     string
		cpu, dur float64
		top      string
		flat     string
	}{
		{"s-default", 3.21, 15, "main.work", "710 ms"},
		{"s-tight", 6.26, 15.01, "", ""},
		{"l-ballast", 3.91, 15, "", ""},
	} {
		data, err := os.ReadFile("../../../../shared/corpus/go/" + c.name + ".cpu.pb.gz")
		if err != nil {
			t.Skip("the corpus is not here: ", err)
		}
		b := suite.MustRead(t, data)
		cpu := number(t, b, "profile.cpuTotal")
		if math.Abs(cpu/1e9-c.cpu) > 0.005 {
			t.Errorf("%s: CPU %.3f s, want %.2f", c.name, cpu/1e9, c.cpu)
		}
		if got := sumOf(b, "cpu", ""); got != cpu {
			t.Errorf("%s: the samples add up to %v", c.name, got)
		}
		if d := number(t, b, "profile.duration") / 1e9; math.Abs(d-c.dur) > 0.01 {
			t.Errorf("%s: duration %.3f s, want %.2f", c.name, d, c.dur)
		}
		var classes float64
		for _, f := range b.Facts {
			if strings.HasPrefix(f.Key, "profile.class.") {
				classes += f.Number
			}
		}
		if classes != cpu {
			t.Errorf("%s: the classes add up to %v of %v", c.name, classes, cpu)
		}
		gc[c.name] = number(t, b, "profile.gc") / cpu
		for _, x := range b.Tables {
			t.Log(c.name, x.Title)
			for _, r := range x.Rows {
				t.Log("   ", strings.Join(r, " | "))
			}
			if x.Title == "top functions" && c.top != "" && (x.Rows[0][0] != c.top || x.Rows[0][1] != c.flat) {
				t.Errorf("%s: top function %v", c.name, x.Rows[0])
			}
		}
	}
	t.Log(gc)
	if gc["s-default"] < 0.4 || gc["s-tight"] < 0.5 || gc["l-ballast"] > 0.1 {
		t.Errorf("the collector's shares do not tell sick from healthy: %v", gc)
	}
}
