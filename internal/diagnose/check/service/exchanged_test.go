package service

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/exchanges"
)

// kernelSaw is what the kernel would have told of a service's connections, in a time that was not recorded but computed.
type kernelSaw struct {
	random *rand.Rand
	lines  []line
	free   []int64 // by worker: when it can serve the next request
}

type line struct {
	end  int64
	text string
}

const (
	firstThread = 4712
)

func newKernelSaw() *kernelSaw { return &kernelSaw{random: rand.New(rand.NewPCG(3, 4))} }

// arrivals draws arrivals at a rate for some seconds (Poisson).
func (s *kernelSaw) arrivals(rate float64, seconds int64) (all []int64) {
	for at := began; ; {
		at += int64(s.random.ExpFloat64() / rate * 1e9)
		if at >= began+seconds*1e9 {
			return all
		}
		all = append(all, at)
	}
}

// worker takes the first one that is free.
func (s *kernelSaw) worker(at int64) int {
	for i, free := range s.free {
		if free <= at {
			return i
		}
	}
	s.free = append(s.free, 0)
	return len(s.free) - 1
}

func (s *kernelSaw) vary(ns int64) int64 { return int64(float64(ns) * (.9 + .2*s.random.Float64())) }

// call tells of one, and returns when its answer was read.
func (s *kernelSaw) call(worker int, at, took int64, sent int, peer, said string) int64 {
	first := fmt.Sprint(took)
	in := 80
	if took < 0 { // given up
		took = -took
		first, in = fmt.Sprintf("-1 %d", took), 0
		s.lines = append(s.lines, line{at + took, fmt.Sprintf("k %d 0 %s %d %d 0 1 %d 0 %d %s %s", at, first, in, sent, firstThread+worker, 40000+worker, peer, said)})
		return at + took
	}
	s.lines = append(s.lines, line{at + took, fmt.Sprintf("k %d 20000 %s 0 %d %d 1 1 %d %[5]d %d %s %s", at, first, in, sent, firstThread+worker, 40000+worker, peer, said)})
	return at + took
}

func (s *kernelSaw) request(worker int, at, until int64, status int, route string) {
	s.requestRead(worker, at, at+60_000, until, status, route)
}

// requestRead tells of a request that arrived, and was read later.
func (s *kernelSaw) requestRead(worker int, at, read, until int64, status int, route string) {
	s.lines = append(s.lines, line{until, fmt.Sprintf("q %d %d %d 20000 180 220 1 1 %d %[4]d 8080 - http %d %s", at, read-at, until-read-20_000, firstThread+worker, status, route)})
	s.free[worker] = until
}

// nextFree returns the worker that is the first to be free, and when it takes up what came at a time.
func (s *kernelSaw) nextFree(at int64) (worker int, from int64) {
	for i, free := range s.free {
		if free < s.free[worker] {
			worker = i
		}
	}
	return worker, max(at, s.free[worker])
}

func (s *kernelSaw) bytes(seconds int64) []byte {
	slices.SortStableFunc(s.lines, func(a, b line) int { return cmp.Compare(a.end, b.end) })
	var w bytes.Buffer
	fmt.Fprintf(&w, "# exchanges of pid 4711\nfrom %d\n", began)
	for _, l := range s.lines {
		w.WriteString(l.text + "\n")
	}
	fmt.Fprintf(&w, "until %d\n", began+seconds*1e9+5e8)
	return w.Bytes()
}

const (
	database = "10.0.0.7:5432"
	payments = "10.0.0.9:8080"
)

// lookups are requests that are quick.
func (s *kernelSaw) lookups(rate float64, seconds int64, encrypted bool) {
	for _, at := range s.arrivals(rate, seconds) {
		w := s.worker(at)
		end := s.call(w, at+200_000, s.vary(600_000), 102+s.random.IntN(3), database, orEncrypted(encrypted, "postgresql idle SELECT orders"))
		s.request(w, at, end+200_000, 200, "GET /orders/{id}")
	}
}

