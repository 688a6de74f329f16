package diagnose

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// TestRoutesThatWaitForATimer has requests of an event loop that wait for a timer of its program. A route on which all do, some longer than others, as those
// of long polls, may be meant so. A route on which one request in five waits is not.
func TestRoutesThatWaitForATimer(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	for _, x := range []struct {
		what  string
		waits func(i int64) int64 // ms that a request waits for the timer
		found bool
	}{
		{"a long poll", func(i int64) int64 { return 300 + i*37%2900 }, false},
		{"one in five", func(i int64) int64 { return 700 * max(0, i%5-3) }, true},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt"}), "exchanges")
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop", PID: 42, Runtime: "jvm", Version: "17.0.9"})
		p.Clock().Name = "unix"
		p.SeenFrom(evidence.FromKernel)
		at := int64(1763689985e9)
		for i := range int64(120) {
			at += 4000 * ms
			took := x.waits(i)*ms + 2*ms
			p.Request(evidence.Request{Subject: s, Route: p.Name("GET /tides/{id}"), Start: at, End: at + took, Origin: p.Origin(i),
				Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.NetWait, Cause: p.Name("10.0.0.7:5432"), Dur: ms}).Append(evidence.Segment{Kind: evidence.Unobserved, Holder: 42, Dur: took - ms})})
			if took > 10*ms {
				p.Interval(evidence.Interval{Subject: s, Lane: 42, Kind: evidence.InKernel, Start: at + took - 80*us - x.waits(i)*ms, End: at + took, Cause: p.Name(evidence.KernelPoll)})
			}
		}
		loop := stacktest.Intern(p, stacktest.Of("sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollSelectorImpl.doSelect", "io.netty.channel.nio.NioEventLoop.run", "java.lang.Thread.run", "[nioEventLoopGroup-2]"))
		for look := int64(1763689985e9); look < at; look += 200 * ms {
			p.Sample(evidence.Sample{Subject: s, Time: look, Lane: 42, Stack: loop, Type: p.Name(evidence.SampleThread), Unit: p.Name("count"), Value: 1, Origin: p.Origin(1)})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverThreads, From: int64(1763689985e9), Until: at + 5000*ms, Origin: p.Origin(1)})
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverExchanges, From: int64(1763689985e9), Until: at + 5000*ms})
		p.Close()
		d, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		timer := false
		for _, v := range d.Verdicts {
			if v.Cause == "service.waiting" {
				timer = true
				if (v.Verdict == check.Supported) != x.found {
					t.Errorf("%s: %s: %s %s", x.what, v.Verdict, v.Title, v.Summary)
				}
			}
		}
		if !timer {
			t.Errorf("%s: waits were not judged", x.what)
		}
	}
}
