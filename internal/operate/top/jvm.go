package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/hsperf"
	"github.com/unstall/unstall/internal/collect/discover"
)

// HotSpot's counters, which HotSpot always writes into a file, even without a reader.

const (
	jvmGC      = "garbage collection"
	jvmHeap    = "heap"
	jvmRuntime = "JVM"
)

var jvmRules = []Rule{
	{"jvm/gc-time", "> 10 %: GC takes too much of the time", alertAbove(10, 5*time.Second, "GC takes too much of the time")},
	{"jvm/full-gc", "> 0: each stops all threads for the whole heap", func(v View) string {
		if !v.holdsWithin(60*time.Second, func(x float64) bool { return x > 0 }) {
			return ""
		}
		return "full GC within the last minute"
	}},
	{"jvm/old-used", "stays near its maximum: full GCs follow", alertAbove(90, 20*time.Second, "full GCs follow: heap too small, or a leak")},
	{"jvm/safepoint-time", "well above GC time: something other than GC stops the threads", nil},
	{"jvm/contended", "> 1,000/s: threads compete for locks", alertAbove(1000, 3*time.Second, "threads compete for locks")},
	{"jvm/threads", "growing: more and more threads block", alertGrowing(.5, 10*time.Second, "more and more threads block")},
}

// holdsWithin says whether any value of the newest part of a given length satisfies a condition.
func (h *history) holdsWithin(over time.Duration, holds func(float64) bool) bool {
	for i := len(h.value) - 1; i >= 0 && h.at[len(h.at)-1].Sub(h.at[i]) <= over; i-- {
		if holds(h.value[i]) {
			return true
		}
	}
	return false
}

// jvm reads a JVM's hsperfdata.
type jvm struct {
	file *os.File
	pid  int
	now  func() time.Time
}

// JVM are the counters of HotSpot: those in its hsperfdata.
var JVM = Counters{"jvm", openJVM, jvmRules}

func openJVM(_ context.Context, t discover.Target, _ time.Duration, now func() time.Time) (Source, error) {
	f, err := discover.Hsperfdata(t.PID)
	if err != nil {
		return nil, fmt.Errorf("pid %d: %w", t.PID, err)
	}
	return &jvm{file: f, pid: t.PID, now: now}, nil
}

// Read reads the file once.
func (j *jvm) Read(context.Context) ([]Reading, error) {
	if _, err := j.file.Seek(0, 0); err != nil {
		return nil, err
	}
	d, err := hsperf.Parse(j.file)
	if err != nil && !errors.Is(err, hsperf.ErrNotReady) {
		return nil, fmt.Errorf("pid %d: %w", j.pid, err)
	}
	out := jvmReadings(d)
	at := j.now()
	for i := range out {
		out[i].At = at
	}
	return out, nil
}

// Close closes the file.
func (j *jvm) Close() error { return j.file.Close() }

// plainJVM are counters that are shown unchanged, if a JVM has them.
var plainJVM = []struct {
	name string // in hsperfdata
	Reading
}{
	{"java.threads.live", Reading{ID: "jvm/threads", Group: jvmRuntime, Title: "threads", Unit: "count"}},
	{"java.threads.daemon", Reading{ID: "jvm/daemons", Group: jvmRuntime, Title: "threads, daemons", Unit: "count"}},
	{"java.threads.started", Reading{ID: "jvm/threads-started", Group: jvmRuntime, Title: "threads started", Unit: "1/s", Kind: Total}},
	{"sun.rt.safepoints", Reading{ID: "jvm/safepoints", Group: jvmRuntime, Title: "safepoints", Unit: "1/s", Kind: Total}},
	{"sun.rt._sync_ContendedLockAttempts", Reading{ID: "jvm/contended", Group: jvmRuntime, Title: "contended locks", Unit: "1/s", Kind: Total}},
	{"sun.rt._sync_Parks", Reading{ID: "jvm/parks", Group: jvmRuntime, Title: "threads parked at locks", Unit: "1/s", Kind: Total}},
	{"sun.gc.metaspace.used", Reading{ID: "jvm/metaspace", Group: jvmHeap, Title: "metaspace used", Unit: "bytes"}},
	{"sun.gc.compressedclassspace.used", Reading{ID: "jvm/class-space", Group: jvmHeap, Title: "compressed class space used", Unit: "bytes"}},
	{"java.cls.unloadedClasses", Reading{ID: "jvm/unloaded", Group: jvmRuntime, Title: "classes unloaded", Unit: "1/s", Kind: Total}},
}

