package gotrace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// record traces this process while f runs.
func record(t *testing.T, f func()) *evidence.Bundle {
	t.Helper()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip("this process is being traced already: ", err)
	}
	stopped := false
	defer func() {
		if !stopped {
			trace.Stop()
		}
	}()
	f()
	trace.Stop()
	stopped = true
	b, err := suite.Read(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// echo is a dependency that answers each byte with one.
func echo(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	return l
}

// handlers are the ways in which a request is served, each with how often a
// client asks for it and with what.
func handlers(t *testing.T, served *atomic.Int64) http.Handler {
	dependency := echo(t)
	mux := http.NewServeMux()
	handle := func(path string, f func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			served.Add(1)
			if err := f(w, r); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		})
	}
	handle("/plain", func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, "hello")
		return err
	})
	handle("/dependency", func(w http.ResponseWriter, _ *http.Request) error {
		c, err := net.Dial("tcp", dependency.Addr().String())
		if err != nil {
			return err
		}
		defer c.Close()
		for range 3 {
			if _, err := c.Write([]byte{1}); err != nil {
				return err
			}
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				return err
			}
		}
		_, err = io.WriteString(w, "hello")
		return err
	})
	handle("/upload", func(w http.ResponseWriter, r *http.Request) error {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintln(w, n)
		return err
	})
	handle("/streamed", func(w http.ResponseWriter, _ *http.Request) error {
		for range 5 {
			if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
				return err
			}
			w.(http.Flusher).Flush()
		}
		return nil
	})
	handle("/large", func(w http.ResponseWriter, _ *http.Request) error {
		_, err := w.Write(make([]byte, 300<<10))
		return err
	})
	handle("/helped", func(w http.ResponseWriter, _ *http.Request) error {
		answer := make(chan string)
		go func() { answer <- "hello" }()
		_, err := io.WriteString(w, <-answer)
		return err
	})
	return mux
}

// ask has clients send n requests each, in closed loop.
func ask(t *testing.T, s *httptest.Server, clients, n int, path string, body int) {
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			transport := s.Client().Transport.(*http.Transport).Clone()
			defer transport.CloseIdleConnections()
			client := http.Client{Transport: transport}
			for range n {
				var r *http.Response
				var err error
				if body > 0 {
					r, err = client.Post(s.URL+path, "text/plain", bytes.NewReader(make([]byte, body)))
				} else {
					r, err = client.Get(s.URL + path)
				}
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
		})
	}
	all.Wait()
}

func complete(b *evidence.Bundle) (n int64) {
	for _, o := range b.Requests.Outcome.All() {
		if o == evidence.OK {
			n++
		}
	}
	return n
}

// TestLive serves a known number of requests in this process under trace and
// requires that 98 % of them are recovered, and not more than there were.
func TestLive(t *testing.T) {
	for _, c := range []struct {
		name, path string
		http2      bool
		body       int
	}{
		{name: "plain", path: "/plain"},
		{name: "with a dependency on TCP", path: "/dependency"},
		{name: "small body", path: "/upload", body: 100},
		{name: "body of many packets", path: "/upload", body: 200 << 10},
		{name: "body not read", path: "/plain", body: 2000},
		{name: "streamed", path: "/streamed"},
		{name: "large response", path: "/large"},
		{name: "helped by a goroutine", path: "/helped"},
		{name: "HTTP/2", path: "/plain", http2: true},
		{name: "HTTP/2 with a dependency on TCP", path: "/dependency", http2: true},
		{name: "HTTP/2 with a body", path: "/upload", body: 20 << 10, http2: true},
		{name: "HTTP/2 streamed", path: "/streamed", http2: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var served atomic.Int64
			s := httptest.NewUnstartedServer(handlers(t, &served))
			b := record(t, func() {
				if c.http2 {
					s.EnableHTTP2 = true
					s.StartTLS()
				} else {
					s.Start()
				}
				ask(t, s, 4, 60, c.path, c.body)
				s.Close()
			})
			n := complete(b)
			if want := served.Load(); want != 240 || float64(n) < .98*float64(want) || n > want {
				t.Errorf("recovered %d of %d requests\n%s", n, want, inspect(b))
			}
		})
	}
}

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

// TestHijacked talks over connections that were taken over, as WebSockets are:
// neither taking over nor what is said after is a request.
func TestHijacked(t *testing.T) {
	var served atomic.Int64
	mux := handlers(t, &served).(*http.ServeMux)
	mux.HandleFunc("/hijack/{by}", func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, switching)
		talk := func(r io.Reader) {
			defer c.Close()
			io.Copy(c, r)
		}
		switch r.PathValue("by") {
		case "buffer":
			talk(rw)
		case "connection":
			talk(struct{ io.Reader }{c})
		case "goroutine":
			go talk(rw)
		}
	})
	b := record(t, func() {
		s := httptest.NewServer(mux)
		defer s.Close()
		for range 5 {
			for _, by := range []string{"buffer", "connection", "goroutine"} {
				c, err := net.Dial("tcp", s.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(c, "GET /hijack/%s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", by)
				answer := make([]byte, len(switching))
				io.ReadFull(c, answer)
				for range 20 {
					c.Write([]byte{'.'})
					if _, err := io.ReadFull(c, answer[:1]); err != nil {
						t.Fatal(by, err)
					}
				}
				c.Close()
			}
		}
		ask(t, s, 1, 100, "/plain", 0)
	})
	if n := complete(b); n < 98 || n > 100 {
		t.Errorf("recovered %d requests, want 100\n%s", n, inspect(b))
	}
	if text := inspect(b); strings.Contains(text, "are missing") || !strings.Contains(text, "15 connections were upgraded") {
		t.Errorf("want a warning of 15 connections, and none of requests\n%s", text)
	}
}

// TestTasks annotates work whose parts run on several goroutines: each task is
// one request, from where it begins to where it ends.
func TestTasks(t *testing.T) {
	const n = 50
	b := record(t, func() {
		for range n {
			step, end := make(chan bool), make(chan bool)
			var task *trace.Task
			go func() { // begins it and is gone before it ends
				_, task = trace.NewTask(context.Background(), "handed on")
				close(step)
			}()
			<-step
			go func() {
				task.End()
				close(end)
			}()
			<-end
			step = make(chan bool)
			go func() { // waits for another goroutine inside it
				defer close(step)
				_, task := trace.NewTask(context.Background(), "waits")
				defer task.End()
				inner := make(chan bool)
				go func() { close(inner) }()
				<-inner
			}()
			<-step
		}
	})
	got := map[string]int{}
	for i := range b.Requests.Len() {
		var sum int64
		for s := range b.Requests.Path(i).All {
			sum += s.Dur
		}
		if sum != b.Requests.Latency(i) {
			t.Errorf("states sum to %d ns, latency is %d", sum, b.Requests.Latency(i))
		}
		got[b.Names.Text(b.Requests.Route.At(i))]++
	}
	if got["handed on"] != n || len(got) > 2 || got["waits"] != n {
		t.Errorf("tasks became %v, want %d of each", got, n)
	}
}
