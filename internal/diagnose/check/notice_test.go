package check

import "testing"

// TestNoticed holds that what is nearly all of slow time is a fault of quicker requests than what is one thing of several.
func TestNoticed(t *testing.T) {
	terms := &CollectorTerms{Notice: Noticeable, NoticeMost: NoticeableCall}
	for share, want := range map[float64]bool{.3: false, .74: false, .8: true} {
		if got := terms.noticeThreshold(share).Value <= NoticeableCall.Value; got != want {
			t.Errorf("a share of %g is noticed from 10 ms on: %v, want %v", share, got, want)
		}
	}
}
