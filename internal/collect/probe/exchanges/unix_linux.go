package exchanges

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/socketdiag"
)

// end is what is known of the ends of a UNIX connection.
type end struct {
	process int    // at the other end, 0 unknown
	path    string // at which one of the two listens: "unix:/run/app.sock", "unix:@name"
}

// mostEnds connections are remembered with their ends.
const mostEnds = 1 << 14

// endsOf are the ends of a UNIX connection, as the programs found them.
func (w *watching) endsOf(cookie uint64) end {
	if e, known := w.ends[cookie]; known {
		return e
	}
	var e end
	var v [endSize]byte
	if w.keeps.ends.Lookup(cookie, &v) == nil {
		e.process = int(binary.NativeEndian.Uint32(v[endProcess:]))
		e.path = socketdiag.Address(string(v[endName : endName+min(mostName, binary.NativeEndian.Uint32(v[endLength:]))]))
	}
	if len(w.ends) >= mostEnds || w.ends == nil {
		w.ends = make(map[uint64]end)
	}
	w.ends[cookie] = e
	return e
}

// nameEnd writes which process is at the other end of the connections of a UNIX socket, once.
func (w *watching) nameEnd(e end) {
	if e.process == 0 || w.ended[e] || len(w.ended) >= mostNamed {
		return
	}
	w.ended[e] = true
	if comm := commOf(e.process); len(comm) > 0 {
		w.buf = fmt.Appendf(w.buf, "p %s %d %s\n", e.path, e.process, comm)
	}
}

// listenUNIX adds the UNIX sockets of the namespace that listen.
func (w *watching) listenUNIX(to map[uint32]listener) error {
	return w.diag.UNIXQueues(socketdiag.Listens, mostConnections, w.room, func(x socketdiag.Unix) {
		if x.Inode != 0 && x.Stream && x.Name != "" && len(x.Name) <= mostName {
			to[x.Inode] = listener{name: x.Name}
		}
	})
}

// putNames tells the programs at which names the process listens. What they know of others is of before.
func (w *watching) putNames(names map[string]bool) {
	key := func(name string) (k [endSize]byte) {
		binary.NativeEndian.PutUint32(k[endLength:], uint32(len(name)))
		copy(k[endName:], name)
		return k
	}
	for name := range names {
		if !w.names[name] {
			_ = w.keeps.names.Put(key(name), uint32(nameOurs))
		}
	}
	for name := range w.names {
		if !names[name] {
			_ = w.keeps.names.Delete(key(name))
		}
	}
	w.names = names
	w.forgetAddresses()
}

// forgetAddresses has the programs look up names anew.
func (w *watching) forgetAddresses() {
	var key uint64
	for n := 0; n < mostAddresses && w.keeps.addresses.NextKey(nil, &key) == nil; n++ {
		_ = w.keeps.addresses.Delete(key)
	}
}

// sweepUNIX writes the exchanges of UNIX connections that no longer exist, and forgets those
// connections: no tracepoint tells when one is given up.
func (w *watching) sweepUNIX(offset int64) error {
	var all []uint64
	var key uint64
	var v [endSize]byte
	for i := w.keeps.ends.Iterate(); i.Next(&key, &v); {
		all = append(all, key)
	}
	if len(all) == 0 {
		return nil
	}
	there := make(map[uint64]bool, len(all))
	n := 0
	err := w.diag.UNIXQueues(1<<socketdiag.Established, mostLooked, w.room, func(x socketdiag.Unix) {
		n++
		there[x.Cookie] = true
	})
	if err != nil || n >= mostLooked {
		return err
	}
	now := monotonicNanos()
	for _, cookie := range all {
		if there[cookie] {
			continue
		}
		var s [stateSize]byte
		if w.keeps.states.Lookup(cookie, &s) == nil {
			if arrived := int64(binary.NativeEndian.Uint64(s[atArrived:])); arrived > 0 && now-arrived < longestQueued.Nanoseconds() && binary.NativeEndian.Uint32(s[atPhase:]) == phaseIdle {
				continue // it may wait to be accepted, and is not told of until then
			}
			switch binary.NativeEndian.Uint32(s[atPhase:]) {
			case phaseAsked:
				binary.NativeEndian.PutUint64(s[atLast:], uint64(now))
				fallthrough
			case phaseAnswered:
				w.writeRecord(exchangeOf(s[:]), offset)
			}
			_ = w.keeps.states.Delete(cookie)
		}
		w.closeFrames(cookie, now, offset)
		_ = w.keeps.ends.Delete(cookie)
		delete(w.ends, cookie)
	}
	return nil
}

// longestQueued is for how long a connection may wait to be accepted before it is forgotten.
const longestQueued = 10 * time.Minute

// mostLooked sockets are looked through for those that are there.
const mostLooked = 1 << 16

// exchangeOf cuts a state to what is written of its exchange.
func exchangeOf(state []byte) []byte {
	if binary.NativeEndian.Uint32(state[atRole:]) == roleServer {
		return state[:serverSize]
	}
	return state
}

// monotonicNanos returns the time of the clock that the programs read, in ns.
func monotonicNanos() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// commOf is what a thread is called, on one line; nothing where that is not known.
func commOf(thread int) []byte {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", thread)) // of threads that are not listed, too
	if err != nil {
		return nil
	}
	return oneLine(comm)
}