func orEncrypted(encrypted bool, said string) string {
	if encrypted {
		return "tls"
	}
	return said
}

// sales are requests that change one row in a transaction, and call a payment service before that, or in it.
func sales(within, encrypted bool) []byte {
	const seconds = 25
	s := newKernelSaw()
	s.lookups(30, seconds, encrypted)
	free := began // when the row is free
	for _, at := range s.arrivals(19, seconds) {
		w := s.worker(at)
		pay := func(at int64) int64 {
			return s.call(w, at+300_000, s.vary(40*ms), 170, payments, orEncrypted(encrypted, "http 200 POST /charge"))
		}
		now := at + 300_000
		if !within {
			now = pay(now)
		}
		asked := now + 100_000
		locked := max(asked+s.vary(300_000), free+s.vary(150_000))
		now = s.call(w, asked, locked-asked, 103, database, orEncrypted(encrypted, "postgresql open UPDATE stock"))
		if within {
			now = pay(now)
		}
		now = s.call(w, now+200_000, s.vary(300_000), 12, database, orEncrypted(encrypted, "postgresql idle COMMIT"))
		free = now - 50_000
		s.request(w, at, now+200_000, 200, "POST /checkout/{id}")
	}
	return s.bytes(seconds)
}

// searches are requests whose query reads a whole table.
func searches(took int64) []byte {
	const seconds = 25
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	for i, at := range s.arrivals(6, seconds) {
		w := s.worker(at)
		d := 2 * ms
		if i%3 == 0 { // of a word that no index has
			d = took
		}
		end := s.call(w, at+300_000, s.vary(d), 110+s.random.IntN(4), database, "postgresql idle SELECT orders")
		s.request(w, at, end+300_000, 200, "GET /search")
	}
	return s.bytes(seconds)
}

// quotes are requests that call a supplier, who stands still for a moment now and then; they give up after a time, and ask
// again as often as they may.
func quotes(attempts int, outage int64) []byte { return quotesBy(0, attempts, outage) }

// quotesBy are quotes that so many workers ask for, while further requests wait to be read; 0: as many as are needed.
func quotesBy(workers, attempts int, outage int64) []byte {
	const seconds, gives = 28, 120 * ms
	s := newKernelSaw()
	if workers == 0 {
		s.lookups(20, seconds, false)
	}
	s.free = append(s.free, make([]int64, workers)...)
	for _, at := range s.arrivals(60, seconds) {
		w, read := 0, at
		if workers == 0 {
			w = s.worker(at)
		} else {
			w, read = s.nextFree(at)
		}
		now, status := read+200_000, 502
		for range attempts {
			if since := (now - began) % 7e9; since >= 5e9 && since < 5e9+outage || outage >= 7e9 {
				now = s.call(w, now+100_000, -gives, 140, payments, "http 0 GET /quote/{id}")
				continue
			}
			now, status = s.call(w, now+100_000, s.vary(40*ms), 140, payments, "http 200 GET /quote/{id}"), 200
			break
		}
		s.requestRead(w, at, read+60_000, now+200_000, status, "GET /quotes/{id}")
	}
	return s.bytes(seconds)
}

// reports are requests for what is kept for some seconds; then all that come make it anew until one has, or it is made in time by nobody
// who waits.
func reports(together bool, rate float64) []byte { return reportsTaking(160*ms, together, rate) }

func reportsTaking(takes int64, together bool, rate float64) []byte {
	const seconds, kept = 25, 3000 * ms
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	expires, made := began+kept, int64(0)
	for _, at := range s.arrivals(rate, seconds) {
		w := s.worker(at)
		now := at + 200_000
		if at >= expires && made == 0 {
			made = at + takes
		}
		switch {
		case made > 0 && at >= made:
			expires, made = made+kept, 0
		case made > 0 && together:
			now = s.call(w, now, s.vary(takes+20*ms), 88, database, "postgresql idle SELECT orders")
		}
		s.request(w, at, now+200_000, 200, "GET /report")
	}
	return s.bytes(seconds)
}

