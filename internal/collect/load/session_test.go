package load

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/unstall/unstall/internal/base/evidence"
)

// streaming serves only HTTP/2, over TLS or with prior knowledge.
func streaming(t *testing.T, secure bool, h http.HandlerFunc, more ...func(*http.Server)) string {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP2(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	for _, f := range more {
		f(server.Config)
	}
	if secure {
		server.EnableHTTP2 = true
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL
}

func TestStreams(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for name, plan := range map[string]Plan{
			"open":    {Rate: 5000},
			"closed":  {Mode: Closed, Connections: 2, Streams: 5},
			"one":     {Mode: Closed, Connections: 1},
			"limited": {Mode: Closed, Connections: 1, Streams: 5000},
		} {
			t.Run(fmt.Sprintf("%s, TLS %v", name, secure), func(t *testing.T) {
				var mu sync.Mutex
				seen := map[string]int{}
				from := map[string]bool{}
				plan.URL = streaming(t, secure, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					mu.Lock()
					defer mu.Unlock()
					from[r.RemoteAddr] = true
					for _, s := range []string{r.Proto, r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("X-Same"), "body " + string(body), r.Header.Get("Connection"),
						fmt.Sprint(r.ContentLength == int64(len(body)))} {
						seen[s]++
					}
					if strings.HasPrefix(r.URL.Path, "/b") {
						w.WriteHeader(http.StatusEarlyHints)
						w.Header().Set("Trailer", "X-Sum")
						w.WriteHeader(http.StatusTeapot)
						io.WriteString(w, strings.Repeat("no", 20_000))
						w.Header().Set("X-Sum", "1")
					}
				})
				plan.HTTP2, plan.Insecure, plan.Requests, plan.Paths = true, true, 301, []string{"/a?n={n%7}", "/b"}
				plan.Header = http.Header{"Authorization": {"Bearer t{n%3:4}"}, "X-Same": {"yes"}, "Connection": {"close"}}
				plan.Body = []byte("n={n}")
				r, rows := run(t, plan)
				if r.Sent != 301 || r.Completed != 301 || r.Errors != 150 || r.Codes.Success != 151 || r.Codes.ClientError != 150 {
					t.Errorf("301 requests, half of them refused: %+v", r)
				}
				if seen["HTTP/2.0"] != 301 || seen["/b"] != 150 || seen["/a?n=0"] != 22 || seen["Bearer t0002"] != 100 || seen["yes"] != 301 || seen["body n=300"] != 1 ||
					seen["close"] != 0 || seen["true"] != 301 {
					t.Errorf("the server saw %v", seen)
				}
				if name != "open" && len(from) != plan.Connections {
					t.Errorf("%d connections, want %d", len(from), plan.Connections)
				}
				for _, q := range rows {
					if want := int64(40_000); q.Status == http.StatusTeapot && (q.Bytes < want || q.Bytes > want+500) {
						t.Fatalf("an answer of %d bytes, want a little over %d", q.Bytes, want)
					}
				}
			})
		}
	}
}

// Bodies larger than any window are sent as the server reads them, and answers as large are read.
func TestStreamsOfLargeBodies(t *testing.T) {
	const size = 3 << 20
	for _, n := range []string{"", "{n}"} {
		url := streaming(t, false, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
		r, rows := run(t, Plan{URL: url, HTTP2: true, Mode: Closed, Connections: 2, Streams: 3, Requests: 40, Body: []byte(n + strings.Repeat("x", size))})
		if r.Codes.Success != 40 {
			t.Errorf("%+v", r)
		}
		for _, q := range rows {
			if q.Bytes < size || q.Bytes > size+size/10 {
				t.Errorf("an answer of %d bytes", q.Bytes)
			}
		}
	}
}

// Headers beyond a frame are continued in more of them, and what does not fit into the table stays out of it.
func TestStreamsOfLargeHeaders(t *testing.T) {
	large := strings.Repeat("abcdefghijklmnopqrstuvwxyz{}", 3000)
	var wrong atomic.Int64
	url := streaming(t, false, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != large {
			wrong.Add(1)
		}
	})
	if r, _ := run(t, Plan{URL: url, HTTP2: true, Mode: Closed, Connections: 1, Streams: 3, Requests: 50, Header: http.Header{"Cookie": {large}}}); r.Codes.Success != 50 || wrong.Load() > 0 {
		t.Errorf("%d requests with wrong headers: %+v", wrong.Load(), r)
	}
}

