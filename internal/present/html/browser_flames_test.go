package html

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/operate/compare"
)

// threaded returns a time line with flames of threads: some idle, one lock that two routes wait for.
func threaded() *timeline.Timeline {
	t := many(500, 50)
	node := func(parent int32, name, kind string, v int64) timeline.Node {
		return timeline.Node{Parent: parent, Name: name, Kind: kind, Value: v}
	}
	threads := []timeline.Node{node(-1, "all", "own", 100), node(0, "park", "idle", 60), node(0, "run", "runtime", 40), node(2, "cart", "own", 25), node(3, "lock", "library", 25), node(2, "order", "own", 15), node(5, "lock", "library", 10)}
	waiting := []timeline.Node{node(-1, "all", "own", 35), node(0, "cart", "own", 25), node(1, "lock", "library", 25), node(0, "order", "own", 10), node(3, "lock", "library", 10)}
	t.Flames = []timeline.Flame{{ID: "threads", Title: "thread samples", Unit: "1", Total: 100, Nodes: threads}, {ID: "threads-waiting", Title: "threads that waited", Unit: "1", Total: 35, Nodes: waiting}}
	return t
}

// TestFlameWays checks the views of a flame graph: idle threads are hidden until they are asked for, and the graph can start at the
// callers, or at one function with its callers and callees. The file saved for speedscope holds what is shown.
func TestFlameWays(t *testing.T) {
	b := startBrowser(t)
	for name, l := range map[string]look{"wide": wide, "narrow": narrow} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, save(t, drawn{threaded()}), l)
			flames := report(0) + `.flames`
			names := func() []string { return eval[[]string](p, flames+`.shown()`) }
			values := func() []int64 { return eval[[]int64](p, flames+`.values()`) }
			if got := names(); slices.Contains(got, "park") || values()[0] != 40 {
				t.Errorf("at first it shows %q of %v: idle threads are to be hidden", got, values())
			}
			eval[chromedp.Void](p, flames+`.idle(true)`)
			if got := names(); !slices.Contains(got, "park") || values()[0] != 100 {
				t.Errorf("with idle threads it shows %q of %v", got, values())
			}
			eval[chromedp.Void](p, flames+`.idle(false)`)
			eval[chromedp.Void](p, flames+`.look(1)`)
			if got, v := names(), values(); len(got) < 2 || got[1] != "lock" || v[1] != 35 {
				t.Errorf("who calls: %q, %v; want the lock with 35 at the root", got, v)
			}
			var scope struct {
				Profiles []struct {
					EndValue int64
					Samples  [][]int
				}
			}
			if err := json.Unmarshal([]byte(eval[string](p, flames+`.speedscope()`)), &scope); err != nil || len(scope.Profiles) != 1 || scope.Profiles[0].EndValue != 40 {
				t.Errorf("for speedscope: %v, %+v", err, scope)
			}
			eval[chromedp.Void](p, flames+`.look(0)`)
			eval[chromedp.Void](p, flames+`.look(2)`)
			if got, callers := names(), eval[[]string](p, flames+`.callers()`); got[0] != "lock" || !slices.Contains(callers, "cart") || !slices.Contains(callers, "order") || !slices.Contains(callers, "run") {
				t.Errorf("one function: %q called by %q", got, callers)
			}
			eval[chromedp.Void](p, flames+`.flame(1)`)
			if got := names(); len(got) < 2 || got[1] != "lock" {
				t.Errorf("of threads that waited %q comes first, not what blocks", got)
			}
			p.drawn()
			p.quiet()
		})
	}
}

// TestFlameDifference checks that side by side, the second run's flame graph shows what changed.
func TestFlameDifference(t *testing.T) {
	b := startBrowser(t)
	before, after := diagnosis(t, "sick"), diagnosis(t, "fixed")
	file := filepath.Join(t.TempDir(), "compared.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &compare.Comparison{Schema: compare.Schema, Before: "before", After: "after", Metrics: []compare.Result{{Name: "p99_ms", Title: "p99", Unit: "ms", Result: compare.Unclear}}}
	if err := (Options{}).Compare(f, c, before, after); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p := b.open(t, file, wide)
	// both articles have flames; the second is after
	shares := eval[[]float64](p, `(() => { const r = window.unstall.reports.filter(Boolean)[1].flames; r.since(true); return r.delta(); })()`)
	if len(shares) == 0 || shares[0] != 0 {
		t.Fatalf("the whole of a flame is as large as before: %v", shares)
	}
	if !slices.ContainsFunc(shares, func(v float64) bool { return v > .01 || v < -.01 }) {
		t.Error("nothing changed between a sick and a healthy service")
	}
	p.drawn()
	if text := p.text("main"); !strings.Contains(text, "more of all than before") {
		t.Error("the legend does not say what the colours mean")
	}
	p.quiet()
}
