package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// The time for which a rule held is in whole seconds, because it is evaluated once per second.
func TestFoundFor(t *testing.T) {
	rules, err := rule.Load(strings.NewReader("default: none\nrules:\n- {id: queue, title: work waits, series: proc/threads, over: 500ms, above: 4}\n"), "rules.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for held, want := range map[time.Duration]string{5*time.Second + 999*time.Millisecond: "for 6s", 500 * time.Millisecond: "for 500ms", 90 * time.Second: "for 1m30s"} {
		if said := Found(rule.Event{Rule: &rules[0], At: int64(held), Value: 7, Bound: 4}); !strings.HasSuffix(said, want) {
			t.Errorf("after %s: %q, want %q", held, said, want)
		}
	}
}

// A rule of the user's own that raises no alarm says how far its series was from it, or that there was none.
func TestWhyQuiet(t *testing.T) {
	const text = `default: none
rules:
- {id: high, title: high, series: proc/threads, above: 40}
- {id: low, title: low, series: proc/threads, below: 3}
- {id: short, title: short, series: proc/threads, above: 10, for: 1m}
- {id: absent, title: absent, series: proc/rss, above: 1}
- {id: fired, title: fired, series: proc/threads, above: 10, over: 1s, for: 1s}
`
	rules, err := rule.Load(strings.NewReader(text), "rules.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var points metrics.Watchable
	points.ID = "proc/threads"
	for i := range 20 {
		points.T, points.V = append(points.T, int64(i)*1e9), append(points.V, float64(4+i))
	}
	r, err := Run(t.Context(), rules, nil, []Source{{rule.Subject{Key: "shop"}, []metrics.Watchable{points}}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Text(&out, len(rules), rules); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"high raised no alarm: proc/threads was at most 23, and it needs more than 40\n",
		"low raised no alarm: proc/threads was at least 4, and it needs less than 3\n",
		"short raised no alarm: proc/threads was from 4 to 23, but the condition did not hold for 1m\n",
		"absent raised no alarm: proc/rss was not recorded\n",
		"\nthis recording has these series of unstall watch --series: proc/threads\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "fired raised no alarm") {
		t.Error(out.String())
	}
}
