package exchanges

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/cilium/ebpf"
)

// readFrame reads a frame of HTTP/2, and writes the request that ended with it.
func (w *watching) readFrame(b []byte, offset int64) {
	f, ok := frameOf(b)
	if !ok {
		return
	}
	key := binary.NativeEndian.Uint64(b[frameSocket:])
	if f.what == whatClosed {
		w.closeFrames(key, f.at, offset)
		return
	}
	c := w.multi.connections[key]
	if port := binary.NativeEndian.Uint16(b[framePort:]); c == nil || c.port != port {
		if c != nil { // the memory of its socket is reused
			w.closeFrames(key, 0, offset)
		}
		c = w.addConnection(b, key, port)
	}
	w.multi.followFrame(c, &f, func(s *stream) { w.writeStream(c, s, offset) })
}

// addConnection adds a connection when its first frame is read.
func (w *watching) addConnection(b []byte, key uint64, port uint16) *multiplex {
	half := func(at int) uint16 { return binary.NativeEndian.Uint16(b[at:]) }
	c := &multiplex{server: half(frameRole) == roleServer, port: port, streams: make(map[uint32]*stream), own: strconv.Itoa(int(half(frameOwnPort))), peer: "-"}
	number, family := w.clients.numberOf(connection{key, port}), half(frameFamily)
	path := ""
	if family == unix.AF_UNIX {
		e := w.endsOf(key)
		w.nameEnd(e)
		path, c.own = e.path, e.path
	}
	switch {
	case c.server:
		c.own += "/" + strconv.FormatInt(number, 10)
	case path != "":
		c.own, c.peer = strconv.FormatInt(firstUNIX+number, 10), path
	default:
		c.peer = peerAddress(family, b[framePeer:], b[framePort:]).String()
	}
	w.multi.addConnection(key, c)
	return c
}

// writeStream writes a request with the names of its threads.
func (w *watching) writeStream(c *multiplex, s *stream, offset int64) {
	if !s.isRequest() {
		return
	}
	w.writeThreadName(s.thread)
	w.writeThreadName(s.other)
	w.buf = appendStream(w.buf, c, s, offset)
}

// closeFrames writes the pending requests of a connection that is closed.
func (w *watching) closeFrames(key uint64, at, offset int64) {
	w.multi.closeConnection(key, at, func(c *multiplex, s *stream) { w.writeStream(c, s, offset) })
	for _, m := range []*ebpf.Map{w.keeps.framesIn, w.keeps.framesOut} {
		_ = m.Delete(key)
	}
}

// openFrames writes the pending requests over HTTP/2.
func (w *watching) openFrames(offset int64) {
	for _, c := range w.multi.connections {
		if c.older && c.answers.told == 0 { // no answer was seen
			w.multi.dropStreams(c)
		}
		for _, s := range c.streams {
			w.writeStream(c, s, offset)
		}
	}
}

// countFrames writes how many connections speak HTTP/2, and how many requests could not be separated, since the last time.
func (w *watching) countFrames() {
	m := &w.multi
	if m.spoke > m.spokeTold || m.untold > m.untoldTold {
		w.buf = fmt.Appendf(w.buf, "h2 %d %d\n", m.spoke-m.spokeTold, m.untold-m.untoldTold)
		m.spokeTold, m.untoldTold = m.spoke, m.untold
	}
}

// followSuspect has the programs follow the frames of a connection that was open before the recording, if it has frames.
func (w *watching) followSuspect(b []byte) {
	if len(b) < serverSize {
		return
	}
	most := callHead
	if binary.NativeEndian.Uint32(b[atRole:]) == roleServer {
		most = headSize
	}
	key, port := binary.NativeEndian.Uint64(b[atSocket:]), binary.NativeEndian.Uint16(b[atPort:])
	if len(b) < atHead+most || !w.multi.isFramed(key, port, b[atHead:atHead+min(most, int(binary.NativeEndian.Uint16(b[atHeadLen:])))]) {
		return
	}
	var value [4]byte
	binary.NativeEndian.PutUint16(value[:], port)
	_ = w.keeps.multiplexed.Put(key, value)
	var v [tuneSize]byte
	if !w.framed && w.keeps.tuning.Lookup(uint32(0), &v) == nil {
		binary.NativeEndian.PutUint32(v[tuneFrames:], 1)
		_ = w.keeps.tuning.Put(uint32(0), v[:])
		w.framed = true
	}
}