// resolver is a name server.
const resolver = "10.0.0.2:53"

// resolve tells of a query that was sent some times, and returns when its answer was read.
func (s *kernelSaw) resolve(worker int, at, took int64, sends int, said string) int64 {
	s.lines = append(s.lines, line{at + took, fmt.Sprintf("k %d 20000 %d 0 61 %d 1 %d %d %[5]d %d %s dns %s", at, took, 45*sends, sends, firstThread+worker, 20000+s.random.IntN(40000), resolver, said)})
	return at + took
}

// tracked are requests that look up whom they call: the name server takes long for one query of eight, sent so often, and is asked
// for so many names that do not exist before.
func tracked(took int64, sends, domains int) []byte {
	const seconds = 25
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	for i, at := range s.arrivals(25, seconds) {
		w := s.worker(at)
		now := at + 200_000
		for range domains {
			now = s.resolve(w, now+50_000, s.vary(900_000), 1, "nxdomain A cluster.local")
		}
		sent, d := 1, s.vary(900_000)
		if i%8 == 0 {
			sent, d = sends, s.vary(took)
		}
		kind := "A"
		if i/8%2 == 0 {
			kind = "AAAA"
		}
		now = s.resolve(w, now+50_000, d, sent, "ok "+kind+" example.com")
		now = s.call(w, now+300_000, s.vary(12*ms), 140, payments, "http 200 GET /arrival/{id}")
		s.request(w, at, now+200_000, 200, "GET /arrivals/{id}")
	}
	return s.bytes(seconds)
}

// graphQL are requests to one route, of which one in eight asks the database for each of so many rows.
func graphQL(rows int) []byte {
	const seconds = 25
	s := newKernelSaw()
	for i, at := range s.arrivals(30, seconds) {
		w := s.worker(at)
		now := s.call(w, at+200_000, s.vary(900_000), 102, database, "postgresql idle SELECT orders")
		if i%8 == 0 {
			for range rows {
				now = s.call(w, now+100_000, s.vary(1_300_000), 96, database, "postgresql idle SELECT items")
			}
		}
		s.request(w, at, now+200_000, 200, "POST /graphql")
	}
	return s.bytes(seconds)
}

// paid are payments at a provider that answers after 6 ms, over TLS: each opens a connection, or all share those that are kept.
func paid(each bool) []byte {
	const seconds = 25
	s := newKernelSaw()
	s.lookups(30, seconds, false)
	port := 50000
	for _, at := range s.arrivals(20, seconds) {
		w := s.worker(at)
		now, own := at+200_000, 40000+w
		questions := []int{183} // bytes
		if each {
			port++
			own, questions = port, []int{1483, 93, 183}
		}
		for _, sent := range questions {
			took := s.vary(6 * ms)
			s.lines = append(s.lines, line{now + took, fmt.Sprintf("k %d 20000 %d 0 150 %d 1 1 %d %[4]d %d %s tls", now, took, sent, firstThread+w, own, payments)})
			now += took + 100_000
		}
		s.request(w, at, now+200_000, 200, "POST /pay/{id}")
	}
	return s.bytes(seconds)
}

