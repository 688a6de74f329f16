package jvm_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	formats "github.com/unstall/unstall/internal/format/all"
)

// hours is a log of ten quiet hours, a young collection of 10 ms every 20 s, with more lines
// of some second.
func hours(more map[int]string) string {
	var w strings.Builder
	for s := 20; s <= 36000; s += 20 {
		fmt.Fprintf(&w, "[%d.000s][info][gc] GC(%d) Pause Young (Allocation Failure) 120M->40M(256M) 10.000ms\n", s, s)
		w.WriteString(more[s])
	}
	return w.String()
}

// pausing is n pauses one after the other, ms apart, from a second on.
func pausing(n, at int, every float64, what string) string {
	var w strings.Builder
	for i := range n {
		fmt.Fprintf(&w, "[%.3fs][info][gc] GC(%d) %s\n", float64(at)+float64(i+1)*every/1000, 90000+i, what)
	}
	return w.String()
}

func verdicts(t *testing.T, log string) map[string]diagnose.Verdict {
	t.Helper()
	a := &format.Artifact{Name: "gc.log", Size: int64(len(log)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log)), nil }}
	b := incident.NewBundle()
	if err := format.Read(context.Background(), formats.Formats, a, b); err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]diagnose.Verdict)
	for _, v := range d.Verdicts {
		if v.Verdict == check.Supported {
			out[v.Cause] = v
		}
	}
	return out
}

// Length counts as well as share, and the worst minute as well as the whole.
func TestTheWorstDecides(t *testing.T) {
	for name, x := range map[string]struct {
		log    string
		finds  string // "" nothing
		titled string
	}{
		"ten quiet hours":              {hours(nil), "", ""},
		"a full collection at a start": {hours(map[int]string{20: pausing(1, 20, 500, "Pause Full (Ergonomics) 60M->30M(256M) 80.000ms")}), "", ""},
		"one young collection":         {hours(map[int]string{20000: pausing(1, 20000, 5000, "Pause Young (Allocation Failure) 250M->240M(256M) 1200.000ms")}), "jvm.long-pause", "for 1.2 s, at 20003 s"},
		"one full collection":          {hours(map[int]string{20000: pausing(1, 20000, 5000, "Pause Full (Ergonomics) 250M->40M(256M) 2000.000ms")}), "jvm.full-gc", "2 s (at 20003 s"},
		"a storm of a minute":          {hours(map[int]string{20000: pausing(75, 20000, 240, "Pause Young (Allocation Failure) 120M->40M(256M) 200.000ms")}), "jvm.young-gc-rate", "of the minute from "},
		"a storm of full ones":         {hours(map[int]string{20000: pausing(30, 20000, 600, "Pause Full (Ergonomics) 250M->40M(256M) 300.000ms")}), "jvm.full-gc", "of the minute from "},
		"a full heap":                  {hours(map[int]string{20000: pausing(4, 20000, 100, "Pause Full (Ergonomics) 256M->254M(256M) 60.000ms")}), "jvm.full-gc", "4 full collections"},
		"a full heap, asked for":       {hours(map[int]string{20000: pausing(4, 20000, 100, "Pause Full (System.gc()) 256M->254M(256M) 60.000ms")}), "", ""},
		"the JVM's own word":           {hours(map[int]string{20000: pausing(1, 20000, 100, "Pause Full (Ergonomics) 250M->249M(256M) 60.000ms") + "[20000.200s][trace][gc,ergo] GC is exceeding overhead limit of 98%\n"}), "jvm.full-gc", "A full collection"},
	} {
		t.Run(name, func(t *testing.T) {
			got := verdicts(t, x.log)
			v, ok := got[x.finds]
			switch {
			case x.finds == "" && len(got) > 0:
				t.Errorf("%v", got)
			case x.finds != "" && !ok:
				t.Errorf("not found: %v", got)
			case !strings.Contains(v.Title, x.titled):
				t.Errorf("%q", v.Title)
			}
		})
	}
}

// What is cut out of a log, or lasts some ms, is not enough to name a cause.
func TestTooLittle(t *testing.T) {
	for name, log := range map[string]string{
		"one collection alone": "[12.000s][info][gc] GC(3) Pause Young (Concurrent Start) (G1 Humongous Allocation) 100M->90M(256M) 5.530ms\n",
		"a start":              pausing(20, 0, 50, "Pause Young (Allocation Failure) 30M->10M(64M) 5.000ms"),
		"metadata, twice":      pausing(2, 0, 50, "Pause Full (Metadata GC Threshold) 30M->10M(64M) 15.000ms"),
	} {
		if got := verdicts(t, log); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
