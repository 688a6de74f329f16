package exchanges

import (
	"encoding/binary"
	"maps"
	"strconv"

	"github.com/unstall/unstall/internal/format"
)

// multiplexed are the connections with frames of HTTP/2 and the requests under way on them.
type multiplexed struct {
	connections map[uint64]*multiplex
	streams     int // of all

	suspects map[uint64]*suspect // connections that were open before, and may have frames
	older    map[uint64]uint16   // those that have, and the ports of their peers

	spoke, untold         int // connections, and requests that could not be told apart
	spokeTold, untoldTold int // of those, written already
}

// multiplex is one connection.
type multiplex struct {
	server  bool
	older   bool   // it was open before
	port    uint16 // of the peer
	own     string // port and number of a server's; port of a client's
	peer    string
	asks    half // direction in which requests go
	answers half
	streams map[uint32]*stream
	last    uint32         // number of the latest request
	unnamed map[uint64]int // numbers of routes that were named before
}

// half is one direction.
type half struct {
	told  uint32 // frames
	table table
}

// stream is a request and its answer; moments in ns of the kernel's clock, 0 unknown.
type stream struct {
	begun, came      int64 // of a call came is when its answer arrived
	first, last      int64
	in, out          int64
	reads, sends     int64
	thread, other    uint32
	asked            bool // to its end
	both             bool // its answer began before it was asked to its end
	method, path     string
	unnamed          int // stands for the path where that was named before, 0 unknown
	status, grpcCode string
	grpc             bool
}

// Limits of what is remembered.
const (
	mostStreams  = 1 << 16
	mostFramed   = 1 << 14 // connections
	mostSuspects = 1 << 12
)

// frame is one that was told.
type frame struct {
	what           uint16
	in             bool
	at, came       int64
	thread, number uint32
	length         int
	kind, flags    byte
	stream         uint32
	block          []byte
}

func frameOf(b []byte) (f frame, ok bool) {
	if len(b) < frameBlock {
		return f, false
	}
	order := binary.NativeEndian
	h := b[frameHeader:]
	f = frame{what: order.Uint16(b[frameWhat:]), in: order.Uint16(b[frameDirection:]) == directionIn, at: int64(order.Uint64(b[frameAt:])), came: int64(order.Uint64(b[frameCame:])),
		thread: order.Uint32(b[frameThread:]), number: order.Uint32(b[frameNumber:]), length: int(h[0])<<16 | int(h[1])<<8 | int(h[2]), kind: h[3], flags: h[4],
		stream: binary.BigEndian.Uint32(h[5:]) & 0x7fffffff, block: b[frameBlock:min(len(b), frameBlock+int(order.Uint16(b[frameKept:])))]}
	return f, true
}

// followFrame takes in a frame of a connection, and yields the streams that end with it.
func (m *multiplexed) followFrame(c *multiplex, f *frame, yield func(*stream)) {
	requests := f.in == c.server
	of := &c.answers
	if requests {
		of = &c.asks
	}
	if f.number != of.told+1 && of.told > 0 || f.what == whatLost { // the ring was full, or frames could not be followed
		m.dropStreams(c)
		of.table.forgetFields()
	}
	if c.older && !requests && of.told == 0 { // what was answered before is not known
		m.dropStreams(c)
	}
	of.told = f.number
	if f.what != whatFrame {
		return
	}
	if f.kind == framePush { // its headers are not kept
		of.table.forgetFields()
		return
	}
	s := c.streams[f.stream]
	switch {
	case requests && f.kind == frameHeaders && s == nil:
		s = m.beginStream(c, f)
	case f.kind == frameHeaders:
		h := of.table.decodeBlock(f.headerBlock())
		if s != nil && !requests {
			s.readAnswerHeaders(&h, f)
		}
	}
	if s == nil {
		return
	}
	switch {
	case f.kind == frameReset:
		if s.first == 0 {
			s.last = f.at
		}
	case requests:
		s.countFrame(c.server, f)
		s.asked = s.asked || f.flags&flagEndStream != 0
		return
	default:
		if s.first == 0 && f.flags&flagEndStream == 0 {
			return // of an interim answer
		}
		if s.first == 0 { // it began unseen
			m.untold++
			m.endStream(c, f.stream)
			return
		}
		s.countFrame(!c.server, f)
		s.last, s.both = f.at, s.both || !s.asked
		if f.flags&flagEndStream == 0 {
			return
		}
	}
	m.endStream(c, f.stream)
	yield(s)
}