func TestStreamsNeverAnswered(t *testing.T) {
	url := streaming(t, false, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			<-r.Context().Done()
		}
	})
	r, rows := run(t, Plan{URL: url, Paths: []string{"/never", "/"}, HTTP2: true, Mode: Closed, Connections: 1, Streams: 4, Requests: 40, Timeout: 200 * time.Millisecond})
	if r.Completed != 20 || r.Timeouts != 20 {
		t.Errorf("every other request is never answered: %+v", r)
	}
	for _, q := range rows {
		if q.Outcome == evidence.TimedOut && q.End-q.Sent < 200e6 {
			t.Errorf("given up after %v", time.Duration(q.End-q.Sent))
		}
	}
}

// A server that ends connections now and then loses no request.
func TestStreamsGoAway(t *testing.T) {
	var n atomic.Int64
	url := streaming(t, false, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%50 == 0 {
			w.Header().Set("Connection", "close") // GOAWAY, to net/http's server
		}
	})
	for _, p := range []Plan{{Rate: 3000}, {Mode: Closed, Connections: 2, Streams: 5}} {
		p.URL, p.HTTP2, p.Requests = url, true, 500
		if r, _ := run(t, p); r.Completed != 500 || r.Errors != 0 {
			t.Errorf("500 requests, 50 for each connection: %+v", r)
		}
	}
}

// framed serves connections with f, which has read the greeting and sent settings.
func framed(t *testing.T, settings []http2.Setting, f func(n int, fr *http2.Framer)) string {
	return odd(t, func(n int, c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(preface))); err != nil {
			return
		}
		fr := http2.NewFramer(c, c)
		_ = fr.WriteSettings(settings...)
		f(n, fr)
	})
}

// heads reads frames until a stream opens; 0 at the end.
func heads(fr *http2.Framer) (uint32, []byte) {
	for {
		f, err := fr.ReadFrame()
		if err != nil {
			return 0, nil
		}
		switch f := f.(type) {
		case *http2.HeadersFrame:
			return f.StreamID, slices.Clone(f.HeaderBlockFragment())
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = fr.WriteSettingsAck()
			}
		}
	}
}

// ok is a block of one field: 200 of the static table.
var ok = []byte{0x88}

func TestStreamsRefusedAndReset(t *testing.T) {
	url := framed(t, nil, func(n int, fr *http2.Framer) {
		for i := 0; ; i++ {
			id, _ := heads(fr)
			switch {
			case id == 0:
				return
			case i%5 == 1:
				_ = fr.WriteRSTStream(id, http2.ErrCodeRefusedStream) // asked anew
			case i%5 == 2:
				_ = fr.WriteRSTStream(id, http2.ErrCodeInternal)
			case i == 8 && n == 0:
				_ = fr.WriteGoAway(id-2, http2.ErrCodeNo, nil) // asked anew on another connection
				return
			default:
				_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: ok, EndHeaders: true, EndStream: true, PadLength: 3})
			}
		}
	})
	r, _ := run(t, Plan{URL: url, HTTP2: true, Mode: Closed, Connections: 1, Requests: 40, Method: "POST"})
	if r.Completed+brokenOf(r) != 40 || brokenOf(r) < 8 || len(r.ErrorKinds) != 1 || r.ErrorKinds[0].Text != "the server reset the stream: INTERNAL_ERROR" {
		t.Errorf("%+v", r)
	}
}

// A request that was given to a connection just before the server said that it takes no more goes to another one.
func TestStreamsGivenTooLate(t *testing.T) {
	url := framed(t, nil, func(n int, fr *http2.Framer) {
		if n < 10 {
			_ = fr.WriteGoAway(0, http2.ErrCodeNo, nil)
		}
		for id, _ := heads(fr); id != 0; id, _ = heads(fr) {
			if n >= 10 {
				_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: ok, EndHeaders: true, EndStream: true})
			}
		}
	})
	if r, _ := run(t, Plan{URL: url, HTTP2: true, Mode: Closed, Connections: 2, Streams: 3, Requests: 40, Method: "POST", Timeout: time.Minute}); r.Completed != 40 {
		t.Errorf("%+v", r)
	}
}

