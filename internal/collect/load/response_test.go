package load

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestResponses(t *testing.T) {
	for _, c := range []struct {
		name, in string
		head     bool
		want     answer
		err      error
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false, answer{200, 43, false}, nil},
		{"any case", "HTTP/1.1 200\r\ncONTENT-lENGTH:5\r\n\r\nhello", false, answer{200, 39, false}, nil},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\na\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n", false, answer{200, 93, false}, nil},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", false, answer{204, 27, false}, nil},
		{"not modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", false, answer{304, 48, false}, nil},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true, answer{200, 38, false}, nil},
		{"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", false, answer{500, 100, false}, nil},
		{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false, answer{200, 57, true}, nil},
		{"1.0", "HTTP/1.0 200 OK\r\n\r\nall of it", false, answer{200, 28, true}, nil},
		{"1.0 kept", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", false, answer{200, 62, false}, nil},
		{"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", false, answer{}, io.ErrUnexpectedEOF},
		{"cut head", "HTTP/1.1 200 OK\r\nConte", false, answer{}, io.ErrUnexpectedEOF},
		{"nothing", "", false, answer{}, io.EOF},
		{"redis", "-ERR unknown command 'GET'\r\n", false, answer{}, errNotHTTP},
		{"short", "hi", false, answer{}, errNotHTTP},
		{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", false, answer{}, errNotHTTP},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", false, answer{}, errNotHTTP},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", false, answer{}, errNotHTTP},
		{"bad status", "HTTP/1.1 2x0 OK\r\n\r\n", false, answer{}, errNotHTTP},
		{"upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n", false, answer{}, errNotHTTP},
		{"endless head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 1<<17), false, answer{}, errNotHTTP},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "by bytes": iotest.OneByteReader(strings.NewReader(c.in))} {
			got, err := newResponses(r).next(c.head)
			if !errors.Is(err, c.err) || err == nil && got != c.want {
				t.Errorf("%s, %s: %+v %v, want %+v %v", c.name, name, got, err, c.want, c.err)
			}
		}
	}
}

// waiting says between any two bytes that there is nothing now.
type waiting struct {
	r    io.Reader
	said bool
}

func (w *waiting) Read(b []byte) (int, error) {
	if w.said = !w.said; w.said {
		return 0, errWait
	}
	return w.r.Read(b[:min(len(b), 1)])
}

// A response that comes in pieces is gone on with where it was left.
func TestResponsesGoOn(t *testing.T) {
	in := newResponses(&waiting{r: strings.NewReader("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n" +
		"HTTP/1.1 404 No\r\nContent-Length: 3\r\n\r\nno\nHTTP/1.0 200 OK\r\n\r\nall")})
	for _, want := range []answer{{200, 99, false}, {404, 41, false}, {200, 22, true}} {
		a, err := in.next(false)
		for err == errWait {
			a, err = in.next(false)
		}
		if err != nil || a != want {
			t.Errorf("%+v %v, want %+v", a, err, want)
		}
	}
}

// Responses that follow each other are told apart wherever reads end.
func TestResponsesInARow(t *testing.T) {
	one := "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000) +
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n" + strings.Repeat("y", 5000) + "\r\n0\r\n\r\n"
	in := newResponses(iotest.HalfReader(strings.NewReader(strings.Repeat(one, 50))))
	for i := range 100 {
		if a, err := in.next(false); err != nil || a.status != 200 || a.bytes < 5000 || a.bytes > 5100 {
			t.Fatalf("response %d: %+v %v", i, a, err)
		}
	}
	if _, err := in.next(false); err != io.EOF {
		t.Error(err)
	}
}

func FuzzResponses(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 100 Continue\r\n\r\nHTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := newResponses(bytes.NewReader(b))
		for {
			a, err := in.next(false)
			if err != nil {
				return
			}
			if a.status < 200 || a.status > 999 || a.bytes < 0 {
				t.Fatalf("%+v", a)
			}
		}
	})
}

func BenchmarkResponse(b *testing.B) {
	one := "HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 02:21:31 GMT\r\nContent-Length: 11\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello world"
	r := strings.NewReader(one)
	in := newResponses(r)
	b.SetBytes(int64(len(one)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(one)
		if _, err := in.next(false); err != nil {
			b.Fatal(err)
		}
	}
}
