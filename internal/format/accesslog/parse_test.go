package accesslog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

func TestParseMoment(t *testing.T) {
	const base = 1791640536 // 2026-10-10T13:55:36Z
	for _, c := range []struct {
		text       string
		ns         int64
		resolution time.Duration
		zoned      bool
	}{
		{"10/Oct/2026:13:55:36 +0000", base * 1e9, time.Second, true},
		{"10/Oct/2026:06:55:36 -0700", base * 1e9, time.Second, true},
		{"10/Oct/2026:13:55:36.123", base*1e9 + 123e6, time.Millisecond, false},
		{"10/Oct/2026 13:55:36.123 +0000", base*1e9 + 123e6, time.Millisecond, true},
		{"2026-10-10T13:55:36Z", base * 1e9, time.Second, true},
		{"2026-10-10T15:55:36.000001+02:00", base*1e9 + 1e3, time.Microsecond, true},
		{"2026-10-10T15:55:36+0200", base * 1e9, time.Second, true},
		{"2026-10-10 13:55:36,250", base*1e9 + 250e6, time.Millisecond, false},
		{"2026/10/10 - 13:55:36", base * 1e9, time.Second, false},
		{"2026/10/10 13:55:36", base * 1e9, time.Second, false},
		{"1791640536", base * 1e9, time.Second, true},
		{"1791640536.123", base*1e9 + 123e6, time.Millisecond, true},
		{"1791640536123", base*1e9 + 123e6, time.Millisecond, true},
		{"1791640536123456", base*1e9 + 123456e3, time.Microsecond, true},
		{"1791640536123456789", base*1e9 + 123456789, 1, true},
		{"1.791640536123e+09", base*1e9 + 123e6, time.Millisecond, true},
		{"29/Feb/2024:00:00:00 +0000", 1709164800e9, time.Second, true},
	} {
		m, ok := parseMoment([]byte(c.text))
		if !ok || m != (moment{c.ns, int64(c.resolution), c.zoned}) {
			t.Errorf("%s: %v %+v, want %d %v %v", c.text, ok, m, c.ns, c.resolution, c.zoned)
		}
	}
	for _, text := range []string{"", "-", "10/Foo/2026:13:55:36 +0000", "10/Oct/2026:25:55:36 +0000", "2026-10-10", "2026-13-10T13:55:36Z", "12345678901234567890123", "4711000000000", "1999999999999999999999", "0000000000", "2026-10-10T13:55:36 nonsense"} {
		if m, ok := parseMoment([]byte(text)); ok {
			t.Errorf("%q was read as %v", text, formatTime(m.ns))
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		text string
		unit int64
		want time.Duration // -1: not a duration
	}{
		{"0.003", 1e9, 3 * time.Millisecond},
		{"12", 1e6, 12 * time.Millisecond},
		{"12.345678", 1e6, 12345678},
		{"0.0000001234", 1e9, 123},
		{"8.1e-05", 1e9, 81 * time.Microsecond},
		{"1.5E2", 1e6, 150 * time.Millisecond},
		{"0.001, 0.020 : 0.003", 1e9, 24 * time.Millisecond},
		{"-, 0.020", 1e9, 20 * time.Millisecond},
		{"-", 1e9, -1},
		{"-1", 1e6, -1},
		{"", 1e9, -1},
		{"x", 1e9, -1},
		{"1 2", 1e9, -1},
		{"99999999999999999999", 1e9, -1},
		{"1e400", 1e9, -1},
		{"12.3ms", 0, 12300 * time.Microsecond},
		{"12.3 ms", 0, 12300 * time.Microsecond},
		{"1m2.5s", 0, 62500 * time.Millisecond},
		{"1h0m0.1s", 0, time.Hour + 100*time.Millisecond},
		{"80µs", 0, 80 * time.Microsecond},
		{"1.5m", 0, 90 * time.Second},
		{"12", 0, -1},
		{"12 parsecs", 0, -1},
		{"-5ms", 0, -1},
	} {
		ns, ok := measure{unit: c.unit}.parseDuration([]byte(c.text))
		if !ok {
			ns = -1
		}
		if ns != int64(c.want) {
			t.Errorf("%q in %s: %d ns, want %d", c.text, unitName(c.unit), ns, c.want)
		}
	}
}

func TestRoute(t *testing.T) {
	for target, want := range map[string]string{
		"/":                       "/",
		"/play/1001?x=/1":         "/play/{id}",
		"/a//b#c":                 "/a//b",
		"/cart;jsessionid=0A/x":   "/cart",
		"http://example.org/a/77": "/a/{id}",
		"https://example.org?x":   "/",
		"/o/8f3ab2c1":             "/o/{id}",
		"/o/deadbeef":             "/o/deadbeef",
		"/v2/users":               "/v2/users",
		"/api/v1beta1/oauth2":     "/api/v1beta1/oauth2",
		"/u/550e8400-e29b-41d4-a716-446655440000/posts": "/u/{id}/posts",
		"/d/2026-10-10":                 "/d/{id}",
		"/t/dGhpcyBpcyBhIHRva2Vu1A":     "/t/{id}",
		"/t/01ARZ3NDEKTSV4RRFFQ69G5FAV": "/t/{id}",
		"/img/4711.jpg":                 "/img/{id}.jpg",
		"/static/app.js":                "/static/app.js",
		"/search/foo%20bar":             "/search/{id}",
		"/getUserPreferences":           "/getUserPreferences",
		"example.org:443":               "example.org:443",
		"*":                             "*",
	} {
		if got := string(format.AppendRoute(nil, []byte(target))); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	if long := format.AppendRoute(nil, []byte(strings.Repeat("/abc", 10000))); len(long) > 2*format.MaxRoute {
		t.Errorf("a route of %d bytes", len(long))
	}
}

func TestRoutesAreBounded(t *testing.T) {
	var log bytes.Buffer
	letters := func(i int) string {
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%05d", i))
	}
	for i := range 5000 {
		fmt.Fprintf(&log, "10.0.0.1 - - [10/Oct/2026:13:55:36 +0000] \"GET /shop/%s HTTP/1.1\" 200 1 \"-\" \"-\" 0.001\n", letters(i))
	}
	for i := range 5000 {
		fmt.Fprintf(&log, "10.0.0.1 - - [10/Oct/2026:13:55:36 +0000] \"GET /%s/x HTTP/1.1\" 200 1 \"-\" \"-\" 0.001\n", letters(i))
	}
	b := suite.MustRead(t, log.Bytes())
	if n := b.Names.Len(); n > maxFolded+101 {
		t.Errorf("%d routes", n)
	}
	if b.Requests.Len() != 10000 {
		t.Errorf("%d requests", b.Requests.Len())
	}
	if b.Names.Lookup("GET /shop/…") == 0 || b.Names.Lookup("GET /…") == 0 {
		t.Error("routes were not folded")
	}
}

// timed writes a log whose lines end in an integer, with lognormal durations
// around a median, sorted by completion, as a server with one clock writes it.
func timed(n int, median time.Duration, unit time.Duration, atStart bool) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var log bytes.Buffer
	at := time.Date(2026, 10, 10, 13, 0, 0, 0, time.UTC)
	for range n {
		at = at.Add(time.Duration(r.ExpFloat64() * float64(20*time.Millisecond)))
		d := time.Duration(float64(median) * exp(r.NormFloat64()*1.2))
		stamp := at
		if atStart {
			stamp = at.Add(-d)
		}
		fmt.Fprintf(&log, "10.0.0.1 - - [%s] \"GET /a HTTP/1.1\" 200 %d \"-\" \"curl\" %d\n", stamp.Format("02/Jan/2006:15:04:05 -0700"), 100+r.IntN(5000), d/unit)
	}
	return log.Bytes()
}

func exp(x float64) float64 {
	y := 1.0
	for term, i := 1.0, 1; i < 60; i++ {
		term *= x / float64(i)
		y += term
	}
	return max(y, 1e-3)
}

func TestInferredUnits(t *testing.T) {
	for _, c := range []struct {
		name         string
		median, unit time.Duration
		atStart      bool
		stamp        evidence.Stamp
	}{
		{"Apache µs", 2 * time.Millisecond, time.Microsecond, true, evidence.StampStart},
		{"Apache µs, slow", 300 * time.Millisecond, time.Microsecond, true, evidence.StampStart},
		{"Apache µs, static files", 400 * time.Microsecond, time.Microsecond, true, evidence.StampStart},
		{"Apache ms", 900 * time.Millisecond, time.Millisecond, true, evidence.StampStart},
		{"Tomcat 9 ms", 8 * time.Millisecond, time.Millisecond, false, evidence.StampCompletion},
		{"Tomcat 10 µs, slow", time.Second, time.Microsecond, false, evidence.StampCompletion},
		{"Apache s", 200 * time.Millisecond, time.Second, true, evidence.StampStart},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := suite.MustRead(t, timed(3000, c.median, c.unit, c.atStart))
			var d []float64
			for i := range b.Requests.Len() {
				d = append(d, float64(b.Requests.Latency(i)))
			}
			// %T of sub-second requests is mostly 0, so its largest value counts.
			if c.unit == time.Second {
				if largest := maxOf(d); largest < 1e9 {
					t.Errorf("largest %v ns", largest)
				}
			} else if m := medianOf(d); m < 0.7*float64(c.median) || m > 1.4*float64(c.median) {
				t.Errorf("median %v, want about %v", time.Duration(m), c.median)
			}
			if b.Clocks[0].Stamp != c.stamp {
				t.Errorf("stamp: %s", stampName(b.Clocks[0].Stamp))
			}
			if len(b.Warnings) == 0 || !strings.Contains(b.Warnings[0].Text, "read the number") {
				t.Errorf("the guess was not admitted: %v", b.Warnings)
			}
		})
	}
}

