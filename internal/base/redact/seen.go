package redact

import (
	"hash/maphash"
	"sync/atomic"
)

// Seen remembers texts that were looked at and held nothing to hide, so that what is recorded
// again and again, such as names of methods and counters that stand still, costs a sum each
// time. It knows a text by 64 bits that cannot be foreseen, and forgets those of a text for
// another that falls on its place. Safe for concurrent use; a nil one remembers nothing.
type Seen struct {
	seed   maphash.Seed
	places [1 << 16]atomic.Uint64 // 512 KiB: a small .NET service has 10,000 methods
}

// NewSeen returns one that is empty.
func NewSeen() *Seen { return &Seen{seed: maphash.MakeSeed()} }

// How far a text was looked at.
const (
	AsLine  byte = iota // as [Line] and [Overwrite] do
	AsOwn               // as [Own] does
	AsValue             // as [Value] and [OverwriteValue] do
)

// Before says whether a text was remembered, and by which sum it can be.
func (s *Seen) Before(as byte, text []byte) (sum uint64, ok bool) {
	if s == nil {
		return 0, false
	}
	sum = maphash.Bytes(s.seed, text) + uint64(as)*0x9e3779b97f4a7c15
	return sum, s.placeOf(sum).Load() == sum && sum != 0
}

// Remember keeps the sum of a text that held nothing to hide.
func (s *Seen) Remember(sum uint64) {
	if s != nil {
		s.placeOf(sum).Store(sum)
	}
}

func (s *Seen) placeOf(sum uint64) *atomic.Uint64 { return &s.places[sum>>32%uint64(len(s.places))] }
