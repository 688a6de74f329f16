package routes

import (
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// TestMatch serves requests to two paths of one handler and one of another, at random, as a
// trace saw them and as clients did: later at both ends, by more when hosts are busy.
func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name string
		rate float64 // requests/s
		busy float64 // ns, mean delay at either end
		good float64 // share that must have the right route
	}{
		{"quiet", 200, 100e3, .98},
		{"busy", 1000, 500e3, .9},
		{"a client that sleeps", 200, 3e6, .8},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 8))
			b := evidence.NewBundle()
			trace := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
			s := trace.Subject(evidence.Subject{Kind: evidence.Process})
			trace.Clock().Error = 100e3
			type served struct {
				path       string
				start, end int64
			}
			var all []served
			at, end := int64(1e15), int64(0)
			for range 2000 {
				at += int64(1e9 * r.ExpFloat64() / c.rate)
				x := served{"GET /list", at, at + int64(300e3+500e3*r.Float64())}
				route := "main.page"
				switch r.IntN(4) {
				case 0:
					x.path, route, x.end = "POST /order", "main.order", at+int64(5e6+5e6*r.Float64())
				case 1:
					x.path = "GET /item"
				}
				all = append(all, x)
				end = max(end, x.end)
				trace.Request(evidence.Request{Subject: s, Lane: 9, Route: trace.Name(route), Start: x.start, End: x.end,
					Path: evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: x.end - x.start})})
			}
			trace.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: 1e15, Until: end})
			trace.Close()
			load := b.Builder(b.AddArtifact(evidence.Artifact{Name: "load.rows"}), "loadresult")
			for _, x := range all {
				load.Request(evidence.Request{Subject: s, Route: load.Name(x.path), Intended: x.start - int64(c.busy*r.ExpFloat64()), End: x.end + int64(c.busy*r.ExpFloat64())})
			}
			load.Close()
			Match(b)
			right, orders := 0, 0
			for i, x := range all {
				if b.Names.Text(b.Requests.Route.At(i)) == x.path {
					right++
				}
				if x.path == "POST /order" && b.Names.Text(b.Requests.Route.At(i)) == x.path {
					orders++
				}
			}
			if float64(right) < c.good*float64(len(all)) {
				t.Errorf("%d of %d have their route", right, len(all))
			}
			for i, x := range all {
				if x.path == "POST /order" && b.Names.Text(b.Requests.Route.At(i)) != x.path {
					t.Errorf("an order has the route %q: its handler answers nothing else", b.Names.Text(b.Requests.Route.At(i)))
					break
				}
			}
		})
	}
}

// TestMatchNothing has rows of other requests, of which the service's own are few: nothing is
// named after them.
func TestMatchNothing(t *testing.T) {
	b := traced(t, many(20, []string{"*main.cart"})...)
	Name(b)
	load := b.Builder(b.AddArtifact(evidence.Artifact{Name: "load.rows"}), "loadresult")
	for i := range 3 {
		at := int64(i+1)*1e9 + 50e3
		load.Request(evidence.Request{Subject: 0, Route: load.Name("GET /other"), Start: at - 60e3, End: at + 2e6})
	}
	load.Close()
	Match(b)
	for i := range 20 {
		if got := b.Names.Text(b.Requests.Route.At(i)); got != "main.cart" {
			t.Fatalf("%q", got)
		}
	}
}
