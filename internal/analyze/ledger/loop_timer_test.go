package ledger

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Requests of an event loop of which nothing is known while it sleeps wait for a timer where its sleeps end after whole milliseconds.
func TestLoopTimer(t *testing.T) {
	const us = int64(time.Microsecond)
	for _, x := range []struct {
		about    string
		requests int
		slept    func(i int64) int64 // µs, of 62 ms from when the request was read
		want     Mechanism
	}{
		{"time-outs", 40, func(int64) int64 { return 61_080 }, Timer},
		{"time-outs, woken late by a busy host", 40, func(i int64) int64 { return 61_050 + i*5 }, Timer},
		{"events", 40, func(i int64) int64 { return 61_050 + i*23 }, Unobserved},
		{"a timer of some milliseconds after events", 40, func(int64) int64 { return 2_080 }, Timer},
		{"a timer that only lets the loop go on, after events", 40, func(int64) int64 { return 1_080 }, Unobserved},
		{"too few", 19, func(int64) int64 { return 61_080 }, Unobserved},
		{"the loop works for most of the time, on what is not known", 40, func(int64) int64 { return 20_080 }, Unobserved},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt"}), "exchanges")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "node", PID: 42})
		p.SeenFrom(evidence.FromKernel)
		at := int64(1763689985e9)
		for i := range int64(x.requests) {
			at += int64(200 * time.Millisecond)
			path := evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Unobserved, Holder: 42, Dur: 62_000 * us})
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /batch"), Start: at, End: at + 62_000*us, Path: path})
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /batch"), Start: at + 70_000*us, End: at + 73_000*us, // a quick one between, in whose stretch the loop wakes for something else
				Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Unobserved, Holder: 42, Dur: 3_000 * us})})
			p.Interval(evidence.Interval{Subject: s, Lane: 42, Kind: evidence.InKernel, Start: at + 70_200*us, End: at + 72_700*us, Cause: p.Name(evidence.KernelPoll)})
			end := at + 61_900*us
			if x.slept(i) < 3_000 { // it slept before, until an event
				p.Interval(evidence.Interval{Subject: s, Lane: 42, Kind: evidence.InKernel, Start: at + 500*us, End: end - x.slept(i)*us - 150*us, Cause: p.Name(evidence.KernelPoll)})
			}
			p.Interval(evidence.Interval{Subject: s, Lane: 42, Kind: evidence.InKernel, Start: end - x.slept(i)*us, End: end, Cause: p.Name(evidence.KernelPoll)})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverExchanges, From: int64(1763689985e9), Until: at + int64(time.Second)})
		p.Close()
		l := one(t, b, Options{SLO: 10 * time.Millisecond})
		var sum Charges
		for _, row := range l.Slow {
			c := l.Of(row)
			sum.Add(&c)
		}
		if len(l.Slow) != x.requests || sum.Sum() != int64(x.requests)*62_000*us {
			t.Fatalf("%s: %d slow requests, %d ns charged", x.about, len(l.Slow), sum.Sum())
		}
		for m, ns := range sum {
			if m := Mechanism(m); 2*ns > sum.Sum() != (m == x.want) {
				t.Errorf("%s: %v is %d of %d ns, want most of it to be %v", x.about, m, ns, sum.Sum(), x.want)
			}
		}
	}
}
