package golang

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/gopprof"
)

// TestLockByDump judges goroutine dumps alone.
func TestLockByDump(t *testing.T) {
	for _, c := range []struct{ file, state, title, evidence string }{
		{"mutex-go1.9.txt", check.Supported, "3 goroutines wait for one mutex, for up to 41 min: shop/cart.(*Cart).Total.", "goroutine 7 is in shop/cart.(*Cart).Refill beyond the lock, so it may hold it: select in shop/cart.(*Cart).fetch for 42 min"},
		{"mutex-go1.24.txt", check.Supported, "2 goroutines wait for one mutex, for up to 180 s: main.(*store).put.", "locked in main.(*store).put"},
		{"one-alone.txt", check.Supported, "Probably: a goroutine waits in vain for a mutex, for 38 min so far: shop/session.(*Store).Get.", "locked in shop/session.(*Store).Get"},
		{"main-for-ever.txt", check.Inconclusive, "", "goroutines waiting for one mutex, in main.main"},
		{"stars-eaten.txt", check.Supported, "2 goroutines wait for one mutex, for up to 420 s: shop/cart.(*Cart).Add.", "locked in shop/cart.(*Cart).Total"},
		{"mutex-profile.txt", check.Supported, "Probably: 42 goroutines wait for one mutex at the same time: shop/cart.(*Cart).Add.", "locked in shop/cart.(*Cart).Add"},
		{"excerpt-profile.txt", check.Supported, "Probably: a goroutine waits for a mutex in shop/cart.(*Cart).Add, which one in shop/cart.(*Cart).expire may hold while it waits itself.", "another goroutine is in shop/cart.(*Cart).expire, of the same type"},
		{"excerpt-other-type.txt", check.Inconclusive, "", "goroutines waiting for one mutex, in shop/cart.(*Cart).Add"},
		{"waitgroup-profile.txt", check.Inconclusive, "", ""},
		{"waitgroup.txt", check.Inconclusive, "", ""},
		{"short-waits.txt", check.Inconclusive, "", "goroutines waiting for one mutex, in main.(*store).put"},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			b := evidence.NewBundle()
			if err := format.Read(context.Background(), []format.Format{gopprof.Format}, formattest.Artifact(c.file, text), b); err != nil {
				t.Fatal(err)
			}
			v := LockContention.Judge(&check.Case{Bundle: b})
			var all strings.Builder
			for _, e := range v.Evidence {
				all.WriteString(e.Text + "\n")
			}
			if v.State != c.state || v.Title != c.title || !strings.Contains(all.String(), c.evidence) {
				t.Errorf("%s %q with\n%swant %s %q with %q", v.State, v.Title, all.String(), c.state, c.title, c.evidence)
			}
		})
	}
}
