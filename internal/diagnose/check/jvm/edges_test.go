package jvm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// One row of jstat counts since the JVM's start: full collections that come for every second young one, a hundred of them and of a tenth of a second
// each, are found; fewer, rarer or shorter ones are not.
func TestFullForEachYoung(t *testing.T) {
	for _, x := range []struct {
		about       string
		young, full int
		mean        float64 // s
		found       bool
	}{
		{"as many as young ones", 120, 120, .3, true},
		{"a hundred", 150, 100, .3, true},
		{"not quite a hundred", 150, 99, .3, false},
		{"one for two young ones", 400, 200, .3, true},
		{"one for a few more than two", 404, 200, .3, false},
		{"a tenth of a second each", 120, 120, .1, true},
		{"not quite a tenth of a second", 120, 120, .0995, false},
		{"rare ones of a second", 4000, 20, 1.1, true},
		{"one of a second", 4000, 1, 1.1, false},
	} {
		took := x.mean * float64(x.full)
		text := "  S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT     GCT\n" +
			fmt.Sprintf("  0.00  50.00  10.00  99.00  95.00  90.00  %d  12.000  %d  %.4f  %.4f\n", x.young, x.full, took, 12+took)
		v, asked := states(t, text)["jvm.full-gc"]
		if found := v.Verdict == check.Supported; !asked || found != x.found {
			t.Errorf("%s: %q: %s %s", x.about, v.Verdict, v.Title, v.Summary)
		}
		if x.found && !strings.Contains(v.Title, "robably") {
			t.Errorf("%s: counts since the start prove nothing of now: %q", x.about, v.Title)
		}
	}
}

// javaThread is a thread of a dump.
func javaThread(name, on, state string, frames ...string) string {
	id := 0
	for _, r := range name {
		id = (31*id + int(r)) % (1 << 15)
	}
	return fmt.Sprintf("%q #21 daemon prio=5 os_prio=0 tid=0x00007f13d2%06x nid=0x%04x %s [0x00007f13a171a000]\n   java.lang.Thread.State: %s\n        %s\n\n",
		name, id, id, on, state, strings.Join(frames, "\n        "))
}

// An excerpt of a dump is judged by what its threads do to each other: one that waits to be notified, and keeps another monitor until then,
// blocks the one that waits for a lock.
func TestNestedWaits(t *testing.T) {
	const lock, queue = "<0x00000006c006e230> (a shop.Cart)", "<0x00000006c006e240> (a shop.Queue)"
	waiting := func(state string, locked ...string) string {
		frames := []string{"at java.lang.Object.wait(Native Method)", "- waiting on " + queue, "at shop.Queue.take(Queue.java:12)"}
		for _, l := range locked {
			frames = append(frames, "- locked "+l)
		}
		return javaThread("taker", "in Object.wait()", state, append(frames, "at shop.Cart.next(Cart.java:40)")...)
	}
	blocked := javaThread("adder", "waiting for monitor entry", "BLOCKED (on object monitor)", "at shop.Cart.add(Cart.java:26)", "- waiting to lock <0x00000006c006e2f0> (a shop.Stock)", "at shop.Shop.sell(Shop.java:9)")
	works := javaThread("reader", "runnable", "RUNNABLE", "at shop.Shop.read(Shop.java:30)")
	for about, x := range map[string]struct {
		text  string
		found bool
	}{
		"it keeps another monitor":              {blocked + waiting("WAITING (on object monitor)", queue, lock), true},
		"it keeps only the one it waits for":    {blocked + waiting("WAITING (on object monitor)", queue), false},
		"its wait has a timeout":                {blocked + waiting("TIMED_WAITING (on object monitor)", queue, lock), false},
		"a thread of the excerpt works":         {blocked + waiting("WAITING (on object monitor)", queue, lock) + works, false},
		"no thread waits for a lock":            {waiting("WAITING (on object monitor)", queue, lock), false},
		"no thread waits to be notified":        {blocked, false},
		"two that wait for a lock, and a taker": {blocked + strings.ReplaceAll(blocked, "adder", "adder-2") + waiting("WAITING (on object monitor)", queue, lock), true},
	} {
		v := states(t, x.text)["jvm.lock-contention"]
		if found := v.Verdict == check.Supported; found != x.found {
			t.Errorf("%s: %q: %s %s", about, v.Verdict, v.Title, v.Summary)
		}
		if !x.found && v.Verdict == check.RuledOut {
			t.Errorf("%s: one excerpt rules out locks: %s", about, v.Summary)
		}
	}
}
