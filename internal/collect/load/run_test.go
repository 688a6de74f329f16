package load

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/evidence"
)

// recorder keeps the rows of a run.
type recorder struct {
	mu   sync.Mutex
	rows []Row
}

func (o *recorder) Progress(Snapshot) {}

func (o *recorder) Rows(rows []Row) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows = append(o.rows, rows...)
	return nil
}

// run carries out a plan and checks what is true of every run.
func run(t *testing.T, p Plan) (*Result, []Row) {
	t.Helper()
	var o recorder
	r, err := Run(t.Context(), p, &o)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(o.rows)) != r.Offered {
		t.Errorf("%d rows of %d requests", len(o.rows), r.Offered)
	}
	var sent, completed, given, broken int64
	for _, q := range o.rows {
		if q.Sent != 0 {
			sent++
		}
		switch {
		case q.Status != 0:
			completed++
		case q.Outcome == evidence.Failed:
			broken++
		default:
			given++
		}
		if q.End < q.Intended || q.Sent != 0 && (q.Sent < q.Intended || q.End < q.Sent) {
			t.Fatalf("a request out of order: %+v", q)
		}
	}
	if sent != r.Sent || completed != r.Completed || given != r.Unfinished || broken != brokenOf(r) {
		t.Errorf("rows: sent %d, completed %d, unfinished %d, broken %d; result %+v", sent, completed, given, broken, r)
	}
	return r, o.rows
}

func TestEveryRequestIsCounted(t *testing.T) {
	for name, plan := range map[string]Plan{
		"open":    {Rate: 5000},
		"poisson": {Rate: 5000, Arrivals: Poisson},
		"closed":  {Mode: Closed, Connections: 7},
		"one":     {Mode: Closed, Connections: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			seen := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				seen[r.URL.Path]++
				seen[r.Header.Get("Authorization")]++
				seen["body "+string(body)]++
				mu.Unlock()
				if r.URL.Path == "/b" {
					http.Error(w, "no", http.StatusTeapot)
				}
			}))
			defer server.Close()
			plan.URL, plan.Requests, plan.Paths = server.URL, 301, []string{"/a", "/b"}
			plan.Header = http.Header{"Authorization": {"Bearer t{n%3:4}"}}
			plan.Body = []byte("n={n}")
			r, rows := run(t, plan)
			mu.Lock() // the race detector knows nothing of what a connection orders
			defer mu.Unlock()
			if r.Sent != 301 || r.Completed != 301 || r.Errors != 150 || r.Codes.Success != 151 || r.Codes.ClientError != 150 {
				t.Errorf("301 requests, half of them refused: %+v", r)
			}
			if seen["/a"] != 151 || seen["/b"] != 150 || seen["Bearer t0002"] != 100 || seen["body n=300"] != 1 || seen["body n=0"] != 1 {
				t.Errorf("the server saw %v", seen)
			}
			if rows[0].Route != "POST /a" && rows[0].Route != "POST /b" {
				t.Errorf("route %q", rows[0].Route)
			}
			if *r.Latency.P50 <= 0 || *r.Latency.P99 < *r.Latency.P50 || *r.Latency.Max < *r.Latency.P99 {
				t.Errorf("latencies out of order: %+v", r.Latency)
			}
		})
	}
}

// TestNumberInTheURL: the % of a remainder in the URL's path and query escapes nothing.
func TestNumberInTheURL(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.RequestURI()]++
		mu.Unlock()
	}))
	defer server.Close()
	r, _ := run(t, Plan{URL: server.URL + "/moons/{n%3}?page={n%2:2}", Mode: Closed, Connections: 1, Requests: 6})
	if want := server.URL + "/moons/{n}?page={n}"; r.URL != want {
		t.Errorf("the result names %s, want %s", r.URL, want)
	}
	mu.Lock()
	defer mu.Unlock()
	want := map[string]int{"/moons/0?page=00": 1, "/moons/1?page=01": 1, "/moons/2?page=00": 1, "/moons/0?page=01": 1, "/moons/1?page=00": 1, "/moons/2?page=01": 1}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("the server saw (-want +got):\n%s", d)
	}
}

