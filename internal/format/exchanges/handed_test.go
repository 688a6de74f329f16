package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// losing writes requests that call once on one of so many connections. After one call in every its connection is lost: it carries nothing
// for 5 s, and then another one is opened instead. It returns how long requests of the route waited for a connection (ms).
func losing(w *text, places, every int) (waited float64) {
	const seconds, lost = 14, 5000.
	random := rand.New(rand.NewPCG(1, 2))
	free, ports := make([]float64, places), make([]int, places)
	port := 4000
	for i := range ports {
		ports[i] = port
		port++
	}
	at := 0.
	for i := 0; at < seconds*1000; i++ {
		at += random.ExpFloat64() * 25
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		begins := max(at+.1, free[first]+.05)
		waited += begins - at - .1
		took := 15 + 10*random.Float64()
		goroutine := fmt.Sprintf("%d/%d", 9+i%3, 100+i)
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %s %[3]s %d 10.0.0.7:9000 http 200 GET /rating\n", began+ns(begins), ns(took), goroutine, ports[first])
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %s %[3]s 8080/%d - http 200 GET /ratings\n", began+ns(at), ns(begins+took+.2-at), goroutine, 1+i%40)
		if free[first] = begins + took; random.IntN(every) == 0 {
			free[first] = begins + lost
			ports[first] = port
			port++
		}
	}
	return waited
}

// A pool some of whose connections are lost is never seen to be full, but requests wait for the others.
func TestLostPool(t *testing.T) {
	for name, of := range map[string]struct {
		places, every int
		waits         bool
	}{
		"16 places, one call in 14 loses its connection":  {16, 14, true},
		"400 places, one call in 14 loses its connection": {400, 14, false},
		"16 places, none is lost":                         {16, 1 << 20, false},
	} {
		w := newText()
		waited := losing(w, of.places, of.every)
		b := w.read(t, 25000)
		charged, kind := 0., evidence.OtherWait
		for what, ms := range spent(b, "GET /ratings") {
			if strings.HasPrefix(what, "pool wait") {
				charged += ms
				kind = b.Names.Wait(b.Names.Lookup(strings.TrimPrefix(what, "pool wait | "))).Kind
			}
		}
		if of.waits && (charged < .8*waited || charged > 1.2*waited || kind != evidence.LostPool || waited < 1000) || !of.waits && charged > 0 {
			t.Errorf("%s: waited %.0f ms, charged %.0f for kind %d", name, waited, charged, kind)
		}
	}
}

// Connections that are handed over are a pool only if there are two or more of them, and only lost ones say that some are not given back.
func TestHandedOverIsNotLost(t *testing.T) {
	for name, of := range map[string]struct{ places, every int }{
		"one connection, none is lost":  {1, 1 << 20},
		"two connections, none is lost": {2, 1 << 20},
		"two connections, one is lost":  {2, 300},
	} {
		w := newText()
		losing(w, of.places, of.every)
		b := w.read(t, 25000)
		for what, ms := range spent(b, "GET /ratings") {
			kind := b.Names.Wait(b.Names.Lookup(strings.TrimPrefix(what, "pool wait | "))).Kind
			if strings.HasPrefix(what, "pool wait") && kind == evidence.LostPool {
				t.Errorf("%s: %.0f ms for connections that are not given back", name, ms)
			}
		}
	}
}
