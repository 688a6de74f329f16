package diagnose_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/present/sentence"
)

// cycles is a gctrace of 6 hours with a cycle every two minutes, and five each second for some minutes.
func cycles(from, until float64) []byte {
	var b strings.Builder
	n := 0
	for at := 1.; at < 6*3600; {
		n++
		fmt.Fprintf(&b, "gc %d @%.3fs 3%%: 0.05+80+0.05 ms clock, 0.1+10/150/10+0.1 ms cpu, 100->104->50 MB, 101 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", n, at)
		if at >= from*60 && at < until*60 {
			at += .2
		} else {
			at += 120
		}
	}
	return []byte(b.String())
}

// A share of six hours says nothing about ten bad minutes: those are judged, and said to be what is judged.
func TestWorstStretch(t *testing.T) {
	for _, c := range []struct {
		from, until float64
		found       bool
	}{{120, 130, true}, {0, 0, false}} {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{gctrace.Format}, formattest.Artifact("gc.log", cycles(c.from, c.until)), b); err != nil {
			t.Fatal(err)
		}
		d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if found := d.Outcome == diagnose.Found; found != c.found || found != (d.Worst != nil) {
			t.Fatalf("%v–%v min: %s, worst %v: %+v", c.from, c.until, d.Outcome, d.Worst, d.Verdicts[0])
		}
		if !c.found {
			continue
		}
		v := &d.Verdicts[0]
		if said := sentence.Answer(d, v); v.Cause != "go.gc-rate" || !strings.HasPrefix(said, "In the worst 10 min of 5.97 h, from 2:00:00 to 2:10:00 of the log: GC runs ") {
			t.Errorf("%s: %q", v.Cause, said)
		}
		if d.Worst.Outcome == diagnose.Found || d.Worst.From < 7100 || d.Worst.Until > 7900 {
			t.Errorf("%+v", d.Worst)
		}
		if d, err = diagnose.Run(context.Background(), b, diagnose.Options{Since: time.Unix(0, 0), Until: time.Unix(3600, 0)}); err != nil || d.Worst != nil || d.Outcome == diagnose.Found {
			t.Errorf("who asks for a time gets that: %v, %+v", err, d.Outcome)
		}
	}
}
