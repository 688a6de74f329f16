package exchanges

import (
	"encoding/binary"
	"strings"
	"testing"
)

// wire makes frames as the programs tell them.
type wire struct {
	m     multiplexed
	c     *multiplex
	told  [3]uint32
	lines []string
}

func newWire(server bool) *wire {
	c := &multiplex{server: server, own: "8080/1", peer: "-", streams: make(map[uint32]*stream)}
	if !server {
		c.own, c.peer = "40000", "10.0.0.7:9090"
	}
	return &wire{c: c}
}

// send tells a frame; at is in ms.
func (w *wire) send(direction uint16, at int64, kind, flags byte, number uint32, block []byte, length int) {
	b := make([]byte, frameBlock+len(block))
	order := binary.NativeEndian
	w.told[direction]++
	order.PutUint16(b[frameDirection:], direction)
	order.PutUint64(b[frameAt:], uint64(at*1e6))
	order.PutUint64(b[frameCame:], uint64(at*1e6-1000))
	order.PutUint32(b[frameThread:], 9)
	order.PutUint32(b[frameNumber:], w.told[direction])
	binary.BigEndian.PutUint32(b[frameHeader:], uint32(length)<<8|uint32(kind))
	b[frameHeader+4] = flags
	binary.BigEndian.PutUint32(b[frameHeader+5:], number)
	order.PutUint16(b[frameKept:], uint16(len(block)))
	copy(b[frameBlock:], block)
	f, ok := frameOf(b)
	if !ok {
		panic("no frame")
	}
	w.follow(&f)
}

func (w *wire) follow(f *frame) {
	w.m.followFrame(w.c, f, func(s *stream) { w.write(s) })
}

func (w *wire) write(s *stream) {
	if s.isRequest() {
		w.lines = append(w.lines, strings.TrimSpace(string(appendStream(nil, w.c, s, 0))))
	}
}

func (w *wire) headers(direction uint16, at int64, flags byte, number uint32, block []byte) {
	w.send(direction, at, frameHeaders, flags|flagEndHeaders, number, block, len(block))
}

func (w *wire) want(t *testing.T, lines ...string) {
	t.Helper()
	if got := strings.Join(w.lines, "\n"); got != strings.Join(lines, "\n") {
		t.Errorf("told:\n%s\nwant:\n%s", got, strings.Join(lines, "\n"))
	}
}

// Two requests are under way on one connection; the later one is answered first.
func TestFollow(t *testing.T) {
	w, q, a := newWire(true), newEncoder(), newEncoder()
	w.headers(directionIn, 10, 0, 1, q.block(ask("/shop.Prices/Quote")...))
	w.headers(directionIn, 11, flagEndStream, 3, q.block(":method", "GET", ":path", "/orders/4711?who=secret"))
	w.send(directionIn, 12, frameData, flagEndStream, 1, nil, 7)
	w.headers(directionOut, 20, flagEndStream, 3, a.block(":status", "404"))
	w.headers(directionOut, 60, 0, 1, a.block(":status", "200", "content-type", "application/grpc"))
	w.send(directionOut, 61, frameData, 0, 1, nil, 100)
	w.headers(directionOut, 62, flagEndStream, 1, a.block("grpc-status", "14"))
	w.want(t,
		"q 10999000 1000 9000000 0 20 1 1 1 9 9 8080/1 - http2 404 GET /orders/{id}",
		"q 9999000 1000 50000000 2000000 62 127 2 3 9 9 8080/1 - grpc 14 POST /shop.Prices/Quote")
	if w.m.streams != 0 || len(w.c.streams) != 0 {
		t.Errorf("%d requests are under way", w.m.streams)
	}
}

// A call is one of ours; where both ends write in turns it is answered when its answer begins, and one that is not asked to its end asks for nothing.
func TestFollowCalls(t *testing.T) {
	w, q, a := newWire(false), newEncoder(), newEncoder()
	w.headers(directionOut, 10, 0, 1, q.block(ask("/chat.Chat/Talk")...))
	w.headers(directionOut, 10, 0, 3, q.block(ask("/chat.Chat/Listen")...))
	w.headers(directionIn, 20, 0, 1, a.block(":status", "200", "content-type", "application/grpc"))
	w.send(directionOut, 30, frameData, flagEndStream, 1, nil, 7)
	w.headers(directionIn, 9000, flagEndStream, 1, a.block("grpc-status", "0"))
	w.m.connections = map[uint64]*multiplex{7: w.c}
	w.m.closeConnection(7, 9500e6, func(_ *multiplex, s *stream) { w.write(s) })
	w.want(t, "k 10000000 1000 10000000 0 26 60 2 2 9 9 40000 10.0.0.7:9090 grpc 0 POST /chat.Chat/Talk")
}

// A request that is given up, by whichever end, has no answer.
func TestFollowReset(t *testing.T) {
	w, q := newWire(true), newEncoder()
	w.headers(directionIn, 10, flagEndStream, 1, q.block(":method", "GET", ":path", "/a"))
	w.send(directionIn, 40, frameReset, 0, 1, nil, 4)
	w.headers(directionIn, 50, flagEndStream, 3, q.block(":method", "GET", ":path", "/b"))
	w.m.connections = map[uint64]*multiplex{7: w.c}
	w.m.closeConnection(7, 90e6, func(_ *multiplex, s *stream) { w.write(s) })
	w.want(t,
		"q 9999000 1000 -1 30000000 5 0 1 0 9 0 8080/1 - http2 0 GET /a",
		"q 49999000 1000 -1 40000000 5 0 1 0 9 0 8080/1 - http2 0 GET /b")
}