// beginStream begins a request with the frame of its headers; nil if it is none that can be
// followed.
func (m *multiplexed) beginStream(c *multiplex, f *frame) *stream {
	h := c.asks.table.decodeBlock(f.headerBlock())
	if f.stream%2 == 0 || f.stream <= c.last || m.streams >= mostStreams { // those of servers are even
		return nil
	}
	c.last = f.stream
	s := &stream{begun: f.at, thread: f.thread, method: h.of[methodHeader], path: h.of[pathHeader], grpc: h.isGRPC()}
	if c.server {
		s.came = f.came
	}
	if s.path == "" && h.unnamed != 0 {
		s.unnamed = c.routeNumber(h.unnamed)
	}
	c.streams[f.stream] = s
	m.streams++
	return s
}

// mostUnnamed routes of a connection have numbers.
const mostUnnamed = 64

// routeNumber returns the number of a route that was named before the recording; 0 if there are
// too many.
func (c *multiplex) routeNumber(of uint64) int {
	n, known := c.unnamed[of]
	if !known && len(c.unnamed) < mostUnnamed {
		if c.unnamed == nil {
			c.unnamed = make(map[uint64]int)
		}
		n = len(c.unnamed) + 1
		c.unnamed[of] = n
	}
	return n
}

// readAnswerHeaders takes in the headers of an answer: the first, or those that end it.
func (s *stream) readAnswerHeaders(h *headers, f *frame) {
	if len(h.of[statusHeader]) == 3 && h.of[statusHeader][0] == '1' {
		return
	}
	if s.first == 0 {
		s.first, s.other = f.at, f.thread
		s.status = h.of[statusHeader]
		if s.came == 0 {
			s.came = f.came
		}
	}
	if h.of[grpcHeader] != "" {
		s.grpcCode = h.of[grpcHeader]
	}
	s.grpc = s.grpc || h.isGRPC() || h.of[grpcHeader] != ""
}

// countFrame adds a frame to the bytes and frames that came in or went out.
func (s *stream) countFrame(in bool, f *frame) {
	if in {
		s.in += int64(f.length)
		s.reads++
		return
	}
	s.out += int64(f.length)
	s.sends++
}

// headerBlock returns the block of headers of a frame, without its padding, and whether it is all
// of it.
func (f *frame) headerBlock() (block []byte, whole bool) {
	block = f.block
	whole = len(block) == f.length && f.flags&flagEndHeaders != 0
	pad := 0
	if f.flags&flagPadded != 0 && len(block) > 0 {
		pad, block = int(block[0]), block[1:]
	}
	if f.flags&flagPriority != 0 {
		block = block[min(5, len(block)):]
	}
	if over := f.length - len(f.block); over > 0 {
		pad = max(0, pad-over)
	}
	return block[:max(0, len(block)-pad)], whole
}

func (m *multiplexed) endStream(c *multiplex, number uint32) {
	if _, is := c.streams[number]; is {
		delete(c.streams, number)
		m.streams--
	}
}

// dropStreams gives up the requests under way on a connection of which frames are missing.
func (m *multiplexed) dropStreams(c *multiplex) {
	for _, s := range c.streams {
		if s.isRequest() {
			m.untold++
		}
	}
	m.streams -= len(c.streams)
	clear(c.streams)
}

// closeConnection yields the requests under way on a connection that is closed, and forgets it.
func (m *multiplexed) closeConnection(key uint64, at int64, yield func(*multiplex, *stream)) {
	c := m.connections[key]
	if c == nil {
		return
	}
	for _, s := range c.streams {
		if at > 0 && s.first == 0 {
			s.last = at
		}
		yield(c, s)
	}
	m.streams -= len(c.streams)
	delete(m.connections, key)
}

// addConnection adds a connection. If there are too many it forgets those without requests under
// way.
func (m *multiplexed) addConnection(key uint64, c *multiplex) {
	if len(m.connections) >= mostFramed {
		maps.DeleteFunc(m.connections, func(_ uint64, c *multiplex) bool { return len(c.streams) == 0 })
	}
	if m.connections == nil {
		m.connections = make(map[uint64]*multiplex)
	}
	port, older := m.older[key]
	c.older = older && port == c.port
	m.connections[key] = c
	m.spoke++
}

// isRequest says whether a stream is a request that waits for an answer. A stream that both ends
// write to in turns becomes one when the answer begins.
func (s *stream) isRequest() bool { return s.asked || s.first > 0 }

