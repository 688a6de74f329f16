package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// answerByWorkers writes requests that come at random, one each so many ms, that one thread reads, and that so many others serve for 8 to 12 ms
// and answer.
func answerByWorkers(w *text, workers int, every float64) {
	random := rand.New(rand.NewPCG(1, 2))
	free := make([]float64, workers)
	at := 0.
	for i := range 900 {
		at += random.ExpFloat64() * every
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		free[first] = max(at, free[first]) + 8 + 4*random.Float64()
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 9 %d 8080/%d - http 200 GET /tides\n", began+ns(at), ns(free[first]-at), 20+first, 1+i)
	}
}

// Requests that one thread reads and three others answer wait for one of these while all are busy.
func TestWorkers(t *testing.T) {
	w := newText()
	answerByWorkers(w, 3, 10./3/.85)
	got := spent(w.read(t, 5000), "GET /tides")
	what := "thread wait | a thread of the 3 that answer at 127.0.0.1:8080"
	for name := range got {
		if strings.HasPrefix(name, "thread wait") {
			what = name
		}
	}
	if served := 900 * 10.; got[what] < .3*served || got["unobserved"] < .9*served || got["unobserved"] > 1.2*served {
		t.Errorf("spent %v ms", got)
	}
	if !strings.Contains(what, "a thread of the 3 that answer at ") {
		t.Errorf("waited for %q", what)
	}
}

// Threads that only write what others worked out are no workers, though answers follow one another; and where a worker is always free, no
// request waits for one.
func TestNoWorkers(t *testing.T) {
	few, writers := newText(), newText()
	answerByWorkers(few, 12, 10)
	random := rand.New(rand.NewPCG(1, 2))
	at := 0.
	for i := range 900 {
		at += random.ExpFloat64() * 4
		fmt.Fprintf(writers, "q %d 0 %d 0 80 90 1 1 9 %d 8080/%d - http 200 GET /tides\n", began+ns(at), ns(8+4*random.Float64()), 20+random.IntN(2), 1+i)
	}
	for name, w := range map[string]*text{"enough": few, "writers": writers} {
		for what, ms := range spent(w.read(t, 12000), "GET /tides") {
			if strings.HasPrefix(what, "thread wait") {
				t.Errorf("%s: %s for %v ms", name, what, ms)
			}
		}
	}
}
