package redis

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/probe/reach"
)

// client is a connection to a server. It connects at the first request, and again after a connection broke. It speaks RESP 2
// (https://redis.io/docs/latest/develop/reference/protocol-spec/), the default of every version, which suffices for requests, answers, and
// several requests at once. A text is a string, a number an int64, a list a []any, nothing is nil.
type client struct {
	place *place
	mu    sync.Mutex // an answer belongs to the oldest request
	conn  net.Conn
	in    *bufio.Reader
}

// refusedBy is an error answer of the server: "NOPERM this user has no permissions to …".
type refusedBy string

func (r refusedBy) Error() string { return string(r) }

// isAnswer says whether an error is the server's own answer.
func isAnswer(err error) bool {
	var of refusedBy
	return errors.As(err, &of)
}

// Do sends a request and waits for the answer.
func (c *client) Do(ctx context.Context, words ...any) (any, error) {
	all, err := c.askSeveral(ctx, [][]any{words})
	if err != nil {
		return nil, err
	}
	if err, ok := all[0].(error); ok {
		return nil, err
	}
	return all[0], nil
}

// askText sends a request whose answer is a text.
func (c *client) askText(ctx context.Context, words ...any) (string, error) {
	v, err := c.Do(ctx, words...)
	if err != nil {
		return "", err
	}
	s, ok := v.(string)
	if !ok {
		return "", errOther
	}
	return s, nil
}

// askSeveral sends requests at once and returns their answers, which may be errors.
func (c *client) askSeveral(ctx context.Context, requests [][]any) (all []any, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		if err := c.connect(ctx); err != nil {
			return nil, err
		}
	}
	return c.exchange(ctx, requests)
}

// exchange sends requests over the connection and returns their answers. It closes a connection
// that breaks.
func (c *client) exchange(ctx context.Context, requests [][]any) (all []any, err error) {
	conn := c.conn
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() || err != nil {
			_ = conn.Close()
			c.conn = nil
		}
	}()
	var b bytes.Buffer
	for _, words := range requests {
		writeRequest(&b, words)
	}
	if _, err := conn.Write(b.Bytes()); err != nil {
		return nil, err
	}
	for range requests {
		v, err := readAnswer(c.in, deepest)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// connect makes a connection, authenticates, and names the connection if the server allows it. Without that name the server counts the
// connection among those of other clients.
func (c *client) connect(ctx context.Context) (err error) {
	dialling, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p := c.place
	switch {
	case p.unix:
		c.conn, err = new(net.Dialer).DialContext(dialling, "unix", p.address)
	case p.pid != 0:
		c.conn, err = reach.DialIn(p.pid)(dialling, "tcp", p.address)
	default:
		c.conn, err = new(net.Dialer).DialContext(dialling, "tcp", p.address)
	}
	if err != nil {
		c.conn = nil
		return err
	}
	if p.secure != nil && !p.unix {
		secure := tls.Client(c.conn, p.secure)
		if err := secure.HandshakeContext(dialling); err != nil {
			_ = c.conn.Close()
			c.conn = nil
			return err
		}
		c.conn = secure
	}
	c.in = bufio.NewReaderSize(c.conn, 1<<16)
	hello := [][]any{{"CLIENT", "SETNAME", own}}
	switch {
	case p.user != "" && p.secret != "":
		hello = append([][]any{{"AUTH", p.user, p.secret}}, hello...)
	case p.secret != "":
		hello = append([][]any{{"AUTH", p.secret}}, hello...)
	}
	all, err := c.exchange(ctx, hello)
	if err != nil {
		return err
	}
	if no, ok := all[0].(error); ok && len(hello) > 1 {
		_ = c.conn.Close()
		c.conn = nil
		return no
	}
	return nil
}

// Close ends the connection.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}

// writeRequest writes a request as a list of words.
func writeRequest(b *bytes.Buffer, words []any) {
	fmt.Fprintf(b, "*%d\r\n", len(words))
	for _, w := range words {
		s := fmt.Sprint(w)
		fmt.Fprintf(b, "$%d\r\n%s\r\n", len(s), s)
	}
}

const (
	deepest  = 16       // lists in lists
	mostText = 64 << 20 // bytes of a text: the longest is a list of many clients
	mostList = 1 << 20  // elements
)

// readAnswer reads an answer. An error answer is a value.
func readAnswer(in *bufio.Reader, depth int) (any, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			err = errOther
		}
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, errOther
	}
	kind, rest := line[0], string(line[1:len(line)-2])
	switch kind {
	case '+':
		return rest, nil
	case '-':
		return refusedBy(rest), nil
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return nil, errOther
	case kind == ':':
		return n, nil
	case kind == '$' && n == -1, kind == '*' && n == -1:
		return nil, nil
	case kind == '$' && n >= 0 && n <= mostText:
		return readText(in, n)
	case kind == '*' && n >= 0 && n <= mostList && depth > 0:
		list := make([]any, 0, min(n, 64))
		for range n {
			v, err := readAnswer(in, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	return nil, errOther
}

// readText reads n bytes and the end of the line. It allocates no memory for announced bytes before they come.
func readText(in *bufio.Reader, n int64) (any, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, in, n+2); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	text, ok := bytes.CutSuffix(b.Bytes(), []byte("\r\n"))
	if !ok {
		return nil, errOther
	}
	return string(text), nil
}
