package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// handsOver writes requests of a route that workers make a call for, each worker on a connection of its own unless they mix them, and which are
// answered so long (ms) after their call, beside quick requests that make a call on their own thread. It returns how long the requests waited for a worker (ms).
func handsOver(w *text, workers int, mixed bool, later float64) (waited float64) {
	const seconds, took = 14, 40.
	random := rand.New(rand.NewPCG(3, 4))
	for k := range 3 {
		fmt.Fprintf(w, "t %d http-%d\n", 100+k, k+1)
	}
	for k := range workers {
		fmt.Fprintf(w, "t %d printer-%d\n", 200+k, k+1)
	}
	free := make([]float64, workers)
	at := 0.
	for i := 0; at < seconds*1000; i++ {
		at += random.ExpFloat64() * 4
		reader := 100 + i%3
		if i%(14/workers) != 0 {
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.9:5432 postgresql idle SELECT seats\n", began+ns(at+.1), ns(1), reader, 4000+reader)
			fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d %[3]d 8080/%d - http 200 GET /seats/{id}\n", began+ns(at), ns(1.3), reader, 1+i%40)
			continue
		}
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		begins := max(at+.2, free[first]+.1)
		waited += begins - at - .2
		port := 5000 + first
		if mixed {
			port = 5000 + (first+i)%workers
		}
		took := took * (.9 + .2*random.Float64())
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:9000 http 200 GET /tickets/{id}\n", began+ns(begins), ns(took), 200+first, port)
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d %[3]d 8080/%d - http 200 POST /tickets/{id}\n", began+ns(at), ns(begins+took+later-at), reader, 1+i%40)
		free[first] = begins + took
	}
	return waited
}

// Requests that hand a call to workers wait for one of these, whatever others do on their own threads, and also if they are answered some
// time after their call.
func TestCallsOfWorkers(t *testing.T) {
	for _, x := range []struct {
		workers int
		mixed   bool
		later   float64
		want    string
		kind    evidence.WaitKind
	}{
		{1, false, .3, "a lock or a pool of one connection for calls to 10.0.0.7:9000", evidence.OneAtATime},
		{1, false, 2.2, "a lock or a pool of one connection for calls to 10.0.0.7:9000", evidence.OneAtATime},
		{2, false, .3, "the 2 threads of printer", evidence.PoolThread},
		{2, false, 2.2, "the 2 threads of printer", evidence.PoolThread},
	} {
		w := newText()
		waited := handsOver(w, x.workers, x.mixed, x.later)
		b := w.read(t, 25000)
		charged := 0.
		for what, ms := range spent(b, "POST /tickets/{id}") {
			name, pool := strings.CutPrefix(what, "pool wait | ")
			if !pool {
				continue
			}
			name, _, _ = strings.Cut(name, " | ")
			if charged += ms; name != x.want || b.Names.Wait(b.Names.Lookup(name)).Kind != x.kind {
				t.Errorf("%+v: waits for %q, kind %d", x, name, b.Names.Wait(b.Names.Lookup(name)).Kind)
			}
		}
		if waited < 250 || charged < .8*waited || charged > 1.2*waited {
			t.Errorf("%+v: waited %.0f ms, charged %.0f", x, waited, charged)
		}
		if ms := spent(b, "GET /seats/{id}"); len(ms) == 0 {
			t.Errorf("%+v: the others are not told", x)
		}
	}
}

// Threads are the pool only where each connection is one thread's own.
func TestConnectionsOfSeveralThreads(t *testing.T) {
	w := newText()
	handsOver(w, 2, true, .3)
	for what := range spent(w.read(t, 25000), "POST /tickets/{id}") {
		if strings.Contains(what, "threads of") {
			t.Error(what)
		}
	}
}