// timesJVM are counters of ticks, shown as percent of elapsed time.
var timesJVM = []struct{ name, id, title string }{
	{"sun.rt.safepointTime", "jvm/safepoint-time", "time stopped at safepoints"},
	{"sun.rt.safepointSyncTime", "jvm/safepoint-sync", "time to reach safepoints"},
	{"java.ci.totalTime", "jvm/compile-time", "time of JIT compilers"},
}

// jvmReadings turns the counters of one moment into readings. The caller sets their times.
func jvmReadings(d *hsperf.Data) (out []Reading) {
	percent := func(group, id, title string, seconds float64) Reading {
		return Reading{ID: id, Group: group, Title: title, Unit: "%", Kind: Total, Scale: 100, Value: seconds}
	}
	var all float64
	for i := range mostCollectors {
		base := "sun.gc.collector." + strconv.Itoa(i)
		name := d.Text(base + ".name")
		n, ok := d.Value(base + ".invocations")
		if !ok {
			continue // ZGC has no collector 1, and before JDK 21 no collector 0
		}
		id := "jvm/gc-" + strconv.Itoa(i)
		if isFull(name) {
			id = "jvm/full-gc"
		}
		out = append(out, Reading{ID: id, Group: jvmGC, Title: name, Unit: "1/s", Kind: Total, Value: float64(n)})
		if t, ok := d.Seconds(base + ".time"); ok {
			out = append(out, percent(jvmGC, id+"-time", name+", time", t))
			all += t
		}
	}
	if len(out) > 0 {
		out = append(out, percent(jvmGC, "jvm/gc-time", "time in GC, all collectors", all))
	}
	out = append(out, heapSpaceReadings(d)...)
	for _, x := range plainJVM {
		if v, ok := d.Value(x.name); ok {
			r := x.Reading
			r.Value = float64(v)
			out = append(out, r)
		}
	}
	loaded, ok := d.Value("java.cls.loadedClasses")
	if shared, _ := d.Value("java.cls.sharedLoadedClasses"); ok {
		out = append(out, Reading{ID: "jvm/classes", Group: jvmRuntime, Title: "classes loaded so far", Unit: "count", Value: float64(loaded + shared)})
	}
	for _, x := range timesJVM {
		if t, ok := d.Seconds(x.name); ok {
			out = append(out, percent(jvmRuntime, x.id, x.title, t))
		}
	}
	return out
}

// mostCollectors is above the number of any collector. The highest is 2, G1's pauses of a concurrent cycle.
const mostCollectors = 8

// mostSpaces bounds the spaces that a damaged file may name; a young generation has 3.
const mostSpaces = 16

// heapSpaceReadings returns the readings of the parts of the heap: their used bytes, and the bytes committed from the
// host.
func heapSpaceReadings(d *hsperf.Data) (out []Reading) {
	for g := 0; ; g++ {
		generation := "sun.gc.generation." + strconv.Itoa(g)
		title := d.Text(generation + ".name")
		if title == "" {
			return out
		}
		n, _ := d.Value(generation + ".spaces")
		for s := range min(n, mostSpaces) {
			base := fmt.Sprintf("%s.space.%d", generation, s)
			used, ok := d.Value(base + ".used")
			if !ok {
				continue
			}
			name := d.Text(base + ".name")
			if n == 1 {
				name = title // the only space of "old" is called "space"
			}
			id := "jvm/" + title + "-" + name
			out = append(out, Reading{ID: id, Group: jvmHeap, Title: name + " used", Unit: "bytes", Value: float64(used)})
			if most, ok := d.Value(base + ".maxCapacity"); ok && most > 0 && title == "old" {
				out = append(out, Reading{ID: "jvm/old-used", Group: jvmHeap, Title: name + " used, of its maximum", Unit: "%", Value: 100 * float64(used) / float64(most)})
			}
		}
		if capacity, ok := d.Value(generation + ".capacity"); ok {
			out = append(out, Reading{ID: "jvm/" + title + "-capacity", Group: jvmHeap, Title: title + " capacity", Unit: "bytes", Value: float64(capacity)})
		}
	}
}

// isFull says whether a collector of this name collects the whole heap while all threads are
// stopped. Its names changed with JDK 20.
func isFull(name string) bool {
	switch name {
	case "MSC", "PSParallelCompact", "PSMarkSweep", "CMS stop-the-world full collection pauses":
		return true
	}
	return strings.Contains(strings.ToLower(name), "full")
}
