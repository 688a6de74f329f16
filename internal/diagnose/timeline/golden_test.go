package timeline_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// recording reads everything in a fixture but what the recorder knew, or the
// files named.
func recording(t testing.TB, dir string, names ...string) *diagnose.Diagnosis {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := incident.NewBundle()
	for _, f := range files {
		if f.Name() == "truth.json" || len(names) > 0 && !slices.Contains(names, f.Name()) {
			continue
		}
		if err := format.Read(context.Background(), all.Formats, format.File(filepath.Join(dir, f.Name())), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRecorded holds what is shown of recordings against golden text, and all of
// it against what a time line promises.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		name, dir string
		files     []string
	}{
		{"ballast", "../../../lab/go-ballast/recorded/sick", nil},
		{"throttled", "../check/testdata/linux.cpu-throttled/sick", nil},
		{"lock", "../check/testdata/go.lock-contention/sick", nil},
		{"pool", "../check/testdata/service.pool-exhausted/sick", nil},
		{"page-faults", "../check/testdata/linux.page-faults/sick", nil},
		{"leak", "../check/testdata/go.goroutine-leak/sick", nil},
		{"thread pool", "../check/testdata/dotnet.threadpool-starvation/sick", nil},
		{"young collections", "../check/testdata/jvm.young-gc-rate/sick", nil},
		{"log only", "../../../lab/go-ballast/recorded/sick", []string{"access.log.gz"}},
		{"gctrace only", "../../../lab/go-ballast/recorded/sick", []string{"gctrace.log"}},
		{"profile only", "../../../lab/go-ballast/recorded/sick", []string{"cpu.pb.gz"}},
		{"log and gctrace", "../../../lab/go-ballast/recorded/sick", []string{"access.log.gz", "gctrace.log"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := recording(t, c.dir, c.files...)
			x := d.Timeline()
			promises(t, x)
			got := outline(x)
			golden := filepath.Join("testdata", strings.ReplaceAll(c.name, " ", "-")+".txt")
			if *goldentest.Update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; if the new one is right: %s\n%s", golden, goldentest.Command(), difference(string(want), got))
			}
		})
	}
}

func difference(want, got string) string {
	var out strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var x, y string
		if i < len(w) {
			x = w[i]
		}
		if i < len(g) {
			y = g[i]
		}
		if x != y {
			fmt.Fprintf(&out, "line %d\n- %s\n+ %s\n", i+1, x, y)
		}
	}
	return out.String()
}

