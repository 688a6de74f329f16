package sentence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/diagnose"
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
		{Causes: []string{"go.gc-rate", "go.lock-contention"}, Summary: "no states", Needs: []diagnose.Need{{What: "a trace shows …", Command: trace}}},
		{Causes: []string{"jvm.full-gc", "jvm.safepoint"}, Summary: "no log", Needs: []diagnose.Need{{What: words}}},
		{Causes: []string{"jvm.old-gen-leak"}, Summary: "no log", Needs: []diagnose.Need{{What: "a longer log"}}},
	}
	for i := range got {
		if len(got[i].Verdicts) != len(got[i].Causes) {
			t.Errorf("%v has %d verdicts", got[i].Causes, len(got[i].Verdicts))
		}
		got[i].Verdicts = nil
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Fixes that are the same are told once, with what each would do; so are the figures of a chain's root.
func TestOnce(t *testing.T) {
	n := func(v int) *int { return &v }
	one, two := diagnose.Fix{Text: "one"}, diagnose.Fix{Text: "two", Setting: "X=1"}
	own, root := diagnose.Evidence{Text: "waits"}, diagnose.Evidence{ID: "redis.long_call_ms", Text: "KEYS", Unit: "ms"}
	all := []diagnose.Verdict{
		{Cause: "a", Fix: []diagnose.Fix{one, two}, Evidence: []diagnose.Evidence{own, root}, Root: &diagnose.Link{Cause: "b"}, Prediction: []diagnose.Prediction{{Metric: "p99", Fix: n(0)}}},
		{Cause: "b", Fix: []diagnose.Fix{two, {Text: "three"}}, Evidence: []diagnose.Evidence{root}, Prediction: []diagnose.Prediction{{Metric: "told", Fix: n(0)}, {Metric: "new", Fix: n(1)}, {Metric: "anyway"}}},
	}
	got := Once(all)
	if a, b := got[0], got[1]; len(a.Fix) != 2 || len(a.Evidence) != 1 || a.Evidence[0] != own || len(b.Fix) != 1 || b.Fix[0].Text != "three" || len(b.Evidence) != 1 ||
		len(b.Prediction) != 2 || b.Prediction[0].Metric != "new" || *b.Prediction[0].Fix != 0 || b.Prediction[1].Fix != nil {
		t.Errorf("%+v", got)
	}
	if len(all[0].Evidence) != 2 || len(all[1].Fix) != 2 || *all[1].Prediction[1].Fix != 1 {
		t.Errorf("the diagnosis was changed: %+v", all)
	}
}

// What a title says with all its figures is not said again.
func TestSaid(t *testing.T) {
	for _, c := range []struct {
		title, summary string
		want           bool
	}{
		{"G1 ran out of free regions 31 times; that pauses the program 18 % of the time.", "collections without a free region pause the program 18 % of the time", true},
		{"GC threads got only 0.267 of a CPU, which made 4 of 46 pauses longer.", "collections whose GC threads lacked CPU pause the program 3.7 % of the time", false},
		{"It runs 12 times.", "1.2 % of the time", false},
		{"Pool threads wait for a lock.", "no figure", false},
	} {
		if got := Said(c.title, c.summary); got != c.want {
			t.Errorf("%q, %q: %v", c.title, c.summary, got)
		}
	}
}

// What a fix is about is told once where it is a thing that the title names; code stays, so that it can be copied.
func TestFixNamesNoThingTwice(t *testing.T) {
	for _, c := range []struct{ title, code, want string }{
		{"Requests queue for a pool: the pool of 2 connections to db.", "the pool of 2 connections to db", ""},
		{"Requests wait for a free thread of python.", "a thread of python", ""},
		{"Requests queue for a pool: the pool of 2 connections to db.", "the pool of 9 connections to db", "the pool of 9 connections to db"},
		{"Slow requests are busy in main.find().", "main.find()", "main.find()"},
	} {
		all := []diagnose.Verdict{{Title: c.title, Fix: []diagnose.Fix{{Text: "change it", Code: c.code}}}}
		if got := Once(all)[0].Fix[0].Code; got != c.want || all[0].Fix[0].Code != c.code {
			t.Errorf("%q beside %q, want %q", got, c.title, c.want)
		}
	}
}
