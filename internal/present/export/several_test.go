package export

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/base/evidence"
)

// services returns traces and CPU profiles of two services, and a third process that has the
// name of one of them.
func services(slo time.Duration) *Source {
	b := evidence.NewBundle()
	for i, about := range []evidence.Subject{{Name: "gateway", Runtime: "go", PID: 1}, {Name: "orders", Runtime: "go", PID: 2}, {Name: "orders", Runtime: "go", PID: 3}} {
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: strings.Repeat("i", i+1) + ".out"}), "test")
		id := p.Subject(about)
		stack := p.Stack([]evidence.Frame{{Func: p.Name("main.serve")}})
		for n := range int64(30) {
			start := 1795231082e9 + n*20e6
			var path evidence.Path
			p.Request(evidence.Request{Subject: id, Route: p.Name("GET /"), Lane: 5, Start: start, End: start + 9e6 + int64(i)*1e6, Origin: p.Origin(n + 1),
				Path: path.Append(evidence.Segment{Kind: evidence.Running, Dur: 9e6 + int64(i)*1e6, Stack: stack})})
			p.Sample(evidence.Sample{Subject: id, Stack: stack, Type: p.Name("cpu"), Unit: p.Name("nanoseconds"), Value: 10e6, Origin: p.Origin(n + 1)})
		}
		p.Fact(evidence.Fact{Subject: id, Key: "profile.kind", Value: "cpu", From: 1795231082e9, Until: 1795231083e9, Origin: p.Origin(0)})
		p.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverStates, From: 1795231082e9, Until: 1795231083e9})
		p.Close()
	}
	return Of(b, Options{SLO: slo})
}

// TestSeveralServices checks that each form has all services and names the service of all it shows.
func TestSeveralServices(t *testing.T) {
	s := services(time.Millisecond)
	want := []string{"gateway pid 1", "orders pid 2", "orders pid 3"}
	of := make(map[string]int)
	for _, row := range table(t, exported(t, s, "csv", "requests")) {
		of[row["process"]]++
	}
	f := scoped(t, exported(t, s, "speedscope", ""))
	if f.Name != strings.Join(want, ", ") {
		t.Errorf("speedscope: it is of %q", f.Name)
	}
	r := decodeTracks(t, exported(t, s, "perfetto", ""))
	for _, x := range want {
		if of[x] != 30 {
			t.Errorf("csv: %d requests of %s", of[x], x)
		}
		var evented, sampled int
		for _, p := range f.Profiles {
			switch {
			case !strings.HasSuffix(*p.Name, ", "+x):
			case p.Type == "evented":
				evented++
			default:
				sampled++
			}
		}
		if evented != 30 || sampled != 2 {
			t.Errorf("speedscope: %d requests and %d profiles of %s", evented, sampled, x)
		}
		for _, part := range []string{"cpu", "slow"} {
			if !slices.ContainsFunc(parsed(t, exported(t, s, "pprof", part)).Sample, func(y *profile.Sample) bool { return slices.Contains(y.Label["process"], x) }) {
				t.Errorf("pprof %s: nothing of %s", part, x)
			}
		}
	}
	if n := len(r.named("slow requests, over 1 ms")); n != 3 {
		t.Errorf("perfetto: %d tracks of slow requests", n)
	}
	_, err := preparePprof(services(time.Hour), "slow")
	if err == nil || !strings.Contains(err.Error(), "none of 90 took longer than slow for its service; set --slo") {
		t.Errorf("nothing slow: %v", err)
	}
}

// In one file, access lines and a collector's log have clocks of their own.
func TestTwoClocksInOneFile(t *testing.T) {
	b := evidence.NewBundle()
	a := b.AddArtifact(evidence.Artifact{Name: "pod.log"})
	p := b.Builder(a, "accesslog")
	id := p.Subject(evidence.Subject{Name: "gateway"})
	p.Request(evidence.Request{Subject: id, Start: 1795231082e9, End: 1795231082e9 + 1e6, Origin: p.Origin(1)})
	p.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRequests, From: 1795231082e9, Until: 1795231083e9})
	p.Close()
	p = b.Builder(a, "gctrace")
	p.Clock().Error = evidence.Unanchored
	p.Interval(evidence.Interval{Subject: id, Kind: evidence.GCCycle, Start: 5e9, End: 5e9 + 1e6, Origin: p.Origin(2)})
	p.Close()
	s := Of(b, Options{})
	if row := table(t, exported(t, s, "csv", "intervals"))[0]; row["start"] != "" || row["start_ns"] != "5000000000" {
		t.Errorf("a cycle of no known time was at %q", row["start"])
	}
	if row := table(t, exported(t, s, "csv", "requests"))[0]; row["began"] != "2026-11-21T03:18:02.000000000Z" {
		t.Errorf("the request began at %q", row["began"])
	}
	if r := decodeTracks(t, exported(t, s, "perfetto", "")); len(r.named("GC cycles")) != 0 || len(s.Omitted) != 1 {
		t.Errorf("a cycle of no known time is drawn; omitted: %q", s.Omitted)
	}
}
