package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/net/http2/hpack"
)

// readAnswers reads until the connection ends, and ends its requests with the error.
func (s *session) readAnswers() {
	defer s.e.readers.Done()
	defer s.Close()
	err := s.readFrames()
	s.mu.Lock()
	if s.failed != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		err = s.failed
	}
	s.mu.Unlock()
	s.e.breakLine(s, err)
}

// readFrames reads frames until the connection ends.
func (s *session) readFrames() error {
	for {
		f, err := s.readFrame()
		if err != nil {
			return err
		}
		switch f.kind {
		case frameData:
			err = s.skipData(f)
		case frameHeaders:
			err = s.readHeaders(f)
		case frameReset:
			err = s.applyReset(f)
		case frameSettings:
			err = s.applySettings(f)
		case framePush, frameContinuation:
			err = fmt.Errorf("%w/2: an unexpected frame of type %d", errNotHTTP, f.kind)
		case framePing:
			if f.flags&flagEnd == 0 {
				s.mu.Lock()
				s.out = append(appendFrame(s.out, framePing, flagEnd, 0, len(f.payload)), f.payload...)
				s.mu.Unlock()
			}
		case frameGoAway:
			err = s.goAway(f)
		case frameWindow:
			err = s.widenWindow(f)
		}
		if err != nil {
			return err
		}
	}
}

type frame struct {
	kind, flags byte
	stream      uint32
	size        int
	payload     []byte // of all but DATA; valid until the next one is read
}

// readFrame reads a frame, of DATA only the head.
func (s *session) readFrame() (f frame, err error) {
	if err := s.readAtLeast(frameHead); err != nil {
		return f, err
	}
	b := s.in.buf[s.in.from:]
	f = frame{kind: b[3], flags: b[4], stream: binary.BigEndian.Uint32(b[5:]) &^ (1 << 31), size: int(b[0])<<16 | int(b[1])<<8 | int(b[2])}
	if f.size > maxFrame {
		return f, fmt.Errorf("%w/2: a frame of %d bytes, %d are allowed", errNotHTTP, f.size, maxFrame)
	}
	if f.kind == frameData {
		s.in.from += frameHead
		return f, nil
	}
	if err := s.readAtLeast(frameHead + f.size); err != nil {
		return f, err
	}
	f.payload = s.in.buf[s.in.from+frameHead : s.in.from+frameHead+f.size]
	s.in.from += frameHead + f.size
	return f, nil
}

