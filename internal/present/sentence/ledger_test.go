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
		{1, 0, 0, "1 more before or after the recording is not counted"}, {2, 0, 0, "2 more before or after the recording are not counted"},
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
		if got := Reconciled(d); (got != "") != c.parts || c.parts && !strings.HasPrefix(got, "The 96 % that x.y accounts for are spread over these rows") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A small share and its row differ by few points of the slow time, and yet by more than a reader takes for the same.
func TestReconciledOfASmallShare(t *testing.T) {
	for row, parts := range map[float64]bool{36: false, 28: false, 26: false, 21: true} {
		d := &diagnose.Diagnosis{Ledger: []diagnose.Entry{{Mechanism: "queue", SlowMs: 60}, {Mechanism: "allocation_stall", SlowMs: row}, {Mechanism: "own", SlowMs: 40 - row}}, Requests: &diagnose.Requests{Slow: 9, SlowTotalMs: 100},
			Verdicts: []diagnose.Verdict{{Cause: "x.y", Verdict: "supported", Saves: &diagnose.Saves{Value: 28}}}}
		if got := Reconciled(d); (got != "") != parts || parts && !strings.Contains(got, "are spread over these rows") {
			t.Errorf("a row of %g %%: %q", row, got)
		}
	}
}

// A row that is larger than what the cause accounts for has that as a part.
func TestReconciledBeyondUsual(t *testing.T) {
	d := &diagnose.Diagnosis{Ledger: []diagnose.Entry{{Mechanism: "dependency", SlowMs: 98}, {Mechanism: "own", SlowMs: 2}}, Requests: &diagnose.Requests{Slow: 9, SlowTotalMs: 100},
		Verdicts: []diagnose.Verdict{{Cause: "x.y", Verdict: "supported", Saves: &diagnose.Saves{Value: 80}}}}
	if got, want := Reconciled(d), "The 80 % that x.y accounts for are a part of the largest row: what is usual, or has another cause, is in it, too."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Requests that several load generators made at the same time are of all their files, and each load has its line only where it is none of them.
func TestRequestsOfSeveralFiles(t *testing.T) {
	for want, files := range map[string][]string{
		"467 from a.txt":                  nil,
		"467 from a.txt and 1 more file":  {"in/a.txt", "in/b.txt"},
		"467 from a.txt and 2 more files": {"in/a.txt", "in/b.txt", "in/c.txt"},
	} {
		r := &diagnose.Requests{Count: 467, Source: "in/a.txt", LedgerSource: "in/a.txt", Files: files}
		if got := Requests(r)[0]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		d := &diagnose.Diagnosis{Requests: r, Loads: []diagnose.Load{{Source: "in/a.txt"}, {Source: "in/b.txt"}, {Source: "in/z.txt"}}}
		if left, lines := Loads(d), 3-max(1, min(len(files), 2)); len(left) != lines || left[len(left)-1].Source != "in/z.txt" {
			t.Errorf("%d lines of loads beside requests of %v, want %d", len(left), files, lines)
		}
	}
}

// Where most slow requests were before or after the recording, the headline counts them, and so agrees with the latency of all requests.
func TestMostSlowOutsideTheRecording(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	for apart, want := range map[int]string{
		30:   "57 of 9,642 requests (0.59 %) took over 4.12 s; none of the causes checked explains it.",
		6783: "6,840 of 9,642 requests (71 %) took over 4.12 s, but 6,783 of them before or after the recording, which cannot explain those: record again while it is slow. None of the causes checked explains the other 57.",
	} {
		d := &diagnose.Diagnosis{Outcome: diagnose.NotExplained, Requests: &diagnose.Requests{Count: 9642, LedgerCount: 9642, Slow: 57, Apart: apart, SlowThresholdMs: num(4120), SlowRule: "3x_route_floor"}}
		got := Nothing(d, nil, []diagnose.Verdict{{}})
		if !strings.HasPrefix(got, want) || strings.Contains(got, "happened outside") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
