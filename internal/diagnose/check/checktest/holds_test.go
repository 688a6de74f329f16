package checktest

import (
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// A gap where a figure or a name was not known is seen; what users and libraries write is none.
func TestUnworded(t *testing.T) {
	for _, gap := range []string{"these cycles mark ? % of the time.", "up to ?.", "? GC cycles/s", "in ? they reach the limit", "a mean of NaN", "%!s(<nil>)", "Goroutines pile up in : 1", "workers of  are busy", "waits for , for 3 s",
		"the longest of ()", "slowest statement: ", "one of \"\"", "it was seen in."} {
		if got := Unworded(&check.Verdict{Summary: gap}); len(got) != 1 {
			t.Errorf("%q was let through", gap)
		}
	}
	for _, text := range []string{"slowest statement: SELECT SLEEP(?) FROM orders WHERE id < ?", "(*Pool).get", "Information", "2 (of 3), at 10:04:05", "-XX:+UseG1GC; -Xmx4g", "http://localhost:8080/debug/pprof/goroutine?debug=1"} {
		if got := Unworded(&check.Verdict{Summary: text}); len(got) != 0 {
			t.Errorf("%q was not let through", text)
		}
	}
}
