package top

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

func TestPoolRule(t *testing.T) {
	const title = "ThreadPool Thread Count"
	for _, x := range []struct {
		name    string
		threads func(int) float64
		cpu     float64 // in percent of one processor; there are 2
		seconds int
		want    string // beginning of the alert; "" none
	}{
		{"climbing", climb, 14, 30, "grows by 1.3/s with CPU at 7 %: pool starved"},
		{"not seen for long", climb, 14, 5, ""},
		{"climbing for want of CPU", climb, 196, 30, ""},
		{"compensated", func(int) float64 { return 41 }, 20, 30, "20.5 × CPUs with CPU at 10 %: pool threads block"},
		{"few", func(int) float64 { return 5 }, 20, 30, ""},
		{"up to one for each processor", func(s int) float64 { return min(2, float64(s)) }, 20, 11, ""},
		{"up and down", func(s int) float64 { return 3 + float64(s%3) }, 20, 30, ""},
	} {
		w := after(x.seconds, 2, pool(x.threads, x.cpu)...)
		if got := alerts(w)[title]; got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	w := after(30, 0, pool(climb, 14)...)
	if got := alerts(w)[title]; got != "" {
		t.Errorf("without knowing the processors: %q", got)
	}
}

func TestRules(t *testing.T) {
	one := func(id string, kind Kind, at func(s int) float64) func(int) ([]Reading, error) {
		return func(s int) ([]Reading, error) {
			return []Reading{{ID: id, Group: "g", Title: id, Unit: "count", Kind: kind, Value: at(s)}}, nil
		}
	}
	constant := func(v float64) func(int) float64 { return func(int) float64 { return v } }
	linear := func(v float64) func(int) float64 { return func(s int) float64 { return v * float64(s) } }
	for _, x := range []struct {
		id   string
		kind Kind
		sick func(int) float64
		well func(int) float64
	}{
		{cpuID, Gauge, constant(190), constant(150)},
		{threadsID, Gauge, linear(1), constant(100)},
		{"proc/involuntary", Total, linear(900), linear(50)},
		{"proc/major-faults", Total, linear(50), linear(0)},
		{evidence.SeriesPoolQueue, Gauge, constant(29), func(s int) float64 { return float64(s % 2) }},
		{evidence.SeriesContentions, Rate, constant(3000), constant(5)},
		{evidence.SeriesGCTime, Gauge, constant(40), constant(2)},
		{evidence.SeriesRequestsInFlight, Gauge, linear(5), constant(125)},
		{"System.Runtime/gen-2-gc-count", Rate, constant(1), func(s int) float64 { return float64(s / 40 % 2) }},
		{"System.Runtime/loh-size", Gauge, linear(1e6), func(s int) float64 { return 1e6 * float64(s%20) }},
		{goroutineID, Gauge, linear(100), constant(1e5)},
		{gcCPUID, Gauge, constant(17), constant(1)},
		{"jvm/gc-time", Gauge, constant(30), constant(3)},
		{"jvm/full-gc", Rate, func(s int) float64 { return float64(s / 80 % 2) }, constant(0)},
		{"jvm/old-used", Gauge, constant(97), constant(60)},
		{redisMainID, Gauge, constant(97), constant(60)},
		{"redis/fork", Gauge, constant(80), constant(3)},
		{"redis/evicted", Total, linear(100), constant(4e6)},
		{"redis/aof-delayed", Total, linear(1), constant(7)},
		{redisOpenID, Total, linear(300), linear(2)},
		{"redis/rejected", Total, linear(3), constant(9)},
	} {
		for _, f := range []struct {
			at   func(int) float64
			want bool
		}{{x.sick, true}, {x.well, false}} {
			w := after(90, 2, one(x.id, x.kind, f.at))
			if got := alerts(w)[x.id]; (got != "") != f.want {
				t.Errorf("%s: %q, want anything: %v", x.id, got, f.want)
			}
		}
	}
	for _, r := range slices.Concat(ProcRules, dotnetRules, goRules, jvmRules, redisRules) {
		if n := len([]rune(r.Text)); n == 0 || n > 74 || strings.Contains(r.Text, "\n") {
			t.Errorf("%s: its text has %d characters, want one short line", r.ID, n)
		}
	}
}

func TestHistory(t *testing.T) {
	var h history
	add := func(s int, v float64, k Kind) {
		h.addReading(Reading{Kind: k, At: start.Add(time.Duration(s) * time.Second), Value: v})
	}
	add(0, 100, Total)
	if len(h.value) != 0 {
		t.Error("a rate from one value")
	}
	add(2, 120, Total)
	add(3, 5, Total) // the process restarted
	add(4, 6, Total)
	if len(h.value) != 2 || h.value[0] != 10 || h.value[1] != 1 || h.min != 1 || h.max != 10 {
		t.Errorf("rates %v, %g to %g", h.value, h.min, h.max)
	}
	h = history{}
	for s := range 3 * kept {
		add(s, float64(s), Gauge)
	}
	if len(h.value) != kept || h.min != 0 || h.newestValue() != 3*kept-1 {
		t.Errorf("%d values, min %g, now %g", len(h.value), h.min, h.newestValue())
	}
	if c := h.growthRate(10 * time.Second); c != 1 {
		t.Errorf("climbs %g/s, want 1", c)
	}
	if c := h.growthRate(time.Hour); c != 0 {
		t.Errorf("climbs %g/s in a time that was not seen", c)
	}
	if got := h.maxColumns(4, 8*time.Second, h.at[len(h.at)-1]); got[3] != 719 || got[2] != 717 || got[0] != 713 {
		t.Errorf("columns %v", got)
	}
}

func TestSpark(t *testing.T) {
	for _, x := range []struct {
		want   string
		values []float64
	}{
		{"▁▂▄▅▇█", []float64{0, 2, 4, 6, 8, 10}},
		{"▁▁", []float64{0, 0}},
		{" ▅▅ ", []float64{nan, 96, 96, nan}}, // neither empty nor full
		{"▄▅", []float64{100, 100.5}},         // hardly moves
		{"", nil},
	} {
		if got := drawSparkline(x.values, bars); got != x.want {
			t.Errorf("%v: %q, want %q", x.values, got, x.want)
		}
	}
	if got := fillGaps([]float64{nan, 1, nan, nan, nan, 2}); got[2] != 1 || got[3] != 1 || got[4] == got[4] {
		t.Errorf("filled: %v", got)
	}
}
