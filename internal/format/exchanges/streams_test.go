package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// streamed writes requests that make one call each on a connection that carries some at a time (0: any number), and returns how long (ms) they waited for a place.
func streamed(w *text, places int, apart, takes float64, protocol string) (waited float64) {
	random := rand.New(rand.NewPCG(7, 9))
	var free []float64
	came := 0.
	for i := range 400 {
		came += apart * random.ExpFloat64()
		begins := came + .4
		n := -1
		for k := range free {
			if n < 0 || free[k] < free[n] {
				n = k
			}
		}
		if places > 0 && len(free) < places || places == 0 && (n < 0 || free[n] > begins) {
			free = append(free, 0)
			n = len(free) - 1
		}
		if free[n] > begins {
			begins = free[n] + .2
		}
		took := takes * (.9 + .2*random.Float64())
		free[n] = begins + took
		waited += begins - came - .4
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d 4000 10.0.0.9:80 %s\n", began+ns(begins), ns(took), 20+i%40, protocol)
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d %[3]d 8080/%[4]d - http 200 GET /seats\n", began+ns(came), ns(begins+took+.3-came), 20+i%40, i+1)
	}
	return waited
}

// Calls that a connection carries side by side, but only some at a time, are a limit that requests wait for.
func TestStreamLimit(t *testing.T) {
	for _, x := range []struct {
		places       int
		apart, takes float64
		protocol     string
	}{{4, 17, 60, "grpc 0 POST /engine.Seats/Count"}, {2, 26, 45, "http2 200 GET /seats"}, {0, 17, 60, "grpc 0 POST /engine.Seats/Count"}} {
		w := newText()
		waited := streamed(w, x.places, x.apart, x.takes, x.protocol)
		pool, limit := 0., fmt.Sprintf("pool wait | a limit of %d calls at a time to ", x.places)
		for what, ms := range spent(w.read(t, 14000), "GET /seats") {
			if strings.HasPrefix(what, "pool wait") {
				if pool += ms; !strings.HasPrefix(what, limit) {
					t.Errorf("%d places: %s", x.places, what)
				}
			}
		}
		if pool < .8*waited || pool > 1.1*max(0, waited) {
			t.Errorf("%d places: of %.0f ms %.0f at the limit", x.places, waited, pool)
		}
	}
}
