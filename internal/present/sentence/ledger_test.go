package sentence

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
)

// Rows that are small each and large together stay one row of their mechanism; what is folded is less than that.
func TestShorterKeepsMechanismsTogether(t *testing.T) {
	rows := []Row{{Mechanism: "dependency", Title: "waiting for a dependency: db", Ms: 30}}
	for range 3 {
		rows = append(rows, Row{Mechanism: "pool_thread", Title: "waiting for a free thread: loop", Ms: 9, Note: "share"})
	}
	rows = append(rows, Row{Mechanism: "lock", Title: "waiting for a lock: a", Ms: 4}, Row{Mechanism: "lock", Title: "waiting for a lock: b", Ms: 3}, Row{Mechanism: "own", Title: "own work", Ms: 2},
		Row{Mechanism: "other", Title: "other (2)", Ms: 1, Of: 2}, Row{Mechanism: "unobserved", Ms: 33}, Row{Mechanism: "unexplained"})
	got := Shorter(rows, 100, 5)
	var sum float64
	for _, r := range got {
		sum += r.Ms
	}
	if want := "waiting for a free thread: loop and 2 more"; len(got) != 6 || got[1].Title != want || got[1].Ms != 27 || got[1].Note != "share" || sum != 100 {
		t.Errorf("%+v, want %q second, and 100 ms in all, not %g", got, want, sum)
	}
	if r := got[3]; r.Title != "other (4)" || r.Ms != 8 {
		t.Errorf("folded: %+v", r)
	}
	if whole := Shorter(rows, 100, 20); len(whole) != len(rows) {
		t.Errorf("%d rows of %d where there is room for all", len(whole), len(rows))
	}
}

// A sum that nobody waited for says how long one request took.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		slow  int
		total float64 // ms
		want  string
	}{{286, 2.5e6, "41.7 min of slow requests went (286, 8.74 s each on average)"}, {100, 59e3, "59 s of slow requests went"}, {1, 70e3, "70 s of slow requests went"}} {
		if got := Where(&diagnose.Diagnosis{Requests: &diagnose.Requests{Slow: c.slow}}, c.total); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// One request is told as one.
func TestSlowOfOne(t *testing.T) {
	for _, c := range []struct {
		apart, held int
		ms          float64
		want        string
	}{
		{1, 0, 0, "1 more outside the recording is not counted"}, {2, 0, 0, "2 more outside the recording are not counted"},
		{0, 1, 5, "1 more only because the recorder held it, for 5 ms"}, {0, 2, 5, "2 more only because the recorder held them, for 2.5 ms each"},
	} {
		items := Slow(&diagnose.Requests{Apart: c.apart, Held: c.held, HeldMs: c.ms})
		if got := items[len(items)-1]; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Rows that do not show the share of the cause are said to hold parts of it, also where rows of other things happen to sum to it.
func TestReconciled(t *testing.T) {
	for name, c := range map[string]struct {
		entries []diagnose.Entry
		parts   bool
	}{
		"a row has it":                     {[]diagnose.Entry{{Mechanism: "lock", SlowMs: 95}, {Mechanism: "own", SlowMs: 5}}, false},
		"rows of one mechanism have it":    {[]diagnose.Entry{{Mechanism: "lock", Detail: "a", SlowMs: 50}, {Mechanism: "lock", Detail: "b", SlowMs: 45}, {Mechanism: "own", SlowMs: 5}}, false},
		"rows of GC have it":               {[]diagnose.Entry{{Mechanism: "stop_the_world", SlowMs: 50}, {Mechanism: "mark_assist", SlowMs: 45}, {Mechanism: "own", SlowMs: 5}}, false},
		"no row has it":                    {[]diagnose.Entry{{Mechanism: "queue", SlowMs: 80}, {Mechanism: "own", SlowMs: 20}}, true},
		"rows of two mechanisms sum to it": {[]diagnose.Entry{{Mechanism: "queue", SlowMs: 80}, {Mechanism: "stop_the_world", SlowMs: 16}, {Mechanism: "own", SlowMs: 4}}, true},
	} {
		d := &diagnose.Diagnosis{Ledger: c.entries, Requests: &diagnose.Requests{Slow: 9, SlowTotalMs: 100}, Verdicts: []diagnose.Verdict{{Cause: "x.y", Verdict: "supported", Saves: &diagnose.Saves{Value: 96}}}}
		if got := Reconciled(d); (got != "") != c.parts || c.parts && !strings.HasPrefix(got, "The 96 % that x.y accounts for are parts of these rows") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
