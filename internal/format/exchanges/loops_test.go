package exchanges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

const began = int64(1763689985000000000)

// text makes a recording, with times in ms since its beginning.
type text struct{ strings.Builder }

func newText() *text {
	var w text
	fmt.Fprintf(&w, "# exchanges of pid 4711\nfrom %d\n", began)
	return &w
}

func ns(ms float64) int64 { return int64(ms * 1e6) }

func (w *text) request(came, begun, answered float64, thread, connection int, route string) {
	fmt.Fprintf(w, "q %d %d %d 0 80 90 1 1 %d %[4]d 8080/%[5]d - http 200 %[6]s\n", began+ns(came), ns(begun-came), ns(answered-begun), thread, connection, route)
}

func (w *text) call(begun, answered float64, thread, port int) {
	fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d %[3]d %d 10.0.0.7:5432 postgresql\n", began+ns(begun), ns(answered-begun), thread, port)
}

func (w *text) read(t *testing.T, until float64) *evidence.Bundle {
	t.Helper()
	fmt.Fprintf(w, "until %d\n", began+ns(until))
	return suite.MustRead(t, []byte(w.String()))
}

// spent sums up (ms) what requests of a route did, by kind, cause, the holder's state and route.
func spent(b *evidence.Bundle, route string) map[string]float64 {
	sums := make(map[string]float64)
	r := &b.Requests
	for i := range r.Len() {
		if b.Names.Text(r.Route.At(i)) != route {
			continue
		}
		for s := range r.Path(i).All {
			words := []string{s.Kind.String()}
			for _, w := range []string{b.Names.Text(s.Cause), b.Names.Text(s.Via), b.Names.Text(s.HolderCause)} {
				if w != "" {
					words = append(words, w)
				}
			}
			sums[strings.Join(words, " | ")] += float64(s.Dur) / 1e6
		}
	}
	return sums
}

func about(t *testing.T, got map[string]float64, what string, want float64) {
	t.Helper()
	if v := got[what]; v < want-.01 || v > want+.01 {
		t.Errorf("%s: %v ms, want %v, of %v", what, v, want, got)
	}
}

// Requests that wait for another one's call make calls of their own before that wait.
func TestAwaitedBesideCalls(t *testing.T) {
	w := newText()
	for i := range 12 {
		at := float64(300 * i)
		w.request(at, at, at+121, 9, 1, "GET /rates")
		w.call(at+.5, at+120.5, 9, 4000)
		for n := range 4 {
			goroutine := fmt.Sprintf("7/%d", 20+n)
			fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %s %[3]s 8080/%d - http 200 GET /names\n", began+ns(at+20), ns(101.5), goroutine, 2+n)
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %s %[3]s %d 10.0.0.7:5432 postgresql\n", began+ns(at+20.5), ns(1), goroutine, 5000+n)
		}
	}
	got := spent(w.read(t, 4000), "GET /names")
	about(t, got, "network wait | PostgreSQL at 10.0.0.7:5432", 12*4*1)
	about(t, got, "network wait | PostgreSQL at 10.0.0.7:5432 | PostgreSQL at 10.0.0.7:5432", 12*4*99) // another's
}

// A loop computes for one request while another waits, and then blocks in a call.
func TestLoop(t *testing.T) {
	for name, title := range map[string]string{"main-loop": "main-loop", "vert.x-eventloo": "vert.x-eventloo…"} { // the kernel keeps 15 bytes
		testLoop(t, name, title)
	}
}

func testLoop(t *testing.T, name, title string) {
	w := newText()
	w.WriteString("t 9 " + name + "\n")
	for i := range 10 { // both connections are read in turns
		at := float64(100 * i)
		w.request(at, at, at+40, 9, 1, "GET /slow")
		w.request(at+10, at+40.1, at+41.1, 9, 2, "GET /quick")
		w.request(at+50, at+50, at+71, 9, 1, "GET /rows")
		w.call(at+50.5, at+70.5, 9, 4000)
		w.request(at+55, at+71.5, at+72, 9, 2, "GET /quick")
	}
	got := spent(w.read(t, 1000), "GET /quick")
	about(t, got, "thread wait | event loop "+title+" | GET /slow", 300)
	about(t, got, "thread wait | event loop "+title+" | GET /rows | PostgreSQL at 10.0.0.7:5432", 155)
}

