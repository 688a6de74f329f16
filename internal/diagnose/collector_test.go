package diagnose_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/present/sentence"
)

// A log of GC tells for certain whether GC is what is wrong, and of nothing else: both is said, if it is of more than a moment.
func TestGCRuledOut(t *testing.T) {
	whole := cycles(0, 0)
	for _, c := range []struct {
		about string
		log   []byte
		state string
		said  string
	}{
		{"six hours", whole, "nothing wrong with GC", "GC pauses the program <0.01 % of 5.97 h, for 50 µs at most: GC does not make it slow. This evidence does not show other causes: "},
		{"one cycle", whole[:bytes.Index(whole, []byte("gc 2 "))], "not enough evidence", "GC pauses the program <0.01 % of 1.08 s, for 50 µs at most. "},
	} {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{gctrace.Format}, formattest.Artifact("gc.log", c.log), b); err != nil {
			t.Fatal(err)
		}
		d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, open, ruledOut := sentence.Split(d)
		state, said := sentence.State(d), sentence.Nothing(d, open, ruledOut)
		if len(d.Collectors) != 1 || !d.Collectors[0].RuledOut || state != c.state || !strings.HasPrefix(said, c.said) {
			t.Errorf("%s: %+v, %s: %s", c.about, d.Collectors, state, said)
		}
	}
}
