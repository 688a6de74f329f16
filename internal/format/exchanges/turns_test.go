package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// serve writes requests that come at random, one each 6 ms, and are served for 2 to 3 ms by so many servers in their order.
func serve(w *text, servers, threads int) {
	random := rand.New(rand.NewPCG(1, 2))
	free := make([]float64, servers)
	at := 0.
	for i := range 400 {
		at += random.ExpFloat64() * 6 / float64(servers)
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		free[first] = max(at, free[first]) + 2 + 2*random.Float64()
		w.request(at, at, free[first], 9+i%threads, 1+i%20, "GET /tides")
	}
}

// Requests that are served one at a time wait for those before them, whatever reads them.
func TestTurns(t *testing.T) {
	w := newText()
	serve(w, 1, 7)
	got := spent(w.read(t, 3000), "GET /tides")
	what := "sync wait | the requests before them, as one at a time is served"
	about(t, map[string]float64{"both": got[what] + got["unobserved"]}, "both", sum(got))
	if got[what] < 200 || got["unobserved"] < 400*2 || got["unobserved"] > 400*4 {
		t.Errorf("spent %v ms", got)
	}
}

// Requests that are served side by side wait for nothing, and neither do those that an event loop serves.
func TestNoTurns(t *testing.T) {
	for name, of := range map[string][2]int{"two servers": {2, 7}, "four": {4, 7}, "a server for each": {400, 7}, "a loop": {1, 1}} {
		w := newText()
		serve(w, of[0], of[1])
		for what, ms := range spent(w.read(t, 3000), "GET /tides") {
			if strings.HasPrefix(what, "sync wait") {
				t.Errorf("%s: %s for %v ms", name, what, ms)
			}
		}
	}
}

// Requests that put a task into a queue and are answered when its one worker has done it wait for their turn beside that call. With a
// worker for each they do not.
func TestTurnsBesideCalls(t *testing.T) {
	const what = "sync wait | the requests before them, as one at a time is served"
	for name, of := range map[string]struct {
		servers int
		waits   bool
	}{
		"one worker":        {1, true},
		"a worker for each": {400, false},
	} {
		w := newText()
		serve(w, of.servers, 7)
		lines := strings.SplitAfter(w.String(), "\n")
		for i, line := range lines {
			var came, begun, answered, zero, thread int64
			if n, _ := fmt.Sscanf(line, "q %d %d %d %d 80 90 1 1 %d", &came, &begun, &answered, &zero, &thread); n == 5 {
				lines[i] += fmt.Sprintf("k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:6379 resp - LPUSH\n", came+ns(.05), ns(.5), thread, 4000+thread)
			}
		}
		w.Reset()
		w.WriteString(strings.Join(lines, ""))
		got := spent(w.read(t, 3000), "GET /tides")
		if waits := got[what] >= 200; waits != of.waits || got["network wait | Redis at 10.0.0.7:6379"] < 150 {
			t.Errorf("%s: spent %v ms", name, got)
		}
	}
}

func sum(of map[string]float64) (all float64) {
	for _, ms := range of {
		all += ms
	}
	return all
}

// Requests whose protocol names no route wait for their turn as well.
func TestTurnsWithoutRoute(t *testing.T) {
	served, w := newText(), newText()
	serve(served, 1, 7)
	w.Reset()
	w.WriteString(strings.ReplaceAll(served.String(), "http 200 GET /tides", "-"))
	if got := spent(w.read(t, 3000), ""); got["sync wait | the requests before them, as one at a time is served"] < 200 {
		t.Errorf("spent %v ms", got)
	}
}
