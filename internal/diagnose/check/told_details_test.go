package check

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
)

// A verdict names the largest part, and at most two others that are more than next to nothing.
func TestToldDetails(t *testing.T) {
	for _, x := range []struct {
		ns   []int64
		want int
	}{{nil, 0}, {[]int64{1}, 1}, {[]int64{960, 40}, 1}, {[]int64{900, 60, 40}, 2}, {[]int64{400, 200, 200, 200}, 3}} {
		var details []ledger.Entry
		for _, ns := range x.ns {
			details = append(details, ledger.Entry{Ns: ns})
		}
		if got := len(ToldDetails(details, 1000)); got != x.want {
			t.Errorf("%v: %d told, want %d", x.ns, got, x.want)
		}
	}
}