// promises are what holds of every time line.
func promises(t *testing.T, x *timeline.Timeline) {
	t.Helper()
	points := 0
	for _, p := range x.Requests {
		n := len(p.At)
		points += n
		if len(p.Latency) != n || len(p.Route) != n || len(p.Flags) != n || len(p.Detail) != n || p.Number != nil && len(p.Number) != n {
			t.Fatalf("points of %s: columns differ in length", p.Source)
		}
		stands := 0
		for i := range n {
			if i > 0 && p.At[i] < p.At[i-1] {
				t.Fatalf("point %d of %s is out of order", i, p.Source)
			}
			if p.At[i] < x.From || p.At[i] > x.To {
				t.Errorf("point %d of %s is outside", i, p.Source)
			}
			if int(p.Route[i]) >= len(p.Routes) {
				t.Fatalf("point %d of %s has no route", i, p.Source)
			}
			if p.Number != nil {
				stands += int(p.Number[i])
			} else {
				stands++
			}
			if d := p.Detail[i]; d != 0 {
				if q := x.Slow[d-1]; q.At != p.At[i] || q.Latency != p.Latency[i] || q.Slow != (p.Flags[i]&timeline.Slow != 0) || p.Flags[i]&timeline.Traced == 0 {
					t.Errorf("point %d of %s is not the request it leads to", i, p.Source)
				}
			}
		}
		if stands != p.Count {
			t.Errorf("the points of %s stand for %d of %d requests", p.Source, stands, p.Count)
		}
	}
	if points > timeline.MaxPoints {
		t.Errorf("%d points", points)
	}
	for _, b := range x.Bands {
		if n := len(b.From); n > timeline.MaxBand || len(b.To) != n || b.Text != nil && len(b.Text) != n || b.Number != nil && (len(b.Number) != n || len(b.Longest) != n) {
			t.Errorf("band %s has %d things", b.ID, n)
		}
		for i := range b.From {
			if b.To[i] < b.From[i] || i > 0 && b.From[i] < b.From[i-1] {
				t.Fatalf("band %s is out of order at %d", b.ID, i)
			}
		}
	}
	for _, r := range x.Routes {
		var sum int64
		for _, p := range r.Parts {
			sum += p.Dur
		}
		if sum != r.Time {
			t.Errorf("the parts of %s are %d of %d", r.Name, sum, r.Time)
		}
	}
	for _, c := range x.Charts {
		for _, v := range c.Curves {
			if n := len(v.T); n == 0 || n > timeline.MaxCurve || len(v.V) != n || v.Max != nil && len(v.Max) != n {
				t.Errorf("curve %s %s has %d points", c.ID, v.ID, n)
			}
			for i := range v.T {
				if i > 0 && v.T[i] <= v.T[i-1] {
					t.Fatalf("curve %s %s is out of order at %d", c.ID, v.ID, i)
				}
				if v.Max != nil && v.Max[i] < v.V[i]*(1-1e-9)-1e-9 {
					t.Fatalf("curve %s %s at %d: the highest of %g is %g", c.ID, v.ID, i, v.V[i], v.Max[i])
				}
			}
		}
	}
	for i, q := range append(slices.Clone(x.Slow), x.Typical...) {
		if len(q.States) > timeline.MaxStates {
			t.Errorf("request %d has %d states", i, len(q.States))
		}
		at := q.At
		for k, s := range q.States {
			var parts int64
			for _, p := range s.Parts {
				parts += p.Dur
			}
			if s.At != at || s.Dur <= 0 || s.Mechanism == "" || s.Parts != nil && parts != s.Dur {
				t.Fatalf("state %d of request %d: at %d for %d, in parts %d", k, i, s.At-q.At, s.Dur, parts)
			}
			at += s.Dur
		}
		if at-q.At != q.Latency {
			t.Errorf("the states of request %d sum to %d of %d", i, at-q.At, q.Latency)
		}
	}
	for _, p := range x.Processors {
		for _, l := range p.Lanes {
			for i, s := range l.Spans {
				if s.To <= s.From || i > 0 && s.From < l.Spans[i-1].To || int(s.Request) > len(x.Slow) {
					t.Fatalf("%s: span %d is out of order", l.Name, i)
				}
			}
		}
	}
	for _, f := range x.Flames {
		sums := make([]int64, len(f.Nodes))
		for i, n := range f.Nodes {
			if i == 0 != (n.Parent < 0) || int(n.Parent) >= i {
				t.Fatalf("flame %s: node %d is not below an earlier one", f.ID, i)
			}
			if i > 0 {
				sums[n.Parent] += n.Value
			}
		}
		for i, n := range f.Nodes {
			if sums[i] > n.Value {
				t.Errorf("flame %s: below %s is more than it", f.ID, n.Name)
			}
		}
		if f.Nodes[0].Value != f.Total {
			t.Errorf("flame %s: the root is %d of %d", f.ID, f.Nodes[0].Value, f.Total)
		}
	}
}

