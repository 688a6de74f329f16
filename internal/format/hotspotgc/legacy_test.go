package hotspotgc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

func rendered(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	v := &b.Intervals
	for i := range v.Len() {
		fmt.Fprintf(&w, "%s %q", v.Kind[i], b.Names.Text(v.Cause.At(i)))
		if p, ok := v.PauseOf(i); ok {
			fmt.Fprintf(&w, " (%s)", p)
		}
		fmt.Fprintf(&w, " at %v for %v", time.Duration(v.Start[i]), time.Duration(v.End[i]-v.Start[i]))
		for k := range evidence.NumKeys {
			x, ok := v.Get(i, k)
			switch {
			case !ok || k == evidence.PauseOf:
			case k == evidence.Trigger || k == evidence.Failure:
				fmt.Fprintf(&w, " %s=%q", k, b.Names.Text(evidence.NameID(x)))
			case k == evidence.UserCPU || k == evidence.SystemCPU || k == evidence.RealTime || k == evidence.ToSafepoint || k == evidence.YoungTime:
				fmt.Fprintf(&w, " %s=%v", k, time.Duration(x))
			case k == evidence.TenuringThreshold || k == evidence.SurvivorTotal:
				fmt.Fprintf(&w, " %s=%v", k, x)
			default:
				fmt.Fprintf(&w, " %s=%vK", k, x/1024)
			}
		}
		fmt.Fprintf(&w, " @%d\n", v.Origin.At(i).Position())
	}
	for _, f := range b.Facts {
		if strings.HasPrefix(f.Key, "lines.") {
			fmt.Fprintf(&w, "fact %s %v\n", f.Key, f.Number)
		} else {
			fmt.Fprintf(&w, "fact %s %s\n", f.Key, f.Value)
		}
	}
	return w.String()
}

// A collection that the next one cuts short counts as not understood, and takes no part of
// it.
func TestLegacyCut(t *testing.T) {
	b, err := suite.Read([]byte("1.000: [GC 1.000: [ParNew: 10K->2K(20K), 0.0010000 secs]\n2.000: [GC 2.000: [ParNew: 11K->3K(20K), 0.0020000 secs] 30K->22K(100K), 0.0021000 secs]\n3.000: [GC 3.000: [ParNew\n"))
	if err != nil {
		t.Fatal(err)
	}
	v := &b.Intervals
	if rows := v.Select(evidence.StopTheWorld, -1); len(rows) != 1 || v.End[rows[0]]-v.Start[rows[0]] != 21e5 {
		t.Errorf("%d pauses", len(rows))
	}
	if f, ok := b.Fact(-1, evidence.FactLinesUnexplained); !ok || f.Number != 2 {
		t.Errorf("not understood: %v", f.Value)
	}
}
