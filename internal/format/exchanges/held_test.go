package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// holding writes requests that ask once on a connection, and then wait for a second one of the same pool until a time-out of a second, when
// their connection is closed and another one is opened instead. Requests that get no connection in that time ask nothing. Before each
// question is the set-up of the connection, in so many questions of nobody. Of another route a few requests ask nothing and are quick.
func holding(w *text, places, setUps int, goroutines bool) {
	const seconds, patience = 12, 1000.
	random := rand.New(rand.NewPCG(1, 2))
	free := make([]float64, places)
	at, port := 0., 4000
	for i := 0; at < seconds*1000; i++ {
		at += random.ExpFloat64() * 40
		thread := fmt.Sprint(100 + i)
		if goroutines {
			thread = fmt.Sprintf("%d/%d", 9+i%3, 100+i)
		}
		request := func(end float64, status int, route string) {
			fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %s %[3]s 8080/%d - http %d %s\n", began+ns(at), ns(end-at), thread, 1+i, status, route)
		}
		if i%10 == 0 {
			request(at+.4, 200, "GET /names")
			continue
		}
		first := 0
		for k := range free {
			if free[k] < free[first] {
				first = k
			}
		}
		begins := max(at, free[first]) + .2
		if begins+5 >= at+patience { // it gives up before
			request(at+patience, 503, "GET /zones")
			continue
		}
		port++
		opener := "8"
		if goroutines {
			opener = "8/1"
		}
		for range setUps {
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %s %[3]s %d 10.0.0.7:5432 postgresql\n", began+ns(begins), ns(1), opener, port)
			begins += 1.1
		}
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %s %[3]s %d 10.0.0.7:5432 postgresql\n", began+ns(begins), ns(2), thread, port)
		free[first] = at + patience
		request(at+patience, 503, "GET /zones")
	}
}

// Requests that hold a connection of a pool while they wait for a second one keep all others waiting, though nothing is on the wire.
func TestHeldPool(t *testing.T) {
	for name, of := range map[string]struct {
		places, setUps int
		goroutines     bool
	}{
		"goroutines, connections with a set-up": {5, 2, true},
		"threads, connections without":          {3, 0, false},
	} {
		w := newText()
		holding(w, of.places, of.setUps, of.goroutines)
		b := w.read(t, 14000)
		got := spent(b, "GET /zones")
		what := fmt.Sprintf("pool wait | the pool of %d connections to PostgreSQL at 10.0.0.7:5432", of.places)
		if got[what] < .7*sum(got) {
			t.Errorf("%s: waited %v ms for the pool, of %v", name, got[what], got)
		}
		for what := range spent(b, "GET /names") {
			if strings.HasPrefix(what, "pool wait") {
				t.Errorf("%s: requests that need no connection wait for the pool", name)
			}
		}
	}
}

// leaking writes requests with a transaction each, of which one in three ends it never: its connection is closed after 3 s, and
// another one is opened instead. Connections that were open before are closed likewise.
func leaking(w *text, places int) {
	const seconds, leak = 12, 3000.
	random := rand.New(rand.NewPCG(1, 2))
	type connection struct {
		port   int
		free   float64
		leaked bool
	}
	pool := make([]connection, places)
	port := 4000
	for i := range pool {
		port++
		pool[i] = connection{port, leak * random.Float64(), true}
	}
	call := func(at, took float64, thread, port int, kind string) {
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 %s\n", began+ns(at), ns(took), thread, port, kind)
	}
	at := 0.
	for i := 0; at < seconds*1000; i++ {
		at += random.ExpFloat64() * 40
		first := &pool[0]
		for k := range pool {
			if pool[k].free < first.free {
				first = &pool[k]
			}
		}
		begins, thread := max(at, first.free)+.2, 100+i
		if first.leaked {
			fmt.Fprintf(w, "k %d 0 -1 %d 0 5 0 1 7 0 %d 10.0.0.7:5432 postgresql\n", began+ns(first.free), ns(3), first.port)
			port++
			first.port = port
			call(begins, 2, 7, port, "-")
			begins += 2.1
		}
		first.free, first.leaked = begins+3, i%3 == 0
		call(begins, .5, thread, first.port, "postgresql open BEGIN")
		call(begins+.6, .5, thread, first.port, "postgresql open SELECT")
		if first.leaked {
			first.free = begins + leak
		} else {
			call(begins+1.2, 1.8, thread, first.port, "postgresql idle COMMIT")
		}
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d %[3]d 8080/%d - http 200 POST /vouchers\n", began+ns(at), ns(begins+3.1-at), thread, 1+i)
	}
}

// Transactions that stay open keep the connections of a pool until they are closed, those that were open before the recording, too.
func TestLeakedPool(t *testing.T) {
	for places, waits := range map[int]bool{20: true, 60: false} {
		w := newText()
		leaking(w, places)
		b := w.read(t, 13000)
		got := spent(b, "POST /vouchers")
		what := fmt.Sprintf("pool wait | the pool of %d connections to PostgreSQL at 10.0.0.7:5432", places)
		if waits != (got[what] > .9*sum(got)) {
			t.Errorf("%d places: waited %v ms for the pool, of %v", places, got[what], got)
		}
		if kind := b.Names.Wait(b.Names.Lookup(strings.TrimPrefix(what, "pool wait | "))).Kind; waits && kind != evidence.LeakedPool {
			t.Errorf("kind %v", kind)
		}
	}
}