// outline is a time line in words: short enough to be read, long enough that a
// change shows.
func outline(x *timeline.Timeline) string {
	var s strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	ms := func(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e6) }
	line("%s, anchored %v, %s ms, slow above %s ms", x.Subject, x.Anchored, ms(x.To-x.From), ms(x.Threshold))
	for _, p := range x.Requests {
		flags := map[timeline.Flags]int{}
		var highest int64
		detail := 0
		for i := range p.At {
			for _, f := range []timeline.Flags{timeline.Slow, timeline.Failed, timeline.Unfinished, timeline.Traced} {
				if p.Flags[i]&f != 0 {
					flags[f]++
				}
			}
			highest = max(highest, p.Latency[i])
			if p.Detail[i] != 0 {
				detail++
			}
		}
		line("requests of %s: %d as %d points, %d slow, %d failed, %d unfinished, %d traced, %d shown, highest %s ms, routes %s", p.Source, p.Count, len(p.At),
			flags[timeline.Slow], flags[timeline.Failed], flags[timeline.Unfinished], flags[timeline.Traced], detail, ms(highest), strings.Join(p.Routes, " | "))
	}
	if len(x.Requests) > 0 {
		line("charged: those of %s", x.Requests[x.Charged].Source)
	}
	for _, r := range x.Routes {
		line("route %s: %d slow, %s ms, %s", r.Name, r.Slow, ms(r.Time), partsOf(r.Parts))
	}
	for _, b := range x.Bands {
		var sum int64
		for i := range b.From {
			sum += b.To[i] - b.From[i]
		}
		text := ""
		if b.Text != nil {
			text = b.Text[len(b.Text)/2]
		}
		var watched int64
		for _, w := range b.Watched {
			watched += w[1] - w[0]
		}
		line("band %s (%s) of %s: %d, %s of %s ms, the middle one: %s", b.ID, b.Title, b.Source, len(b.From), ms(sum), ms(watched), text)
	}
	for _, c := range x.Charts {
		of := ""
		if c.Route != "" {
			of = ", of " + c.Route
		}
		line("chart %s (%s) in %s, stacked %v%s", c.ID, c.Title, c.Unit, c.Stacked, of)
		for _, v := range c.Curves {
			mean, highest, gaps := 0.0, math.Inf(-1), 0
			var known float64
			for i, y := range v.V {
				if math.IsNaN(y) {
					gaps++
					continue
				}
				highest = max(highest, y)
				if v.Max != nil {
					highest = max(highest, v.Max[i])
				}
				if i+1 < len(v.T) {
					d := float64(v.T[i+1] - v.T[i])
					mean += y * d
					known += d
				}
			}
			line("  %s (%s) of %s: %d points, %d gaps, %.3f to %.3f s, mean %.4g, highest %.4g", v.ID, v.Title, v.Source, len(v.T), gaps,
				float64(v.T[0]-x.From)/1e9, float64(v.T[len(v.T)-1]-x.From)/1e9, mean/max(known, 1), highest)
		}
	}
	for i, all := range [][]timeline.Request{x.Slow, x.Typical} {
		states := 0
		for _, q := range all {
			states += len(q.States)
		}
		line("%s: %d requests, %d states", []string{"slow", "typical"}[i], len(all), states)
		if len(all) == 0 {
			continue
		}
		q := all[0]
		line("  %s %s %s, %s %d, at %s ms, %s ms, %s, slow %v", q.Source, q.Origin, q.Route, x.Lanes, q.Lane, ms(q.At-x.From), ms(q.Latency), q.Outcome, q.Slow)
		for k, v := range q.States {
			if k == 12 {
				line("    …")
				break
			}
			line("    %s ms %s → %s %s| %s | %s | %s", ms(v.Dur), v.Kind, v.Mechanism, partsOf(v.Parts), v.What, v.Where, v.Holder)
		}
	}
	for _, p := range x.Processors {
		line("processors of %s, %s ms", p.Source, ms(p.To-p.From))
		for _, l := range p.Lanes {
			var work [timeline.NumWorks]int64
			linked := 0
			for _, v := range l.Spans {
				if v.Request != 0 {
					linked++
				}
				if v.Shares == nil {
					work[v.Work] += v.To - v.From
				}
				for _, h := range v.Shares {
					work[h.Work] += int64(h.Part * float64(v.To-v.From))
				}
			}
			line("  %s: %d spans, %d of slow requests, ms by work %v", l.Name, len(l.Spans), linked, each(work[:], ms))
		}
	}
	for _, f := range x.Flames {
		line("flame %s (%s): %d %s, %d nodes, cut %d", f.ID, f.Title, f.Total, f.Unit, len(f.Nodes), f.Cut)
		depth := make([]int, len(f.Nodes))
		shown := 0
		for i, n := range f.Nodes {
			if i > 0 {
				depth[i] = depth[n.Parent] + 1
			}
			if depth[i] <= 3 && n.Value*50 >= f.Total && shown < 20 {
				shown++
				line("  %s%s [%s] %.1f %%", strings.Repeat("  ", depth[i]), n.Name, n.Kind, 100*float64(n.Value)/float64(f.Total))
			}
		}
	}
	for _, o := range x.Omitted {
		line("not shown: %s", o)
	}
	return s.String()
}

func partsOf(all []timeline.Part) string {
	var s strings.Builder
	for _, p := range all {
		fmt.Fprintf(&s, "%s %.3f ", p.Mechanism, float64(p.Dur)/1e6)
	}
	return s.String()
}

func each(v []int64, f func(int64) string) (out []string) {
	for _, x := range v {
		out = append(out, f(x))
	}
	return out
}
