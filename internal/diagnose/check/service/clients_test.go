package service

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/exchanges"
	"github.com/unstall/unstall/internal/format/loadresult"
)

// clientsOf writes the requests that the kernel saw as their clients recorded them: from 150 µs before until 150 µs after, with the pattern of the
// address for a route, and requests that came when the kernel did not look yet.
func clientsOf(saw []byte, patterns map[string]string) []byte {
	var w bytes.Buffer
	w.WriteString("# unstall.requests/v1 url=http://127.0.0.1:8080/ mode=open arrivals=poisson\n# intended_ns sent_ns end_ns lag_ns status bytes outcome route\n")
	row := func(from, until int64, route string) {
		fmt.Fprintf(&w, "%d %d %d 9000 200 220 ok %s\n", from, from+9000, until, route)
	}
	for i := range int64(40) {
		row(began-8e9+i*100e6, began-8e9+i*100e6+3e6, slices.Sorted(maps.Values(patterns))[0])
	}
	for l := range strings.Lines(string(saw)) {
		var at, wait, first, last int64
		if n, _ := fmt.Sscanf(l, "q %d %d %d %d", &at, &wait, &first, &last); n != 4 {
			continue
		}
		words := strings.Fields(l)
		if pattern, known := patterns[strings.Join(words[len(words)-2:], " ")]; known {
			row(at-150_000, at+wait+first+last+150_000, pattern)
		}
	}
	return w.Bytes()
}

// caseWithClients is the service as the kernel and its clients saw it.
func caseWithClients(t *testing.T, saw, clients []byte) *check.Case {
	t.Helper()
	b := incident.NewBundle()
	for name, text := range map[string][]byte{"exchanges.txt": saw, "clients.txt": clients} {
		if err := format.Read(t.Context(), []format.Format{exchanges.Format, loadresult.Format}, &format.Artifact{Name: name, Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}, b); err != nil {
			t.Fatal(err)
		}
	}
	i := incident.Of(b, incident.Options{})
	l := i.Ledgers()
	if len(l) != 1 {
		t.Fatalf("%d services", len(l))
	}
	return &check.Case{Bundle: i.Bundle, Subject: l[0].Subject, Ledger: l[0]}
}

// What clients recorded hides nothing that the kernel saw of the same requests, whatever they call a route and whenever they began.
func TestClientsHideNothing(t *testing.T) {
	text := sales(true, false)
	without := judgeRowLock(caseOf(t, text))
	c := caseWithClients(t, text, clientsOf(text, map[string]string{"POST /checkout/{id}": "POST /checkout/{n%3000}", "GET /orders/{id}": "GET /orders/{n%90}"}))
	if len(c.Ledger.Seen) == 0 || !c.Ledger.Seen[0].Clients {
		t.Fatalf("the clients' requests were not joined: %+v", c.Ledger.Seen)
	}
	v := judgeRowLock(c)
	if !v.Supported() || v.Title == "" || v.Saves == nil || without.Saves == nil {
		t.Fatalf("%s: %s", v.State, v.Summary)
	}
	if v.Saves.Value < .95*without.Saves.Value || v.Saves.Value > 1.05*without.Saves.Value {
		t.Errorf("locks cost %.0f ms by the clients' requests and %.0f ms by the kernel's", v.Saves.Value, without.Saves.Value)
	}
	if s := spansOf(c); s == nil || len(s.slow) < len(c.Ledger.Slow)-2 || s.perRequest() < 2 {
		t.Errorf("the calls of %d slow requests are not those of the same requests: %+v", len(c.Ledger.Slow), s)
	}
}

// The calls of a request that its client recorded are those that the kernel saw, whatever else its path says of that time.
func TestClientsCalls(t *testing.T) {
	text := graphQL(90)
	c := caseWithClients(t, text, clientsOf(text, map[string]string{"POST /graphql": "POST /graphql?{n%300}"}))
	worst, _ := findChattiest(c)
	if worst == nil || c.Bundle.Names.Text(worst.route) != "POST /graphql" {
		t.Fatalf("%+v", worst)
	}
	for _, row := range c.Ledger.Slow {
		if in := worst.rowWithCalls(c, row); in == row || worst.made[in] < 90 || worst.callTime(c, row) != worst.waited[in] {
			t.Errorf("a slow request of a client makes %d calls, %d ns of %d", worst.made[in], worst.callTime(c, row), c.Bundle.Requests.Latency(row))
		}
	}
	if v := judgeChatty(c); !v.Supported() || len(c.Ledger.Slow) < 20 {
		t.Errorf("%s of %d slow requests: %s", v.State, len(c.Ledger.Slow), v.Summary)
	}
}