// TestMadeExchanges holds the fixtures that are made against what makes them.
func TestMadeExchanges(t *testing.T) {
	tallies := func(late float64) (saw, clients []byte) {
		return answered(2, 220, late, func(float64) int64 { return 40 * ms })
	}
	sick, late := tallies(.3)
	healthy, quick := tallies(0)
	for dir, f := range map[string]struct {
		about   string
		text    []byte
		clients []byte
	}{
		"service.delayed-ack/sick":                 {about: "answers go out in two writes, and three in ten wait 40 ms for the client's acknowledgement", text: sick, clients: late},
		"service.delayed-ack/healthy":              {about: "the same with TCP_NODELAY", text: healthy, clients: quick},
		"service.row-lock/sick":                    {about: "19 sales a second change one row in a transaction that calls a payment service for 40 ms", text: sales(true, false)},
		"service.row-lock/sick-encrypted":          {about: "the same with encrypted connections, of which sizes and times are known", text: sales(true, true)},
		"service.row-lock/healthy":                 {about: "the payment service is called before the transaction begins", text: sales(false, false)},
		"service.dependency-slow/sick-kernel":      {about: "a third of the searches read a whole table for 120 ms", text: searches(120 * ms)},
		"service.dependency-slow/healthy-kernel":   {about: "all searches take 2 ms", text: searches(2 * ms)},
		"service.dependency-slow/sick-names":       {about: "a name server takes 350 ms for one query of eight", text: tracked(350*ms, 1, 0)},
		"service.dependency-slow/healthy-names":    {about: "the name server always takes 1 ms", text: tracked(900_000, 1, 0)},
		"service.dependency-slow/sick-connects":    {about: "each payment opens a connection, with TLS over a way of 6 ms", text: paid(true)},
		"service.dependency-slow/healthy-connects": {about: "payments share connections that are kept", text: paid(false)},
		"service.retry-storm/sick":                 {about: "a supplier stands still for 1.4 s every 7 s; each call is given up after 120 ms and made up to three times", text: quotes(3, 1400*ms)},
		"service.retry-storm/healthy":              {about: "the supplier always answers", text: quotes(3, 0)},
		"service.cache-stampede/sick":              {about: "a report is kept for 3 s; then all that ask for it make it for 180 ms", text: reports(true, 80)},
		"service.cache-stampede/healthy":           {about: "the report is made anew beside the requests", text: reports(false, 80)},
	} {
		about, err := json.MarshalIndent(map[string]string{"about": f.about, "made_by": "go test ./internal/diagnose/check/service -update"}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"exchanges.txt": f.text, "truth.json": append(about, '\n')}
		if f.clients != nil {
			files["clients.txt"] = f.clients
		}
		for name, want := range files {
			path := filepath.Join(fixtures, dir, name)
			if name != "truth.json" {
				path += ".gz"
			}
			if *goldentest.Update {
				write(t, path, want)
				continue
			}
			if got := content(t, path); !bytes.Equal(got, want) {
				t.Errorf("%s is not what is made: %s", path, goldentest.Command())
			}
		}
	}
}

// caseOf is the service as the kernel saw it.
func caseOf(t *testing.T, text []byte) *check.Case {
	t.Helper()
	return caseWith(t, text, incident.Options{})
}

func caseWith(t *testing.T, text []byte, opt incident.Options) *check.Case {
	t.Helper()
	b := incident.NewBundle()
	if err := format.Read(t.Context(), []format.Format{exchanges.Format}, &format.Artifact{Name: "exchanges.txt", Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}, b); err != nil {
		t.Fatal(err)
	}
	i := incident.Of(b, opt)
	l := i.Ledgers()
	if len(l) != 1 {
		t.Fatalf("%d services", len(l))
	}
	return &check.Case{Bundle: i.Bundle, Subject: l[0].Subject, Ledger: l[0]}
}

// A slow query that many make, and one that waits for the disk together with others, wait for no lock; nor do requests that a
// dependency keeps waiting repeat anything, or make what a cache had.
func TestNotMistaken(t *testing.T) {
	for name, x := range map[string]struct {
		text  []byte
		judge func(*check.Case) check.Verdict
	}{
		"a slow query is no lock":                {searches(120 * ms), judgeRowLock},
		"a slow query is no stampede":            {searches(120 * ms), judgeStampede},
		"a slow name server is no stampede":      {tracked(350*ms, 1, 0), judgeStampede},
		"a quick name server is not slow":        {tracked(900_000, 1, 2), judgeDependency},
		"few calls of some are not many":         {graphQL(6), judgeChatty},
		"kept connections cost nothing":          {paid(false), judgeDependency},
		"a call before a transaction is no lock": {sales(false, true), judgeRowLock},
		"a call made once is no storm":           {quotes(1, 1400*ms), judgeRetries},
		"a lock is no stampede":                  {sales(true, false), judgeStampede},
		"a storm is no lock":                     {quotes(3, 1400*ms), judgeRowLock},
	} {
		if v := x.judge(caseOf(t, x.text)); v.State != check.RuledOut {
			t.Errorf("%s: %s: %s", name, v.State, v.Title)
		}
	}
}