// A server that keeps no table is told first that none is used, and no field goes into it (RFC 7541, 4.2).
func TestStreamsWithoutTable(t *testing.T) {
	fields := make(chan []hpack.HeaderField, 10)
	url := framed(t, []http2.Setting{{ID: http2.SettingHeaderTableSize, Val: 0}}, func(_ int, fr *http2.Framer) {
		d := hpack.NewDecoder(0, nil)
		for id, b := heads(fr); id != 0; id, b = heads(fr) {
			all, err := d.DecodeFull(b)
			if err != nil {
				t.Errorf("%x: %v", b, err)
			}
			fields <- all
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: ok, EndHeaders: true, EndStream: true})
		}
	})
	run(t, Plan{URL: url + "/x", HTTP2: true, Mode: Closed, Connections: 1, Requests: 3})
	for range 3 {
		all := <-fields
		want := []string{":method=GET", ":scheme=http", ":authority=" + strings.TrimPrefix(url, "http://"), ":path=/x", "user-agent=unstall-load/1"}
		var got []string
		for _, f := range all {
			got = append(got, f.Name+"="+f.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNoStreams(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	redis := odd(t, func(_ int, c net.Conn) { c.Read(make([]byte, 100)); io.WriteString(c, "-ERR unknown command\r\n") })
	silent := odd(t, func(_ int, c net.Conn) { io.Copy(io.Discard, c) })
	for _, c := range []struct{ name, url, want string }{
		{"HTTP/1.1", plain.URL, "the server speaks HTTP/1.1 there: leave out --http2"},
		{"HTTP/1.1 over TLS", secure.URL, "it does not offer HTTP/2: leave out --http2"},
		{"redis", redis, `the answer is not HTTP/2: it begins with "-ERR unknown command": is that the right port?`},
		{"silent", silent, "connecting took too long"},
	} {
		_, err := Run(t.Context(), Plan{URL: c.url, HTTP2: true, Insecure: true, Rate: 10, Timeout: 300 * time.Millisecond}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// FuzzSession checks that a run ends and counts every request, whatever a server sends.
func FuzzSession(f *testing.F) {
	whole := "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88" + "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"
	for i := range len(whole) + 1 {
		f.Add([]byte(whole[:i]))
	}
	f.Add([]byte(whole[:9] + "\x00\x00\x02\x00\x01\x00\x00\x00\x01hi" + "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x07"))
	f.Add([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00" + whole[9:])) // no table
	f.Fuzz(func(t *testing.T, sent []byte) {
		e := &engine{url: &url.URL{Scheme: "http", Host: "a"}, plan: Plan{Mode: Closed, HTTP2: true, Streams: 2, Timeout: time.Second, Requests: 2, Method: "GET"}, messages: []message{{body: newTemplate([]byte("abc"))}},
			failures: map[string]int64{}, idle: make(chan struct{}), begin: time.Now(), stop: func(error) {}}
		e.streams = []streamedHead{newStreamedHead([]headerField{{":method", "GET"}, {":path", "/"}}, false)}
		client, server := net.Pipe()
		go func() {
			go io.Copy(io.Discard, server)
			_, _ = server.Write(sent)
			server.Close()
		}()
		s, err := newSession(context.Background(), e, client)
		if err != nil {
			client.Close()
			return
		}
		e.over = true // no other connection
		e.registerLine(s)
		e.outstanding = int64(len(s.all.places))
		for i, at := range s.all.places {
			e.assignRequest(at, pending{n: uint64(i)})
			s.sendRequest(at, uint64(i))
		}
		e.readers.Add(1)
		s.readAnswers()
		if e.outstanding != 0 || len(e.rows) != len(s.all.places) || len(e.places) != 0 {
			t.Fatalf("%d requests, %d rows", len(s.all.places), len(e.rows))
		}
	})
}