func maxOf(v []float64) (m float64) {
	for _, x := range v {
		m = max(m, x)
	}
	return m
}

func medianOf(v []float64) float64 {
	rows := make([]reading, 0, len(v))
	for _, x := range v {
		rows = append(rows, reading{v: decimal{mantissa: int64(x)}})
	}
	return sortedValues(rows)[len(v)/2]
}

// logOf returns a log of n nginx lines with request and upstream time.
func logOf(n int) []byte {
	var log bytes.Buffer
	at := time.Date(2026, 10, 10, 13, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&log, "203.0.113.%d - - [%s] \"GET /play/%d?token=abc HTTP/1.1\" 200 %d \"https://example.org/lobby\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0\" 0.%03d 0.%03d\n",
			i%250, at.Add(time.Duration(i)*time.Millisecond).Format("02/Jan/2006:15:04:05 -0700"), i*37%5000, 500+i%900, 20+i*7%900, 10+i*7%900)
	}
	return log.Bytes()
}

func jsonOf(n int) []byte {
	var log bytes.Buffer
	at := time.Date(2026, 10, 10, 13, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&log, `{"level":"info","ts":"%s","logger":"http","msg":"request","remote_addr":"203.0.113.%d:5123","method":"GET","uri":"/play/%d?token=abc","status":200,"user_agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36","duration_ms":%d.25,"bytes":512}`+"\n",
			at.Add(time.Duration(i)*time.Millisecond).Format(time.RFC3339Nano), i%250, i*37%5000, 2+i*7%90)
	}
	return log.Bytes()
}

