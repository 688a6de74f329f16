package app

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// small returns a timeline with one of everything and with hostile names.
func small() *timeline.Timeline {
	const from = 1_763_695_082_000_000_007
	const evil = "</script><!--<script>alert(1)</script>\u2028&"
	return &timeline.Timeline{
		Subject: evil, From: from, To: from + 20_000_000_000, Anchored: true, Threshold: 3_000_000, Omitted: []string{evil},
		Requests: []timeline.Points{{
			Source: evil, Count: 12, Cell: 5, Routes: []string{"/play", evil},
			At: []int64{from + 5, from + 5_000_000_000, from + 20_000_000_000}, Latency: []int64{1, 400_000, 5_000_000_000}, Number: []uint32{1, 10, 1},
			Route: []uint16{0, 1, 1}, Flags: []timeline.Flags{0, timeline.Failed, timeline.Slow | timeline.Traced}, Detail: []int32{0, 0, 1},
		}},
		Bands: []timeline.Band{{
			ID: "gc-mark", Title: "concurrent mark", Source: "trace.out", From: []int64{from - 10, from + 100}, To: []int64{from + 50, from + 5_000_000_100},
			Text: []string{evil, ""}, Number: []uint32{3, 1}, Longest: []int64{20, 5_000_000_000}, Busy: []int64{40, 5_000_000_000},
			Watched: [][2]int64{{from, from + 1000}, {from + 2000, from + 6_000_000_000}},
		}},
		Charts: []timeline.Chart{{ID: "heap", Title: "heap", Unit: "bytes", Curves: []timeline.Curve{
			{ID: "used", Title: "heap", Source: "trace.out", T: []int64{from, from + 1e9, from + 2e9}, V: []float64{1 << 20, math.NaN(), 0}, Max: []float64{2 << 20, math.NaN(), 0}},
			{ID: "snapshot", Title: "heap, when asked for it", Source: "heap.pb.gz", T: []int64{from + 1e9}, V: []float64{3 << 20}, Readings: true},
		}}},
		Slow: []timeline.Request{{
			Source: "trace.out", Origin: "trace.out:7", Route: evil, Lane: 71, At: from + 20_000_000_000, Latency: 5_000_000_000, Outcome: "ok", Slow: true,
			States: []timeline.State{
				{At: from + 20_000_000_000, Dur: 4_000_000_000, Number: 3, Kind: "runnable", Mechanism: "requests_cpu", Parts: []timeline.Part{{Mechanism: "requests_cpu", Dur: 3_000_000_000}, {Mechanism: "collector_cpu", Dur: 1_000_000_000}}},
				{At: from + 24_000_000_000, Dur: 1_000_000_000, Kind: "lock wait", Mechanism: "lock", What: evil, Where: "main.f", Holder: "goroutine 7: running"},
			},
		}},
		Typical: []timeline.Request{{ // a clock of its own, and states that do not follow each other
			Source: "trace.out", At: from + 3, Latency: 30, Apart: true,
			States: []timeline.State{{At: from + 3, Dur: 10, Kind: "running", Mechanism: "own"}, {At: from + 23, Dur: 10, Kind: "running", Mechanism: "own"}},
		}},
		Processors: []timeline.Processors{{Source: "trace.out", From: from + 1000, To: from + 2000, Lanes: []timeline.Lane{{Name: "P0", Spans: []timeline.Span{
			{From: from + 1000, To: from + 1200, Work: timeline.ForRequest, Request: 1, Name: evil},
			{From: from + 1300, To: from + 1400, Work: timeline.Collector, Shares: []timeline.Share{{Work: timeline.Assist, Part: .25}}},
			{From: from + 1400, To: from + 1600, Work: timeline.Stopped, Shares: []timeline.Share{{Work: timeline.Stopped, Part: .5}}},
		}}, {Name: "P1"}}}},
		Flames: []timeline.Flame{{ID: "cpu", Title: "CPU", Unit: "ns", Total: 10, Cut: 1, Nodes: []timeline.Node{
			{Parent: -1, Name: "all", Kind: "own", Value: 10}, {Parent: 0, Name: evil, Kind: "gc", Value: 1 << 40},
		}}},
	}
}

func TestPayload(t *testing.T) {
	for name, tl := range map[string]*timeline.Timeline{"small": small(), "empty": {}} {
		got, err := Payload(tl)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(got) || bytes.ContainsAny(got, "<>&\u2028\u2029") {
			t.Errorf("%s: not safe inside a script element: %s", name, got)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, got, "", " "); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".json")
		if *goldentest.Update {
			if err := os.WriteFile(golden, pretty.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), pretty.String()); d != "" {
			t.Errorf("%s differs; if the new one is right: %s\n%s", golden, goldentest.Command(), d)
		}
	}
}

