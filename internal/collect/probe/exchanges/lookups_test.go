package exchanges

import (
	"net/netip"
	"strings"
	"testing"
)

// resolver is a process that asks name servers; times are in ms.
type resolver struct {
	*lookups
	lines []string
}

func newResolver() *resolver { return &resolver{lookups: newLookups()} }

func (r *resolver) tell(l *lookup, a *answer, now int64) {
	r.lines = append(r.lines, strings.TrimSpace(string(appendLookup(nil, l, a, now, 0))))
}

func (r *resolver) asks(at int64, socket uint64, id uint16, name string, kind uint16, several bool) {
	at *= 1e6
	r.addQuery(numbered{socket, id}, &lookup{asking: asking{4711, question{name, kind}}, begun: at, last: at, out: 40, by: worker{thread: 8}, own: 4000 + uint16(socket),
		server: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(socket)}), 53), severalAtOnce: several}, func(l *lookup, a *answer) { r.tell(l, a, 0) })
}

func (r *resolver) reads(at int64, socket uint64, id uint16, name string, kind, code uint16) {
	at *= 1e6
	r.addAnswer(numbered{socket, id}, &answer{reply: reply{id: id, question: question{name, kind}, asks: true, code: code}, at: at, came: at - 2e6, in: 60, by: worker{thread: 9, goroutine: 5}},
		func(l *lookup, a *answer) { r.tell(l, a, 0) })
}

func (r *resolver) check(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.Join(r.lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("it told:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	if len(r.of) > 0 || len(r.by) > 0 {
		t.Errorf("%d lookups are left, known by %d", len(r.of), len(r.by))
	}
}

const shop = "api.shop.example.com"

// Queries for A and AAAA are sent by one call, with each of which both are told.
func TestTwoAtOnce(t *testing.T) {
	r := newResolver()
	for range 2 {
		r.asks(1000, 1, 7, shop, 1, true)
		r.asks(1000, 1, 8, shop, 28, true)
	}
	r.reads(1350, 1, 8, shop, 28, 0)
	r.reads(1010, 1, 7, shop, 1, 0)
	r.reads(1011, 1, 7, shop, 1, 0) // again
	r.check(t, "k 1000000000 2000000 350000000 0 60 40 1 1 8 9/5 4001 10.0.0.1:53 dns ok AAAA example.com",
		"k 1000000000 2000000 10000000 0 60 40 1 1 8 9/5 4001 10.0.0.1:53 dns ok A example.com")
}

// A query that is sent again with its number is the same lookup, on the same socket and to the next server; the first is told.
func TestSentAgain(t *testing.T) {
	r := newResolver()
	r.asks(1000, 1, 7, shop, 1, false)
	r.asks(6000, 2, 7, shop, 1, false)
	r.asks(9000, 1, 7, shop, 1, false)
	r.reads(9100, 2, 7, shop, 1, 0)
	r.check(t, "k 1000000000 2000000 8100000000 0 60 120 1 3 8 9/5 4001 10.0.0.1:53 dns ok A example.com")
}

// Go's resolver takes a new number and a new socket after some seconds. What others ask for meanwhile is another lookup.
func TestSentAgainWithAnotherNumber(t *testing.T) {
	r := newResolver()
	r.asks(1000, 1, 7, shop, 1, false)
	r.asks(3500, 2, 8, shop, 1, false)
	r.reads(3600, 2, 8, shop, 1, 0)
	r.asks(6010, 3, 9, shop, 1, false)
	r.reads(6020, 3, 9, shop, 1, 0)
	r.check(t, "k 3500000000 2000000 100000000 0 60 40 1 1 8 9/5 4002 10.0.0.2:53 dns ok A example.com",
		"k 1000000000 2000000 5020000000 0 60 80 1 2 8 9/5 4001 10.0.0.1:53 dns ok A example.com")
}

// Some send a query to all servers at once: that is not again.
func TestSeveralServers(t *testing.T) {
	r := newResolver()
	for socket := range uint64(3) {
		r.asks(1000, socket, 7, shop, 1, false)
	}
	r.reads(1001, 2, 7, shop, 1, 3)
	r.check(t, "k 1000000000 1000000 1000000 0 60 120 1 1 8 9/5 4000 10.0.0.0:53 dns nxdomain A example.com")
}

// An answer that another thread read before its query was told of counts, but not one to another question.
func TestOvertaken(t *testing.T) {
	r := newResolver()
	r.reads(999, 1, 7, shop, 1, 0)
	r.reads(999, 1, 8, "other.example.com", 1, 0)
	r.asks(1000, 1, 7, shop, 1, false)
	r.asks(1000, 1, 8, shop, 28, false)
	r.giveUp(20_000e6, false, func(l *lookup) { r.tell(l, nil, 20_000e6) })
	r.check(t, "k 1000000000 0 0 0 60 40 1 1 8 9/5 4001 10.0.0.1:53 dns ok A example.com",
		"k 1000000000 0 -1 19000000000 0 40 0 1 8 0 4001 10.0.0.1:53 dns - AAAA example.com")
	if len(r.early) > 0 {
		t.Errorf("%d answers are kept", len(r.early))
	}
}

// A query without an answer is told with its age, when none will come any more.
func TestGivenUp(t *testing.T) {
	r := newResolver()
	r.asks(1000, 1, 7, shop, 1, false)
	r.asks(6000, 1, 7, shop, 1, false)
	r.giveUp(15_000e6, false, func(l *lookup) { r.tell(l, nil, 15_000e6) })
	if len(r.lines) > 0 {
		t.Errorf("it is given up after 9 s: %s", r.lines)
	}
	r.giveUp(16_000e6, false, func(l *lookup) { r.tell(l, nil, 16_000e6) })
	r.check(t, "k 1000000000 0 -1 15000000000 0 80 0 2 8 0 4001 10.0.0.1:53 dns - A example.com")
}

// What there is no room for is counted.
func TestMostLookups(t *testing.T) {
	r := newResolver()
	for i := range mostLookups + 3 {
		r.asks(1000, uint64(i), uint16(i), shop, uint16(i), false)
	}
	if r.lost != 3 {
		t.Errorf("%d are lost", r.lost)
	}
	told := 0
	r.giveUp(1001e6, true, func(*lookup) { told++ })
	if told != mostLookups || len(r.by) > 0 {
		t.Errorf("%d are told, %d are left", told, len(r.by))
	}
}