func TestCutAnywhere(t *testing.T) {
	for name, log := range map[string][]byte{"text": logOf(60), "json": jsonOf(60)} {
		whole := suite.MustRead(t, log)
		for i := range 50 {
			at := len(log)/3 + i*len(log)/80
			b, err := suite.Read(log[:at])
			if err != nil {
				t.Fatalf("%s cut at %d: %v", name, at, err)
			}
			full := bytes.Count(log[:at], []byte("\n"))
			if n := b.Requests.Len(); n < full || n > full+1 {
				t.Errorf("%s cut at %d: %d requests of %d lines", name, at, n, full)
			}
			for j := range b.Requests.Len() {
				if b.Requests.Latency(j) != whole.Requests.Latency(j) {
					t.Errorf("%s cut at %d: request %d takes %d, whole %d", name, at, j, b.Requests.Latency(j), whole.Requests.Latency(j))
				}
			}
		}
	}
}

func TestEnvelopes(t *testing.T) {
	log := logOf(40)
	var zipped, cri bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(log)
	_ = z.Close()
	at := time.Date(2026, 10, 10, 13, 0, 0, 400e6, time.UTC)
	for l := range bytes.Lines(log) {
		fmt.Fprintf(&cri, "%s stdout F %s", at.Format(time.RFC3339Nano), l)
	}
	for name, data := range map[string][]byte{"gzip": zipped.Bytes(), "cri": cri.Bytes(), "crlf": bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n"))} {
		if n := suite.MustRead(t, data).Requests.Len(); n != 40 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
	b := suite.MustRead(t, cri.Bytes())
	if c := b.Clocks[0]; c.Resolution != 1e6 || b.Requests.End.At(0) != at.UnixNano() {
		t.Errorf("the collector's finer stamps were not used: %+v, end %s", c, formatTime(b.Requests.End.At(0)))
	}
	short := suite.MustRead(t, zipped.Bytes()[:zipped.Len()*3/4])
	if short.Requests.Len() == 0 || !short.Artifacts[0].Tail || len(short.Warnings) == 0 {
		t.Errorf("cut gzip: %d requests, %+v, %v", short.Requests.Len(), short.Artifacts[0], short.Warnings)
	}
}

// A collector that stamps late, because the server buffers, does not replace the line's
// own time.
func TestLateCollector(t *testing.T) {
	var cri bytes.Buffer
	at := time.Date(2026, 10, 10, 13, 0, 7, 400e6, time.UTC)
	for l := range bytes.Lines(logOf(40)) {
		fmt.Fprintf(&cri, "%s stdout F %s", at.Format(time.RFC3339Nano), l)
	}
	if b := suite.MustRead(t, cri.Bytes()); b.Clocks[0].Resolution != 1e9 || b.Requests.End.At(0)%1e9 != 0 {
		t.Errorf("took the stamp of a late collector: %+v", b.Clocks[0])
	}
}

func TestDamage(t *testing.T) {
	lines := bytes.SplitAfter(logOf(40), []byte("\n"))
	lines[10] = []byte("\x00\xff\x01garbage\x02" + strings.Repeat("\xfe", 100) + "\n")
	lines[20] = []byte("10.0.0.1 - - [10/Oct/2026:13:00:00 +0000] \"GET /" + strings.Repeat("a", 3<<20) + " HTTP/1.1\" 200 1 \"-\" \"-\" 0.001 0.001\n")
	lines[25] = []byte("[10/Oct/2026:13:00:00 +0000] \"what\n")
	b := suite.MustRead(t, bytes.Join(lines, nil))
	if n := b.Requests.Len(); n != 37 {
		t.Errorf("%d requests", n)
	}
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, "lines not understood: 3 of 40; the first is line 11") {
		t.Errorf("warnings %v", b.Warnings)
	}
}

