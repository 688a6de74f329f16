package incident_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
)

// passedOn is a web server's log of requests that a pool of workers served, each after a wait, and the
// pool's own log with whole seconds.
func passedOn(served int, wait func(i int) int64) *evidence.Bundle {
	const from, work = int64(1_795_268_461e9), int64(40e6)
	b := incident.NewBundle()
	at := "unix:/run/php.sock"
	web := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := web.Subject(evidence.Subject{Name: "nginx", PID: 7, Runtime: platform.Nginx.ID})
	source := rand.New(rand.NewPCG(1, 2))
	var ends []int64
	for i := range 2000 {
		start := from + int64(i)*10e6
		took := wait(i) + work + source.Int64N(10e6)
		path := evidence.Path(nil).Append(evidence.Segment{Kind: evidence.NetWait, Dur: took, Cause: web.Name(at)}).Append(evidence.Segment{Kind: evidence.Unobserved, Dur: 1e6})
		web.Request(evidence.Request{Subject: s, Route: web.Name("GET /"), Start: start, End: start + took + 1e6, Path: path})
		ends = append(ends, start+took)
	}
	web.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: from, Until: from + 20e9})
	web.Close()
	php := b.Builder(b.AddArtifact(evidence.Artifact{Name: "php.log"}), "phpfpm-access")
	s = php.Subject(evidence.Subject{Name: "php-fpm", PID: 8, Runtime: platform.PHPFPM.ID})
	php.Clock().Resolution = 1e9
	for _, end := range ends[:served] {
		start := (end - work - 5e6) / 1e9 * 1e9
		php.Request(evidence.Request{Subject: s, Route: php.Name("GET /"), Start: start, End: start + work + 5e6})
	}
	php.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: from, Until: from + 20e9})
	php.Fact(evidence.Fact{Subject: s, Key: evidence.FactListens, Value: "www" + evidence.Link + at, Number: math.NaN()})
	php.Close()
	return b
}

// waited is how long the web server's requests waited for a worker in the mean, ns.
func waited(t *testing.T, b *evidence.Bundle) float64 {
	t.Helper()
	r := &incident.Of(b, incident.Options{}).Bundle.Requests
	var sum float64
	n := 0
	for i := range r.Len() {
		var all int64
		for s := range r.Path(i).All {
			all += s.Dur
			if s.Kind == evidence.PoolWait {
				sum += float64(s.Dur)
			}
		}
		if len(r.Path(i)) > 0 {
			n++
			if all != r.Latency(i) {
				t.Fatalf("row %d: its states take %d of %d ns", i, all, r.Latency(i))
			}
		}
	}
	return sum / float64(n)
}

func TestThroughPools(t *testing.T) {
	rising := func(i int) int64 { return int64(i) * 100e3 } // to 200 ms
	if got := waited(t, passedOn(2000, rising)); math.Abs(got-100e6) > 5e6 {
		t.Errorf("waits of 100 ms in the mean are told as %.1f ms", got/1e6)
	}
	if got := waited(t, passedOn(2000, func(int) int64 { return 0 })); got > 2e6 {
		t.Errorf("no waits are told as %.1f ms", got/1e6)
	}
	if got := waited(t, passedOn(1000, rising)); got != 0 { // half of its log is missing
		t.Errorf("a log of half of the requests tells of waits of %.1f ms", got/1e6)
	}
}

// A request that was followed from the web server through the pool is one request.
func TestCountedOnce(t *testing.T) {
	for _, c := range []struct {
		served int
		want   int // services whose requests count
	}{{2000, 1}, {1000, 2}} { // of half a log it is not known whose requests they are
		i := incident.Of(passedOn(c.served, func(i int) int64 { return int64(i) * 100e3 }), incident.Options{})
		if got := i.Counted(); len(got) != c.want || i.Bundle.Subjects[got[0].Subject].Name != "nginx" {
			t.Errorf("of %d requests in the pool's log, those of %d services count, want %d, nginx's first", c.served, len(got), c.want)
		}
		if got := i.Ledgers(); len(got) != 2 {
			t.Errorf("%d services have a ledger, want both", len(got))
		}
	}
}

// What the workers of a master use it uses.
func TestMasters(t *testing.T) {
	for _, c := range []struct {
		runtime string
		want    float64
		left    int
	}{{platform.PHPFPM.ID, .7, 1}, {"go", .1, 3}} {
		b := incident.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "procfs.txt"}), "procfs")
		var all []evidence.SubjectID
		for i, v := range []float64{.1, .2, .4} {
			s := p.Subject(evidence.Subject{Name: "php-fpm", PID: 7 + i})
			all = append(all, s)
			p.Series(evidence.Series{Subject: s, Name: evidence.SeriesProcessCPU, T: []int64{1e9, 2e9 + int64(i), 3e9, 4e9}, V: []float64{v, v, v, v}, Origin: p.Origin(1)})
		}
		p.Describe(all[0], func(s *evidence.Subject) { s.Runtime = c.runtime })
		for _, pid := range []float64{8, 9} {
			p.Fact(evidence.Fact{Subject: all[0], Key: evidence.FactWorker, Number: pid})
		}
		p.Cover(evidence.Coverage{Subject: all[0], Kind: evidence.CoverHostCPU, From: 1e9, Until: 4e9})
		p.Close()
		got := incident.Of(b, incident.Options{}).Bundle
		mean, _ := got.SeriesOf(all[0], evidence.SeriesProcessCPU).Mean(1e9, 4e9)
		if math.Abs(mean-c.want) > 1e-9 || len(got.Series) != c.left {
			t.Errorf("%s: it used %v cores, of %d series, want %v of %d", c.runtime, mean, len(got.Series), c.want, c.left)
		}
	}
}