// The server holds every answer back until the schedule has ended. Requests of that time have waited from their intended start.
func TestLatencyCountsFromTheIntendedStart(t *testing.T) {
	const n = 200
	release := make(chan struct{})
	arrived := make(chan struct{}, n)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	}))
	defer server.Close()
	go func() {
		for range 3 { // no more connections than that
			<-arrived
		}
		time.Sleep(400 * time.Millisecond) // the measured time, from the rows
		close(release)
	}()
	_, rows := run(t, Plan{URL: server.URL, Rate: 1000, Requests: n, Connections: 3})
	first, last := rows[0].Intended, rows[0].Intended
	unblocked := rows[0].End
	for _, q := range rows {
		first, last = min(first, q.Intended), max(last, q.Intended)
		unblocked = min(unblocked, q.End)
	}
	if want := int64(n-1) * 1e6; last-first < want-1000 || last-first > want+1000 {
		t.Errorf("the schedule of 200 requests at 1,000/s lasts %v", time.Duration(last-first))
	}
	for _, q := range rows {
		if q.Intended < unblocked && q.Latency() < unblocked-q.Intended {
			t.Errorf("intended %v before the stop ended, latency only %v", time.Duration(unblocked-q.Intended), time.Duration(q.Latency()))
		}
	}
}

func TestNeverAnswered(t *testing.T) {
	stuck := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-stuck:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(stuck)
	// A second of arrivals, so that some time out before the run ends, however late they are sent.
	r, rows := run(t, Plan{URL: server.URL, Rate: 20, Requests: 20, Connections: 4, Timeout: 200 * time.Millisecond})
	if r.Completed != 0 || r.Unfinished != 20 || r.Timeouts == 0 || r.Codes != (Codes{}) {
		t.Errorf("20 requests nobody answers: %+v", r)
	}
	timedOut := int64(0)
	for _, q := range rows {
		if q.Outcome != evidence.TimedOut {
			continue
		}
		if timedOut++; q.End-q.Sent < 200e6 {
			t.Errorf("given up after %v", time.Duration(q.End-q.Sent))
		}
	}
	if timedOut != r.Timeouts {
		t.Errorf("%d timeouts, in the rows %d", r.Timeouts, timedOut)
	}
	if r.Latency.Max == nil || *r.Latency.Max < 200 {
		t.Errorf("their latency is at least the timeout: %+v", r.Latency)
	}
}

func TestInterrupted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for _, mode := range []Mode{Open, Closed} {
		ctx, cancel := context.WithCancel(t.Context())
		o := &stopper{cancel: cancel}
		r, err := Run(ctx, Plan{URL: server.URL, Mode: mode, Rate: 1000, Duration: time.Hour, Connections: 2}, o)
		if err != nil || r.Completed == 0 || r.Duration > 3000 {
			t.Errorf("%v: %+v %v", mode, r, err)
		}
	}
}

type stopper struct{ cancel func() }

func (s *stopper) Progress(Snapshot) {}
func (s *stopper) Rows([]Row) error  { s.cancel(); return nil }

// odd serves each connection with f.
func odd(t *testing.T, f func(n int, c net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Add(1)
			go func() {
				defer all.Done()
				defer c.Close()
				f(n, c)
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); all.Wait() })
	return "http://" + l.Addr().String()
}

// request reads one request's head; false at the end.
func request(c net.Conn) bool {
	var b []byte
	one := make([]byte, 1)
	for !strings.HasSuffix(string(b), "\r\n\r\n") {
		if n, err := c.Read(one); n == 0 || err != nil {
			return false
		}
		b = append(b, one...)
	}
	return true
}

func TestKeptConnectionsTheServerCloses(t *testing.T) {
	url := odd(t, func(_ int, c net.Conn) { // closes each after two answers, without a word
		for range 2 {
			if !request(c) {
				return
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	for _, p := range []Plan{{Rate: 2000}, {Mode: Closed, Connections: 3}} {
		p.URL, p.Requests = url, 100
		if r, _ := run(t, p); r.Completed != 100 || r.Errors != 0 {
			t.Errorf("100 requests, two for each connection: %+v", r)
		}
	}
}

func TestConnectionClose(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
	}))
	defer server.Close()
	for _, p := range []Plan{{Rate: 2000}, {Mode: Closed, Connections: 3}} {
		p.URL, p.Requests = server.URL, 100
		if r, _ := run(t, p); r.Completed != 100 || r.Errors != 0 {
			t.Errorf("100 requests, one for each connection: %+v", r)
		}
	}
}

func TestBrokenOff(t *testing.T) {
	url := odd(t, func(n int, c net.Conn) {
		if !request(c) {
			return
		}
		if n%2 == 0 {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
			return
		}
		io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nuntil the end")
	})
	r, _ := run(t, Plan{URL: url, Mode: Closed, Connections: 1, Requests: 10})
	if r.Completed != 5 || r.Errors != 5 || brokenOf(r) != 5 || len(r.ErrorKinds) != 1 || r.ErrorKinds[0].Text != "connection closed in the middle of an answer" {
		t.Errorf("every other answer is broken off: %+v", r)
	}
}

func TestUnreachable(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	gone, _ := net.Listen("tcp", "127.0.0.1:0")
	gone.Close()
	redis := odd(t, func(_ int, c net.Conn) { request(c); io.WriteString(c, "-ERR unknown command\r\n") })
	closes := odd(t, func(_ int, c net.Conn) { request(c) })
	for _, c := range []struct {
		name string
		p    Plan
		want string
	}{
		{"refused", Plan{URL: "http://" + gone.Addr().String()}, "connection refused: is it running, and on that port?"},
		{"unknown host", Plan{URL: "http://nowhere.invalid/"}, "nowhere.invalid"},
		{"redis", Plan{URL: redis}, `the answer is not HTTP: it begins with "-ERR unknown command": is that the right port?`},
		{"closes", Plan{URL: closes, Requests: 3}, "connection closed without an answer"},
		{"self-signed", Plan{URL: secure.URL}, "certificate signed by unknown authority: give --insecure to accept it"},
		{"no TLS", Plan{URL: "https" + strings.TrimPrefix(plain.URL, "http")}, "it does not speak TLS: use http://"},
		{"no socket", Plan{URL: "http://a/", Socket: "/nonexistent.sock"}, "/nonexistent.sock cannot be loaded: no such socket"},
	} {
		for _, mode := range []Mode{Open, Closed} {
			p := c.p
			p.Mode, p.Rate, p.Connections = mode, 1000, 2
			_, err := Run(t.Context(), p, nil)
			if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %v: %v", c.name, mode, err)
			}
		}
	}
}