// What is waited for is named by product, address and what was asked; who holds a lock, by what it does meanwhile.
func TestNamed(t *testing.T) {
	for name, x := range map[string]struct {
		text  []byte
		judge func(*check.Case) check.Verdict
		title string
		fix   string
	}{
		"a slow query": {searches(120 * ms), judgeDependency, "wait for PostgreSQL at 10.0.0.7:5432 (SELECT orders)", "EXPLAIN ANALYZE"},
		"a row lock":   {sales(true, false), judgeRowLock, "The transaction calls POST /charge at 10.0.0.9:8080 while it holds the lock, for 4", "call POST /charge at 10.0.0.9:8080 before the transaction begins"},
		"a row lock behind encrypted connections": {sales(true, true), judgeRowLock, "The transaction calls 10.0.0.9:8080 while it holds the lock, for 4", "call 10.0.0.9:8080 before the transaction begins"},
		"a name server":         {tracked(350*ms, 1, 0), judgeDependency, "wait for the name server (DNS) at 10.0.0.2:53 (example.com)", "look names up less often: keep connections open"},
		"lost queries":          {tracked(5000*ms, 2, 0), judgeDependency, "wait for the name server (DNS) at 10.0.0.2:53 (example.com)", "have the resolver wait less before it asks again"},
		"an impatient resolver": {tracked(550*ms, 2, 0), judgeDependency, "wait for the name server (DNS)", "look names up less often"},
		"names that are not":    {tracked(350*ms, 1, 3), judgeDependency, "wait for the name server (DNS) at 10.0.0.2:53 (example.com)", "look names up less often"},
		"many calls of some":    {graphQL(90), judgeChatty, "% of the requests of POST /graphql make 91 calls each to PostgreSQL at 10.0.0.7:5432 (SELECT items), one after the other", "ask once for all of it"},
		"a connection for each": {paid(true), judgeDependency, "Requests of POST /pay/{id} open a new connection to 10.0.0.9:8080 for a single call: its set-up takes 6", "keep connections to 10.0.0.9:8080 open"},
		"a storm":               {quotes(3, 1400*ms), judgeRetries, "Failed calls to 10.0.0.9:8080 are repeated: 1.7", "budget"},
		"a stampede that lasts": {reportsTaking(1300*ms, true, 40), judgeStampede, "requests of GET /report make the same call to PostgreSQL at 10.0.0.7:5432 (SELECT orders) at once, after ", "single flight"},
		"a stampede":            {reports(true, 80), judgeStampede, "requests of GET /report make the same call to PostgreSQL at 10.0.0.7:5432 (SELECT orders) at once, after 2.8", "single flight"},
	} {
		v := x.judge(caseOf(t, x.text))
		if name == "names that are not" && (len(v.Fix) < 2 || v.Fix[1].Setting != "options ndots:1") {
			t.Errorf("%s: %+v", name, v.Fix)
		}
		if v.State != check.Supported || !strings.Contains(v.Title, x.title) || len(v.Fix) == 0 || !strings.Contains(v.Fix[0].Text, x.fix) {
			t.Errorf("%s: %s %q, %+v", name, v.State, v.Title, v.Fix)
		}
		if saves := v.Saves != nil || name == "a connection for each"; len(v.Prediction) == 0 || !saves { // all of its requests take as long
			t.Errorf("%s: it does not say what a fix would do", name)
		}
	}
}
