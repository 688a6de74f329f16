package golang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/gopprof"
)

// Without requests GC is found by the CPU time it takes, where its cycles are frequent or run back to back.
func TestGCRateEdges(t *testing.T) {
	const second = int64(1e9)
	for _, x := range []struct {
		about   string
		n       int
		period  int64
		marking float64 // share of the time
		workers float64
		want    string
	}{
		{"16 % of the CPUs", 60, second / 9, .32, 1, check.Supported},
		{"14 % of the CPUs", 60, second / 9, .28, 1, check.Inconclusive},
		{"marks 4.5 % of the time", 60, second / 9, .045, 2, check.RuledOut},
		{"marks 5.5 % of the time", 60, second / 9, .055, 2, check.Inconclusive},
		{"once in 1.1 s", 60, second * 11 / 10, .45, 1, check.RuledOut},
		{"once in 0.9 s", 60, second * 9 / 10, .45, 1, check.Supported},
		{"once in 1.1 s, back to back", 60, second * 11 / 10, .55, 1, check.Supported},
		{"four cycles", 4, second / 9, .4, 1, check.Inconclusive},
		{"five cycles", 5, second / 9, .4, 1, check.Supported},
	} {
		c := log{n: x.n, period: x.period, mark: int64(x.marking * float64(x.period)), live: wobble, goal: follows, workers: x.workers}.build()
		v := GCRate.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		checktest.Decides(t, x.about, c, &v)
	}
}

// Requested cycles are found by the CPU time that they take, from five of them on.
func TestForcedEdges(t *testing.T) {
	const second = int64(1e9)
	for _, x := range []struct {
		about   string
		n       int
		marking float64
		want    string
	}{
		{"6 % of the CPUs", 60, .12, check.Supported},
		{"4.5 % of the CPUs", 60, .09, check.RuledOut},
		{"marks 4 % of the time", 60, .04, check.RuledOut},
		{"five cycles", 5, .2, check.Supported},
		{"four cycles", 4, .2, check.Inconclusive},
	} {
		c := log{n: x.n, period: second / 2, mark: int64(x.marking * float64(second/2)), live: wobble, goal: follows, workers: 1, forced: 1}.build()
		v := ForcedGC.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		checktest.Decides(t, x.about, c, &v)
		if r := GCRate.Judge(c); r.Supported() {
			t.Errorf("%s: the heap is said to be small: %s", x.about, r.Title)
		}
		c.Forget()
	}
}

// A memory limit is tight where the goal that it sets is less than twice the live heap.
func TestLimitEdges(t *testing.T) {
	for _, x := range []struct {
		about string
		goal  func(i int, previous float64) float64
		want  string
	}{
		{"the goal is 1.7 times what is live", func(i int, _ float64) float64 { return mib * (78 - float64(i%3)) }, check.Supported},
		{"the goal is 2.4 times what is live", func(i int, _ float64) float64 { return mib * (110 - float64(i%3)) }, check.RuledOut},
		{"the goal follows what is live", follows, check.RuledOut},
	} {
		c := log{n: 60, period: 110e6, mark: 40e6, live: wobble, goal: x.goal, workers: 1}.build()
		v := MemoryLimitThrash.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		checktest.Decides(t, x.about, c, &v)
	}
}