// appendStream writes a request as a line of internal/format/exchanges. Where both ends write in turns it is answered when the answer begins.
func appendStream(out []byte, c *multiplex, s *stream, offset int64) []byte {
	number := func(n int64) {
		out = append(out, ' ')
		out = strconv.AppendInt(out, n, 10)
	}
	if c.server {
		came := s.came
		if came == 0 || came > s.begun {
			came = s.begun
		}
		out = append(out, 'q')
		number(came + offset)
		number(s.begun - came)
	} else {
		out = append(out, 'k')
		number(s.begun + offset)
		if s.came > 0 && s.first > 0 {
			number(max(0, s.first-max(s.came, s.begun)))
		} else {
			number(0)
		}
	}
	switch {
	case s.first == 0:
		number(-1)
		number(max(0, s.last-s.begun))
	case s.both:
		number(max(0, s.first-s.begun))
		number(0)
	default:
		number(max(0, s.first-s.begun))
		number(max(0, s.last-s.first))
	}
	for _, n := range []int64{s.in, s.out, s.reads, s.sends, int64(s.thread), int64(s.other)} {
		number(n)
	}
	out = append(append(append(out, ' '), c.own...), ' ')
	out = append(append(out, c.peer...), ' ')
	if s.grpc {
		code, err := strconv.ParseUint(s.grpcCode, 10, 8)
		if out = append(out, "grpc "...); err != nil {
			out = append(out, '-')
		} else {
			out = strconv.AppendUint(out, code, 10)
		}
	} else {
		status, err := strconv.ParseUint(s.status, 10, 16)
		if err != nil || status > 999 {
			status = 0
		}
		out = strconv.AppendUint(append(out, "http2 "...), status, 10)
	}
	switch {
	case !isMethod(s.method):
	case s.path != "":
		out = append(append(out, ' '), s.method...)
		out = format.AppendRoute(append(out, ' '), []byte(s.path))
	case s.unnamed > 0:
		out = append(append(out, ' '), s.method...)
		out = strconv.AppendInt(append(out, " ~"...), int64(s.unnamed), 10)
	}
	return append(out, '\n')
}

func isMethod(text string) bool {
	for _, m := range methods {
		if m[:len(m)-1] == text {
			return true
		}
	}
	return false
}

// suspect is a connection that was open before and may have frames of HTTP/2.
type suspect struct {
	frames, others int
	port           uint16
}

// suspectLeast exchanges have to begin with a frame, and mostOthers may begin within one, as what is read does.
const suspectLeast = 3

// isFramed counts an exchange, and says whether its connection has frames without a doubt.
func (m *multiplexed) isFramed(key uint64, port uint16, head []byte) bool {
	x := m.suspects[key]
	is := frameBegins(head)
	if x == nil || x.port != port {
		if !is {
			return false
		}
		if len(m.suspects) >= mostSuspects || m.suspects == nil {
			m.suspects = make(map[uint64]*suspect)
		}
		x = &suspect{port: port}
		m.suspects[key] = x
	}
	if is {
		x.frames++
	} else {
		x.others++
	}
	if x.frames < suspectLeast || x.others > x.frames {
		return false
	}
	delete(m.suspects, key)
	if len(m.older) >= mostSuspects || m.older == nil {
		m.older = make(map[uint64]uint16)
	}
	m.older[key] = port
	return true
}

// frameBegins says whether bytes are the head of a frame, by all that its type says of it.
func frameBegins(head []byte) bool {
	if len(head) < frameHeaderSize || head[5]&0x80 != 0 {
		return false
	}
	length, flags, stream := int(head[0])<<16|int(head[1])<<8|int(head[2]), head[4], binary.BigEndian.Uint32(head[5:])
	if length > usualFrame {
		return false
	}
	switch head[3] {
	case frameData:
		return stream > 0 && flags&^(flagEndStream|flagPadded) == 0 && (length > 0 || flags == flagEndStream)
	case frameHeaders:
		return stream > 0 && length > 0 && flags&^flagsOfMessages == 0 && flags&flagEndHeaders != 0
	case framePriority:
		return stream > 0 && length == 5 && flags == 0
	case frameReset:
		return stream > 0 && length == 4 && flags == 0
	case frameSettings:
		return stream == 0 && length%6 == 0 && flags&^1 == 0
	case framePing:
		return stream == 0 && length == 8 && flags&^1 == 0
	case frameGoAway:
		return stream == 0 && length >= 8 && flags == 0
	case frameWindow:
		return length == 4 && flags == 0
	}
	return false
}
