package diagnose_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/model/younggen"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

const gclogs = "../../../shared/corpus/gclog"

var updatePredictions = flag.Bool("update-predictions", false, "write dev/grid/predictions-jvm.md anew")

// backTest is the back-test of one log.
type backTest struct {
	collector string
	halves
}

// leastYoung is how many young collections a log needs for a back-test.
const leastYoung = 50

// TestYoungBackTest fits the model of young generations to the first half of every log of
// the corpus that has enough of them, and holds it against the second.
func TestYoungBackTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(gclogs, "EXPECTED.json"))
	if err != nil {
		t.Skip("the corpus is not beside this checkout")
	}
	var logs []struct{ File string }
	if err := json.Unmarshal(text, &logs); err != nil {
		t.Fatal(err)
	}
	var tests []backTest
	enough := 0
	for _, l := range logs {
		b := incident.NewBundle()
		if err := format.Read(context.Background(), all.Formats, format.File(filepath.Join(gclogs, l.File)), b); err != nil {
			continue
		}
		for s := range b.Subjects {
			g := metrics.JVMCollector(b, evidence.SubjectID(s), metrics.Scope{})
			if g == nil {
				continue
			}
			p := younggen.Pauses(g)
			if len(p) < leastYoung {
				continue
			}
			enough++
			x, err := halvesOf(p)
			if err != nil {
				t.Logf("%s: %d young collections, %v", l.File, len(p), err)
				continue
			}
			name, _ := b.Fact(evidence.SubjectID(s), evidence.FactCollector)
			tests = append(tests, backTest{cmp.Or(name.Value, "not told"), x})
		}
	}
	if len(tests) < 20 {
		t.Fatalf("%d logs could be tested of %d with %d young collections", len(tests), enough, leastYoung)
	}
	page := backTests(tests, enough)
	const path = "../../dev/grid/predictions-jvm.md"
	if *updatePredictions {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	interval, _ := off(tests, func(x halves) foretold { return x.Interval }, true)
	total, _ := off(tests, func(x halves) foretold { return x.Total }, true)
	if interval > .15 || total > .35 {
		t.Errorf("the interval is %.0f %% off in the median, the total pause %.0f %%", 100*interval, 100*total)
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != page {
		t.Errorf("%s differs from what is measured (-update-predictions writes it): %v\n%s", path, err, page)
	}
}

// off is the median and the 9th decile of the absolute errors.
func off(tests []backTest, of func(halves) foretold, told bool) (median, ninth float64) {
	var all []float64
	for _, x := range tests {
		f := of(x.halves)
		v := f.Blind
		if told {
			v = f.Load
		}
		all = append(all, math.Abs(f.Error(v)))
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*9/10]
}

// far words a relative error.
func far(part float64) string {
	if part >= 10 {
		return "over 10 ×"
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// backTests is the page of docs.
func backTests(tests []backTest, enough int) string {
	var w strings.Builder
	fmt.Fprintf(&w, `# Predictions of young generations against logs

`+"`unstall predict gc.log --set Xmn=2g`"+` and the advice of `+"`jvm.young-gc-rate`"+` rest on a model of the
young generation that is fitted to the log itself: the interval between two young collections
is eden ÷ allocation rate, a pause is a constant and so much per byte copied. This page shows
how far the model is off where the answer is known. It is fitted to the first half of the young
collections of every log that has at least %d of them, of a corpus of public GC logs (JDK 1.4 to
21), and held against the second half. Errors are absolute, relative to what was measured.

*given the load*: the model is told the second half's allocation rate and the size of its young
generation, as in a question (`+"`--set Xmn=… alloc-rate=…`"+`). *blind*: it is told nothing and
assumes that the first half goes on; it is off mostly where the load changed, and by start-ups.

    go test ./internal/diagnose -run YoungBackTest -update-predictions    # writes this page

%d of %d such logs have the sizes that the model needs.

| collector | logs | young collections | interval, given the load: median | 90 %% | total pause: median | 90 %% | count, blind: median | 90 %% | total pause, blind: median | 90 %% |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`, leastYoung, len(tests), enough)
	of := make(map[string][]backTest)
	for _, x := range tests {
		of[x.collector] = append(of[x.collector], x)
	}
	row := func(name string, tests []backTest) {
		n := 0
		for _, x := range tests {
			n += x.Pauses
		}
		fmt.Fprintf(&w, "| %s | %d | %d |", name, len(tests), n)
		for _, k := range []struct {
			of   func(halves) foretold
			told bool
		}{
			{func(x halves) foretold { return x.Interval }, true},
			{func(x halves) foretold { return x.Total }, true},
			{func(x halves) foretold { return x.Count }, false},
			{func(x halves) foretold { return x.Total }, false},
		} {
			median, ninth := off(tests, k.of, k.told)
			fmt.Fprintf(&w, " %s | %s |", far(median), far(ninth))
		}
		w.WriteString("\n")
	}
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		row(name, of[name])
	}
	row("**all**", tests)
	w.WriteString(`
The form of the model was chosen with these logs in view (that pauses hardly depend on the rate of
allocation), its figures were not. It is far off for logs whose second half is idle or of another
clock, and for those whose first half is mostly the start of the process.

What it does not know: that a collector which sizes its generations by itself (G1, Parallel with
its adaptive policy) answers another load with another eden, and how pauses change once the
service does something else than before. Where a log's young generation never changed its size,
how survivors grow with a larger one cannot be seen in it; the range then goes from not at all to
in proportion.
`)
	return w.String()
}
