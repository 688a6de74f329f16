package dotnet

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/dotnetcounters"
	"github.com/unstall/unstall/internal/format/formattest"
)

// reading is one of a counter, so many seconds after noon.
type reading struct {
	at      int
	counter string
	value   float64
}

func asCSV(all []reading) string {
	out := "Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n"
	for _, r := range all {
		out += fmt.Sprintf("%s,System.Runtime,%s,Metric,%v\n", time.Date(2024, 3, 14, 12, 0, r.at, 0, time.UTC).Format("2006-01-02 3:04:05 PM"), r.counter, r.value)
	}
	return out
}

func asJSON(all []reading) string {
	var events []string
	for _, r := range all {
		events = append(events, fmt.Sprintf(`{"timestamp":"%s","provider":"System.Runtime","name":%q,"tags":"","counterType":"Metric","value":%v}`, time.Date(2024, 3, 14, 12, 0, r.at, 0, time.UTC).Format("2006-01-02T15:04:05.9999999Z07:00"), r.counter, r.value))
	}
	return `{"TargetProcess":"Shop","StartTime":"2024-03-14T12:00:00Z","Events":[` + strings.Join(events, ",\n") + "]}"
}

// TestCounterStall judges by counters alone, whichever file they are in.
func TestCounterStall(t *testing.T) {
	const queue, threads, completed, cpu, gen2, size = "ThreadPool Queue Length", "ThreadPool Thread Count", "ThreadPool Completed Work Item Count (Count / 1 sec)", "CPU Usage (%)", "Gen 2 GC Count (Count / 1 sec)", "Gen 2 Size (B)"
	pool, collector := ThreadPoolStarvation.ID, Gen2Pause.ID
	for _, c := range []struct {
		name  string
		all   []reading
		state map[string]string
		says  string
	}{
		{"the queue grows, and the counters stop for a minute", []reading{{0, queue, 0}, {2, queue, 13}, {4, queue, 0}, {6, queue, 0}, {66, queue, 31}, {70, queue, 238}},
			map[string]string{pool: check.Supported, collector: check.Inconclusive}, "238 items are queued, and for 60 s no counters came"},
		{"the queue grows", []reading{{0, queue, 0}, {2, queue, 31}, {4, queue, 238}, {6, queue, 480}},
			map[string]string{pool: check.Inconclusive}, "up to 480 work items waited for a pool thread; the number of pool threads and CPU use were not recorded"},
		{"the queue is empty after a stall", []reading{{0, queue, 0}, {2, queue, 13}, {4, queue, 20}, {64, queue, 31}, {66, queue, 0}},
			map[string]string{pool: check.Inconclusive}, "up to 31 work items"},
		{"two readings, and the queue is worked off", []reading{{3, cpu, 77}, {3, threads, 106}, {5, cpu, 21}, {5, threads, 119}, {5, queue, 1}, {5, completed, 2284}},
			map[string]string{pool: check.Inconclusive}, "the pool has 119 threads"},
		{"it climbs, and the queue is worked off", []reading{{1, cpu, 20}, {1, threads, 10}, {1, queue, 1}, {1, completed, 2000}, {2, cpu, 20}, {2, threads, 20}, {2, queue, 0}, {2, completed, 2100}, {3, cpu, 20}, {3, threads, 31}, {3, queue, 1}, {3, completed, 2000}, {4, cpu, 20}, {4, threads, 40}, {4, queue, 0}, {4, completed, 2000}},
			map[string]string{pool: check.Inconclusive}, "the pool has 40 threads"},
		{"gen 2 is collected while no counters come", []reading{{0, size, 14e9}, {1, size, 14e9}, {2, size, 14e9}, {8, gen2, 1}, {8, queue, 500}, {9, size, 10e9}, {10, gen2, 0}},
			map[string]string{pool: check.Inconclusive, collector: check.Supported}, "A gen 2 collection of 13 GiB stopped the program for up to 6 s."},
		{"gen 2 is collected in the background", []reading{{0, size, 14e9}, {1, size, 14e9}, {2, size, 14e9}, {8, gen2, 1}, {9, size, 14.1e9}, {10, gen2, 0}},
			map[string]string{collector: check.Inconclusive}, "whether it stopped the program was not recorded"},
		{"gen 2 is collected, and counters come", []reading{{0, size, 14e9}, {1, size, 14e9}, {2, gen2, 1}, {3, size, 10e9}, {4, gen2, 0}},
			map[string]string{collector: check.Inconclusive}, "not recorded"},
	} {
		for shape, text := range map[string]string{"csv": asCSV(c.all), "json": asJSON(c.all)} {
			t.Run(c.name+", "+shape, func(t *testing.T) {
				b := evidence.NewBundle()
				if err := format.Read(context.Background(), []format.Format{dotnetcounters.Format}, formattest.Artifact("counters", []byte(text)), b); err != nil {
					t.Fatal(err)
				}
				said := ""
				for _, k := range []check.Check{ThreadPoolStarvation, Gen2Pause} {
					v := k.Judge(&check.Case{Bundle: b})
					if want := c.state[k.ID]; want != "" && v.State != want {
						t.Errorf("%s: %s (%s), want %s", k.ID, v.State, v.Summary, want)
					}
					said += v.Title + "\n" + v.Summary + "\n"
				}
				if !strings.Contains(said, c.says) {
					t.Errorf("%s lacks %q", said, c.says)
				}
			})
		}
	}
}
