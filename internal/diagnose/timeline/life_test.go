package timeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// The life of a request has few states that follow each other and sum to its latency, and the same request is found by its
// route and by its place in the file.
func TestLife(t *testing.T) {
	for _, dir := range []string{"../../../lab/go-ballast/recorded/sick", "../check/testdata/go.lock-contention/sick", "../check/testdata/service.pool-exhausted/sick", "../check/testdata/dotnet.threadpool-starvation/sick"} {
		b := incident.NewBundle()
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Name() == "truth.json" {
				continue
			}
			if err := format.Read(context.Background(), all.Formats, format.File(filepath.Join(dir, f.Name())), b); err != nil {
				t.Fatal(err)
			}
		}
		i := incident.Of(b, incident.Options{})
		slowest, err := timeline.LifeOf(i.Bundle, i.Ledgers(), timeline.Slowest, 6)
		if err != nil {
			t.Fatal(dir, err)
		}
		if len(slowest.States) == 0 || len(slowest.States) > 6 || slowest.Rank < 1 || slowest.Latency <= slowest.Limit || slowest.Latency <= 0 {
			t.Errorf("%s: %d states, rank %d of %d", dir, len(slowest.States), slowest.Rank, slowest.Of)
		}
		at, sum, charged := slowest.At, int64(0), int64(0)
		for _, s := range slowest.States {
			if s.At != at {
				t.Errorf("%s: a state begins at %d, the one before it ended at %d", dir, s.At, at)
			}
			at, sum = s.At+s.Dur, sum+s.Dur
		}
		for _, c := range slowest.Charges {
			charged += c.Dur
		}
		if sum != slowest.Latency || charged != slowest.Latency {
			t.Errorf("%s: states sum to %d and charges to %d of %d ns", dir, sum, charged, slowest.Latency)
		}
		for _, which := range []string{slowest.Route, slowest.Origin} {
			again, err := timeline.LifeOf(i.Bundle, i.Ledgers(), which, 6)
			if which != "" && (err != nil || again.Route != slowest.Route || again.Latency > slowest.Latency) {
				t.Errorf("%s: %q: %v", dir, which, err)
			}
		}
		if _, err := timeline.LifeOf(i.Bundle, i.Ledgers(), "no/such/thing", 6); !errors.Is(err, timeline.ErrNoRequest) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := timeline.LifeOf(incident.NewBundle(), nil, timeline.Slowest, 6); !errors.Is(err, timeline.ErrNoRequest) {
		t.Error(err)
	}
}

// A poll that answers after 30 s, as it always does, is not the request that people ask for.
func TestLifeOfTheSlowestOfTheSlow(t *testing.T) {
	b := incident.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	s := p.Subject(evidence.Subject{Name: "gateway", PID: 7})
	play, poll := p.Name("GET /play"), p.Name("GET /poll")
	answer := func(route evidence.NameID, end, latency int64) {
		p.Request(evidence.Request{Subject: s, Route: route, Start: end - latency, End: end, Outcome: evidence.OK})
	}
	begin := int64(1e18)
	for n := range int64(1000) {
		answer(play, begin+n*1e8, 1e7+n%10*1e5)
		if n%25 == 0 {
			answer(poll, begin+n*1e8, 3e10+n*1e4)
		}
	}
	answer(play, begin+500*1e8, 9e8)
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: begin, Until: begin + 1e11})
	p.Close()
	i := incident.Of(b, incident.Options{})
	l, err := timeline.LifeOf(i.Bundle, i.Ledgers(), timeline.Slowest, 6)
	if err != nil || l.Route != "GET /play" || l.Latency != 9e8 {
		t.Errorf("%+v: %v", l, err)
	}
}

// A queue before the service is not what a request waited for that is charged to a CPU.
func TestLifeAtTheEntrance(t *testing.T) {
	b := evidence.NewBundle()
	queue := b.Names.WaitID(evidence.Wait{Kind: evidence.ArrivedAt, Of: "port 80"})
	what := b.Names.Text(queue)
	l := timeline.Life{Request: timeline.Request{States: []timeline.State{{Mechanism: "requests_cpu", What: what}, {Mechanism: "queue", What: what}, {Mechanism: "lock", What: "mu"}}}}
	timeline.DropEntrances(&l, b)
	if s := l.States; what == "" || s[0].What != "" || s[1].What != what || s[2].What != "mu" {
		t.Errorf("%q: %+v", what, s)
	}
}
