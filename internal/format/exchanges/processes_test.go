package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Processes that serve together have a pool each: what fills those of one is less than all connections. Without their processes, threads share one.
func TestPoolOfEachProcess(t *testing.T) {
	for _, told := range []bool{true, false} {
		w := newText()
		if told {
			fmt.Fprint(w, "pid 19 18\n")
		}
		const places = 4
		random := rand.New(rand.NewPCG(1, 2))
		free := make([]float64, 2*places)
		at, waited := 0., 0.
		for i := 0; at < 12000; i++ {
			at += random.ExpFloat64() * 12.5
			process := random.IntN(2)
			own := free[process*places : (process+1)*places]
			first := 0
			for k := range own {
				if own[k] < own[first] {
					first = k
				}
			}
			begins := max(at, own[first]) + .4
			waited += max(at, own[first]) - at
			took := 70 + 36*random.Float64()
			own[first] = begins + took
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 postgresql idle SELECT seats\n", began+ns(begins), ns(took), 9+10*process, 4000+process*places+first)
			w.request(at, at, begins+took+1, 9+10*process, 1+i%30+100*process, "POST /payments")
		}
		charged, pool := 0., fmt.Sprintf("pool wait | the pool of %d connections to PostgreSQL at 10.0.0.7:5432, in each process", places)
		for what, ms := range spent(w.read(t, 16000), "POST /payments") {
			if strings.HasPrefix(what, pool) {
				charged += ms
			}
		}
		if told != (charged > 0) || told && (charged < .8*waited || charged > 1.2*waited) {
			t.Errorf("told %v: waited %v ms for the pools, charged %v", told, waited, charged)
		}
	}
}
