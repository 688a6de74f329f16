package replay

import (
	"strings"
	"testing"
	"time"

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
