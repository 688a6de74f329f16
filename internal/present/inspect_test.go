package present

import (
	"bytes"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/present/text"
)

func inspected() *evidence.Bundle {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "gc.log", Formats: []string{"gctrace"}, Envelopes: []string{"gzip", "cri"}, Bytes: 123456, Tail: true}), "gctrace")
	*p.Clock() = evidence.Clock{Name: "since process start", Offset: 0, Error: 2e6, Resolution: 1e6}
	s := p.Subject(evidence.Subject{Runtime: "go"})
	start := at("14:02:10").UnixNano()
	for n := range int64(3) {
		from := start + n*1e9
		p.Interval(evidence.Interval{Subject: s, Kind: evidence.GCCycle, Start: from, End: from + 4e6, Origin: p.Origin(n + 1), Extra: []evidence.Extra{{Key: evidence.HeapLive, Value: 40 << 20}}})
		p.Interval(evidence.Interval{Subject: s, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: from, End: from + 12e3, Cause: p.Name("GC sweep termination"), Origin: p.Origin(n + 1)})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGC, From: start, Until: start + 3e9, Lost: 2})
	p.Table(evidence.Table{Title: "Cycles", Columns: []string{"", "count", "mean"}, Rows: [][]string{{"sweep termination", "3", "12 µs"}, {"a | b \x1b[1m", "1,234,567"}}})
	p.Warnf(2, "2 gc lines were not understood: other output is mixed into them; write standard error to its own file")
	p.Close()
	return b
}

func TestInspect(t *testing.T) {
	b := inspected()
	q := b.Builder(b.AddArtifact(evidence.Artifact{Name: "a/very/long/path/to/some/directory/with/trace.out", Formats: []string{"gotrace"}, Bytes: -1}), "gotrace")
	*q.Clock() = evidence.Clock{Name: "monotonic", Error: evidence.Unanchored}
	q.Cover(evidence.Coverage{Kind: evidence.CoverStates, From: 1, Until: 5e9})
	q.Close()
	for name, o := range map[string]text.Options{"inspect.txt": {}, "inspect.ascii.txt": {ASCII: true}} {
		var w bytes.Buffer
		if err := o.Inspect(&w, inspect.Of(b)); err != nil {
			t.Fatal(err)
		}
		golden(t, name, w.Bytes())
	}
	for name, b := range map[string]*evidence.Bundle{"inspect.json": b, "gc.json": inspected()} {
		var w bytes.Buffer
		if err := Forms[1].Inspect(&w, b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, w.Bytes())
	}
}
