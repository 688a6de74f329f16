package diagnose_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/procfs"
	"github.com/unstall/unstall/internal/format/sysstat"
)

// What somebody copied out of vmstat is of no process: what it shows of the host is told, and
// nothing is judged.
func TestShown(t *testing.T) {
	const rows = ` r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 100000   5120 200000    0    0    35    40   50   60  1  1 98  0  0
 8  2 102400  16432   5120 200000  400  800   300   400  500  600 20 30 30 20  0
 8  2 102400  16432   5120 200000  400  800   300   400  500  600 20 30 30 20  0
`
	d := ofText(t, sysstat.Format, rows)
	if d.Outcome != diagnose.NotJudged || len(d.Verdicts) > 0 {
		t.Errorf("%s, %v", d.Outcome, d.Verdicts)
	}
	got := make(map[string]float64)
	for _, e := range d.Host {
		got[e.Text] = *e.Value
	}
	for text, want := range map[string]float64{"CPUs busy": 50, "in the kernel": 30, "CPUs idle waiting for a disk": 20, "tasks that ran or waited for a CPU": 4.5, "tasks that waited for a disk": 1, "pages read back from swap": 100} {
		if math.Abs(got[text]-want) > 1e-9 {
			t.Errorf("%s: %g, want %g", text, got[text], want)
		}
	}
	if _, ok := got["with interrupts"]; ok {
		t.Error("interrupts are told, which vmstat does not show")
	}
	const stat = `-- 1763689985000000000 /proc/7/stat --
7 (app) S 1 7 7 0 -1 4194304 3000 0 0 0 50 20 0 0 20 0 3 0 100000 200000000 5000 0 1 1 0
-- 1763689985000000000 /proc/7/environ --
-- 1763689985000000000 /proc/stat --
cpu  1000 0 500 9000 10 0 20 0 0 0
`
	later := strings.NewReplacer("1763689985", "1763689986", " 50 20 0 0 20", " 90 30 0 0 20", "cpu  1000", "cpu  1100").Replace(stat)
	if d = ofText(t, procfs.Format, stat+later); len(d.Host) > 0 || !slices.ContainsFunc(d.Targets, func(x diagnose.Target) bool { return x.Name == "app" }) {
		t.Errorf("with a process: %v, %v", d.Targets, d.Host)
	}
}

func ofText(t *testing.T, f format.Format, text string) *diagnose.Diagnosis {
	t.Helper()
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{f}, formattest.Artifact("host.txt", []byte(text)), b); err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
