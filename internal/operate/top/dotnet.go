package top

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
	"github.com/unstall/unstall/internal/format/nettrace/eventpipe"
)

// .NET's EventCounters, as dotnet-counters shows them:
// https://learn.microsoft.com/dotnet/core/diagnostics/available-counters

var dotnetRules = []Rule{
	{evidence.SeriesPoolThreads, "> 3 × CPUs or growing 1–2/s with CPU below 90 %: pool starved", poolStarved},
	{evidence.SeriesPoolQueue, "> 0 for seconds: work waits for a pool thread", func(v View) string {
		if !v.lasts(3*time.Second, func(x float64) bool { return x > 0 }) {
			return ""
		}
		return "work waits for a pool thread"
	}},
	{evidence.SeriesPoolCompleted, "low while work is queued: pool threads block", nil},
	{evidence.SeriesContentions, "> 100/s: threads compete for locks", above(100, 3*time.Second, "threads compete for locks")},
	{evidence.SeriesGCTime, "> 20 %: GC takes too much of the time", above(20, 3*time.Second, "GC takes too much of the time")},
	{evidence.SeriesGen2Collections, "> 0 all the time: full GCs; see LOH size", above(0, 5*time.Second, "full GCs all the time")},
	{evidence.SeriesLOHSize, "keeps growing: objects of 85 kB and more are held", climbing(100e3, 60*time.Second, "objects of 85 kB and more are held")},
	{evidence.SeriesExceptions, "> 100/s: costly, each unwinds the stack", above(100, 3*time.Second, "costly, each unwinds the stack")},
	{evidence.SeriesTimers, "as many as requests in flight: requests wait for timers", nil},
	{evidence.SeriesRequestsInFlight, "growing at a steady request rate: requests pile up", climbing(1, 10*time.Second, "requests pile up")},
	{evidence.SeriesConnectionQueue, "> 0: connections wait for a pool thread", above(0, 3*time.Second, "connections wait for a pool thread")},
	{evidence.SeriesRequestQueue, "> 0: requests wait for a pool thread", above(0, 3*time.Second, "requests wait for a pool thread")},
}

// poolStarved reads the size of the pool. Up to one for each processor threads
// come at once; from there on the pool waits before it adds one, which it does
// only while work waits.
func poolStarved(v View) string {
	n, cores, busy := v.now(), v.Board.cores(), v.busy()
	if math.IsNaN(busy) || busy >= saturated {
		return ""
	}
	if rate := v.climb(10 * time.Second); n > cores && rate >= .5 && v.risesFor(10*time.Second) {
		return fmt.Sprintf("grows by %s/s with CPU at %.0f %%: pool starved", units.Num(rate), busy)
	}
	if v.lasts(5*time.Second, func(x float64) bool { return x > metrics.ManyThreads*cores }) {
		return fmt.Sprintf("%s × CPUs with CPU at %.0f %%: pool threads block", units.Num(n/cores), busy)
	}
	return ""
}

// counterProviders are the event sources whose counters are asked for.
var counterProviders = []string{"System.Runtime", "Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel"}

// dotnet reads the counters of a .NET process from a session of its runtime.
type dotnet struct {
	session *ipc.Session
	done    chan struct{} // closed when the stream has ended

	mu      sync.Mutex
	pending []Reading
	end     error // why the stream ended, nil: it has not
}

// Dotnet are the EventCounters of a .NET process.
var Dotnet = Counters{"dotnet", openDotnet, dotnetRules}

// openDotnet starts a session. The runtime sends counters once a second at most.
func openDotnet(ctx context.Context, t discover.Target, every time.Duration, _ func() time.Time) (Source, error) {
	client, err := ipc.Find(t.PID)
	if err != nil {
		return nil, err
	}
	seconds := max(1, int(math.Round(every.Seconds())))
	plan := ipc.Config{BufferMB: 4, NoStacks: true}
	for _, name := range counterProviders {
		plan.Providers = append(plan.Providers, ipc.Provider{Name: name, Keywords: math.MaxUint64, Level: 4, Args: "EventCounterIntervalSec=" + strconv.Itoa(seconds)})
	}
	session, err := client.Start(ctx, plan)
	if err != nil {
		return nil, err
	}
	d := &dotnet{session: session, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		err := counters(session, d.add)
		d.mu.Lock()
		d.end = cmp.Or(err, error(ErrEnded))
		d.mu.Unlock()
	}()
	return d, nil
}

func (d *dotnet) add(r Reading) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = append(d.pending, r)
}

// Read gives what the runtime has sent since it was last asked.
func (d *dotnet) Read(context.Context) ([]Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.pending
	d.pending = nil
	return out, d.end
}

// Close ends the session. That waits for a moment between two counters where the
// runtime is an old one, which hangs if it is stopped while they are written.
func (d *dotnet) Close() error {
	select {
	case <-d.done:
		return d.session.Close()
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := d.session.Stop(ctx, 2*time.Second)
	return errors.Join(err, d.session.Close())
}

// counters hands on each counter of a stream; nil when the stream ended where it
// should.
func counters(stream io.Reader, add func(Reading)) error {
	r, err := eventpipe.NewReader(stream)
	if err != nil {
		return err
	}
	r.FileOrder()
	for {
		e, err := r.Next()
		var cut *eventpipe.Cut
		switch {
		case err == io.EOF, errors.As(err, &cut) && errors.Is(cut.Err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		case e.Meta.Name != "EventCounters":
			continue
		}
		record, err := r.Decode(e.Meta, e.Payload())
		if err != nil {
			continue // the next one may be whole
		}
		if x, ok := counter(e.Meta.Provider, record); ok {
			x.At = time.Unix(0, e.Time)
			add(x)
		}
	}
}

// counter reads one EventCounter's payload: a mean over the interval, or how much
// it grew in it (CounterType "Sum"):
// https://github.com/dotnet/runtime/blob/main/src/libraries/System.Private.CoreLib/src/System/Diagnostics/Tracing/CounterPayload.cs
func counter(provider string, record eventpipe.Record) (Reading, bool) {
	fields, ok := record.Get("", "Payload") // the payload's type has no name
	if !ok {
		fields, _ = record.Get("Payload")
	}
	text := func(name string) string {
		v, _ := fields.List.Get(name)
		return v.Text
	}
	number := func(name string) (float64, bool) {
		v, ok := fields.List.Get(name)
		return v.Number(), ok
	}
	name := text("Name")
	if name == "" {
		return Reading{}, false
	}
	x := Reading{ID: provider + "/" + name, Group: provider, Title: cmp.Or(text("DisplayName"), name)}
	x.Unit, x.Scale = dotnetUnit(text("DisplayUnits"))
	if grew, ok := number("Increment"); ok {
		over, _ := number("IntervalSec")
		if !(over > 0) {
			return Reading{}, false
		}
		x.Kind, x.Value = Rate, grew/over
		x.Unit = perSecond(x.Unit)
		return x, true
	}
	mean, ok := number("Mean")
	x.Value = mean
	return x, ok
}

// dotnetUnit is the unit of a counter and its factor. "MB" is 10^6 bytes.
func dotnetUnit(display string) (unit string, scale float64) {
	switch strings.ToUpper(display) {
	case "MB":
		return "bytes", 1e6
	case "B":
		return "bytes", 1
	case "", "COUNT":
		return "count", 1
	}
	return display, 1
}

// perSecond is the unit of what grows in a unit.
func perSecond(unit string) string {
	if unit == "count" {
		return "1/s"
	}
	return unit + "/s"
}