// readAtLeast reads until there are n bytes. Before it waits for them it writes.
func (s *session) readAtLeast(n int) error {
	for s.in.to-s.in.from < n {
		s.flushOutput()
		if err := s.in.fillBuffer(); err != nil {
			if err == io.EOF && s.in.to > s.in.from {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func (s *session) findStream(id uint32) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[id]
}

// skipData reads and drops a part of a body and lets the server send more.
func (s *session) skipData(f frame) error {
	for left := f.size; left > 0; {
		if err := s.readAtLeast(1); err != nil {
			return err
		}
		n := min(left, s.in.to-s.in.from)
		s.in.from += n
		left -= n
	}
	st := s.findStream(f.stream)
	if s.received += f.size; s.received > sessionWindow/2 {
		s.restoreWindow(0, &s.received)
	}
	if st == nil {
		return nil
	}
	st.bytes += int64(f.size + frameHead)
	if f.flags&flagEnd != 0 {
		s.endStream(st)
		return nil
	}
	if st.received += f.size; st.received > streamWindow/2 {
		s.restoreWindow(st.id, &st.received)
	}
	return nil
}

// restoreWindow lets the server send again as much as was read of a window.
func (s *session) restoreWindow(id uint32, received *int) {
	s.mu.Lock()
	s.out = appendWindow(s.out, id, uint32(*received))
	s.mu.Unlock()
	*received = 0
}

// readHeaders reads a block of headers. Those of streams given up are decoded, too: the table
// changes with each.
func (s *session) readHeaders(f frame) error {
	bad := fmt.Errorf("%w/2: headers that cannot be read", errNotHTTP)
	b, size := f.payload, f.size+frameHead
	pad := 0
	if f.flags&flagPadded != 0 && len(b) > 0 {
		pad, b = int(b[0]), b[1:]
	}
	if f.flags&flagPrior != 0 && len(b) >= 5 {
		b = b[5:]
	}
	if pad > len(b) {
		return bad
	}
	b = b[:len(b)-pad]
	s.status = 0
	s.header.SetEmitEnabled(true)
	for ended := f.flags&flagHeaders != 0; ; {
		if _, err := s.header.Write(b); err != nil {
			return bad
		}
		if ended {
			break
		}
		more, err := s.readFrame()
		if err != nil {
			return err
		}
		if size += more.size + frameHead; more.kind != frameContinuation || more.stream != f.stream || size > maxHead {
			return bad
		}
		b, ended = more.payload, more.flags&flagHeaders != 0
	}
	if s.header.Close() != nil {
		return bad
	}
	st := s.findStream(f.stream)
	if st == nil {
		return nil
	}
	st.bytes += int64(size)
	if st.status < 200 { // interim answers come before it, a trailer behind it
		if s.status == 0 {
			return bad
		}
		s.mu.Lock()
		st.status = s.status
		s.mu.Unlock()
	}
	if f.flags&flagEnd != 0 {
		s.endStream(st)
	}
	return nil
}

// takeStatus takes the status from a header block and switches decoding of the other fields off.
func (s *session) takeStatus(f hpack.HeaderField) {
	if f.Name == ":status" {
		if n, ok := parseDecimal([]byte(f.Value)); ok && n >= 100 && n <= 999 {
			s.status = int(n)
		}
		s.header.SetEmitEnabled(false)
	}
}

// endStream ends the request of a stream whose answer is complete.
func (s *session) endStream(st *stream) {
	s.mu.Lock()
	if s.streams[st.id] != st { // given up just now
		s.mu.Unlock()
		return
	}
	if len(st.body) > 0 { // it answered without reading all of the request
		s.out = binary.BigEndian.AppendUint32(appendFrame(s.out, frameReset, 0, st.id, 4), codeCancel)
	}
	s.dropStream(st)
	s.mu.Unlock()
	if st.status < 200 {
		s.startNext(st, answer{}, fmt.Errorf("%w/2: an answer without a status", errNotHTTP))
		return
	}
	s.startNext(st, answer{status: st.status, bytes: st.bytes}, nil)
}

// startNext ends a stream's request and begins another one.
func (s *session) startNext(st *stream, a answer, err error) {
	if p, more, _ := s.e.endRequest(st.at, a, err); more {
		s.addRequest(st.at, p.n)
	}
}

// applyReset ends a stream that the server reset.
func (s *session) applyReset(f frame) error {
	if len(f.payload) < 4 {
		return fmt.Errorf("%w/2: a short frame", errNotHTTP)
	}
	s.mu.Lock()
	st := s.streams[f.stream]
	if st != nil {
		s.dropStream(st)
	}
	s.mu.Unlock()
	if st == nil {
		return nil
	}
	err := fmt.Errorf("the server reset the stream: %s", codeName(binary.BigEndian.Uint32(f.payload)))
	if binary.BigEndian.Uint32(f.payload) == codeRefused {
		err = errRefused
	}
	s.startNext(st, answer{}, err)
	return nil
}

// applySettings takes over the settings of the server and acknowledges them.
func (s *session) applySettings(f frame) error {
	if f.flags&flagEnd != 0 {
		return nil
	}
	if len(f.payload)%6 != 0 {
		return fmt.Errorf("%w/2: a short frame", errNotHTTP)
	}
	retire := false
	s.mu.Lock()
	for b := f.payload; len(b) > 0; b = b[6:] {
		v := binary.BigEndian.Uint32(b[2:])
		switch binary.BigEndian.Uint16(b) {
		case settingWindow:
			for _, st := range s.streams {
				st.window += int64(v) - s.initial
			}
			s.initial = int64(v)
		case settingFrame:
			s.largest = int(min(max(v, maxFrame), 64<<10))
		case settingTable:
			retire = s.started && v < 4096 // the server drops table entries that sent headers refer to
		}
	}
	s.out = appendFrame(s.out, frameSettings, flagEnd, 0, 0)
	s.resumeBodies()
	s.mu.Unlock()
	if retire {
		s.e.retireLine(s)
	}
	return nil
}

// goAway ends the session. Requests that the server did not begin are sent on another one.
func (s *session) goAway(f frame) error {
	if len(f.payload) < 8 {
		return fmt.Errorf("%w/2: a short frame", errNotHTTP)
	}
	last := binary.BigEndian.Uint32(f.payload) &^ (1 << 31)
	s.e.retireLine(s)
	var refused []*stream
	s.mu.Lock()
	s.leaving = true
	for id, st := range s.streams {
		if id > last {
			refused = append(refused, st)
			s.dropStream(st)
		}
	}
	s.mu.Unlock()
	err := errRefused
	if code := binary.BigEndian.Uint32(f.payload[4:]); code != 0 {
		err = fmt.Errorf("%w and ended the connection: %s", errRefused, codeName(code))
	}
	for _, st := range refused {
		s.startNext(st, answer{}, err)
	}
	return nil
}

// widenWindow lets the session send more bytes of bodies.
func (s *session) widenWindow(f frame) error {
	if len(f.payload) < 4 {
		return fmt.Errorf("%w/2: a short frame", errNotHTTP)
	}
	n := int64(binary.BigEndian.Uint32(f.payload) &^ (1 << 31))
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.stream == 0 {
		s.window += n
	} else if st := s.streams[f.stream]; st != nil {
		st.window += n
	}
	s.resumeBodies()
	return nil
}

// resumeBodies adds what can be sent of the bodies that wait; mu is held.
func (s *session) resumeBodies() {
	waiting := s.blocked
	s.blocked = nil
	for _, st := range waiting {
		s.pumpBody(st)
	}
}
