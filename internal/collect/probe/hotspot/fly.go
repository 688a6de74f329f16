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

// Limits of a flight recording's cost. The CPU time of its own threads is read from /proc. The cost to the program's threads follows
// from the bytes of events they write (docs/decisions/recording.md has the measurements).
const (
	flightShare = .02                   // share of the process's CPU time, for the recorder's threads and the events together
	flightLeast = .02                   // … or of one CPU, if that is more
	flightByte  = 300 * time.Nanosecond // CPU time per byte of events
	flightLook  = time.Second           // time between two checks
	flightOver  = 4 * time.Second       // time over which the cost is judged
	flightStart = 2 * time.Second       // time in which it starts, which once takes some 100 ms of CPU
	flightSlow  = 3                     // consecutive checks with slower requests than before
	flightCalm  = 4 * time.Second       // longest wait, in the recording, for latencies to compare with
	flightSent  = time.Second           // time in the recording by which a load's first request is answered
	leastFlight = 2 * time.Second       // least rest of the recording for a flight recording
)

// flown is a recording's flight recording, running or ended.
type flown struct {
	*flight               // nil: the JVM has no flight recorder
	watched chan struct{} // closed when it is no longer watched
	cancel  context.CancelFunc
}

// startFlight starts a flight recording, once. why says what is missing without it, "" if the user requested one. The flight recording
// is ended early if it costs too much.
func (r *recording) startFlight(ctx context.Context, why string) error {
	if r.flown != nil || why != "" && (!r.mayFly() || time.Until(r.end) < leastFlight) {
		return nil
	}
	if r.awaitsLatencies() {
		return nil // one of the next checks starts it
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

// awaitsLatencies says whether latencies to compare with may still come.
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

// mayFly says whether a flight recording may be switched on without the user's request. One that is or was on counts.
func (r *recording) mayFly() bool { return r.plan.Flight || !r.plan.NoFlight && !r.plan.Always }

// hasNoFlight says that there is no flight recording, and will not be.
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

// flightCost is the cost of a flight recording so far.
type flightCost struct {
	at      time.Time
	process time.Duration // CPU time of the process, -1 unknown
	threads time.Duration // … of the recorder's own threads
	bytes   int64         // bytes written
}

// tooMuch waits until the flight recording costs too much, and says how; "" if it is no longer watched.
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
			base += size // the JVM began another file
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

// explainExcess says how a flight recording cost too much between two moments, "" if it did not.
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

// readCost reads the cost of the flight recording so far: the CPU time of its threads, and the size of the JVM's file for it.
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

// tick is USER_HZ on all architectures with a JVM.
const tick = 10 * time.Millisecond

// eventFileSize returns the size in bytes of the file to which the JVM writes events. All its flight recordings write to one file, in a
// directory of their own.
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

// onCPU returns the first number of a schedstat file, ns on a CPU; 0 unknown.
func onCPU(file string) time.Duration {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	ns, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseInt(ns, 10, 64)
	return time.Duration(n)
}
