package accesslog

import (
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
)

// few are the requests of a proxy's log that waited for a second and more for an answer that did not come, or for a place at an upstream. A short
// excerpt has too few of them to compare them with others; they are long enough to count by themselves.
type few struct {
	unanswered, queued map[string]*waits // by upstream
	n                  int64             // of both
}

// waits are requests that waited at one upstream.
type waits struct {
	times       []int64 // when they began, ns
	most        int64   // ns
	line        int64
	from, until int64
}

const (
	longWait  = 1e9  // ns
	leastMany = 5    // so many slow requests decide by themselves
	inMinute  = 60e9 // ns
)

// addRequest adds a request that waited for most of its time.
func (f *few) addRequest(e *entry, start, end, line int64) {
	switch {
	case f.n >= leastMany || e.duration < longWait || len(e.peer) == 0:
	case (e.unanswered || e.status == 504) && 2*e.upstream >= e.duration:
		f.addWait(&f.unanswered, e.upstream, string(e.peer), start, end, line)
	case !e.overdue && e.queue >= longWait && 2*e.queue >= e.duration:
		f.addWait(&f.queued, e.queue, string(e.peer), start, end, line)
	}
}

func (f *few) addWait(by *map[string]*waits, ns int64, peer string, start, end, line int64) {
	f.n++
	if *by == nil {
		*by = make(map[string]*waits)
	}
	w := (*by)[peer]
	if w == nil {
		w = &waits{line: line, from: start}
		(*by)[peer] = w
	}
	w.times = append(w.times, start)
	w.most, w.from, w.until = max(w.most, ns), min(w.from, start), max(w.until, end)
}

// emitWaits gives what the log has if it has few of them, and they are a quarter of its requests: of more the requests tell.
func (f *few) emitWaits(b *evidence.Builder, service evidence.SubjectID, requests int64) {
	if f.n == 0 || f.n >= leastMany || 4*f.n < requests {
		return
	}
	for _, peer := range sortedPeers(f.unanswered) {
		w := f.unanswered[peer]
		if len(w.times) < 2 {
			continue
		}
		id := b.Subject(evidence.Subject{Kind: evidence.Dependency, Name: peer})
		fact := evidence.Fact{Subject: id, Key: evidence.FactCallsUnanswered, Value: peer, Number: float64(len(w.times)), From: w.from, Until: w.until, Origin: b.Origin(w.line)}
		b.Fact(fact)
		fact.Key, fact.Number = evidence.FactCallsUnansweredDense, float64(w.countDense())
		b.Fact(fact)
		fact.Key, fact.Number = evidence.FactCallsUnansweredMost, float64(w.most)
		b.Fact(fact)
	}
	n, most, line, from, until := 0, int64(0), int64(0), int64(0), int64(0)
	where := ""
	for _, peer := range sortedPeers(f.queued) {
		w := f.queued[peer]
		if n += len(w.times); where != "" {
			where += ", "
		}
		where += peer
		if line == 0 || w.line < line {
			line = w.line
		}
		if from == 0 || w.from < from {
			from = w.from
		}
		most, until = max(most, w.most), max(until, w.until)
	}
	if n > 0 {
		fact := evidence.Fact{Subject: service, Key: evidence.FactQueuedLong, Value: where, Number: float64(n), From: from, Until: until, Origin: b.Origin(line)}
		b.Fact(fact)
		fact.Key, fact.Number = evidence.FactQueuedLongMost, float64(most)
		b.Fact(fact)
	}
}

func sortedPeers(by map[string]*waits) (peers []string) {
	for p := range by {
		peers = append(peers, p)
	}
	slices.Sort(peers)
	return peers
}

// countDense returns how many of the waits began within a minute, at most.
func (w *waits) countDense() (most int) {
	slices.Sort(w.times)
	for i, from := range w.times {
		n := 0
		for _, at := range w.times[i:] {
			if at <= from+inMinute {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