// On an event loop nothing tells whose call begins when a connection of the pool becomes free: requests of the route that uses the
// pool wait for it all the same, and those of a route that does not need it do not.
func TestPoolOfLoop(t *testing.T) {
	for places, waits := range map[int]bool{4: true, 40: false} {
		w := newText()
		random := rand.New(rand.NewPCG(1, 2))
		free := make([]float64, places)
		const loop, kept = 9, 1400.
		at, waited := 0., 0.
		for i := 0; at < 12000; i++ {
			at += random.ExpFloat64() * 25
			if i%4 == 0 {
				w.request(at, at, at+.3, loop, 1+i%30, "GET /rates")
				continue
			}
			first := 0
			for k := range free {
				if free[k] < free[first] {
					first = k
				}
			}
			begins := max(at, free[first]) + .4
			waited += max(at, free[first]) - at
			call := func(at, took float64, kind string) {
				fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 %s\n", began+ns(at), ns(took), loop, 4000+first, kind)
			}
			call(begins, 1, "postgresql open SELECT")
			took := 6 + 12*random.Float64()
			if free[first] = begins + took; i%13 == 0 {
				free[first] = begins + kept
			}
			call(free[first]-3, 2.9, "postgresql idle COMMIT")
			w.request(at, at, begins+took+1+20*random.Float64(), loop, 1+i%30, "POST /payments")
		}
		b := w.read(t, 16000)
		charged := 0.
		for what, ms := range spent(b, "POST /payments") {
			if strings.HasPrefix(what, "pool wait") {
				charged += ms
			}
		}
		if waits != (waited > 1000) || charged < .8*waited || charged > 1.2*waited {
			t.Errorf("%d places: waited %v ms for the pool, charged %v", places, waited, charged)
		}
		for what := range spent(b, "GET /rates") {
			if strings.HasPrefix(what, "pool wait") {
				t.Errorf("%d places: requests that need no connection wait for the pool", places)
			}
		}
	}
}

// Where most requests of a route ask nothing, as those that a cache answers, a full pool tells of none of them that it waited.
func TestPoolOfLoopBesideACache(t *testing.T) {
	for cached, waits := range map[int]bool{0: true, 8: false} { // of ten requests
		w := newText()
		random := rand.New(rand.NewPCG(1, 2))
		free := make([]float64, 4)
		const loop, kept = 9, 1400.
		at := 0.
		for i := 0; at < 12000; i++ {
			at += random.ExpFloat64() * 25
			if i%10 < cached {
				w.request(at, at, at+.4, loop, 1+i%30, "POST /payments")
				continue
			}
			first := 0
			for k := range free {
				if free[k] < free[first] {
					first = k
				}
			}
			begins := max(at, free[first]) + .4
			call := func(at, took float64, kind string) {
				fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 %s\n", began+ns(at), ns(took), loop, 4000+first, kind)
			}
			call(begins, 1, "postgresql open SELECT")
			took := 6 + 12*random.Float64()
			if free[first] = begins + took; i%13 == 0 {
				free[first] = begins + kept
			}
			call(free[first]-3, 2.9, "postgresql idle COMMIT")
			w.request(at, at, begins+took+1+20*random.Float64(), loop, 1+i%30, "POST /payments")
		}
		b := w.read(t, 16000)
		quick := 0.
		r := &b.Requests
		for row := range r.Len() {
			for s := range r.Path(row).All {
				if s.Kind == evidence.PoolWait && r.Latency(row) < 1e6 {
					quick += float64(s.Dur) / 1e6
				}
			}
		}
		charged := 0.
		for what, ms := range spent(b, "POST /payments") {
			if strings.HasPrefix(what, "pool wait") {
				charged += ms
			}
		}
		if (charged > 1000) != waits || quick > 0 {
			t.Errorf("%d of ten answered by a cache: %.0f ms charged, %.1f of it to requests that are over at once", cached, charged, quick)
		}
	}
}

// Requests that keep a connection each, of as many as are needed, wait for none.
func TestNoHeldPool(t *testing.T) {
	for _, places := range []int{1000, 60} {
		w := newText()
		holding(w, places, 1, true)
		for what, ms := range spent(w.read(t, 14000), "GET /zones") {
			if strings.HasPrefix(what, "pool wait") {
				t.Errorf("of %d places: %s for %v ms", places, what, ms)
			}
		}
	}
}

// What listens at one address speaks one protocol, whatever a short piece looks like.
func TestOneProductForAnAddress(t *testing.T) {
	w := newText()
	for i := range 20 {
		at, kind := float64(100*i), "mysql idle SELECT permits"
		if i%5 == 0 {
			kind = "postgresql"
		}
		w.request(at, at, at+10, 9, 1, "GET /permits")
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 9 9 4000 10.0.0.7:3306 %s\n", began+ns(at+1), ns(5), kind)
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 9 9 4001 10.0.0.8:5432 postgresql\n", began+ns(at+7), ns(1))
	}
	got := spent(w.read(t, 3000), "GET /permits")
	about(t, got, "network wait | MySQL/MariaDB at 10.0.0.7:3306", 20*5)
	about(t, got, "network wait | PostgreSQL at 10.0.0.8:5432", 20*1)
}
