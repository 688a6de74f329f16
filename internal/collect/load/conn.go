package load

import (
	"errors"
	"net"
	"net/http"
	"os"
	"time"
)

// conn is a connection of HTTP/1.1. A goroutine that gives it a request writes the request. The connection's own goroutine reads all data,
// also when idle, so that it notices a closed connection before a request is lost to it.
type conn struct {
	net.Conn
	e   *engine
	in  *responses
	out []byte
	at  *place
	all base
}

func newConn(e *engine, raw net.Conn) *conn {
	c := &conn{Conn: raw, e: e, in: newResponses(raw)}
	c.at = &place{line: c}
	c.all.places = []*place{c.at}
	return c
}

func (c *conn) lineBase() *base { return &c.all }

// bigMessage is the size in bytes from which a message may fill the socket's buffer and its writing would delay the schedule. Such a message is
// written by a goroutine of its own.
const bigMessage = 32 << 10

func (c *conn) sendRequest(_ *place, n uint64) {
	i := int(n % uint64(len(c.e.messages)))
	b := c.e.fixed[i]
	if b == nil {
		c.out = c.e.messages[i].appendTo(c.out[:0], n)
		b = c.out
	}
	if len(b) > bigMessage {
		go c.writeRequest(b)
		return
	}
	c.writeRequest(b)
}

// writeRequest writes a request and leaves an error to the reader, which ends the request.
func (c *conn) writeRequest(b []byte) {
	if _, err := c.Write(b); err != nil {
		c.e.mu.Lock()
		c.at.failure = err
		c.e.mu.Unlock()
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		// The server may have answered and closed without reading the whole request (413). The data that is there is read, but not waited
		// for long.
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	}
}

func (c *conn) readAnswers() {
	defer c.e.readers.Done()
	defer c.Close()
	head := c.e.plan.Method == http.MethodHead
	for {
		a, err := c.in.next(head)
		if err != nil {
			c.e.breakLine(c, err)
			return
		}
		p, more, alive := c.e.endRequest(c.at, a, nil)
		if !alive {
			return
		}
		if more {
			c.sendRequest(c.at, p.n)
		}
	}
}

func (c *conn) giveUp(at *place) bool {
	at.late = true
	_ = c.SetReadDeadline(time.Unix(1, 0))
	return false
}

func (c *conn) hasBegun(*place) bool { return c.in.from != c.in.to }

func (c *conn) hangUp() { _ = c.Close() }