// A request that a loop has read waits for it, too, while that goes on with another.
func TestLoopInside(t *testing.T) {
	w := newText()
	for i := range 10 {
		at := float64(100 * i)
		w.request(at, at, at+60, 9, 1, "GET /rows")
		w.request(at+.1, at+.1, at+61, 9, 2, "GET /quick")
		w.call(at+.5, at+59.5, 9, 4000)
		w.request(at+10, at+60.5, at+61.5, 9, 3, "GET /late") // the loop does not read its data, so the loop is busy
	}
	got := spent(w.read(t, 1000), "GET /quick")
	if v := got["thread wait | event loop of thread 9 | GET /rows | PostgreSQL at 10.0.0.7:5432"]; v < 580 {
		t.Errorf("waited %v ms for the loop, of %v", v, got)
	}
}

// Where any thread of a pool reads any connection, none is an event loop; nor is one that has a connection of its own.
func TestNoLoop(t *testing.T) {
	pool, own := newText(), newText()
	for i := range 40 {
		at := float64(100 * i)
		pool.request(at, at+50, at+60, 9+i%4, 1+i%3, "GET /")
		own.request(at, at+50, at+60, 9+i%4, 1+i%4, "GET /")
	}
	for _, w := range []*text{pool, own} {
		got := spent(w.read(t, 4000), "GET /")
		about(t, got, "before the service | arrived and not read yet, port 8080", 2000)
	}
}

// A few threads share all connections, and both are in calls that block while data is not read.
func TestSharedLoop(t *testing.T) {
	got := spent(shareThreads(t, "t 4711 quotes\nt 9 tokio-rt-worker\nt 10 tokio-rt-worker\n"), "GET /orders")
	what := "thread wait | event loop of 2 threads tokio-rt-worker | GET /quotes | PostgreSQL at 10.0.0.7:5432"
	if v := got[what]; v < 38*30 || v > 40*31 {
		t.Errorf("waited %v ms for the threads, of %v", v, got)
	}
}

// Threads of a JVM that do so are the carriers of its virtual threads.
func TestSharedCarriers(t *testing.T) {
	got := spent(shareThreads(t, "t 4711 quotes\nt 9 ForkJoinPool-1-\nt 10 ForkJoinPool-1-\n"), "GET /orders")
	what := "thread wait | 2 carriers of virtual threads | GET /quotes | PostgreSQL at 10.0.0.7:5432"
	if v := got[what]; v < 38*30 || v > 40*31 {
		t.Errorf("waited %v ms for them, of %v", v, got)
	}
}

// Threads that are called as the process is are those of a pool: .NET before 6 names none.
func TestNoLoopOfUnnamedThreads(t *testing.T) {
	for _, name := range []string{"dotnet", "Quotes"} {
		names := fmt.Sprintf("t 4711 %s\nt 9 %[1]s\nt 10 %[1]s\n", name)
		for what, ms := range spent(shareThreads(t, names), "GET /orders") {
			if strings.Contains(what, "event loop") {
				t.Errorf("%s: %s for %v ms", name, what, ms)
			}
		}
	}
}

// shareThreads reads a recording in which two threads share all connections and block in calls, while a third request comes.
func shareThreads(t *testing.T, names string) *evidence.Bundle {
	w := newText()
	w.WriteString(names)
	for i := range 40 {
		at := float64(100 * i)
		for n := range 2 {
			thread := 9 + (i+n)%2
			w.request(at, at+.1, at+50, thread, 1+(i+n)%3, "GET /quotes")
			w.call(at+.5, at+40.5, thread, 4000+n)
		}
		w.request(at+10, at+40.6, at+45, 9+i%2, 4+i%2, "GET /orders")
	}
	return w.read(t, 4000)
}

// Goroutines that share threads are no event loops.
func TestNoLoopOfGoroutines(t *testing.T) {
	w := newText()
	for i := range 80 {
		at := float64(20 * i)
		fmt.Fprintf(w, "q %d %d %d 0 80 90 1 1 %d/%d %[4]d/%[5]d 8080/%[6]d - http 200 GET /\n", began+ns(at), ns(10), ns(30), 9+i%2, 100+i%5, 1+i%5)
	}
	about(t, spent(w.read(t, 1700), "GET /"), "before the service | arrived and not read yet, port 8080", 800)
}

// Requests wait until the call of another one is answered, as behind a lock that is held over it.
func TestAwaited(t *testing.T) {
	w := newText()
	for i := range 12 {
		at := float64(300 * i)
		w.request(at, at, at+121, 9, 1, "GET /rates")
		w.call(at+.5, at+120.5, 9, 4000)
		for n := range 4 {
			w.request(at+20, at+20, at+121.5, 9, 2+n, "GET /names")
		}
		w.request(at+150, at+150, at+150.2, 9, 2, "GET /names")
	}
	about(t, spent(w.read(t, 4000), "GET /names"), "network wait | PostgreSQL at 10.0.0.7:5432 | PostgreSQL at 10.0.0.7:5432", 12*4*100.5)
}

