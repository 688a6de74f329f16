package dotnet

import (
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// What is nearly all of the slow time need not take as long to be a fault as what is one thing of several.
func TestNoticeable(t *testing.T) {
	for share, want := range map[float64]any{.3: check.Noticeable, .74: check.Noticeable, .75: check.NoticeableCall, 1: check.NoticeableCall} {
		if got := noticeable(share); got != want {
			t.Errorf("%v of the slow time: %v, want %v", share, got, want)
		}
	}
}
