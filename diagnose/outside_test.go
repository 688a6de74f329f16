package diagnose

import (
	"context"
	"testing"

	"github.com/unstall/unstall/evidence"
)

// A storm between two traces is not what the traces say of quieter seconds.
func TestSlowWhileNothingWasTraced(t *testing.T) {
	const ms, second = int64(1e6), int64(1e9)
	for _, storm := range []int64{2, 8} { // s: within the trace, after it
		b := evidence.NewBundle()
		requests := func(name string, traced bool, from, until int64) {
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: name, About: evidence.Subject{Name: "gateway", PID: 4711}}), name)
			s := p.Subject(evidence.Subject{})
			for at := from; at < until; at += 10 * ms {
				took := ms
				if at/second == storm {
					took = 50 * ms
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
		d, err := Run(context.Background(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[int64]int{2: 0, 8: 100}[storm]; d.Requests.Outside != want {
			t.Errorf("a storm at %d s: %d slow requests outside the trace, want %d", storm, d.Requests.Outside, want)
		}
	}
}
