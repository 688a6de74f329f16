package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
)

// Types of frames and their flags, settings, and codes of errors (RFC 9113, 6 and 7).
const (
	frameData = iota
	frameHeaders
	framePriority
	frameReset
	frameSettings
	framePush
	framePing
	frameGoAway
	frameWindow
	frameContinuation

	flagEnd     = 0x1 // of a stream; of SETTINGS and PING: ACK
	flagHeaders = 0x4 // the block ends with this frame
	flagPadded  = 0x8
	flagPrior   = 0x20

	settingTable   = 1
	settingPush    = 2
	settingStreams = 3
	settingWindow  = 4
	settingFrame   = 5

	codeRefused = 7
	codeCancel  = 8

	// lastStream is the last one a session opens, but for those that are being sent:
	// ids are used once (RFC 9113, 5.1.1).
	lastStream = 1<<31 - 1 - 1<<20

	frameHead = 9
	maxFrame  = 16 << 10 // of those we take; all take as much
)

// What a server may send before we say that we have read it: as net/http's client allows.
const (
	streamWindow  = 4 << 20
	sessionWindow = 1 << 30
)

var preface = []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

var (
	// errRefused is wrapped by errors for requests that the server says it never took up.
	errRefused = errors.New("the server refused the stream")
	// errOlder is the error of a server that answers in HTTP/1.1.
	errOlder = fmt.Errorf("%w/2: the server speaks HTTP/1.1 there", errNotHTTP)
)

// session is a connection of HTTP/2 (RFC 9113). A goroutine that begins a request on it
// appends frames to out, and writes out unless another goroutine is writing it;
// the session's own goroutine reads, and writes what it appended before it waits.
type session struct {
	net.Conn
	e   *engine
	all base

	// Of the goroutine that reads.
	in       *responses
	header   *hpack.Decoder
	status   int // of the block being decoded
	received int // of the connection's window, not given back

	mu      sync.Mutex
	out     []byte // frames to be written
	spare   []byte
	writing bool
	streams map[uint32]*stream
	last    uint32 // the stream opened last
	started bool   // the table has what requests share
	heads   []streamedHead
	window  int64 // what the server takes on the connection, and on a new stream
	initial int64
	largest int // frame the server takes
	blocked []*stream
	failed  error // to write: nothing can be written any more
	leaving bool  // the server takes no more streams
}

// stream is a request under way.
type stream struct {
	id       uint32
	at       *place
	status   int
	bytes    int64
	received int // of its window, not given back
	body     []byte
	window   int64 // guarded by session.mu
}

// newSession greets the server and waits for its settings.
func newSession(ctx context.Context, e *engine, raw net.Conn) (*session, error) {
	if c, ok := raw.(*tls.Conn); ok && c.ConnectionState().NegotiatedProtocol != "h2" {
		return nil, errOlder
	}
	s := &session{Conn: raw, e: e, in: newResponses(raw), streams: map[uint32]*stream{}, heads: e.streams,
		window: 65535, initial: 65535, largest: maxFrame}
	s.header = hpack.NewDecoder(4096, s.takeStatus)
	s.header.SetMaxStringLength(maxHead)
	defer context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })()
	_ = raw.SetDeadline(time.Now().Add(min(e.plan.Timeout, 10*time.Second)))
	b := append([]byte(nil), preface...)
	b = appendFrame(b, frameSettings, 0, 0, 12)
	b = appendSetting(b, settingPush, 0)
	b = appendSetting(b, settingWindow, streamWindow)
	b = appendWindow(b, 0, sessionWindow)
	if _, err := raw.Write(b); err != nil {
		return nil, err
	}
	most, err := s.readGreeting()
	if err != nil {
		return nil, err
	}
	if err := s.writeFrames(s.out); err != nil {
		return nil, err
	}
	s.out = nil
	_ = raw.SetDeadline(time.Time{})
	for range min(most, uint32(e.plan.Streams)) {
		s.all.places = append(s.all.places, &place{line: s})
	}
	return s, nil
}

