package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// handOverJobs writes requests that put a job into a queue, which a worker looks at each so many ms, or at once (0), and that are answered when a call for
// the job has ended. Called says whether there is a call for each; without, all that wait are answered at such a moment. It returns how long (ms) jobs wait.
func handOverJobs(w *text, each, spread float64, loop, called bool) (waited float64) {
	random := rand.New(rand.NewPCG(1, 2))
	at, tick := 0., 0.
	for i := range 700 {
		at += random.ExpFloat64() * 25
		for each > 0 && tick < at+1.5 {
			tick += each * (1 + spread*(2*random.Float64()-1))
		}
		thread, worker := 100+i, 50
		if loop {
			thread, worker = 9, 9
		}
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 postgresql idle INSERT jobs\n", began+ns(at+.3), ns(1), thread, 4000+i)
		begins := at + 1.5
		if each > 0 {
			begins = tick
			waited += tick - at - 1.3
		}
		took := 55 + 10*random.Float64()
		if called {
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.8:80 http 200 GET /print\n", began+ns(begins+.001*float64(i%50)), ns(took), worker, 9000+i)
		} else {
			took = 0
		}
		w.request(at, at, begins+took+.3+.001*float64(i%50), thread, 1+i%90, "POST /prints")
	}
	return waited
}

// Jobs that a timer takes up wait for it, whether one thread does all or others do the jobs, and where each time varies by up to a half. Jobs that are taken up at once, or at any time, do not; nor
// do requests that wait for an event and ask nothing.
func TestTimers(t *testing.T) {
	const what = "sleep | a timer that takes up what requests hand over, "
	for name, of := range map[string]struct {
		each, spread float64
		loop, called bool
		others       int
		waits        bool
	}{
		"threads":                    {1000, .05, false, true, 0, true},
		"a loop":                     {500, .02, true, true, 0, true},
		"at once":                    {0, 0, false, true, 0, false},
		"at once, by a loop":         {0, 0, true, true, 0, false},
		"at any time":                {1000, .9, false, true, 0, false},
		"an event for all":           {1000, .05, false, false, 0, false},
		"beside another":             {1000, .05, false, true, 1, true},
		"about each second":          {1000, .45, false, true, 1, true},
		"at any time beside another": {1000, .9, false, true, 1, false},
		"at once, beside another":    {0, 0, false, true, 1, false},
	} {
		w := newText()
		waited := handOverJobs(w, of.each, of.spread, of.loop, of.called)
		for i := range 300 * of.others { // a worker of another queue
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 51 51 8000 10.0.0.8:80 http 200 GET /print\n", began+ns(70*float64(i)), ns(60))
		}
		charged := 0.
		got := spent(w.read(t, 22000), "POST /prints")
		for said, ms := range got {
			if strings.HasPrefix(said, what) {
				charged += ms
			}
		}
		if !of.waits && charged > 0 || of.waits && (charged < .8*waited || charged > 1.05*waited) {
			t.Errorf("%s: jobs wait %v ms, charged %v, of %v", name, waited, charged, got)
		}
	}
}