// turnovers are requests to one route, of which a few ask for a sum that the database always takes so long for.
func turnovers(always, now int64) []byte {
	const seconds = 25
	s := newKernelSaw()
	for i, at := range s.arrivals(30, seconds) {
		w := s.worker(at)
		took, sent := s.vary(600_000), 2622
		if i%12 == 0 {
			took, sent = s.vary(always), 141+s.random.IntN(4)
			if i%48 == 0 {
				took = s.vary(now)
			}
		}
		now := s.call(w, at+1_500_000, took, sent, database, "postgresql idle SELECT orders")
		s.request(w, at, now+1_500_000, 200, "POST /graphql")
	}
	return s.bytes(seconds)
}

// What some requests of a route ask for takes as long each time: they are not slower than usual. A call that takes longer than others like it is, and a
// statement that always takes long.
func TestUsualForItsKind(t *testing.T) {
	for name, x := range map[string]struct {
		always, now int64
		found       bool
	}{
		"a sum":                      {25 * ms, 25 * ms, false},
		"a sum that takes longer":    {25 * ms, 250 * ms, true},
		"a sum that needs an index":  {120 * ms, 120 * ms, true},
		"nothing that takes so long": {2 * ms, 2 * ms, false},
	} {
		text := turnovers(x.always, x.now)
		cases := map[string]*check.Case{"": caseOf(t, text), " with clients": caseWithClients(t, text, clientsOf(text, map[string]string{"POST /graphql": "POST /graphql"}))}
		for of, c := range cases {
			if v := judgeDependency(c); v.Supported() != x.found {
				t.Errorf("%s%s: %s: %s %s", name, of, v.State, v.Title, v.Summary)
			}
		}
	}
}

// A connection that is closed after the answer, with a farewell that nobody answers, is still one that is opened for a single call; so is one of which the kernel
// knows the protocol only after its set-up.
func TestFarewell(t *testing.T) {
	text := paid(true)
	var w bytes.Buffer
	for l := range strings.Lines(string(text)) {
		words := strings.Fields(l)
		if words[0] == "k" && words[12] == payments {
			l = strings.Replace(l, "tls", "-", 1)
			if words[6] == "183" {
				l = strings.Replace(l, payments+" -", payments+" postgresql idle SELECT prices", 1)
			}
		}
		w.WriteString(l)
		if words[0] == "k" && words[6] == "183" {
			var at, took int64
			fmt.Sscan(words[1], &at)
			fmt.Sscan(words[3], &took)
			fmt.Fprintf(&w, "k %d 0 -1 17000000 0 5 0 1 %s 0 %s %s postgresql\n", at+took+900_000, words[9], words[11], words[12])
		}
	}
	v := judgeDependency(caseOf(t, w.Bytes()))
	if !v.Supported() || !strings.Contains(v.Title, "open a new connection to PostgreSQL at 10.0.0.9:8080 for") {
		t.Errorf("%s: %s %s", v.State, v.Title, v.Summary)
	}
}

// gathered are requests that hand over what a call stores for all of them, a second apart or when each has come.
func gathered(by func(at int64) int64) []byte {
	const seconds = 30
	s := newKernelSaw()
	s.lookups(20, seconds, false)
	stored := make(map[int64]int64)
	for _, at := range s.arrivals(15, seconds) {
		w := s.worker(at)
		tick := by(at)
		if stored[tick] == 0 {
			stored[tick] = s.call(90, tick, s.vary(500_000), 600+s.random.IntN(500), database, "postgresql idle INSERT openings")
		}
		s.request(w, at, stored[tick]+150_000, 200, "POST /openings")
	}
	return s.bytes(seconds + 3)
}

// Requests that one call at equal distances answers wait for a clock. Those that are answered at other times, or after several such calls, may wait for events.
func TestGathered(t *testing.T) {
	each := func(ns int64) func(int64) int64 { return func(at int64) int64 { return at + ns - (at-began)%ns } }
	for name, x := range map[string]struct {
		by    func(int64) int64
		apart int64 // ns; 0: they are not gathered
	}{
		"each second":         {each(1000 * ms), 1000 * ms},
		"each fifth of it":    {each(200 * ms), 200 * ms},
		"on its own":          {func(at int64) int64 { return at + 400*ms }, 0},
		"two seconds later":   {func(at int64) int64 { return each(1000*ms)(at) + 2000*ms }, 0},
		"after all of 2.5 ms": {each(5 * ms / 2), 0},
		"now and then":        {func(at int64) int64 { n := (at - began) / (700 * ms); return began + 700*ms*(n+1) + (n*n*97%389)*ms }, 0},
	} {
		c := caseOf(t, gathered(x.by))
		route := evidence.NameID(0)
		for _, row := range c.Ledger.Rows {
			if id := c.Bundle.Requests.Route.At(row); c.Bundle.Names.Text(id) == "POST /openings" {
				route = id
			}
		}
		g := findGathering(c, route)
		if (g != nil) != (x.apart > 0) || g != nil && (g.apart < x.apart*99/100 || g.apart > x.apart*101/100) {
			t.Errorf("%s: %+v", name, g)
		}
	}
}
