package sentence

import "testing"

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
