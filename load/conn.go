package load

import (
	"errors"
	"net"
	"net/http"
	"os"
	"time"
)

// pending is a request that is to be sent.
type pending struct {
	n        uint64
	intended int64
	lag      int64
	tries    int // on kept connections that turned out to be closed
}

// conn is one connection. Whoever gives it a request writes it; what comes back
// is read by the connection's own goroutine, idle or not, so that a connection
// the server closes is noticed before a request is lost to it.
type conn struct {
	net.Conn
	e   *engine
	in  *responses
	out []byte

	// Guarded by engine.mu.
	at      int // position in engine.conns
	busy    bool
	current pending
	sent    int64
	served  int64
	late    bool  // given up: its time is over
	failure error // of writing
}

// bigMessage may fill the socket's buffer, and writing it would hold up the
// schedule: it is written by a goroutine of its own.
const bigMessage = 32 << 10

// assign gives the connection a request; engine.mu is held. The caller sends it
// after unlocking. The clock is read here: waiting for the lock takes time, too.
func (c *conn) assign(p pending) {
	c.busy, c.current, c.sent, c.late, c.failure = true, p, c.e.now(), false, nil
}

// send writes the request that was assigned.
func (c *conn) send(n uint64) {
	i := int(n % uint64(len(c.e.messages)))
	b := c.e.fixed[i]
	if b == nil {
		c.out = c.e.messages[i].appendTo(c.out[:0], n)
		b = c.out
	}
	if len(b) > bigMessage {
		go c.write(b)
		return
	}
	c.write(b)
}

// write leaves an error to the reader, which ends the request.
func (c *conn) write(b []byte) {
	if _, err := c.Write(b); err != nil {
		c.e.mu.Lock()
		c.failure = err
		c.e.mu.Unlock()
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		// The server may have answered and closed without reading all of it (413):
		// what there is to read is read, but not waited for long.
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	}
}

// serve reads answers until the connection ends.
func (c *conn) serve() {
	defer c.e.readers.Done()
	head := c.e.plan.Method == http.MethodHead
	for {
		a, err := c.in.next(head)
		p, more, alive := c.e.answered(c, a, err)
		if !alive {
			c.Close()
			return
		}
		if more {
			c.send(p.n)
		}
	}
}
