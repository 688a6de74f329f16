// Package resp implements the part of the Redis protocol (RESP2) that the labs need: GET
// with a bulk answer. The client reads and writes on the calling goroutine, as
// many Redis and database clients do, unlike net/http, whose connections have
// goroutines of their own.
// https://redis.io/docs/latest/develop/reference/protocol-spec/
package resp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

var errProtocol = errors.New("resp: not an answer this client understands")

// Conn is a connection to a server. It is for one goroutine at a time.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// Dial connects to a server.
func Dial(addr string) (*Conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &Conn{conn: c, in: bufio.NewReader(c)}, nil
}

// Get sends GET key and waits for the value.
func (c *Conn) Get(key string) ([]byte, error) {
	c.out = fmt.Appendf(c.out[:0], "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", len(key), key)
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, err
	}
	return readBulk(c.in)
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Client keeps connections open between calls, as many as have been in use
// at once.
type Client struct {
	Addr string

	mu   sync.Mutex
	free []*Conn
}

// Get fetches a value over a free connection, or a new one.
func (c *Client) Get(key string) ([]byte, error) {
	conn := c.takeFree()
	if conn == nil {
		var err error
		if conn, err = Dial(c.Addr); err != nil {
			return nil, err
		}
	}
	value, err := conn.Get(key)
	if err != nil {
		conn.Close()
		return nil, err
	}
	c.mu.Lock()
	c.free = append(c.free, conn)
	c.mu.Unlock()
	return value, nil
}

func (c *Client) takeFree() *Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.free) == 0 {
		return nil
	}
	conn := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	return conn
}

// Serve answers every GET on the listener's connections with the result of value,
// and reports how long each took, from the command read to the answer sent.
func Serve(l net.Listener, value func(key string) []byte, answered func(time.Duration)) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			in := bufio.NewReader(conn)
			var out []byte
			for {
				key, err := readCommand(in)
				if err != nil {
					return
				}
				from := time.Now()
				v := value(key)
				out = append(fmt.Appendf(out[:0], "$%d\r\n", len(v)), v...)
				if _, err := conn.Write(append(out, "\r\n"...)); err != nil {
					return
				}
				answered(time.Since(from))
			}
		}()
	}
}

// readCommand reads an array of bulk strings and returns the last: the key.
func readCommand(in *bufio.Reader) (string, error) {
	n, err := readLength(in, '*')
	if err != nil {
		return "", err
	}
	var last []byte
	for i := 0; i < n; i++ {
		if last, err = readBulk(in); err != nil {
			return "", err
		}
	}
	return string(last), nil
}

func readBulk(in *bufio.Reader) ([]byte, error) {
	n, err := readLength(in, '$')
	if err != nil {
		return nil, err
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, err
	}
	return b[:n], nil
}

const maxLength = 1 << 20

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 4 || line[0] != kind {
		return 0, errProtocol
	}
	n, err := strconv.Atoi(string(line[1 : len(line)-2]))
	if err != nil || n < 0 || n > maxLength {
		return 0, errProtocol
	}
	return n, nil
}