func TestSecure(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	}))
	defer server.Close()
	r, _ := run(t, Plan{URL: server.URL, Insecure: true, Rate: 1000, Requests: 100, Body: []byte(strings.Repeat("x", 100_000))})
	if r.Completed != 100 || r.Codes.Success != 100 || r.BytesPerS*r.Duration < 100*100_000 {
		t.Errorf("%+v", r)
	}
}

// Requests and answers larger than what a socket holds are written and read in pieces.
func TestLargeBodies(t *testing.T) {
	const size = 5 << 20
	for name, chunked := range map[string]bool{"length": false, "chunked": true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if chunked {
				w.(http.Flusher).Flush()
			}
			w.Write(body)
		}))
		for _, p := range []Plan{{Rate: 200}, {Mode: Closed, Connections: 3}} {
			p.URL, p.Requests, p.Body = server.URL, 20, []byte("{n}"+strings.Repeat("x", size))
			r, rows := run(t, p)
			if r.Codes.Success != 20 {
				t.Errorf("%s: %+v", name, r)
			}
			for _, q := range rows {
				if q.Bytes < size || q.Bytes > size+size/100 {
					t.Errorf("%s: an answer of %d bytes", name, q.Bytes)
				}
			}
		}
		server.Close()
	}
}

func TestUnixSocket(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Skipf("no UNIX sockets here: %v", err)
	}
	var host atomic.Value
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { host.Store(r.Host) })}
	go server.Serve(l)
	defer server.Close()
	r, _ := run(t, Plan{URL: "http://service/x", Socket: l.Addr().String(), Mode: Closed, Connections: 1, Requests: 10})
	if r.Completed != 10 || host.Load() != "service" {
		t.Errorf("host %v, %+v", host.Load(), r)
	}
}

func TestBadPlans(t *testing.T) {
	for _, c := range []struct {
		p    Plan
		want string
	}{
		{Plan{Rate: 1}, "no URL"},
		{Plan{URL: "http://"}, "names no host"},
		{Plan{URL: "ftp://a/", Rate: 1}, "http or https"},
		{Plan{URL: "http://a:b/", Rate: 1}, "invalid port"},
		{Plan{URL: "http://a"}, "rate 0"},
		{Plan{URL: "http://a", Rate: -1}, "rate -1"},
		{Plan{URL: "http://a", Rate: 1e9}, "rate 1e+09"},
		{Plan{URL: "http://a", Rate: 1, Timeout: -1}, "timeout"},
		{Plan{URL: "http://a", Rate: 1, Connections: -1}, "-1 connections"},
		{Plan{URL: "http://a", Pattern: Ramp(0, 0, time.Second)}, "rate 0"},
		{Plan{URL: "http://a", Rate: 1, Method: "GE T"}, "method"},
		{Plan{URL: "http://a", Rate: 1, Header: http.Header{"A": {"b\nc"}}}, "line end"},
		{Plan{URL: "http://a", Rate: 1, Paths: []string{"/a b"}}, "blanks"},
	} {
		if _, err := Run(t.Context(), c.p, nil); !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
}

// brokenOf is how many requests were neither answered nor given up: their connections
// broke, or could not be made.
func brokenOf(r *Result) int64 { return r.Offered - r.Completed - r.Unfinished }