func TestMostlyDamaged(t *testing.T) {
	log := logOf(5)
	for i := range 20 {
		log = fmt.Appendf(log, "203.0.113.9 [10/Oct/2026:13:00:00 +0000] \"oops %d\n", i)
	}
	b := suite.MustRead(t, append(log, logOf(1)...))
	if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Text, `"203.0.113.9 [10/Oct`) {
		t.Errorf("no example of what was not understood: %v", b.Warnings)
	}
}

// heads are beginnings of logs, and of files that look like logs.
var heads = map[string]format.Confidence{
	"":                        format.No,
	"hello\nworld\n":          format.No,
	string(logOf(1)):          format.Sure,
	worker + string(logOf(3)): format.Sure,
	worker + string(logOf(1)): format.No,
	string(logOf(9)[:1000]):   format.Sure,
	strings.Repeat("gc 1 @0.012s 2%: 0.026+0.39+0.10 ms clock, 0.21+0.88/0.52/0+0.80 ms cpu, 4->5->1 MB, 5 MB goal, 8 P\n", 50):                     format.No,
	strings.Repeat("[2026-10-10T13:55:36.123+0000][0.012s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 2.345ms\n", 50): format.No,
	strings.Repeat("http_requests_total{code=\"200\",method=\"GET\"} 1027 1791640536123\n", 50):                                                     format.No,
	strings.Repeat("\x00\x01\xffGET / \n", 50): format.No,
	strings.Repeat(`{"traceId":"5af7183fb1d4cf5f","parentId":"6b221d5bc9e6496c","id":"352bff9a74ca9ad2","name":"get /api","timestamp":1791640536123456,"duration":1431,"tags":{"http.method":"GET","http.path":"/api"}}`+"\n", 5): format.No,
	strings.Repeat(`{"a":1,"duration":3}`+"\n", 5): format.No,
}

var worker = strings.Repeat("2026-10-10T13:00:00Z INFO worker started\n", 500)