// Where frames are missing, requests are not made up: those under way are counted, and what ends later is of none.
func TestFollowGap(t *testing.T) {
	w, q, a := newWire(true), newEncoder(), newEncoder()
	w.headers(directionIn, 10, flagEndStream, 1, q.block(":method", "GET", ":path", "/a"))
	w.told[directionOut] = 4
	w.c.answers.told = 2
	w.headers(directionOut, 30, flagEndStream, 1, a.block(":status", "200"))
	w.headers(directionIn, 40, flagEndStream, 3, q.block(":method", "GET", ":path", "/a")) // by its number
	w.headers(directionOut, 50, flagEndStream, 3, a.block(":status", "200"))
	w.want(t, "q 39999000 1000 10000000 0 2 1 1 1 9 9 8080/1 - http2 200 GET /a")
	if w.m.untold != 1 {
		t.Errorf("%d requests could not be told apart", w.m.untold)
	}
	w.headers(directionIn, 60, flagEndStream, 5, q.block(":method", "GET", ":path", "/a"))
	w.follow(&frame{what: whatLost, in: true, number: w.told[directionIn] + 1})
	if w.m.untold != 2 || w.m.streams != 0 {
		t.Errorf("%d requests could not be told apart, %d are under way", w.m.untold, w.m.streams)
	}
}

// On a connection that was open before, what was under way when the first answer is seen may have been answered before; headers that are
// pushed and an answer whose beginning was not seen tell of no request.
func TestFollowOlder(t *testing.T) {
	w, q, a := newWire(true), newEncoder(), newEncoder()
	w.c.older = true
	w.headers(directionIn, 10, flagEndStream, 1, q.block(":method", "GET", ":path", "/a"))
	w.headers(directionIn, 11, flagEndStream, 3, q.block(":method", "GET", ":path", "/b"))
	w.headers(directionOut, 30, flagEndStream, 3, a.block(":status", "200"))
	w.headers(directionIn, 40, flagEndStream, 5, q.block(":method", "GET", ":path", "/b"))
	w.headers(directionIn, 40, flagEndStream, 7, q.block(":method", "GET", ":path", "/c"))
	a.block(":status", "201") // of what is pushed
	w.send(directionOut, 45, framePush, flagEndHeaders, 5, nil, 20)
	w.headers(directionOut, 50, flagEndStream, 5, a.block(":status", "201"))
	w.send(directionOut, 51, frameData, flagEndStream, 7, nil, 20)
	w.want(t, "q 39999000 1000 10000000 0 2 1 1 1 9 9 8080/1 - http2 0 GET /b")
	if w.m.untold != 3 || w.m.streams != 0 {
		t.Errorf("%d requests could not be told apart, %d are under way", w.m.untold, w.m.streams)
	}
}

// A connection that was open before is known by how its exchanges begin.
func TestIsFramed(t *testing.T) {
	head := func(length int, kind, flags byte, stream uint32) []byte {
		return binary.BigEndian.AppendUint32([]byte{byte(length >> 16), byte(length >> 8), byte(length), kind, flags}, stream)
	}
	var m multiplexed
	for i, want := range []bool{false, false, true} {
		if got := m.isFramed(7, 80, head(40, frameHeaders, flagEndHeaders, uint32(2*i+1))); got != want {
			t.Errorf("exchange %d: %v", i, got)
		}
	}
	for range 3 {
		m.isFramed(8, 80, head(8, framePing, 0, 0))
		for range 2 {
			if m.isFramed(8, 80, []byte("GET / HTTP/1.1")) {
				t.Error("HTTP/1.1 has frames")
			}
		}
	}
	for name, b := range map[string][]byte{
		"too long": head(1<<15, frameData, 0, 1), "a flag that is none": head(10, frameData, 0x10, 1), "data of no stream": head(10, frameData, 0, 0),
		"a window of another size": head(5, frameWindow, 0, 0), "Kafka": {0, 0, 1, 4, 0, 3, 0, 9, 0, 0, 0, 7}, "short": {0, 0, 4, 8},
	} {
		if frameBegins(b) {
			t.Errorf("%s is a frame", name)
		}
	}
}

// FuzzFollow holds that whatever is told, lines have the words of a line, and no more requests are remembered than are under way.
func FuzzFollow(f *testing.F) {
	e := newEncoder()
	f.Add(e.block(ask("/a")...), []byte{1, 4, 1, 0, 0, 1, 1, 5, 1, 1})
	f.Add([]byte{0x82, 0x84}, []byte{1, 5, 1, 1, 0, 0, 0, 9, 3, 0, 1, 3})
	f.Fuzz(func(t *testing.T, block, script []byte) {
		w := newWire(len(block)%2 == 0)
		for i := 0; i+3 < len(script); i += 4 {
			w.send(directionIn+uint16(script[i]&1), int64(i), script[i+1]&0xf, script[i+2], uint32(script[i+3]), block[:min(len(block), mostBlock)], len(block)+int(script[i]>>4))
		}
		if w.m.streams != len(w.c.streams) {
			t.Errorf("%d requests are counted, %d under way", w.m.streams, len(w.c.streams))
		}
		for _, l := range w.lines {
			if n := len(strings.Fields(l)); strings.ContainsAny(l, "\n\r\x00") || n < 15 || n > 18 {
				t.Errorf("%q", l)
			}
		}
	})
}
