package text

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
)

// No line of a table is wider than the page, and what is cut keeps its figure.
func TestColumnsFit(t *testing.T) {
	p := &page{Options: Options{Width: 80}}
	p.writeColumns([][]string{
		{"ROUTES", "requests", "rate", "p50", "p99", "slow", "main slow time"},
		{"GET /hall", "288", "14.5/s", "662 ms", "3.6 s", "73 %", "awaiting (no thread held) 90 %"},
		{"GET /lot/{id}", "1,739", "87.4/s", "267 µs", "640 µs", "0.58 %", "queued before the service began work, at the proxy's socket 99 %"},
		{"GET /bid", "1,739", "87.4/s", "267 µs", "640 µs", "0.58 %", "runnable, CPU busy with other requests 42 %"},
	}, 0, 80)
	out := p.out.String()
	for line := range strings.Lines(out) {
		if w := textWidth(strings.TrimRight(line, "\n")); w > 80 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	for _, want := range []string{"GET /hall", "90 %", "99 %", "queued before", "  CPU busy with other requests 42 %\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is gone:\n%s", want, out)
		}
	}
}

// A word that is longer than a line is broken where one of its parts begins.
func TestFoldText(t *testing.T) {
	p := &page{Options: Options{Width: 60}}
	const name = "example.com/gateway/internal/storage/journal/segments.(*Writer).appendWithChecksum"
	lines := p.foldText("held by goroutine 71 in "+name+" (log.go:88)", 10)
	for _, l := range lines {
		if textWidth(l) > 50 {
			t.Errorf("%d columns: %s", textWidth(l), l)
		}
	}
	if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); !strings.Contains(got, name) {
		t.Errorf("%q", lines)
	}
}

// If not all fixes are shown, those that say where in the code come first.
func TestFixesThatNameCode(t *testing.T) {
	fixes := []diagnose.Fix{{Text: "reduce load"}, {Text: "make requests cheaper", Code: "main.timetable"}, {Text: "add CPUs"}}
	if got := chooseFixes(fixes, 1); len(got) != 1 || got[0] != 1 {
		t.Errorf("%v", got)
	}
	if got := chooseFixes(fixes, 2); len(got) != 2 || got[0] != 0 || got[1] != 1 {
		t.Errorf("%v", got)
	}
}

// The name of a function that is longer than a line is shortened and then broken; a path or an address is left whole.
func TestLongFunctions(t *testing.T) {
	p := &page{Options: Options{Width: 60}}
	for text, want := range map[string]string{
		"in google.golang.org/grpc/internal/transport/readyreader.(*nonBlockingReader).ReadOnReady, 3 times":                 "in readyreader.(*nonBlockingReader).ReadOnReady, 3 times",
		"calls (System.Collections.Concurrent!ConcurrentDictionary<T,T>.GetOrAdd(!0,Func<T,T>)).":                            "calls|(ConcurrentDictionary<T,T>.GetOrAdd(!0,Func<T,T>)).",
		"Http1OutputProducer.WriteResponseHeaders(int,string,HttpResponseHeaders,bool,bool) 3":                               "Http1OutputProducer.WriteResponseHeaders(int,string,|HttpResponseHeaders,bool,bool) 3",
		"read /var/lib/containers/overlay/0123456789abcdef/diff/var/log/gateway/access.log twice":                            "read|/var/lib/containers/overlay/0123456789abcdef/diff/var/log/gateway/access.log|twice",
		"see https://learn.microsoft.com/dotnet/core/runtime-config/threading(minimum-threads-of-the-pool) for the settings": "see|https://learn.microsoft.com/dotnet/core/runtime-config/threading(minimum-threads-of-the-pool)|for the settings",
	} {
		if got := strings.Join(p.wrapText(text, 4), "|"); got != want {
			t.Errorf("%q is wrapped as %q, want %q", text, got, want)
		}
	}
}

// On a narrow line the table of routes loses the rate, then the median, before it loses what took most of the slow time.
func TestRoutesKeepTheirPoint(t *testing.T) {
	share, rate, p50, p99 := .97, 77.5, 15.1, 233.0
	d := &diagnose.Diagnosis{}
	for _, route := range []string{"GET /orders/{id}", "GET /customers/{id}/turnover"} {
		d.Routes = append(d.Routes, diagnose.Route{Route: route, Requests: 1540, Rate: &rate, P50Ms: &p50, P99Ms: &p99, Slow: 1078, Title: "waiting for a free thread", Share: &share})
	}
	for width, want := range map[int]string{80: "rate p50 waiting for a free thread 97 %", 66: "p50 waiting for a free thread 97 %", 56: "waiting for a free thread 97 %"} {
		p := &page{Options: Options{Width: width}, at: everything}
		p.writeRoutes(d)
		out := p.out.String()
		for _, words := range []string{"rate", "p50", "waiting for a free thread 97 %"} {
			if strings.Contains(out, words) != strings.Contains(want, words) {
				t.Errorf("%d columns, want %q:\n%s", width, want, out)
			}
		}
		for line := range strings.Lines(out) {
			if n := textWidth(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d of %d columns: %s", n, width, line)
			}
		}
	}
}

// The head of the table of where time went fits a narrow line.
func TestWhereFits(t *testing.T) {
	d := &diagnose.Diagnosis{Requests: &diagnose.Requests{Slow: 438}, Ledger: []diagnose.Entry{{Mechanism: "own", Title: "own work", SlowMs: 114e3}}}
	for width, want := range map[int]string{80: "WHERE 114 s OF SLOW REQUESTS WENT (438, 260 ms each on average)", 60: "WHERE 114 s OF SLOW REQUESTS WENT (438, 260 ms each)"} {
		p := &page{Options: Options{Width: width}, at: everything}
		p.writeLedger(d)
		if first, _, _ := strings.Cut(p.out.String(), "\n"); first != want {
			t.Errorf("%d columns: %q, want %q", width, first, want)
		}
	}
}
