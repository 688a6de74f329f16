package exchanges

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/sorting"
)

// lookups are the queries to name servers that are under way, and how long they have been. A query that is sent again is the same lookup,
// which waits: to the same server or the next, on the same socket or another one. Resolvers keep its number (RFC 1035's ID) then; that of
// Go takes a new one.
type lookups struct {
	by    map[numbered]*lookup // also as it was asked again
	of    map[asking][]*lookup // by who asks for what
	early map[numbered]answer  // answers that were read before their queries were told of
	lost  int                  // queries that there was no room for
	told  int                  // of these
}

// numbered is a query by its number on its socket.
type numbered struct {
	socket uint64
	id     uint16
}

// asking is a process and what it asks for.
type asking struct {
	process uint32
	question
}

// lookup is a query that is under way; moments in ns of the kernel's clock.
type lookup struct {
	asking
	known         []numbered
	id            uint16
	begun, last   int64 // when it was sent, and sent again
	sends         int
	out           int // bytes
	by            worker
	own           uint16
	server        netip.AddrPort // that was asked first
	lastFrom      uint64         // socket
	severalAtOnce bool
}

// answer is one that was read.
type answer struct {
	reply
	at, came int64 // came: when it had arrived, 0 unknown
	in       int
	by       worker
}

// worker is the thread that sent or read, and of Go the number of its goroutine, 0 unknown.
type worker struct {
	thread    uint32
	goroutine int64
}

const (
	mostLookups = 1 << 14
	mostEarly   = 1 << 8

	// againAfter is how long after a query the same is not the same sending any more (ns): some resolvers send it to several servers at
	// once, and none asks again so soon. c-ares does after 250 ms, others after a second.
	againAfter = int64(100e6)

	// givenUpAfter is how long (ns) after it was sent last a query is told not to have been answered: resolvers wait for 5 s.
	givenUpAfter = int64(10e9)

	// Resolvers that take a new number wait for whole seconds before they ask again, and some ms more.
	secondsApart = int64(1e9)
	lateTimer    = int64(100e6)

	// overtaken is how long (ns) before its query is told of an answer may have been read, by another thread.
	overtaken = int64(1e9)
)

func newLookups() *lookups {
	return &lookups{by: make(map[numbered]*lookup), of: make(map[asking][]*lookup), early: make(map[numbered]answer)}
}

// addQuery adds a query that was sent, and yields its lookup if the answer was read already.
func (s *lookups) addQuery(as numbered, q *lookup, yield func(l *lookup, a *answer)) {
	if l := s.findRepeated(as, q); l != nil {
		if q.severalAtOnce && l.severalAtOnce && l.lastFrom == as.socket && q.last-l.last < againAfter {
			return // one call sent it with another, with each of which both are told
		}
		if q.last-l.last >= againAfter {
			l.sends++
		}
		l.last, l.lastFrom, l.severalAtOnce = q.last, as.socket, q.severalAtOnce
		l.out += q.out
		s.indexLookup(l, as)
		return
	}
	q.id, q.sends, q.lastFrom = as.id, 1, as.socket
	if a, ok := s.early[as]; ok {
		delete(s.early, as)
		if a.question == q.question && q.begun-a.at < overtaken {
			a.at = max(a.at, q.begun)
			yield(q, &a)
			return
		}
	}
	if len(s.by) >= mostLookups {
		s.lost++
		return
	}
	s.indexLookup(q, as)
	s.of[q.asking] = append(s.of[q.asking], q)
}

// indexLookup adds a number on a socket to those by which a lookup is found.
func (s *lookups) indexLookup(l *lookup, as numbered) {
	if other := s.by[as]; other == l {
		return
	} else if other != nil { // the socket's memory is used again, or the number
		other.known = slices.DeleteFunc(other.known, func(k numbered) bool { return k == as })
	}
	s.by[as] = l
	l.known = append(l.known, as)
}

// findRepeated returns the lookup that a query repeats, nil if the query is a new one.
func (s *lookups) findRepeated(as numbered, q *lookup) (found *lookup) {
	for _, l := range s.of[q.asking] {
		if l.id == as.id {
			return l
		}
		passed := q.last - l.last
		if late := passed % secondsApart; passed >= secondsApart && late <= lateTimer && l.lastFrom != as.socket && (found == nil || l.begun < found.begun) {
			found = l
		}
	}
	if found != nil {
		found.id = as.id
	}
	return found
}

// addAnswer takes in an answer that was read, and yields the lookup it ends. An answer without a
// lookup is kept for a query that is told of later.
func (s *lookups) addAnswer(as numbered, a *answer, yield func(l *lookup, a *answer)) {
	l := s.by[as]
	if l == nil || a.asks && a.question != l.question {
		if len(s.early) < mostEarly {
			s.early[as] = *a
		}
		return
	}
	s.forgetLookup(l)
	yield(l, a)
}

func (s *lookups) forgetLookup(l *lookup) {
	for _, as := range l.known {
		delete(s.by, as)
	}
	rest := slices.DeleteFunc(s.of[l.asking], func(x *lookup) bool { return x == l })
	if len(rest) == 0 {
		delete(s.of, l.asking)
	} else {
		s.of[l.asking] = rest
	}
}

// giveUp yields the lookups that will not be answered any more, or all, in order of time.
func (s *lookups) giveUp(now int64, all bool, yield func(l *lookup)) {
	var gone []*lookup
	for _, of := range s.of {
		for _, l := range of {
			if all || now-l.last >= givenUpAfter {
				gone = append(gone, l)
			}
		}
	}
	sorting.Short(gone, func(a, b *lookup) int { return cmp.Or(cmp.Compare(a.begun, b.begun), cmp.Compare(a.id, b.id)) })
	for _, l := range gone {
		s.forgetLookup(l)
		yield(l)
	}
	for as, a := range s.early {
		if now-a.at >= overtaken {
			delete(s.early, as)
		}
	}
}

// appendLookup writes a lookup as a line of internal/format/exchanges; a nil: it was not answered until now.
func appendLookup(out []byte, l *lookup, a *answer, now, offset int64) []byte {
	number := func(n int64) {
		out = append(out, ' ')
		out = strconv.AppendInt(out, n, 10)
	}
	result := resultUnknown
	out = append(out, 'k')
	number(l.begun + offset)
	if a == nil {
		a = &answer{}
		number(0)
		number(-1)
		number(max(1, now-l.begun))
	} else {
		result = a.resultWord()
		ready := int64(0)
		if a.came > 0 {
			ready = max(0, a.at-max(a.came, l.begun))
		}
		number(ready)
		number(a.at - l.begun)
		number(0)
	}
	reads := min(1, a.in)
	for _, n := range []int{a.in, l.out, reads, l.sends} {
		number(int64(n))
	}
	for _, w := range []worker{l.by, a.by} {
		if number(int64(w.thread)); w.goroutine > 0 {
			out = append(out, '/')
			out = strconv.AppendInt(out, w.goroutine, 10)
		}
	}
	number(int64(l.own))
	out = l.server.AppendTo(append(out, ' '))
	out = append(append(append(out, " dns "...), result...), ' ')
	return append(l.question.appendTo(out), '\n')
}
