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
	"github.com/unstall/unstall/internal/format/kernelstacks"
	"github.com/unstall/unstall/internal/format/loadresult"
)

// A hundred requests come each second and most take 45 ms, and what each waits for was not seen.
// The one thread that serves them syncs: all the time, so that they wait for that, or for so little
// of it that hardly one request could wait at a time.
func TestUnspent(t *testing.T) {
	for _, c := range []struct {
		about string
		busy  float64
		want  string
	}{
		{"it syncs all the time", .85, check.Supported},
		{"it syncs now and then", .15, check.Inconclusive},
	} {
		t.Run(c.about, func(t *testing.T) {
			running, waiting := kernelTexts([]thread{{ran: .02, waits: map[string]float64{"fsync": c.busy, "poll": .95 - c.busy}}})
			var rows strings.Builder
			fmt.Fprint(&rows, "# unstall.requests/v1 url=http://127.0.0.1:8080/ mode=open arrivals=constant\n# intended_ns sent_ns end_ns lag_ns status bytes outcome route\n")
			for i := range int64(950) {
				at, took := began+i*tenth/10, int64(45e6)
				if i%5 == 0 {
					took = 1e6
				}
				fmt.Fprintf(&rows, "%d %d %d 0 200 41 ok GET /\n", at, at, at+took)
			}
			b := incident.NewBundle()
			dir := t.TempDir()
			for _, f := range []struct{ name, text string }{{"oncpu.txt", running}, {"offcpu.txt", waiting}, {"requests.txt", rows.String()}} {
				name := filepath.Join(dir, f.name)
				if err := os.WriteFile(name, []byte(f.text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := format.Read(context.Background(), []format.Format{kernelstacks.Format, loadresult.Format}, format.File(name), b); err != nil {
					t.Fatal(err)
				}
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range d.Verdicts {
				if v.Cause == linux.DiskSync.ID && v.Verdict != c.want {
					t.Errorf("%s is %s: %s %s", v.Cause, v.Verdict, v.Title, v.Summary)
				}
			}
		})
	}
}
