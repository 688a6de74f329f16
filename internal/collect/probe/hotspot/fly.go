package hotspot

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/probe"
)

// What a flight recording may cost. Its own threads are read from /proc; what the program's threads pay as they write events is
// told by how much they write (docs/decisions/recording.md has the measurements).
const (
	flightShare = .02                   // of the CPU that the process uses, its threads and its events together
	flightLeast = .02                   // … or of one CPU, where that is more
	flightByte  = 300 * time.Nanosecond // of CPU for each byte of events
	flightLook  = time.Second           // between looks at that
	flightOver  = 4 * time.Second       // over which it is judged
	flightStart = 2 * time.Second       // in which it starts, which takes some 100 ms of CPU once
	flightSlow  = 3                     // looks in a row at which requests take longer than before
	flightCalm  = 4 * time.Second       // of the recording, at most, in which it is waited for latencies to compare with
	flightSent  = time.Second           // of the recording, in which the first request of a load is answered
	leastFlight = 2 * time.Second       // of the recording that must be left for one
)

// flown is the flight recording of a recording, on or ended.
type flown struct {
	*flight               // nil: the JVM has none
	watched chan struct{} // closed when it is not watched any more
	cancel  context.CancelFunc
}

// startFlight starts a flight recording, once. why says what could not be seen without it, "" if
// the user asked for one. The recording is ended early if it costs too much.
func (r *recording) startFlight(ctx context.Context, why string) error {
	if r.flown != nil || why != "" && (!r.mayFly() || time.Until(r.end) < leastFlight) {
		return nil
	}
	if r.awaitsLatencies() {
		return nil // at one of the next looks
	}
	f, err := r.takeOff(ctx, why != "")
	r.flown = &flown{flight: f, watched: make(chan struct{})}
	if f == nil {
		close(r.flown.watched)
		return err
	}
	if why != "" {
		r.warnOnce("%s: a flight recording (JFR) of waits of 10 ms and more is on for the rest of the recording; --no-jfr leaves it out", why)
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.flown.cancel = cancel
	go func() {
		defer close(r.flown.watched)
		if why := f.tooMuch(watching); why != "" {
			r.warnOnce("the flight recording was ended after %s: %s", units.Time(float64(time.Since(f.began).Round(100*time.Millisecond))), why)
			r.runUndo(watching, f.stopOnce)
		}
	}()
	return err
}

// awaitsLatencies says whether latencies to compare a flight recording with may still come.
func (r *recording) awaitsLatencies() bool {
	l, so := r.plan.Latencies, r.plan.For-time.Until(r.end)
	switch {
	case l == nil || r.plan.For < 2*flightCalm:
		return false
	case !l.Sent():
		return so < flightSent
	}
	return so < flightCalm && !l.Before(time.Now()).Enough()
}

// mayFly says whether a flight recording may be switched on that nobody asked for. One that is on, or was, counts.
func (r *recording) mayFly() bool { return r.plan.Flight || !r.plan.NoFlight && !r.plan.Always }

// hasNoFlight says that there is no flight recording, and will be none.
func (r *recording) hasNoFlight() bool {
	if r.flown != nil {
		return r.flown.flight == nil
	}
	return !r.mayFly() || time.Until(r.end) < leastFlight
}

// stopFlight ends the flight recording if there is one.
func (r *recording) stopFlight(ctx context.Context) {
	if r.flown == nil || r.flown.flight == nil {
		return
	}
	r.flown.cancel()
	<-r.flown.watched
	r.flown.flight.stopOnce(ctx)
}

// flightCost is what a flight recording has taken so far.
type flightCost struct {
	at      time.Time
	process time.Duration // CPU time of the process, -1 unknown
	threads time.Duration // … of the recorder's own threads
	bytes   int64         // that were written
}

// tooMuch waits until the flight recording costs more than it may, and says how; "" when it is not to be watched any more.
func (f *flight) tooMuch(ctx context.Context) string {
	before := f.r.plan.Latencies.Before(f.began)
	if !probe.Wait(ctx, flightStart) {
		return ""
	}
	costs := []flightCost{f.readCost()}
	slow, base, size := 0, int64(0), costs[0].bytes
	for probe.Wait(ctx, flightLook) {
		slower := f.r.plan.Latencies.Slower(before, f.began.Add(flightStart), time.Now())
		if slow++; slower == "" {
			slow = 0
		}
		if slow == flightSlow {
			return slower
		}
		now := f.readCost()
		if now.bytes < size {
			base += size // it began another file
		}
		size = now.bytes
		now.bytes += base
		costs = append(costs, now)
		first := costs[0]
		if now.at.Sub(first.at) < flightOver {
			continue
		}
		costs = costs[1:]
		if why := first.explainExcess(now); why != "" {
			return why
		}
	}
	return ""
}

// explainExcess says how a flight recording took more between two moments than it may, "" if it
// did not.
func (c flightCost) explainExcess(now flightCost) string {
	took := now.at.Sub(c.at)
	if now.process < 0 || c.process < 0 || took <= 0 {
		return ""
	}
	used := now.threads - c.threads + time.Duration(now.bytes-c.bytes)*flightByte
	cores, process := float64(used)/float64(took), float64(now.process-c.process)/float64(took)
	if most := max(flightLeast, flightShare*process); cores > most {
		return fmt.Sprintf("it took about %s of a CPU, and the limit is %s", units.Percent(cores), units.Percent(most))
	}
	return ""
}

// readCost reads what the flight recording took so far: the CPU time of its threads, and the size
// of the file that the JVM has open for it.
func (f *flight) readCost() flightCost {
	c := flightCost{at: time.Now(), process: -1}
	dir := fmt.Sprintf("/proc/%d", f.r.pid)
	text, _ := os.ReadFile(dir + "/stat")
	if fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]); len(fields) > 12 { // utime and stime: proc_pid_stat(5)
		user, _ := strconv.ParseInt(string(fields[11]), 10, 64)
		system, _ := strconv.ParseInt(string(fields[12]), 10, 64)
		c.process = time.Duration(user+system) * tick
	}
	names, _ := filepath.Glob(dir + "/task/*/comm")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && bytes.HasPrefix(text, []byte("JFR ")) {
			c.threads += onCPU(filepath.Dir(name) + "/schedstat")
		}
	}
	c.bytes = eventFileSize(dir + "/fd/")
	return c
}

// tick is USER_HZ, on all architectures that have a JVM.
const tick = 10 * time.Millisecond

// eventFileSize returns the size in bytes of the file to which the JVM writes events: all its
// flight recordings write to one, in a directory of theirs.
func eventFileSize(dir string) (n int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name, err := os.Readlink(dir + e.Name()); err == nil && strings.HasSuffix(name, ".jfr") {
			if fi, err := os.Stat(dir + e.Name()); err == nil {
				n = max(n, fi.Size())
			}
		}
	}
	return n
}

// onCPU is the first number of a schedstat file, ns on a CPU; 0 unknown.
func onCPU(file string) time.Duration {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	ns, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseInt(ns, 10, 64)
	return time.Duration(n)
}
