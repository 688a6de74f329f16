package exchanges

import (
	"fmt"
	"strings"
	"testing"
)

const (
	stacksText = "s 1 runtime.gopark\truntime.semacquire1\tinternal/sync.runtime_SemacquireMutex\tinternal/sync.(*Mutex).lockSlow\tmain.(*shop).price\tmain.prices\n" +
		"s 2 runtime.gopark\truntime.netpollblock\tinternal/poll.runtime_pollWait\tinternal/poll.(*FD).Read\tnet.(*conn).Read\tgithub.com/jackc/pgx/v5/pgconn.(*PgConn).peekMessage\tmain.(*shop).price\tmain.prices\n" +
		"s 3 runtime.gopark\truntime.selectgo\tnet/http.(*persistConn).roundTrip\tmain.(*shop).price\tmain.prices\n" +
		"s 4 runtime.gopark\truntime.chansend\truntime.chansend1\tmain.(*limiter).acquire\tmain.prices\n"
)

// lockedOver writes five requests at a time, each of which calls a database for 40 ms under one lock, and looks each 20 ms.
func lockedOver(w *text, looked bool) {
	w.WriteString(stacksText)
	for i := range 40 {
		at := float64(400 * i)
		for n := range 5 {
			g, begins := 20+n, at+.5+40.2*float64(n)
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 9/%d 9/%[3]d 4000 10.0.0.7:5432 postgresql idle SELECT prices\n", began+ns(begins), ns(40), g)
			fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 9/%d 9/%[3]d 8080/%d - http 200 GET /prices\n", began+ns(at), ns(begins+40.1-at), g, 2+n)
		}
		for t := 10.; looked && t < 200; t += 20 {
			for n := range 5 {
				switch begins := .5 + 40.2*float64(n); {
				case t < begins:
					fmt.Fprintf(w, "g %d %d w 1\n", began+ns(at+t), 20+n)
				case t < begins+40:
					fmt.Fprintf(w, "g %d %d w 2\n", began+ns(at+t), 20+n)
				}
			}
		}
	}
}

// A lock that is held over a call looks like a pool of one connection from outside; looks tell them apart, and what the holder does.
func TestLockOverCall(t *testing.T) {
	for _, looked := range []bool{false, true} {
		w := newText()
		lockedOver(w, looked)
		got := spent(w.read(t, 17000), "GET /prices")
		lock, pool := 0., 0.
		for what, ms := range got {
			switch {
			case strings.HasPrefix(what, "lock wait | mutex in main.(*shop).price") && strings.HasSuffix(what, "PostgreSQL at 10.0.0.7:5432"):
				lock += ms
			case strings.HasPrefix(what, "pool wait"):
				pool += ms
			}
		}
		const waited = 40 * 40.2 * (1 + 2 + 3 + 4)
		if looked && (lock < .95*waited || pool > 0) || !looked && (lock > 0 || pool < .95*waited) {
			t.Errorf("looked at: %v: of %.0f ms %.0f at the lock, %.0f at a pool, of %v", looked, waited, lock, pool, got)
		}
	}
}

// Waits that no look met are like those of the same route that looks met, and the stack of the goroutine that waits names the code that calls.
func TestAlikeWaits(t *testing.T) {
	w := newText()
	w.WriteString(stacksText)
	for i := range 60 {
		at, g := float64(100*i), 20+i%5
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 9/3 9/4 %d 10.0.0.7:80 http 200 GET /rate\n", began+ns(at+13), ns(20), 4000+i)
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 9/%d 9/%[3]d 8080/%d - http 200 GET /prices\n", began+ns(at), ns(33.2), g, 1+i%5)
		if i%2 == 0 {
			fmt.Fprintf(w, "g %d %d w 4\n", began+ns(at+6), g)
		}
		fmt.Fprintf(w, "g %d %d w 3\n", began+ns(at+26), g)
	}
	b := w.read(t, 7000)
	got := spent(b, "GET /prices")
	about(t, got, "sync wait | chan send in main.(*limiter).acquire", 60*13)
	about(t, got, "network wait | 10.0.0.7:80", 60*20)
	for i, stack := range b.Intervals.Stack.All() {
		if frames := b.Stacks.Frames(stack); len(frames) == 0 || b.Names.Text(frames[3].Func) != "main.(*shop).price" {
			t.Fatalf("call %d has the stack %v", i, frames)
		}
	}
}

func TestLooksAreUnderstood(t *testing.T) {
	for line, good := range map[string]bool{
		"g 1763689985101200000 9 w 2": true, "g 1763689985101200000 9 r 0": true,
		"g 1763689985101200000 9 x 2": false, "g 1763689985101200000 0 w 2": false, "g 1763689985101200000 9 w": false, "g 1763689985101200000 9 w 2 3": false,
	} {
		p := parser{}
		if got := p.parseLook([]byte(strings.TrimPrefix(line, "g "))); got != good {
			t.Errorf("%s: understood %v", line, got)
		}
	}
}
