package exchanges

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
	"github.com/unstall/unstall/internal/format"
	reading "github.com/unstall/unstall/internal/format/exchanges"
	"github.com/unstall/unstall/internal/format/formattest"
)

// plainFrames speak HTTP/2 without TLS, with prior knowledge.
func plainFrames() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// frames serves HTTP/2 at the first address, and asks the service at the second for each request.
func frames(args []string) {
	l, err := net.Listen(networkOf(args[0]), args[0])
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	client := framesTo(args[1])
	server := http.Server{Protocols: plainFrames(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") { // as gRPC has it over HTTP/2
			w.Header().Set("Content-Type", "application/grpc")
			fmt.Fprint(w, "\x00\x00\x00\x00\x00")
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "14")
			return
		}
		answer, err := client.Get("http://stock/stock/4711?of=secret")
		if err != nil {
			panic(err)
		}
		defer answer.Body.Close()
		w.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(w, answer.Body)
	})}
	panic(server.Serve(l))
}

// framesTo asks the service at an address over HTTP/2, all on one connection.
func framesTo(at string) *http.Client {
	return &http.Client{Transport: &http.Transport{Protocols: plainFrames(), DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, networkOf(at), at)
	}}}
}

// Requests over HTTP/2 that are under way on one connection at the same time are told apart, and so are the calls made for them; the
// quick ones do not look slow for the others.
func TestFrames(t *testing.T) {
	if err := tracepoint.Try(); err != nil {
		t.Skipf("it needs root or the capabilities BPF and PERFMON, and types of the kernel: %v", err)
	}
	for _, x := range []struct {
		name   string
		before bool // the connection is older than the recording
		unix   bool
	}{{"new", false, false}, {"older", true, false}, {"UNIX", false, true}} {
		t.Run(x.name, func(t *testing.T) { testFrames(t, x.before, x.unix) })
	}
}

func testFrames(t *testing.T, before, unix bool) {
	const slow = 60 * time.Millisecond
	at := func(name string) string {
		if unix {
			return t.TempDir() + "/" + name
		}
		return "127.0.0.1:0"
	}
	dependency := &http.Server{Protocols: plainFrames(), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.RawQuery) > 0 {
			time.Sleep(slow) // what it is about
		}
		fmt.Fprint(w, strings.Repeat("stock ", 10_000)) // several frames
	})}
	l := listen(t, at("dependency"))
	go dependency.Serve(l)
	defer dependency.Close()
	child := probetest.Play(t, "frames", nil, at("service"), l.Addr().String())
	client := framesTo(child.Said)
	ask := func(path string) {
		answer, err := client.Get("http://shop" + path)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	if before {
		ask("/orders/4711")
	}
	r := probetest.Begin(t, findAccess(t.Context(), discover.Target{PID: child.Process.Pid})[0])
	r.Wait(t, "exchanges.txt", func(b []byte) bool { return strings.Contains(string(b), "until") })
	if !before {
		answer, err := client.Post("http://shop/shop.Prices/Quote", "application/grpc", strings.NewReader("\x00\x00\x00\x00\x00"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	const least = 60
	r.Wait(t, "exchanges.txt", func(b []byte) bool {
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() { ask(fmt.Sprintf("/orders/%d?token=secret", 4711+i)) })
		}
		all.Wait()
		return strings.Count(string(b), " - http2 ") >= least && strings.Count(string(b), " http2 200") >= least
	})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	b := evidence.NewBundle()
	var text string
	for _, a := range r.Kept {
		text = a.String()
		if err := format.Read(t.Context(), []format.Format{reading.Format}, formattest.Artifact(a.Meta.Name, a.Bytes()), b); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "/4711") {
		t.Errorf("it tells what only the client should know:\n%s", text)
	}
	q := &b.Requests
	named := 0
	for i := range q.Len() {
		if b.Names.Text(q.Route.At(i)) == "POST /shop.Prices/Quote" {
			if q.Outcome.At(i) != evidence.Failed {
				t.Errorf("a request of gRPC is %v", q.Outcome.At(i))
			}
			named++
			continue
		}
		if ms := float64(q.Latency(i)) / 1e6; ms < 55 || ms > 2000 {
			t.Errorf("request %d took %v ms", i, ms)
		}
		if b.Names.Text(q.Route.At(i)) == "GET /orders/{id}" {
			named++
		}
	}
	calls, v := 0, &b.Intervals
	for i, k := range v.Kind {
		if k == evidence.Call && b.Names.Text(v.Cause.At(i)) == placeOf(l) {
			if calls++; v.End[i]-v.Start[i] < int64(slow) {
				t.Errorf("a call took %d ns", v.End[i]-v.Start[i])
			}
		}
	}
	if q.Len() < least || calls < least || !before && named != q.Len() {
		t.Errorf("%d requests, %d of them with a route, and %d calls\n%.3000s", q.Len(), named, calls, text)
	}
	if !before && !strings.Contains(text, " - grpc 14 POST /shop.Prices/Quote\n") {
		t.Errorf("gRPC is not told\n%.3000s", text)
	}
	for _, w := range b.Warnings {
		if !before {
			t.Errorf("warned: %s", w.Text)
		}
	}
}
