package accesslog

import (
	"context"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// Requests of HAProxy that waited for a connection until their time was up are told, and those that their server did not answer are not.
func TestOverdue(t *testing.T) {
	line := func(timers, state string) string {
		return `10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in shop/app1 ` + timers + ` 503 217 - - ` + state + ` 3/3/2/1/0 1/0 "GET /cart HTTP/1.1"` + "\n"
	}
	for name, c := range map[string]struct {
		text          string
		times, waited float64
	}{
		"in the queue":              {line("0/0/0/9/9", "----") + line("0/3000/-1/-1/3000", "sQ--") + line("0/3001/-1/-1/3001", "sQVN"), 2, 3001e6},
		"of the server":             {line("0/0/0/-1/5000", "sH--") + line("0/0/0/9/9", "----"), 0, 0},
		"queued, and then answered": {line("0/3000/1/9/3010", "----"), 0, 0},
		"gone while it was queued":  {line("0/3000/-1/-1/3000", "CQ--"), 0, 0},
	} {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, formattest.Artifact("haproxy.log", []byte(c.text)), b); err != nil {
			t.Fatal(name, err)
		}
		var times, waited float64
		for _, f := range b.Facts {
			switch {
			case f.Key == evidence.FactPoolTimedOut && strings.HasSuffix(f.Value, "shop/app1"):
				times = f.Number
			case f.Key == evidence.FactPoolTimeout:
				waited = f.Number
			}
		}
		if times != c.times || waited != c.waited {
			t.Errorf("%s: %v times, %v ns; want %v, %v", name, times, waited, c.times, c.waited)
		}
	}
}
