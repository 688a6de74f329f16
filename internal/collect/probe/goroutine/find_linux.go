package goroutine

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

// profileEach is the time between two profiles; the last is taken at the end.
const profileEach = 10 * time.Second

// findAccess returns one access for a Go process of this host.
func findAccess(_ context.Context, t discover.Target) []probe.Access {
	if t.PID <= 0 || !registersKnown {
		return nil
	}
	release, ok := IsGo(t.PID)
	if !ok {
		return nil
	}
	return []probe.Access{{
		Probe: name,
		Where: fmt.Sprintf("the goroutines in the memory of pid %d", t.PID),
		Record: func(ctx context.Context, plan probe.Plan, sink probe.Sink) error {
			if plan.Traced || plan.Always { // they take profiles by themselves, or it lasts for ever
				return nil
			}
			if plan.For > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, plan.For)
				defer cancel()
			}
			table, err := openTable(t.PID, release)
			if err != nil {
				return nil // what serves no net/http/pprof is said to lack profiles
			}
			return table.recordProfiles(ctx, t, sink)
		},
	}}
}

// recordProfiles writes a profile now, in each period, and at the end.
func (t *table) recordProfiles(ctx context.Context, of discover.Target, sink probe.Sink) error {
	symbols := symbol.NewProcess(of.PID)
	for n := 1; ; n++ {
		p, err := t.takeProfile(symbols, time.Now())
		if err != nil || len(p.Sample) == 0 {
			return nil //nolint:nilerr // it has ended
		}
		out, err := sink.Create(capture.Meta{Name: fmt.Sprintf("goroutine-%d.pb.gz", n), Probe: name, Origin: "process_vm_readv", About: of.Subject()})
		if err != nil {
			return err
		}
		if err := errors.Join(writeProfile(p, out), out.Close()); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the recording has ended
		}
		probe.Wait(ctx, profileEach) // and once more at the end
		if !probe.Alive(of.PID) {
			return nil
		}
	}
}

func writeProfile(p *profile.Profile, out io.Writer) error {
	z := gzip.NewWriter(out)
	return errors.Join(p.WriteUncompressed(z), z.Close())
}

// takeProfile takes a profile of all goroutines as runtime/pprof writes it: how many there are with each stack.
func (t *table) takeProfile(symbols *symbol.Process, now time.Time) (*profile.Profile, error) {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "goroutine", Unit: "count"}}, PeriodType: &profile.ValueType{Type: "goroutine", Unit: "count"}, Period: 1, TimeNanos: now.UnixNano(),
	}
	samples := make(map[string]*profile.Sample)
	locations := make(map[string]*profile.Location)
	err := t.eachGoroutine(func(_ State, frames []uint64, stands int64) {
		functions := FunctionsOf(symbols, frames)
		if len(functions) == 0 {
			return
		}
		if root := functions[len(functions)-1]; strings.HasPrefix(root, "runtime.") && root != "runtime.main" { // the runtime's own count as none in its profile, either
			return
		}
		var stack []*profile.Location
		for _, function := range functions {
			l := locations[function]
			if l == nil {
				id := uint64(len(locations) + 1)
				f := &profile.Function{ID: id, Name: function, SystemName: function}
				l = &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
				locations[function] = l
				p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			}
			stack = append(stack, l)
		}
		key := strings.Join(functions, "\n")
		s := samples[key]
		if s == nil {
			s = &profile.Sample{Location: stack, Value: []int64{0}}
			samples[key] = s
			p.Sample = append(p.Sample, s)
		}
		s.Value[0] += stands
	})
	return p, err
}
