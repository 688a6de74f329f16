package sentence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/diagnose"
)

// Causes that miss the same command are one line; words that look like a command, because
// there is a "-", a "/" or a "=" in them, are none.
func TestNotSeen(t *testing.T) {
	const trace, words = "curl -o trace.out 'http://a/trace'", "a log of the same time: its lines say the time-of-day and/or t=…"
	open := func(id, summary string, needs ...diagnose.Need) diagnose.Verdict {
		return diagnose.Verdict{Cause: id, Summary: summary, Needs: needs}
	}
	got := NotSeen([]diagnose.Verdict{
		open("go.gc-rate", "no states", diagnose.Need{What: "a trace shows who had the processors", Command: trace}),
		open("jvm.full-gc", "no log", diagnose.Need{What: words}),
		open("go.lock-contention", "no states", diagnose.Need{What: "a trace shows which locks they wait for", Command: trace}),
		open("jvm.safepoint", "no log", diagnose.Need{What: words}),
		open("jvm.old-gen-leak", "no log", diagnose.Need{What: "a longer log"}),
	})
	want := []Open{
		{[]string{"go.gc-rate", "go.lock-contention"}, "no states", []diagnose.Need{{What: "a trace shows …", Command: trace}}},
		{[]string{"jvm.full-gc", "jvm.safepoint"}, "no log", []diagnose.Need{{What: words}}},
		{[]string{"jvm.old-gen-leak"}, "no log", []diagnose.Need{{What: "a longer log"}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
