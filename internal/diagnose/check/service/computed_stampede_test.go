package service

import (
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// recomputed is ten seconds of a Go service in which a request comes each 10 ms. A value expires every so often (ms); so many of those that come then make it, at once
// or one after the other, which takes 120 ms of CPU samples in the function compile.
type recomputed struct {
	every, crowd int64
	spread       int64    // ms between those of a crowd
	extra        int64    // requests that come with a crowd and not else
	always       bool     // the function also runs between crowds
	roots        []string // of the stacks in which it runs, outermost last
}

func (in recomputed) subject() *check.Case {
	if in.roots == nil {
		in.roots = []string{"main.page", "net/http.(*conn).serve"}
	}
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "exchanges.txt"}), "exchanges")
	s := p.Subject(evidence.Subject{Runtime: "go", CPUs: 2})
	var rows []evidence.Request
	add := func(at, took int64, kind evidence.Kind) {
		rows = append(rows, evidence.Request{Subject: s, Lane: evidence.LaneID(1 + len(rows)%90), Route: p.Name("GET /page"), Start: epoch + at*ms, End: epoch + (at+took)*ms,
			Path: evidence.Path(nil).Append(evidence.Segment{Kind: kind, Dur: took * ms})})
	}
	stack := func(functions ...string) evidence.StackID {
		var frames []evidence.Frame
		for _, f := range functions {
			frames = append(frames, evidence.Frame{Func: p.Name(f)})
		}
		return p.Stack(frames)
	}
	compile, serve := stack(slices.Concat([]string{"main.compile"}, in.roots)...), stack("main.look", "main.page", "net/http.(*conn).serve")
	runs := func(at int64, in evidence.StackID) {
		p.Sample(evidence.Sample{Subject: s, Time: epoch + at*ms, Stack: in, Type: p.Name(evidence.SampleOnCPU), Unit: p.Name("ns"), Value: 10 * ms, Origin: p.Origin(1)})
	}
	for at := int64(0); at < 10_000; at += 10 {
		since := at % in.every
		if slow := since/max(10, in.spread) < in.crowd && since%max(10, in.spread) == 0 && at >= 500; !slow {
			add(at, 1, evidence.Unobserved)
			continue
		}
		add(at, 120, evidence.Unobserved)
		for range in.extra {
			add(at, 120, evidence.Unobserved)
		}
		for k := range int64(6) {
			runs(at+1+20*k, compile)
		}
	}
	for at := int64(0); at < 10_000; at += 100 {
		runs(at+5, serve)
		if in.always {
			runs(at+7, compile)
			runs(at+47, compile)
			runs(at+77, compile)
		}
	}
	slices.SortStableFunc(rows, func(a, b evidence.Request) int { return int(a.End - b.End) })
	for _, r := range rows {
		p.Request(r)
	}
	for _, kind := range []string{evidence.CoverRequests, evidence.CoverStates, evidence.CoverExchanges} {
		p.Cover(evidence.Coverage{Subject: s, Kind: kind, From: epoch, Until: epoch + 10_000*ms, Sampled: ms, Origin: p.Origin(1)})
	}
	p.Close()
	return &check.Case{Bundle: b, Subject: s, Ledger: ledger.Build(b, ledger.Options{})[0]}
}

// A value that many compute at once is found where they do so again and again, for requests, and hardly between; else the same work has other reasons.
func TestComputedStampede(t *testing.T) {
	for name, x := range map[string]struct {
		in    recomputed
		found bool
	}{
		"eight at once, every 1.5 s":        {recomputed{every: 1500, crowd: 8}, true},
		"two crowds":                        {recomputed{every: 4500, crowd: 8}, false},
		"three at once":                     {recomputed{every: 1500, crowd: 3}, false},
		"one after the other":               {recomputed{every: 1500, crowd: 8, spread: 150}, false},
		"it runs at any time":               {recomputed{every: 1500, crowd: 8, always: true}, false},
		"more come then":                    {recomputed{every: 1500, crowd: 8, extra: 4}, false},
		"a job of the service, no requests": {recomputed{every: 1500, crowd: 8, roots: []string{"main.refresh"}}, false},
	} {
		v := CacheStampede.Judge(x.in.subject())
		if v.Supported() != x.found || x.found && !strings.HasPrefix(v.Title, "Up to 8 requests at a time run main.compile, again each 1.5 s") {
			t.Errorf("%s: %s: %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}
