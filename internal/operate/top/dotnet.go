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
		if !v.holdsFor(3*time.Second, func(x float64) bool { return x > 0 }) {
			return ""
		}
		return "work waits for a pool thread"
	}},
	{evidence.SeriesPoolCompleted, "low while work is queued: pool threads block", nil},
	{evidence.SeriesContentions, "> 100/s: threads compete for locks", alertAbove(100, 3*time.Second, "threads compete for locks")},
	{evidence.SeriesGCTime, "> 20 %: GC takes too much of the time", alertAbove(20, 3*time.Second, "GC takes too much of the time")},
	{evidence.SeriesGen2Collections, "> 0 all the time: full GCs; see LOH size", alertAbove(0, 5*time.Second, "full GCs all the time")},
	{evidence.SeriesLOHSize, "keeps growing: objects of 85 kB and more are held", alertGrowing(100e3, 60*time.Second, "objects of 85 kB and more are held")},
	{evidence.SeriesExceptions, "> 100/s: costly, each unwinds the stack", alertAbove(100, 3*time.Second, "costly, each unwinds the stack")},
	{evidence.SeriesTimers, "as many as requests in flight: requests wait for timers", nil},
	{evidence.SeriesRequestsInFlight, "growing at a steady request rate: requests pile up", alertGrowing(1, 10*time.Second, "requests pile up")},
	{evidence.SeriesConnectionQueue, "> 0: connections wait for a pool thread", alertAbove(0, 3*time.Second, "connections wait for a pool thread")},
	{evidence.SeriesRequestQueue, "> 0: requests wait for a pool thread", alertAbove(0, 3*time.Second, "requests wait for a pool thread")},
}

// poolStarved judges the size of the pool. Up to one thread per CPU the pool adds threads at once. Beyond that it
// adds one only after a delay, and only while work waits.
func poolStarved(v View) string {
	n, cores, busy := v.newestValue(), v.Board.availableCores(), v.cpuPercent()
	if math.IsNaN(busy) || busy >= saturated {
		return ""
	}
	if rate := v.growthRate(10 * time.Second); n > cores && rate >= .5 && v.risesFor(10*time.Second) {
		return fmt.Sprintf("grows by %s/s with CPU at %.0f %%: pool starved", units.Num(rate), busy)
	}
	if v.holdsFor(5*time.Second, func(x float64) bool { return x > metrics.ManyThreads*cores }) {
		return fmt.Sprintf("%s × CPUs with CPU at %.0f %%: pool threads block", units.Num(n/cores), busy)
	}
	return ""
}

// counterProviders are the event sources whose counters a session requests.
var counterProviders = []string{"System.Runtime", "Microsoft.AspNetCore.Hosting", "Microsoft-AspNetCore-Server-Kestrel"}

// dotnet reads the counters of a .NET process from a session of its runtime.
type dotnet struct {
	session *ipc.Session
	done    chan struct{} // closed when the stream has ended

	mu      sync.Mutex
	pending []Reading
	end     error // why the stream ended; nil while it lasts
}

// Dotnet are the counters of .NET: its EventCounters.
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
		err := readCounters(session, d.addReading)
		d.mu.Lock()
		d.end = cmp.Or(err, error(ErrEnded))
		d.mu.Unlock()
	}()
	return d, nil
}

func (d *dotnet) addReading(r Reading) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = append(d.pending, r)
}

// Read returns what the runtime has sent since the last call.
func (d *dotnet) Read(context.Context) ([]Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.pending
	d.pending = nil
	return out, d.end
}

// Close ends the session. An old runtime hangs if it is stopped while it writes counters, so Close first waits for
// a moment between two of them.
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

// readCounters passes each counter of a stream to add. It returns nil if the stream ends at a valid place.
func readCounters(stream io.Reader, add func(Reading)) error {
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
			continue // the next event may be whole
		}
		if x, ok := decodeCounter(e.Meta.Provider, record); ok {
			x.At = time.Unix(0, e.Time)
			add(x)
		}
	}
}

// decodeCounter returns the reading of one EventCounter's payload: the mean over the interval, or the increase in it
// (CounterType "Sum").
//
// Source: https://github.com/dotnet/runtime/blob/main/src/libraries/System.Private.CoreLib/src/System/Diagnostics/Tracing/CounterPayload.cs
func decodeCounter(provider string, record eventpipe.Record) (Reading, bool) {
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

// dotnetUnit returns the unit of a counter and the factor to it. "MB" is 10^6 bytes.
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

// perSecond returns the unit of a rate of something counted in unit.
func perSecond(unit string) string {
	if unit == "count" {
		return "1/s"
	}
	return unit + "/s"
}