func TestPayloadRefusesWhatDoesNotFit(t *testing.T) {
	for want, spoil := range map[string]func(*timeline.Timeline){
		"requests of access.log: columns of 2 and 1 rows": func(tl *timeline.Timeline) {
			tl.Requests = []timeline.Points{{Source: "access.log", At: []int64{1, 2}, Latency: []int64{1}}}
		},
		"band gc-mark: columns of 1 and 0 rows": func(tl *timeline.Timeline) { tl.Bands = []timeline.Band{{ID: "gc-mark", From: []int64{1}}} },
		"flame cpu: node 1 comes before its parent 1": func(tl *timeline.Timeline) {
			tl.Flames = []timeline.Flame{{ID: "cpu", Nodes: []timeline.Node{{Parent: -1}, {Parent: 1}}}}
		},
	} {
		tl := &timeline.Timeline{}
		spoil(tl)
		if _, err := Payload(tl); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestScript runs the script's functions that need no document, one of which
// decodes a payload, in node.
func TestScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on PATH: the script's functions are tested in the browser only")
	}
	dir := t.TempDir()
	payload, err := Payload(small())
	if err != nil {
		t.Fatal(err)
	}
	expected, err := json.Marshal(decoded(small()))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"payload.json": payload, "expected.json": expected} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(node, "--test", "testdata/pure.test.mjs")
	c.Env = append(os.Environ(), "SCRIPT=script", "PAYLOAD="+filepath.Join(dir, "payload.json"), "EXPECTED="+filepath.Join(dir, "expected.json"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// decoded returns what the script should decode from a timeline's payload.
func decoded(tl *timeline.Timeline) any {
	type object = map[string]any
	since := func(v []int64) (out []int64) {
		for _, x := range v {
			out = append(out, x-tl.From)
		}
		return out
	}
	requests := func(in []timeline.Request) []object {
		var out []object
		for _, r := range in {
			var states []object
			for _, s := range r.States {
				parts := []object{}
				for _, p := range s.Parts {
					parts = append(parts, object{"mechanism": p.Mechanism, "dur": p.Dur})
				}
				states = append(states, object{"at": s.At - r.At, "dur": s.Dur, "number": max(s.Number, 1), "parts": parts, "kind": s.Kind, "mechanism": s.Mechanism, "what": s.What, "where": s.Where, "holder": s.Holder})
			}
			out = append(out, object{"at": r.At - tl.From, "latency": r.Latency, "lane": r.Lane, "source": r.Source, "origin": r.Origin, "route": r.Route, "outcome": r.Outcome, "slow": r.Slow, "apart": r.Apart, "states": states})
		}
		return out
	}
	p, b, f := tl.Requests[0], tl.Bands[0], tl.Flames[0]
	at := since(p.At)
	for i := range at {
		at[i] -= at[i] % 5 // a tick
	}
	var routes []string
	for _, r := range p.Route {
		routes = append(routes, p.Routes[r])
	}
	var flags []int
	for _, v := range p.Flags {
		flags = append(flags, int(v))
	}
	var curves []object
	for _, c := range tl.Charts[0].Curves {
		var figures []any
		for _, v := range c.V {
			if math.IsNaN(v) {
				figures = append(figures, nil)
			} else {
				figures = append(figures, v)
			}
		}
		curves = append(curves, object{"readings": c.Readings, "t": since(c.T), "v": figures})
	}
	var parents, values []int64
	var names, kinds []string
	for _, n := range f.Nodes {
		parents, values, names, kinds = append(parents, int64(n.Parent)), append(values, n.Value), append(names, n.Name), append(kinds, n.Kind)
	}
	return object{
		"from": "1763695082000000007", "span": tl.To - tl.From, "anchored": tl.Anchored, "threshold": tl.Threshold,
		"requests": []object{{"source": p.Source, "at": at, "latency": p.Latency, "flags": flags, "detail": p.Detail, "number": p.Number, "route": routes}},
		"bands":    []object{{"id": b.ID, "at": since(b.From), "dur": spanDurations(b.From, b.To), "text": b.Text, "since": []int64{0, 2000}, "end": []int64{1000, 6_000_000_000}}},
		"charts":   []object{{"id": "heap", "curves": curves}},
		"slow":     requests(tl.Slow), "typical": requests(tl.Typical),
		"processors": []object{{"at": 1000, "span": 1000, "lanes": []object{
			{
				"name": "P0", "at": []int{0, 300, 400}, "dur": []int{200, 100, 200}, "work": []string{"request", "collector", "stopped"}, "request": []int{1, 0, 0},
				"text": []string{tl.Processors[0].Lanes[0].Spans[0].Name, "", ""}, "share": [][]any{{1, "collector", .75}, {1, "assist", .25}, {2, "stopped", .5}},
			},
			{"name": "P1", "at": []int{}, "dur": []int{}, "work": []string{}, "request": nil, "text": []string{}, "share": []int{}},
		}}},
		"flames": []object{{"id": "cpu", "parent": parents, "name": names, "kind": kinds, "value": values}},
	}
}

func BenchmarkPayload(b *testing.B) {
	tl := largest.timeline()
	for b.Loop() {
		p, err := Payload(tl)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(p)))
	}
}
