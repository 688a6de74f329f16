package present

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/junit"
	"github.com/unstall/unstall/internal/present/text"
)

// runs returns n runs of a service whose metrics are multiplied by f and vary a little from run to run.
func runs(name string, n int, offset time.Duration, f map[string]float64) (out []compare.Run) {
	others := .12
	for i := range n {
		r := compare.Run{Name: fmt.Sprintf("%s-%d.unstall", name, i+1), Start: at("14:00:00").Add(time.Duration(i)*time.Minute + offset),
			Load: compare.Load{URL: "http://127.0.0.1:8080/play", Mode: "open", LatencyFrom: "intended", Offered: 800, Rate: 799.4, Duration: 10 * time.Second, Sent: 8000, Failed: 0, Others: &others}, Metrics: make(map[string]float64)}
		k := 0
		for _, m := range compare.Metrics {
			if v, ok := f[m.Name]; ok {
				k++
				r.Metrics[m.Name] = v * (1 + .03*float64((i*7+k*3+len(name))%5-2))
			}
		}
		out = append(out, r)
	}
	return out
}

var (
	sickRuns  = map[string]float64{"p50_ms": 2.6, "p99_ms": 6.4, "p999_ms": 11.6, "rate": 799, "errors": 0, "gc_cycles_per_s": 9.3, "gc_cpu_share": .34, "assist_ms_per_s": 61, "cpu_cores": 1.41, "rss_mib": 107}
	fixedRuns = map[string]float64{"p50_ms": 2.1, "p99_ms": 3.5, "p999_ms": 9.9, "rate": 799, "errors": 0, "gc_cycles_per_s": 0, "gc_cpu_share": .004, "assist_ms_per_s": .2, "cpu_cores": .96, "rss_mib": 760}
)

