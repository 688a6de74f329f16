package accesslog

import (
	"bytes"
	"hash/maphash"

	"github.com/unstall/unstall/internal/base/evidence"
)

// repeats counts requests that the same caller sent before, with the same query, within a
// few seconds: a cache at the caller would have answered them.
type repeats struct {
	seed        maphash.Seed
	now, before lately // before is the generation before now
	asked       int64  // requests that a cache could answer
	again       int64
}

const (
	repeatWithin = int64(10e9) // ns: answers hardly change within it
	repeatKept   = 1 << 15     // of each generation
	repeatLeast  = 100         // requests, fewer show nothing
)

func newRepeats() *repeats {
	return &repeats{seed: maphash.MakeSeed(), now: newLately(), before: newLately()}
}

// hashRequest returns a hash of a request's target and caller; 0 if an answer must
// not be reused, or the caller is unknown. The caller is the first word of a line of text, as in
// all servers' usual layouts; in other lines it is unknown.
func hashRequest(seed maphash.Seed, e *entry, line []byte) uint64 {
	if len(e.target) == 0 || len(e.method) > 0 && string(e.method) != "GET" && string(e.method) != "HEAD" {
		return 0
	}
	caller, _, ok := bytes.Cut(line[:min(len(line), 64)], []byte(" "))
	if !ok || !isIPAddress(caller) {
		return 0
	}
	return max(maphash.Bytes(seed, caller)*hashFactor^maphash.Bytes(seed, e.target), 1)
}

// hashFactor separates the hashes of caller and target; it is odd, so that no bits are lost.
const hashFactor = 0x9e3779b97f4a7c15

// countRequest counts one request by its hash, at a time in ns.
func (r *repeats) countRequest(k uint64, at int64) {
	if k == 0 {
		return
	}
	r.asked++
	last := r.now.findSlot(k)
	if last.what == 0 {
		last = r.before.findSlot(k)
	}
	if last.what != 0 && at-last.at <= repeatWithin && at >= last.at {
		r.again++
	}
	if r.now.n >= repeatKept {
		r.now, r.before = r.before, r.now
		clear(r.now.asked)
		r.now.n = 0
	}
	r.now.setTime(k, at)
}

// lately maps hashes to the time of the last request. A Go map took a tenth of the time of reading a log.
type lately struct {
	asked []asked // a power of two of slots, at least half of them free; an entry stands behind the entries that had its place before
	n     int
}

// asked is the hash of a request, 0: none, and its time, ns.
type asked struct {
	what uint64
	at   int64
}

func newLately() lately { return lately{asked: make([]asked, 64)} }

// findSlot returns the slot where k is, or belongs.
func (l *lately) findSlot(k uint64) *asked {
	last := uint64(len(l.asked) - 1)
	for i := k & last; ; i = (i + 1) & last {
		if a := &l.asked[i]; a.what == k || a.what == 0 {
			return a
		}
	}
}

func (l *lately) setTime(k uint64, at int64) {
	a := l.findSlot(k)
	if a.what == 0 {
		l.n++
	}
	*a = asked{k, at}
	if 2*l.n <= len(l.asked) {
		return
	}
	more := lately{asked: make([]asked, 2*len(l.asked))}
	for _, a := range l.asked {
		if a.what != 0 {
			*more.findSlot(a.what) = a
		}
	}
	l.asked = more.asked
}

// isIPAddress says whether a word looks like an address of IPv4 or IPv6.
func isIPAddress(word []byte) bool {
	dots, colons := 0, 0
	for _, c := range word {
		switch {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'f':
		default:
			return false
		}
	}
	return dots == 3 || colons >= 2
}

func (r *repeats) emitShare(b *evidence.Builder, subject evidence.SubjectID, from, until int64) {
	if r.asked >= repeatLeast {
		b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactRepeated, Value: "10 s", Number: float64(r.again) / float64(r.asked), From: from, Until: until, Origin: b.Origin(0)})
	}
}
