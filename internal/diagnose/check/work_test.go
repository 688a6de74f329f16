package check

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// A request that waits to be read while its service works is not busy in its queue.
func TestWorkedAt(t *testing.T) {
	for want, p := range map[string]ledger.Place{
		"Shop.text()": {What: "own work", Where: "Shop.text()"},
		"sums":        {What: "sums"},
		"":            {What: "arrived and not read yet, port 80", Wait: evidence.Wait{Kind: evidence.ArrivedAt, Of: "port 80"}},
	} {
		if got := workedAt(&p); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}