// Goroutines that stay are a leak from 50 more at one place on, and a fifth more than before there, if there are more in all.
func TestLeakEdges(t *testing.T) {
	for _, x := range []struct {
		about            string
		before, after    int64 // at one place
		others, tookAway int64 // elsewhere, and how many fewer later
		want             string
	}{
		{"fifty more", 10, 60, 20, 0, check.Supported},
		{"not quite fifty more", 10, 59, 20, 0, check.RuledOut},
		{"a fifth more of many", 1000, 1200, 20, 0, check.Supported},
		{"not quite a fifth more", 1000, 1190, 20, 0, check.RuledOut},
		{"none before", 0, 50, 20, 0, check.Supported},
		{"as many moved there as went elsewhere", 10, 110, 200, 100, check.RuledOut},
		{"more moved there than went", 10, 210, 200, 100, check.Supported},
		{"fewer than before", 100, 20, 20, 0, check.RuledOut},
	} {
		b := evidence.NewBundle()
		var s evidence.SubjectID
		for i := range int64(2) {
			p := b.Builder(b.AddArtifact(evidence.Artifact{Name: fmt.Sprintf("goroutine-%d", i)}), "gopprof")
			if i == 0 {
				s = p.Subject(evidence.Subject{Runtime: "go"})
			}
			at := 1e9 + i*10e9
			p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverGoroutines, From: at, Until: at})
			for place, n := range map[string]int64{"main.send": []int64{x.before, x.after}[i], "main.idle": x.others - i*x.tookAway} {
				if n > 0 {
					stack := p.Stack([]evidence.Frame{{Func: p.Name("runtime.gopark")}, {Func: p.Name(place)}, {Func: p.Name(place + ".func1")}})
					p.Sample(evidence.Sample{Subject: s, Type: p.Name("goroutine"), Value: n, Stack: stack, Origin: p.Origin(1)})
				}
			}
			p.Close()
		}
		c := &check.Case{Bundle: b, Subject: s}
		v := GoroutineLeak.Judge(c)
		if v.State != x.want {
			t.Errorf("%s: %s, want %s: %s %s", x.about, v.State, x.want, v.Title, v.Summary)
		}
		checktest.Decides(t, x.about, c, &v)
	}
}

// What the text of one dump says decides by how many wait for one mutex and for how long.
func TestMutexDumpEdges(t *testing.T) {
	dump := func(n int, minutes int) string {
		var w strings.Builder
		for i := range n {
			state := "sync.Mutex.Lock"
			if minutes > 0 {
				state += fmt.Sprintf(", %d minutes", minutes)
			}
			fmt.Fprintf(&w, "goroutine %d [%s]:\nsync.runtime_SemacquireMutex(0xc000010018, 0x0, 0x1)\n\t/usr/local/go/src/runtime/sema.go:95 +0x25\nsync.(*Mutex).lockSlow(0xc000010014)\n\t/usr/local/go/src/sync/mutex.go:173 +0x15d\nsync.(*Mutex).Lock(...)\n\t/usr/local/go/src/sync/mutex.go:92\nmain.(*store).put(0xc000010010)\n\t/src/main.go:27 +0x7c\nmain.serve()\n\t/src/main.go:60 +0x1d\n\n", 20+i, state)
		}
		for i := range 20 { // others are at work
			fmt.Fprintf(&w, "goroutine %d [IO wait]:\ninternal/poll.runtime_pollWait(0x7f1, 0x72)\n\t/usr/local/go/src/runtime/netpoll.go:351 +0x85\nnet.(*conn).Read(0xc0)\n\t/usr/local/go/src/net/net.go:194 +0x45\nmain.read()\n\t/src/main.go:90 +0x1d\n\n", 200+i)
		}
		return w.String()
	}
	for _, x := range []struct {
		about      string
		n, minutes int
		found      bool
	}{
		{"two for a minute", 2, 1, true},
		{"two that just began", 2, 0, false},
		{"nine that just began", 9, 0, false},
		{"ten that just began", 10, 0, true},
		{"one for five minutes beside many at work", 1, 5, false},
	} {
		b := evidence.NewBundle()
		if err := format.Read(t.Context(), []format.Format{gopprof.Format}, formattest.Artifact("goroutines.txt", []byte(dump(x.n, x.minutes))), b); err != nil {
			t.Fatal(err)
		}
		v := LockContention.Judge(&check.Case{Bundle: b})
		if v.Supported() != x.found {
			t.Errorf("%s: %s: %s %s", x.about, v.State, v.Title, v.Summary)
		}
		if !x.found && v.RuledOut() {
			t.Errorf("%s: one dump rules out locks: %s", x.about, v.Summary)
		}
	}
}