// What takes its time while others call ends at any moment: it waits for none of them.
func TestNotAwaited(t *testing.T) {
	w := newText()
	for i := range 60 {
		at := float64(100 * i)
		w.request(at, at, at+61, 9, 1, "GET /rates")
		w.call(at+.5, at+60.5, 9, 4000)
		w.request(at+float64(7*i%50), at+float64(7*i%50), at+float64(7*i%50)+40, 10, 2, "GET /sums")
	}
	for what := range spent(w.read(t, 6100), "GET /sums") {
		if strings.HasPrefix(what, "network wait") {
			t.Errorf("it waits: %s", what)
		}
	}
}

// Two connections to a database are all busy, and the next call begins when one ends.
func TestPool(t *testing.T) {
	w := newText()
	for i := range 40 {
		at := float64(10 * i)
		w.request(at, at, at+60+1, 9+i%3, 1+i%7, "GET /rows") // answered by another thread than the one that read its call's answer
		w.call(at+40.5, at+60.4, 20+i%5, 4000+i%2)
	}
	got := spent(w.read(t, 600), "GET /rows")
	what := "pool wait | the pool of 2 connections to PostgreSQL at 10.0.0.7:5432 | PostgreSQL at 10.0.0.7:5432"
	if v := got[what]; v < 35*38 || v > 40.5*40 {
		t.Errorf("waited %v ms for the pool, of %v", v, got)
	}
}

// A connection with an open transaction is busy between its calls, too: each request asks another service in between.
func TestPoolOfTransactions(t *testing.T) {
	w := newText()
	query := func(begun float64, thread, port int, left string) {
		fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d/%d %[3]d/%[4]d %d 10.0.0.7:5432 postgresql %s UPDATE rooms\n", began+ns(begun), ns(.4), thread, port, 4000+port%2, left)
	}
	for i := range 40 {
		at := float64(10 * i)
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d/%d %[3]d/%[4]d 8080/%[5]d - http 200 POST /rooms\n", began+ns(at), ns(62), 9+i%3, 100+i, 1+i%7)
		query(at+40, 9+(i+1)%3, 100+i, "open")
		query(at+59.5, 9+(i+2)%3, 100+i, "idle")
	}
	got := spent(w.read(t, 600), "POST /rooms")
	what := "pool wait | the pool of 2 connections to PostgreSQL at 10.0.0.7:5432 | PostgreSQL at 10.0.0.7:5432"
	if v := got[what]; v < 35*38 || v > 40.5*40 {
		t.Errorf("waited %v ms for the pool, of %v", v, got)
	}
}

// Requests keep their connection until they are answered, without a transaction: each asks another service after its query. Where others use the
// connection meanwhile, nobody keeps it.
func TestPoolHeldUntilAnswered(t *testing.T) {
	held, free := newText(), newText()
	for i := range 40 {
		at := float64(10 * i)
		for w, port := range map[*text]int{held: 4000 + i%2, free: 4000} {
			fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d/%d %[3]d/%[4]d 8080/%[5]d - http 200 GET /rows\n", began+ns(at), ns(60.5), 9+i%3, 100+i, 1+i%7)
			fmt.Fprintf(w, "k %d 0 %d 0 80 90 1 1 %d/%d %[3]d/%[4]d %d 10.0.0.7:5432 postgresql\n", began+ns(at+40.5), ns(1.5), 9+(i+1)%3, 100+i, port)
		}
	}
	got := spent(held.read(t, 600), "GET /rows")
	what := "pool wait | the pool of 2 connections to PostgreSQL at 10.0.0.7:5432 | PostgreSQL at 10.0.0.7:5432"
	if v := got[what]; v < 35*38 || v > 40.5*40 {
		t.Errorf("waited %v ms for the pool, of %v", v, got)
	}
	for what := range spent(free.read(t, 600), "GET /rows") {
		if strings.HasPrefix(what, "pool wait") {
			t.Errorf("nobody keeps the connection: %s", what)
		}
	}
}

// A limiter lets a call through each 30 ms, whatever the calls take, of which several are under way at once.
func TestLimiter(t *testing.T) {
	limited, locked := newText(), newText()
	end := 0.
	for i := range 40 {
		at, takes := float64(24*i), 20+float64(i*7%20)
		limited.request(at, at, float64(100+30*i)+takes+.1, 9+i, 1+i, "GET /offers")
		limited.call(float64(100+30*i), float64(100+30*i)+takes, 9+i, 4000+i%3)
		begun := max(at+6, end+1)
		end = begun + takes
		locked.request(at, at, end+.1, 9+i, 1+i, "GET /offers")
		locked.call(begun, end, 9+i, 4000+i)
	}
	got := spent(limited.read(t, 1600), "GET /offers")
	about(t, got, "pool wait | a limit of 33.3 calls a second to PostgreSQL at 10.0.0.7:5432", 39*100+6*39*20)
	for what := range spent(locked.read(t, 1800), "GET /offers") {
		if strings.Contains(what, "calls a second") {
			t.Errorf("a lock is taken for a limiter: %s", what)
		}
	}
}

