package diagnose

import (
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
)

// A storm between two traces is not what the traces say of quieter seconds; one that nobody would notice is told all the same.
func TestSlowWhileNothingWasTraced(t *testing.T) {
	const ms, second = int64(1e6), int64(1e9)
	for _, c := range []struct {
		storm     int64 // s: within the trace, after it
		takes     int64
		slo       time.Duration
		out, felt int
	}{{2, 50 * ms, 0, 0, 0}, {8, 50 * ms, 0, 100, 100}, {8, 5 * ms, 0, 100, 0}, {8, 5 * ms, 4 * time.Millisecond, 100, 100}} {
		b := evidence.NewBundle()
		requests := func(name string, traced bool, from, until int64) {
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name, About: evidence.Subject{Name: "gateway", PID: 4711}}), name)
			s := p.Subject(evidence.Subject{})
			for at := from; at < until; at += 10 * ms {
				took := ms
				if at/second == c.storm {
					took = c.takes
				}
				r := evidence.Request{Subject: s, Start: at, End: at + took}
				if traced {
					r.Path = evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: took})
				}
				p.Request(r)
			}
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: from, Until: until})
			p.Close()
		}
		requests("trace", true, second, 4*second)
		requests("rows", false, second, 11*second)
		i := incident.Of(b, incident.Options{SLO: c.slo})
		if n, felt := countSlowOutsideTrace(i.Bundle, i.Ledgers()[0]); n != c.out || felt != c.felt {
			t.Errorf("%+v: %d slow requests outside the trace, of which %d would be noticed", c, n, felt)
		}
	}
}
