package jvm

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// Looks at virtual threads that are pinned, or have not run yet, acquit of nothing, even where it is not known that they serve requests.
func TestNotUnpinned(t *testing.T) {
	const (
		own    = " shop.Desk.photo java.lang.VirtualThread.run [virtual]"
		fast   = "jdk.internal.misc.Unsafe.park java.lang.VirtualThread.parkOnCarrierThread java.lang.VirtualThread.parkNanos" + own
		parked = "java.lang.VirtualThread.park java.util.concurrent.locks.LockSupport.park" + own
		fresh  = "-·not·mounted·yet [virtual]"
	)
	for name, test := range map[string]struct {
		stacks []string
		want   string
		says   string
	}{
		"pinned":             {[]string{counts, fast, fast}, check.Inconclusive, "in 6 of 6 samples a virtual thread was pinned"},
		"waiting to run":     {[]string{counts, parked, fresh, fresh}, check.Inconclusive, "in 6 of 6 samples virtual threads had not run yet"},
		"parked, as is good": {[]string{counts, parked, parked}, check.RuledOut, "no pinned thread"},
	} {
		d := dump().looks(6, test.stacks...)
		v := judgePinned(&check.Case{Bundle: d.b, Subject: d.id})
		if v.State != test.want || !strings.Contains(v.Summary, test.says) {
			t.Errorf("%s: %v %q", name, v.State, v.Summary)
		}
	}
}
