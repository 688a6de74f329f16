// Package threadpool simulates .NET's thread pool under a closed loop of requests: what
// becomes of a pool whose threads wait, and what awaiting or more threads would give. What
// starvation costs is decided by the order of queues and by timers, which no formula holds,
// so rules and constants are those of the runtime's own sources, .NET Core 3.1 and .NET 5 to
// 10 (each file names its own).
//
// Not modelled: arrivals that do not wait for answers, requests that wait for several
// operations one after the other, the memory rule of the gate thread.
package threadpool

import (
	"errors"
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/model"
)

// Pattern is what threads of .NET's pool do while an operation of a request is out.
type Pattern string

const (
	TaskWait  Pattern = "task"  // they wait for a task: .Result, .Wait(), GetAwaiter().GetResult(). From 6 on the pool makes up for them
	SleepWait Pattern = "sleep" // they look again and again whether it is complete, and sleep in between
	Call      Pattern = "call"  // they wait in a call that needs no other thread of the pool to end: sync I/O, Thread.Sleep
	Await     Pattern = "await" // they do other work
)

// Case is a process with a thread pool under a closed loop: so many clients, each of
// which sends its next request when it has its answer. A request waits for one operation.
type Case struct {
	Version     string // of .NET: "3.1.2", "10.0.0"
	Cores       int    // Environment.ProcessorCount
	Min, Max    int    // worker threads; 0: what the runtime does by itself
	Threads     int    // of the pool when the load begins; 0: Min
	Pattern     Pattern
	Connections int     // requests in flight, at most
	Service     Service // of the operation
	CPU         float64 // s a request computes; 0: next to nothing
}

// Service is how long the operation takes that requests wait for.
type Service struct {
	Seconds float64 // 0: not known
	From    string  // who says so: "--set service-time=500ms", "1,204 requests before the load rose"
}

// Outcome is what becomes of a pool under a load. Ranges hold what the model does
// not know (how operations end, when threads wake) and how far it was off where it was
// measured.
type Outcome struct {
	Threads model.Estimate // of the pool, in the end
	Rate    model.Estimate // requests/s, in the end
	Latency model.Estimate // ms, the mean in the end
	P99     model.Estimate // ms
	Start   Start          // before that
	Growth  model.Estimate // threads/s while it starves
	Settles model.Estimate // s until threads and rate no longer rise
	Ends    string         // "enough" | "max" | "cpu" | "climbing"
	Curve   []Point
}

// Start is the first ten seconds of a load: what a short test of it shows.
type Start struct {
	Threads model.Estimate `json:"pool_threads"` // as in Outcome
	Rate    model.Estimate `json:"requests_per_s"`
	Latency model.Estimate `json:"latency_ms"` // NaN where nothing was answered
}

// Point is a second of a load.
type Point struct {
	At      float64 // s
	Threads int
	Queue   int     // work items
	Rate    float64 // requests/s
	Latency float64 // ms, the mean; NaN: no answer
}

// Where the climb of a pool's threads ends.
const (
	EndsEnough   = "enough"   // no work waits for a thread
	EndsMax      = "max"      // MaxThreads
	EndsCPU      = "cpu"      // no processor is free
	EndsClimbing = "climbing" // not within the time looked at
)

// What a prediction of a pool needs.
var (
	ErrServiceTime = errors.New("the duration of the operation that requests wait for is unknown: give --set service-time=500ms, as measured at the dependency, by a single request or by a run without load")
	ErrConnections = errors.New("the number of requests in flight is unknown: give --set connections=125")
	ErrCores       = errors.New("the number of CPUs of the process is unknown")
)

// Check says what is missing.
func (c Case) Check() error {
	switch {
	case c.Cores < 1:
		return ErrCores
	case c.Connections < 1:
		return ErrConnections
	case !(c.Service.Seconds > 0):
		return ErrServiceTime
	case c.Max > 0 && c.Min > c.Max:
		return fmt.Errorf("min-threads=%d is above max-threads=%d: the runtime rejects this", c.Min, c.Max)
	}
	if n, ok := Release(c.Version); !ok || n < 3 || n > 99 {
		return fmt.Errorf("version %q: the model covers .NET Core 3.1 and .NET 5 to 10", c.Version)
	}
	return nil
}

// Awaited is the case after the fix: what was waited for is awaited.
func (c Case) Awaited() Case {
	c.Pattern = Await
	return c
}

// WithMin is the case with another least number of threads.
func (c Case) WithMin(threads int) Case {
	c.Min = threads
	return c
}

// EnoughThreads is the least Min with which no work waits for a thread: one for each
// request in flight, and those that pass requests and answers on.
func (c Case) EnoughThreads() int { return c.Connections + 2*c.Cores }

// defaultMax is MaxThreads unless it is set.
const defaultMax = math.MaxInt16

// simulatedSeconds returns how much of a load is simulated at most, s: threads come by one a
// second.
func (c Case) simulatedSeconds() int { return min(120+c.Connections*13/10, 1800) }

// Predict simulates the load, several times over. It takes some seconds at most.
func (c Case) Predict() (Outcome, error) {
	if err := c.Check(); err != nil {
		return Outcome{}, err
	}
	if c.Min == 0 {
		c.Min = c.Cores
	}
	if c.Max == 0 {
		c.Max = max(defaultMax, c.Min)
	}
	release, _ := Release(c.Version)
	var runs []result
	events := 0
	for seed, socket := range []bool{false, true, false, true, false} {
		if events > mostEvents && seed > 1 {
			break // many requests: chance decides little
		}
		runs = append(runs, c.simulateRun(release, socket, uint64(seed+1)))
		events += runs[seed].events
	}
	return c.joinRuns(runs), nil
}
