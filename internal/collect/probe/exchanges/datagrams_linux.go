package exchanges

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// readDatagram reads a datagram that looks like a query to a name server, or its answer.
func (w *watching) readDatagram(b []byte, offset int64) {
	half := func(at int) uint16 { return binary.NativeEndian.Uint16(b[at:]) }
	word := func(at int) uint32 { return binary.NativeEndian.Uint32(b[at:]) }
	long := func(at int) int64 { return int64(binary.NativeEndian.Uint64(b[at:])) }
	text := b[datagramText:min(len(b), datagramText+int(half(datagramKept)))]
	by := worker{thread: word(datagramThread)}
	if g := uint64(long(datagramRoutine)); g != 0 {
		by.goroutine = w.routines.numberOf(g)
	}
	as, at := numbered{socket: uint64(long(datagramSocket))}, long(datagramAt)
	yield := func(l *lookup, a *answer) { w.writeLookup(l, a, at, offset) }
	if half(datagramWhat)&whatQuery == 0 {
		r, ok := readReply(text)
		if !ok {
			return
		}
		as.id = r.id
		w.lookups.addAnswer(as, &answer{reply: r, at: at, came: long(datagramCame), in: int(half(datagramTotal)), by: by}, yield)
		return
	}
	id, q, ok := readQuery(text)
	family := half(datagramFamily)
	if !ok || family != unix.AF_INET && family != unix.AF_INET6 {
		return
	}
	as.id = id
	w.lookups.addQuery(as, &lookup{asking: asking{word(datagramProcess), q}, begun: at, last: at, out: int(half(datagramTotal)), by: by,
		own: half(datagramOwnPort), server: peerAddress(family, b[datagramPeer:], b[datagramPort:]), severalAtOnce: half(datagramWhat)&whatMany != 0}, yield)
}

// writeLookup writes a lookup with the names of its threads. A nil a means that the lookup has no answer yet.
func (w *watching) writeLookup(l *lookup, a *answer, now, offset int64) {
	w.writeThreadName(l.by.thread)
	if a != nil {
		w.writeThreadName(a.by.thread)
	}
	w.buf = appendLookup(w.buf, l, a, now, offset)
}

// giveUpLookups writes the lookups that will not be answered, or all pending ones.
func (w *watching) giveUpLookups(all bool, offset int64) {
	now := monotonicNanos()
	w.lookups.giveUp(now, all, func(l *lookup) { w.writeLookup(l, nil, now, offset) })
	if n := w.lookups.lost - w.lookups.told; n > 0 {
		w.buf = fmt.Appendf(w.buf, "lost %d\n", n)
		w.lookups.told = w.lookups.lost
	}
}
