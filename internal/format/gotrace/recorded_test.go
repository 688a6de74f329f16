package gotrace

import (
	"context"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Traces of before Go 1.22 do not know the time of day; whoever recorded one
// does, and a copied file does not.
func TestOldTraceIsPlacedByItsRecording(t *testing.T) {
	const written = 1795241060e9
	for _, about := range []evidence.Subject{{}, {PID: 4711}} {
		a := format.File("testdata/http/go1.21.13-plain-unsat.trace.gz")
		a.Modified, a.About = written, about
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, a, b); err != nil {
			t.Fatal(err)
		}
		b.Align()
		_, until := b.Window()
		if recorded := about.PID != 0; recorded && until != written || !recorded && until != 0 {
			t.Errorf("recorded %v: ends at %d", recorded, until)
		}
	}
}