// windowed makes requests that come each 25 ms for a while and then stop: their calls begin at once, or with a window of 200 ms. Of windows with
// requests waiting, each lets in as many as its number says.
func windowed(lets func(window int) int) *text {
	w := newText()
	next, window, left := 0, 0, 0
	for burst := range 6 {
		for n := range 40 {
			at := float64(burst*2400+25*n) + 3
			begun := at
			if now := int(at / 200); now > window {
				window, left = now, lets(now)
			}
			if left == 0 {
				window++
				left = lets(window)
			}
			if start := float64(200 * window); start > at {
				begun = start + float64(left)*.4
			}
			left--
			w.request(at, at, begun+40.1, 9+next, 1+next, "GET /offers")
			w.call(begun, begun+40, 9+next, 4000+next%9)
			next++
		}
	}
	return w
}

// A limiter lets six calls through in each 200 ms. What is sent in batches of any size each 200 ms passes no limiter.
func TestLimitOfWindows(t *testing.T) {
	limited := spent(windowed(func(int) int { return 6 }).read(t, 15000), "GET /offers")
	if v := limited["pool wait | a limit of 6 calls in each 200 ms to PostgreSQL at 10.0.0.7:5432"]; v < 20_000 {
		t.Errorf("%v", limited)
	}
	for what := range spent(windowed(func(window int) int { return 3 + window%5 }).read(t, 15000), "GET /offers") {
		if strings.Contains(what, "a limit of") {
			t.Errorf("batches are taken for a limiter: %s", what)
		}
	}
}

// Connections that are seldom busy all at once are no pool that is exhausted.
func TestPoolFree(t *testing.T) {
	w := newText()
	for i := range 40 {
		at := float64(50 * i)
		w.request(at, at, at+31, 9, 1, "GET /rows")
		w.call(at+10, at+30, 9, 4000+i%4)
	}
	got := spent(w.read(t, 2000), "GET /rows")
	about(t, got, "network wait | PostgreSQL at 10.0.0.7:5432", 800)
	for what := range got {
		if strings.HasPrefix(what, "pool wait") {
			t.Errorf("%v", got)
		}
	}
}

// Calls in a row belong to the request that is answered when the last has ended.
func TestLinkByTime(t *testing.T) {
	var requests, calls []exchange
	for i := range int64(30) {
		at := i * 40e6
		requests = append(requests, exchange{came: at, begun: at, first: at + 30.2e6, last: at + 30.2e6})
		for k := range int64(3) {
			calls = append(calls, exchange{begun: at + k*10e6 + 100e3, first: at + k*10e6 + 9.9e6, last: at + k*10e6 + 10e6, request: -1})
		}
	}
	if n := linkByTime(requests, calls, nil, 1200e6); n != 90 {
		t.Errorf("%d calls are linked, want 90", n)
	}
	for i := range calls {
		if calls[i].request != int32(i/3) {
			t.Fatalf("call %d is linked to request %d", i, calls[i].request)
		}
	}
	for i := range calls { // ends that no answers follow
		calls[i].request = -1
		calls[i].first, calls[i].last = calls[i].first-4e6, calls[i].last-4e6
	}
	if n := linkByTime(requests, calls, nil, 1200e6); n != 0 {
		t.Errorf("%d calls are linked, want none", n)
	}
}

// Requests over FastCGI have no route: those that call the same are of one.
func TestNameByCalls(t *testing.T) {
	w := newText()
	for i := range 20 {
		at := float64(100 * i)
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d %[3]d 9000/%d - fastcgi\n", began+ns(at), ns(61), 9+i%4, 1+2*i)
		w.call(at+.2, at+60.5, 9+i%4, 4000)
		fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d %[3]d 9000/%d - fastcgi\n", began+ns(at+70), ns(.5), 9+i%4, 2+2*i)
	}
	b := w.read(t, 2000)
	about(t, spent(b, "(no route; calls PostgreSQL at 10.0.0.7:5432)"), "network wait | PostgreSQL at 10.0.0.7:5432", 20*60.3)
	about(t, spent(b, ""), "unobserved", 20*.5)
}
