package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// service makes a bundle with requests of one service: mostly short ones, a few
// long ones, and some that failed.
func service(seed uint64, sources ...int) *evidence.Bundle {
	b := evidence.NewBundle()
	rng := rand.New(rand.NewPCG(seed, 1))
	for i, n := range sources {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: fmt.Sprintf("log-%d", i)}), "accesslog")
		s := p.Subject(evidence.Subject{Name: "gateway", PID: 7})
		routes := []evidence.NameID{p.Name("GET /a"), p.Name("GET /b"), 0}
		end := int64(1e18) + int64(i)*1e9
		for range n {
			end += rng.Int64N(1e6)
			lat := int64(1e6 + rng.ExpFloat64()*2e6)
			if rng.IntN(1000) == 0 {
				lat *= 100
			}
			outcome := evidence.OK
			if rng.IntN(500) == 0 {
				outcome = evidence.Failed
			}
			p.Request(evidence.Request{Subject: s, Route: routes[rng.IntN(3)], Start: end - lat, End: end, Outcome: outcome})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: 1e18, Until: end})
		p.Close()
	}
	b.Unify()
	b.Align()
	return b
}

func of(b *evidence.Bundle) *Timeline {
	ledgers := ledger.Build(b, ledger.Options{SLO: 20e6})
	s := evidence.SubjectID(0)
	if len(ledgers) > 0 {
		s = ledgers[0].Subject
	}
	return Of(b, ledgers, s)
}

// A picture never loses the slowest request of any span of time: a window that
// the points' cells fill shows the same highest latency as all its requests.
func TestPointsKeepTheSlowest(t *testing.T) {
	for seed := range uint64(4) {
		b := service(seed, 400_000, 1000, 200_000)
		x := of(b)
		r := &b.Requests
		points, failed := 0, 0
		for _, p := range x.Requests {
			points += len(p.At)
			of := make([]int, 0, p.Count)
			for i := range r.Len() {
				if a, _ := r.Origin.At(i).Artifact(); b.Artifacts[a].Name == p.Source {
					of = append(of, i)
				}
			}
			if len(of) != p.Count {
				t.Fatalf("%s: %d requests of %d", p.Source, p.Count, len(of))
			}
			if p.Count == 1000 && (p.Cell != 0 || len(p.At) != 1000) {
				t.Errorf("%s: its 1000 requests were drawn together", p.Source)
			}
			cell := max(p.Cell, 1)
			base := p.At[0]
			for _, i := range of {
				base = min(base, r.Start.At(i))
			}
			highest, shown := make(map[int64]int64), make(map[int64]int64)
			slow := 0
			for _, i := range of {
				k := (r.Start.At(i) - base) / cell
				highest[k] = max(highest[k], r.Latency(i))
				if r.Latency(i) > 20e6 {
					slow++
				}
				if r.Outcome.At(i) == evidence.Failed {
					failed++
				}
			}
			stands, marked := 0, 0
			for i, at := range p.At {
				k := (at - base) / cell
				shown[k] = max(shown[k], p.Latency[i])
				if p.Number != nil {
					stands += int(p.Number[i])
				} else {
					stands++
				}
				if p.Flags[i]&Slow != 0 {
					marked++
				}
				if (p.Latency[i] > 20e6) && p.Flags[i]&Slow == 0 {
					t.Fatalf("%s: a slow point is not marked", p.Source)
				}
			}
			for k, v := range highest {
				if shown[k] != v {
					t.Fatalf("%s: the highest of cell %d is %d, not %d", p.Source, k, shown[k], v)
				}
			}
			if stands != p.Count || slow > 0 && marked == 0 {
				t.Errorf("%s: points stand for %d of %d, %d of %d slow", p.Source, stands, p.Count, marked, slow)
			}
		}
		if points > MaxPoints {
			t.Errorf("%d points", points)
		}
		if failed == 0 {
			t.Error("none failed")
		}
	}
}

// A cell is at most 5 % high: of all requests it stands for, none is further below
// the point.
func TestLevels(t *testing.T) {
	last := -1
	for v := int64(0); v < 1<<40; v += max(1, v/1000) {
		k := latencyLevel(v)
		if k != last && k != last+1 {
			t.Fatalf("level jumps from %d to %d at %d", last, k, v)
		}
		last = k
	}
	for v := int64(64); v < 1<<50; v += v/7 + 1 {
		if up := v + v/20; latencyLevel(up) == latencyLevel(v) {
			t.Fatalf("%d and %d are of one level", v, up)
		}
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		counts []int
		room   int
		want   []int
	}{
		{[]int{10, 10}, 100, []int{10, 10}},
		{[]int{1000, 10}, 100, []int{90, 10}},
		{[]int{1000, 10, 500}, 100, []int{45, 10, 45}},
		{[]int{1000}, 100, []int{100}},
	} {
		var s []source
		for _, n := range c.counts {
			s = append(s, source{count: n})
		}
		if got := splitPoints(s, c.room); !slices.Equal(got, c.want) {
			t.Errorf("%v in %d: %v, want %v", c.counts, c.room, got, c.want)
		}
	}
}

// Ten million requests take about a second and little memory.
func BenchmarkPoints(b *testing.B) {
	bundle := service(1, 10_000_000)
	ledgers := ledger.Build(bundle, ledger.Options{SLO: 20e6})
	b.ReportAllocs()
	for b.Loop() {
		l := &layout{b: bundle, t: &Timeline{}, subject: ledgers[0].Subject, ledger: ledgers[0]}
		l.findSources()
		l.placeClocks()
		l.chooseRequests()
		l.addPoints()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e7, "ns/request")
}

// All that is made of ten million requests.
func BenchmarkOf(b *testing.B) {
	bundle := service(1, 10_000_000)
	ledgers := ledger.Build(bundle, ledger.Options{SLO: 20e6})
	b.ReportAllocs()
	for b.Loop() {
		Of(bundle, ledgers, ledgers[0].Subject)
	}
}