var comparisons = map[string]func() *compare.Comparison{
	"compare-improved": func() *compare.Comparison {
		c := compared(runs("sick", 8, 0, sickRuns), runs("fixed", 8, 20*time.Second, fixedRuns))
		c.Seed = ptr(uint64(17))
		return c
	},
	"compare-regressed": func() *compare.Comparison {
		return compared(runs("v1", 6, 0, fixedRuns), runs("v2", 7, 5*time.Second, sickRuns))
	},
	"compare-one-pair": func() *compare.Comparison {
		before, after := runs("sick", 1, 0, sickRuns), runs("fixed", 1, 20*time.Second, fixedRuns)
		before[0].Within = map[string]stats.Interval{"p99_ms": {Low: 5.9, High: 6.9}}
		after[0].Within = map[string]stats.Interval{"p99_ms": {Low: 3.2, High: 3.9}}
		return compared(before, after)
	},
	"compare-causes": func() *compare.Comparison {
		before, after := runs("sick", 1, 0, sickRuns), runs("fixed", 1, 20*time.Second, fixedRuns)
		before[0].Metrics["cpu_pressure"], after[0].Metrics["cpu_pressure"] = .31, .87
		before[0].Metrics["gc_pause_cpu_share"], after[0].Metrics["gc_pause_cpu_share"] = 0, .042
		before[0].Load.URL, after[0].Load.URL = "http://127.0.0.1:8080/play/%7Bn%7D", "http://127.0.0.1:8080/play/%7Bn%7D"
		for k := range 4 {
			f := 1 + .02*float64(k)
			before[0].Parts = append(before[0].Parts, map[string]float64{"gc_pause_cpu_share": 0, "cpu_pressure": .31 * f})
			after[0].Parts = append(after[0].Parts, map[string]float64{"gc_pause_cpu_share": .042 * f, "cpu_pressure": .87 * f})
		}
		c, err := compare.Compare(before, after, compare.Options{FailOn: []string{"all"}})
		if err != nil {
			panic(err)
		}
		c.Diagnosed, c.Causes = true, []compare.CauseChange{
			{Cause: "linux.disk-sync", Subject: "shop pid 7", Title: "Requests wait until data is on the disk (fsync): 69 % of slow time.", Before: ptr("supported"), After: ptr("ruled_out"), BeforeSummary: "69 % of slow time is fsync", AfterSummary: "0.3 % of slow time is fsync"},
			{Cause: "service.blocked-loop", Subject: "shop pid 9", Title: "One event loop runs all requests.", After: ptr("supported"), AfterSummary: "41 % of slow time"},
		}
		return c
	},
	"compare-refused": func() *compare.Comparison {
		after := runs("fixed", 6, 20*time.Second, fixedRuns)
		for i := range after {
			after[i].Load.Offered, after[i].Load.Rate, after[i].Load.URL = 400, 399.8, "http://127.0.0.1:8081/play|\x1b[31mfast"
		}
		return compared(runs("sick", 6, 0, sickRuns), after)
	},
	"compare-no-requests": func() *compare.Comparison {
		was := map[string]float64{"gc_cycles_per_s": 9.3, "gc_cpu_share": .54, "longest_pause_ms": 42, "cpu_cores": 1.41, "throttled_share": .31, "pool_waiters": 4.2, "rss_mib": 107}
		is := map[string]float64{"gc_cycles_per_s": .4, "gc_cpu_share": .06, "longest_pause_ms": 40, "cpu_cores": .8, "throttled_share": 0, "pool_waiters": .02, "rss_mib": 108}
		before, after := runs("sick", 1, 0, was), runs("fixed", 1, 20*time.Second, is)
		for _, r := range []*compare.Run{&before[0], &after[0]} {
			r.Load = compare.Load{}
			for k := range compare.Quarters {
				part := make(map[string]float64)
				for name, v := range r.Metrics {
					part[name] = v * (1 + .02*float64(k%2))
				}
				r.Parts = append(r.Parts, part)
			}
		}
		return compared(before, after)
	},
	"compare-unknown-load": func() *compare.Comparison {
		before, after := runs("a.log", 6, 0, map[string]float64{"gc_cycles_per_s": 9.3}), runs("b.log", 6, 20*time.Second, map[string]float64{"gc_cycles_per_s": .1})
		for i := range before {
			before[i].Load, after[i].Load = compare.Load{}, compare.Load{}
		}
		return compared(before, after)
	},
}

func compared(before, after []compare.Run) *compare.Comparison {
	c, err := compare.Compare(before, after, compare.Options{})
	if err != nil {
		panic(err)
	}
	return c
}

func TestCompareGolden(t *testing.T) {
	forms := map[string]Comparer{".txt": text.Options{}.Compare, ".ascii.txt": text.Options{Width: 60, ASCII: true}.Compare, ".json": Forms[1].Compare, ".md": Forms[2].Compare, ".xml": junit.Compare}
	for name, comparison := range comparisons {
		for extension, render := range forms {
			t.Run(name+extension, func(t *testing.T) {
				c := comparison()
				var b bytes.Buffer
				if err := render(&b, c); err != nil {
					t.Fatal(err)
				}
				golden(t, name+extension, b.Bytes())
				if d := cmp.Diff(comparison(), c); d != "" {
					t.Errorf("the report changed the comparison:\n%s", d)
				}
				if extension != ".json" && strings.ContainsAny(b.String(), "\x1b\t\r") {
					t.Errorf("control characters in %q", b.String())
				}
				for line := range strings.Lines(b.String()) {
					if extension == ".txt" && len([]rune(strings.TrimSuffix(line, "\n"))) > 80 {
						t.Errorf("wider than 80 columns: %q", line)
					}
				}
			})
		}
	}
}

// The JSON form reads back as the same comparison, with every key of the struct.
func TestCompareJSON(t *testing.T) {
	for name, comparison := range comparisons {
		var b bytes.Buffer
		if err := Forms[1].Compare(&b, comparison()); err != nil {
			t.Fatal(err)
		}
		var got compare.Comparison
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(comparison(), &got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
