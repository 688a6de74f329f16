package text

import "testing"

// A pipe has no width of its own: COLUMNS says it, within what a report is laid out for.
func TestColumns(t *testing.T) {
	for value, want := range map[string]int{"": 80, "100": 100, "20": narrowest, "500": widest, "wide": 80, "-3": 80} {
		if got := envColumns(func(string) string { return value }); got != want {
			t.Errorf("COLUMNS=%s: %d, want %d", value, got, want)
		}
	}
}
