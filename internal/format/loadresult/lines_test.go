package loadresult

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

const k6Sample = `{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-21T02:22:56.108544635Z","value":4.939797,"tags":{"expected_response":"true","group":"","method":"GET","name":"http://127.0.0.1:34415/play/17?x=1","proto":"HTTP/1.1","scenario":"steady","status":"200","url":"http://127.0.0.1:34415/play/17?x=1"}}}`

func TestInstant(t *testing.T) {
	for _, s := range []string{
		"1971-01-01T00:00:00Z", "2000-02-29T23:59:59.5Z", "2026-11-21T02:22:56.108544635Z",
		"2024-03-01T00:00:00+05:30", "2015-09-19T14:45:50.645818631-02:00", "2199-12-31T23:59:59.999999999Z",
	} {
		want, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parseInstant([]byte(s)); !ok || got != want.UnixNano() {
			t.Errorf("%s = %d %v, want %d", s, got, ok, want.UnixNano())
		}
	}
	for at := time.Date(1999, 12, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2030; at = at.AddDate(0, 0, 13) {
		if got, ok := parseInstant([]byte(at.Format(time.RFC3339))); !ok || got != at.UnixNano() {
			t.Fatalf("%v = %d %v", at, got, ok)
		}
	}
	for _, s := range []string{"", "2026-11-21", "2026-11-21T02:22:56", "2026-13-21T02:22:56Z", "2026-11-21T02:22:56+1:00", "2026-11-21 02:22:56Z", "0001-01-01T00:00:00Z"} {
		if got, ok := parseInstant([]byte(s)); ok {
			t.Errorf("%q = %d", s, got)
		}
	}
}

func TestDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0s": 0, "0": 0, "471.00us": 471 * time.Microsecond, "43.07µs": 43070, "12.25μs": 12250, "6.67ms": 6670 * time.Microsecond,
		"1.10s": 1100 * time.Millisecond, "1.10m": 66 * time.Second, "2h": 2 * time.Hour, "1m2.5s": 62500 * time.Millisecond,
		"00m30.0s": 30 * time.Second, "0.1158 secs": 115800 * time.Microsecond, "10.094965987s": 10094965987, "635ns": 635,
	} {
		if got, ok := parseDuration(s); !ok || got != int64(want) {
			t.Errorf("%q = %d %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "12", "ms", "1.2.3s", "5 parsecs", "-1s", "1e3s", "99999999999h"} {
		if got, ok := parseDuration(s); ok && s != "" {
			t.Errorf("%q = %d", s, got)
		}
	}
}

func TestRoute(t *testing.T) {
	for _, c := range []struct{ method, url, want string }{
		{"GET", "http://a:80/play/17?x=1", "GET /play/{id}"},
		{"POST", "https://a", "POST /"},
		{"GET", "/v2/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301/x#y", "GET /v2/users/{id}/x"},
		{"GET", "/a//b/", "GET /a//b/"},
		{"GET", "cart", "GET cart"}, // a name k6 scripts give
		{"", "", ""},
	} {
		b := evidence.NewBundle()
		rs := newRows(&parser{b: b.Builder(b.AddArtifact(evidence.Artifact{}), "loadresult")})
		if got := b.Names.Text(rs.routeName([]byte(c.method), []byte(c.url))); got != c.want {
			t.Errorf("%s %s is route %q, want %q", c.method, c.url, got, c.want)
		}
	}
}

func TestMembers(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string
		ok   bool
	}{
		{`{}`, "", true},
		{` { "a" : 1 , "b":"x\"}" } `, `a=1 b="x\"}" `, true},
		{`{"a":{"b":[1,{"c":"]"}]},"d":null}`, `a={"b":[1,{"c":"]"}]} d=null `, true},
		{`{"a":"\\"}`, `a="\\" `, true},
		{`{"a":1`, "", false},
		{`{"a":"`, "", false},
		{`{"a" 1}`, "", false},
		{`{a:1}`, "", false},
		{`[1]`, "", false},
		{``, "", false},
	} {
		var got string
		ok := scanMembers([]byte(c.in), func(k, v []byte) bool { got += fmt.Sprintf("%s=%s ", k, v); return true })
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %q %v", c.in, got, ok)
		}
	}
}

// repeated gives line n times without holding the whole.
type repeated struct {
	line []byte
	n    int
	rest []byte
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			if r.n == 0 {
				if n == 0 {
					return 0, io.EOF
				}
				return n, nil
			}
			r.n--
			r.rest = r.line
		}
		k := copy(p[n:], r.rest)
		r.rest = r.rest[k:]
		n += k
	}
	return n, nil
}

func benchmarkLines(b *testing.B, block string, blocks, perBlock int) {
	a := &format.Artifact{Name: "stream", Size: -1, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(&repeated{line: []byte(block), n: blocks}), nil
	}}
	b.SetBytes(int64(len(block) * blocks))
	b.ReportAllocs()
	for b.Loop() {
		bundle := evidence.NewBundle()
		if err := format.Read(b.Context(), []format.Format{Format}, a, bundle); err != nil {
			b.Fatal(err)
		}
		if bundle.Requests.Len() != blocks*perBlock {
			b.Fatalf("%d requests", bundle.Requests.Len())
		}
	}
}

// A request of k6 is nine points of which one is read in full.
func BenchmarkK6Lines(b *testing.B) {
	var block bytes.Buffer
	for _, m := range []string{"http_reqs", "http_req_duration", "http_req_blocked", "http_req_connecting", "http_req_tls_handshaking",
		"http_req_sending", "http_req_waiting", "http_req_receiving", "http_req_failed"} {
		block.WriteString(`{"metric":"` + m + k6Sample[len(`{"metric":"http_req_duration`):] + "\n")
	}
	benchmarkLines(b, block.String(), 20000, 1)
}

func BenchmarkK6Durations(b *testing.B) { benchmarkLines(b, k6Sample+"\n", 100000, 1) }

func BenchmarkVegetaLines(b *testing.B) {
	benchmarkLines(b, `{"attack":"","seq":0,"code":200,"timestamp":"2026-11-21T02:21:31.839205414Z","latency":2258088,"bytes_out":0,"bytes_in":11,"error":"","body":"aGVsbG8gd29ybGQ=","method":"GET","url":"http://127.0.0.1:34415/play/17?x=1","headers":{"Date":["Sat, 21 Nov 2026 02:21:31 GMT"],"Content-Length":["11"],"Content-Type":["text/plain; charset=utf-8"]}}`+"\n", 100000, 1)
}

func BenchmarkVegetaCSV(b *testing.B) {
	benchmarkLines(b, "1795227691839205414,200,2258088,0,11,,aGVsbG8gd29ybGQ=,,0,GET,http://127.0.0.1:34415/play/17?x=1,Q29udGVudC1MZW5ndGg6IDExDQo=\n", 100000, 1)
}