// readGreeting reads the settings a server begins with, and returns how many streams it allows.
func (s *session) readGreeting() (most uint32, err error) {
	for s.in.to-s.in.from < frameHead {
		if err := s.in.fillBuffer(); err != nil {
			if err == io.EOF && s.in.to > s.in.from {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if in := s.in.buf[s.in.from:s.in.to]; len(in) >= 7 && bytes.HasPrefix(in, []byte("HTTP/1.")) {
			return 0, errOlder
		}
	}
	if in := s.in.buf[s.in.from:s.in.to]; in[3] != frameSettings || in[4] != 0 || binary.BigEndian.Uint32(in[5:]) != 0 || int(in[0])<<16|int(in[1])<<8|int(in[2]) > maxFrame {
		return 0, fmt.Errorf("%w/2: it begins with %s", errNotHTTP, quoteStart(in))
	}
	f, err := s.readFrame()
	if err != nil {
		return 0, err
	}
	most = 1 << 31
	table := uint32(4096)
	for b := f.payload; len(b) >= 6; b = b[6:] {
		switch v := binary.BigEndian.Uint32(b[2:]); binary.BigEndian.Uint16(b) {
		case settingStreams:
			most = v
		case settingTable:
			table = v
		}
	}
	if most == 0 {
		return 0, errors.New("the server allows no stream on the connection")
	}
	if table < 4096 {
		if s.heads, err = streamedHeads(&s.e.plan, s.e.url, s.e.messages, true); err != nil {
			return 0, err
		}
	}
	return most, s.applySettings(f)
}

func (s *session) lineBase() *base { return &s.all }
func (s *session) hangUp()         { _ = s.Close() }

func (s *session) hasBegun(at *place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := at.stream
	return st != nil && st.status != 0
}

// giveUp resets a request's stream: its place can have another one.
func (s *session) giveUp(at *place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := at.stream
	if st == nil || s.failed != nil {
		return false // it is just being sent, or just answered, or the session ends
	}
	s.dropStream(st)
	s.out = appendFrame(s.out, frameReset, 0, st.id, 4)
	s.out = binary.BigEndian.AppendUint32(s.out, codeCancel)
	go s.flushOutput()
	return true
}

// dropStream forgets a stream; mu is held.
func (s *session) dropStream(st *stream) {
	delete(s.streams, st.id)
	st.at.stream = nil
	st.body = nil
}

func (s *session) sendRequest(at *place, n uint64) {
	s.addRequest(at, n)
	s.flushOutput()
}

// addRequest adds request n to what is to be written.
func (s *session) addRequest(at *place, n uint64) {
	i := int(n % uint64(len(s.e.messages)))
	m := &s.e.messages[i]
	s.mu.Lock()
	if s.leaving { // it was given the request just before
		s.mu.Unlock()
		s.startNext(&stream{at: at}, answer{}, errRefused)
		return
	}
	defer s.mu.Unlock()
	s.last += 2
	if s.last == 2 {
		s.last = 1
	}
	st := &stream{id: s.last, at: at, window: s.initial}
	s.streams[st.id], at.stream = st, st
	if s.last == lastStream {
		go s.e.retireLine(s)
	}
	flags := byte(flagHeaders)
	body := m.body.fixed
	if len(m.body.counters) > 0 {
		body = m.body.appendTo(nil, n)
	}
	if len(body) == 0 {
		flags |= flagEnd
	}
	begin := len(s.out)
	s.out = appendFrame(s.out, frameHeaders, flags, st.id, 0)
	s.out = s.heads[i].appendTo(s.out, n, !s.started)
	if m.length { // it differs by request
		s.out = append(s.out, 0x0f, 0x0d) // content-length, not for the table (RFC 7541, 6.2.2 and appendix A)
		s.out = hpackString(s.out, strconv.AppendInt(nil, int64(len(body)), 10))
	}
	s.started = true
	s.splitHeaders(begin, st.id)
	if st.body = body; len(body) > 0 {
		s.pumpBody(st)
	}
}

// splitHeaders writes the length of the header block that begins there, in as many frames as it
// takes.
func (s *session) splitHeaders(begin int, id uint32) {
	size := len(s.out) - begin - frameHead
	if size <= maxFrame {
		putLength(s.out[begin:], size)
		return
	}
	block := bytes.Clone(s.out[begin+frameHead:])
	s.out[begin+4] &^= flagHeaders
	putLength(s.out[begin:], maxFrame)
	s.out = s.out[:begin+frameHead+maxFrame]
	for block = block[maxFrame:]; len(block) > 0; {
		n := min(len(block), maxFrame)
		var flags byte
		if n == len(block) {
			flags = flagHeaders
		}
		s.out = append(appendFrame(s.out, frameContinuation, flags, id, n), block[:n]...)
		block = block[n:]
	}
}

// pumpBody adds as much of a body as the server takes; the rest waits until it takes more. mu is
// held.
func (s *session) pumpBody(st *stream) {
	for len(st.body) > 0 {
		n := int(min(int64(len(st.body)), int64(s.largest), s.window, st.window))
		if n <= 0 {
			s.blocked = append(s.blocked, st)
			return
		}
		var flags byte
		if n == len(st.body) {
			flags = flagEnd
		}
		s.out = append(appendFrame(s.out, frameData, flags, st.id, n), st.body[:n]...)
		st.body = st.body[n:]
		s.window -= int64(n)
		st.window -= int64(n)
	}
}

// flushOutput writes what there is to be written, unless another goroutine does already. Much of
// it may fill the socket's buffer: that is left to a goroutine of its own.
func (s *session) flushOutput() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing || s.failed != nil || len(s.out) == 0 {
		return
	}
	s.writing = true
	if len(s.out) > bigMessage {
		go func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.drainOutput()
		}()
		return
	}
	s.drainOutput()
}

// drainOutput writes until nothing is left; mu is held but while writing.
func (s *session) drainOutput() {
	for len(s.out) > 0 && s.failed == nil {
		b := s.out
		s.out = s.spare[:0]
		s.mu.Unlock()
		err := s.writeFrames(b)
		s.mu.Lock()
		s.spare = b[:0]
		s.failed = err
	}
	s.writing = false
}

func (s *session) writeFrames(b []byte) error {
	_, err := s.Write(b)
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		// The server may have said why it closed: what there is to read is read, but
		// not waited for long.
		_ = s.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	}
	return err
}

func appendFrame(b []byte, kind, flags byte, stream uint32, size int) []byte {
	b = append(b, byte(size>>16), byte(size>>8), byte(size), kind, flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

func putLength(b []byte, size int) { b[0], b[1], b[2] = byte(size>>16), byte(size>>8), byte(size) }

func appendSetting(b []byte, id uint16, v uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, id), v)
}

func appendWindow(b []byte, stream, n uint32) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, frameWindow, 0, stream, 4), n)
}

// codeName is the name of an error (RFC 9113, 7).
func codeName(code uint32) string {
	names := [...]string{"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
		"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"}
	if code < uint32(len(names)) {
		return names[code]
	}
	return "code " + strconv.Itoa(int(code))
}
