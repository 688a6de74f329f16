package accesslog

import (
	"bytes"
	"hash/maphash"

	"github.com/unstall/unstall/evidence"
)

// repeats counts requests that the same caller had sent before, query and all, within the
// seconds before: what a cache at the caller would have answered.
type repeats struct {
	seed        maphash.Seed
	now, before map[uint64]int64 // when it was last asked for, ns; before holds what now has outgrown
	asked       int64            // requests that can be answered from a cache
	again       int64
}

const (
	repeatWithin = int64(10e9) // ns: what answers hardly change in
	repeatKept   = 1 << 15     // of each generation
	repeatLeast  = 100         // requests, to say something
)

func newRepeats() *repeats {
	return &repeats{seed: maphash.MakeSeed(), now: make(map[uint64]int64), before: make(map[uint64]int64)}
}

// asking is what a request asks for and who asks, as a number; 0 where an answer may not be repeated, or nobody is known to
// ask. The caller is the first word of a line of text, as all servers' usual layouts have it; where lines are otherwise nobody is
// known to ask again.
func asking(seed maphash.Seed, e *entry, line []byte) uint64 {
	if len(e.target) == 0 || len(e.method) > 0 && string(e.method) != "GET" && string(e.method) != "HEAD" {
		return 0
	}
	caller, _, ok := bytes.Cut(line[:min(len(line), 64)], []byte(" "))
	if !ok || !address(caller) {
		return 0
	}
	return max(maphash.Bytes(seed, caller)*hashFactor^maphash.Bytes(seed, e.target), 1)
}

// hashFactor keeps a caller and a target apart from each other; odd, so that nothing of a hash is lost.
const hashFactor = 0x9e3779b97f4a7c15

// add looks at one request, at a time, ns.
func (r *repeats) add(k uint64, at int64) {
	if k == 0 {
		return
	}
	r.asked++
	last, known := r.now[k]
	if !known {
		last, known = r.before[k]
	}
	if known && at-last <= repeatWithin && at >= last {
		r.again++
	}
	if len(r.now) >= repeatKept {
		r.now, r.before = r.before, r.now
		clear(r.now)
	}
	r.now[k] = at
}

// address says whether a word is an address of IPv4 or IPv6.
func address(word []byte) bool {
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

func (r *repeats) emit(b *evidence.Builder, subject evidence.SubjectID, from, until int64) {
	if r.asked >= repeatLeast {
		b.Fact(evidence.Fact{Subject: subject, Key: evidence.FactRepeated, Value: "10 s", Number: float64(r.again) / float64(r.asked), From: from, Until: until, Origin: b.Origin(0)})
	}
}
