package diagnose_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/format"
)

// namedOnly are files that are recognised by name and refused with what to do: their addresses have no function names without the program.
var namedOnly = map[string]bool{"go.crc32.cpu": true, "cppbench.cpu": true}

// derived are figures of cases that follow from those that are told.
var derived = map[string]string{
	"dotnet-1718-csv-slashdate/span s":                          "from the first stamp to the last; what is told is the minute without any counter",
	"go-58106-gomemlimit/share of time a cycle ran, gc118..126": "of nine cycles; what is told is the share of each file",
	"linux-flamegraph-perf/samples perf-mirageos":               "with those of the idle task and of the kernel's own threads",
	"redis-368-24-log/seconds the rewrite took":                 "between two lines",
	"redis-5825-softirq/idle share":                             "what is left of 4 CPUs; what is told is the busy part",
}

// TestPublicCases holds the public cases beside the checkout against what their threads say is true: each file is read, no cause is found that
// is not true, none that is true is ruled out, at least four of five of the sick are found, and the figures that were computed by hand are told.
func TestPublicCases(t *testing.T) {
	dirs, _ := filepath.Glob("../../../shared/corpus/cases/*/case.json")
	if len(dirs) == 0 {
		t.Skip("the public cases are not beside this checkout")
	}
	sick, found := 0, 0
	var missed []string
	for _, file := range dirs {
		dir := filepath.Dir(file)
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			want := pasteOf(t, dir)
			b := incident.NewBundle()
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			for _, f := range files {
				if f == file {
					continue
				}
				if err := incident.Read(t.Context(), format.File(f), b); err != nil && !namedOnly[filepath.Base(f)] {
					t.Errorf("%s: %v", f, err)
				}
			}
			d, err := diagnose.Run(t.Context(), b, diagnose.Options{Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			ids := supported(d)
			isTrue := func(id string) bool { return slices.Contains(want.Expect.AnyOf, id) }
			for _, id := range ids {
				if !isTrue(id) && !slices.Contains(want.Expect.May, id) {
					t.Errorf("%s is found, and true is one of %v", id, want.Expect.AnyOf)
				}
			}
			if len(want.Expect.AnyOf) > 0 {
				if sick++; slices.ContainsFunc(ids, isTrue) {
					found++
				} else {
					missed = append(missed, name)
					for _, v := range d.Verdicts {
						if v.Verdict == check.RuledOut && isTrue(v.Cause) {
							t.Errorf("%s is ruled out: %s", v.Cause, v.Summary)
						}
					}
				}
			}
			told := toldFigures(t, d, inspect.Of(b))
			for about, x := range want.Expect.Figures {
				_, follows := derived[name+"/"+about]
				if got := told.has(x); got == follows {
					t.Errorf("%s: %v is told: %v", about, x, got)
				}
			}
		})
	}
	if t.Logf("%d of %d sick cases are found; missed: %v", found, sick, missed); 5*found < 4*sick {
		t.Errorf("%d of %d sick cases are found", found, sick)
	}
}

// figuresTold are all numbers of a diagnosis and of what its files hold, also those within texts.
type figuresTold []float64

var number = regexp.MustCompile(`\d[\d,]*\.?\d*`)

func toldFigures(t *testing.T, of ...any) (all figuresTold) {
	t.Helper()
	var add func(x any)
	add = func(x any) {
		switch x := x.(type) {
		case float64:
			all = append(all, x)
		case string:
			for _, n := range number.FindAllString(x, -1) {
				if v, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64); err == nil {
					all = append(all, v)
				}
			}
		case []any:
			for _, y := range x {
				add(y)
			}
		case map[string]any:
			for _, y := range x {
				add(y)
			}
		}
	}
	for _, x := range of {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(data, &tree); err != nil {
			t.Fatal(err)
		}
		add(tree)
	}
	return all
}

// has reports whether a figure is told, in any unit and with three digits.
func (all figuresTold) has(want float64) bool {
	return slices.ContainsFunc(all, func(x float64) bool {
		return slices.ContainsFunc([]float64{1, 1e3, 1e-3, 1e6, 1e-6, 100, .01, 60, 1. / 60, 1024, 1. / 1024, 1 << 20, 1. / (1 << 20)}, func(unit float64) bool {
			return math.Abs(x*unit-want) <= .006*math.Abs(want)
		})
	})
}
