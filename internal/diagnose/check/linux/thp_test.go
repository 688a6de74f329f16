package linux_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/linux"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/loadresult"
	"github.com/unstall/unstall/internal/format/procfs"
)

// A service is asked once a second, so that whatever its requests do is little of a CPU, on a host whose page faults compact
// memory. Without stacks that is left open where the process was in the kernel for as long as its slow requests took, and
// not where it hardly was.
func TestAskedLittle(t *testing.T) {
	for _, c := range []struct {
		about string
		ticks func(second int) int // of 10 ms that it has been in the kernel for
		want  string
	}{
		{"all that requests take", func(s int) int { return s }, check.Inconclusive},
		{"a twentieth of that", func(s int) int { return s / 20 }, check.RuledOut},
	} {
		t.Run(c.about, func(t *testing.T) {
			const seconds = 40
			var proc, rows strings.Builder
			fmt.Fprint(&rows, "# unstall.requests/v1 url=http://127.0.0.1:8080/ mode=open arrivals=constant\n# intended_ns sent_ns end_ns lag_ns status bytes outcome route\n")
			for s := range seconds {
				at := began + int64(s)*10*tenth
				fmt.Fprintf(&proc, "-- %d /proc/4711/stat --\n4711 (arena) S 1 1 1 0 -1 0 %d 0 0 0 0 %d 0 0 20 0 4 0 140711 1296498688 3803 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n", at, 1000+20*s, c.ticks(s))
				fmt.Fprintf(&proc, "-- %d /proc/vmstat --\ncompact_stall %d\nthp_fault_alloc %d\nthp_fault_fallback %d\n", at, 400*s, 2*s, 400*s)
				took := int64(10e6)
				if s%5 == 0 {
					took = 1e6
				}
				if s+1 < seconds {
					fmt.Fprintf(&rows, "%d %d %d 0 200 41 ok GET /\n", at+tenth, at+tenth, at+tenth+took)
				}
			}
			b := incident.NewBundle()
			dir := t.TempDir()
			for _, f := range []struct{ name, text string }{{"procfs.txt", proc.String()}, {"requests.txt", rows.String()}} {
				name := filepath.Join(dir, f.name)
				if err := os.WriteFile(name, []byte(f.text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := format.Read(context.Background(), []format.Format{procfs.Format, loadresult.Format}, format.File(name), b); err != nil {
					t.Fatal(err)
				}
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			judged := false
			for _, v := range d.Verdicts {
				if v.Cause == linux.THPStall.ID {
					judged = true
					if v.Verdict != c.want {
						t.Errorf("%s: %s", v.Verdict, v.Summary)
					}
				}
			}
			if !judged {
				t.Errorf("%s was not judged", linux.THPStall.ID)
			}
		})
	}
}
