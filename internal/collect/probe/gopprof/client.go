package gopprof

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
)

// Client reads single pages of the server at which a process serves net/http/pprof. It reads only pages that cost the process little
// and switch nothing on.
type Client struct{ e *endpoint }

// Dial finds the net/http/pprof of a target as a recording does. The error is one line: where, why, and what to do.
func Dial(ctx context.Context, t discover.Target) (*Client, error) {
	if t.URL != nil {
		e, err := locateEndpoint(ctx, t.URL)
		if err == nil {
			return &Client{e}, nil
		}
		if t.PID == 0 || t.Runtime != "go" {
			return nil, missingAccess(t, err).Missing
		}
	}
	e, lack := findAmongSockets(ctx, t)
	if e == nil {
		return nil, &lacking{t.PID, lack}
	}
	return &Client{e}, nil
}

// Where returns the address of the index page, without secrets.
func (c *Client) Where() string { return c.e.shown }

// Get requests a page below the index page, "" for the index page itself, or with a leading "/" at the same server. The caller closes
// it. The error names no address.
func (c *Client) Get(ctx context.Context, page, query string, within time.Duration) (io.ReadCloser, error) {
	e := c.e
	if strings.HasPrefix(page, "/") {
		base := *e.base
		base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), usual)
		other := *e
		other.base = &base
		e = &other
	}
	a, err := e.requestPath(ctx, page, query, within)
	if err != nil {
		return nil, err
	}
	return body{a}, nil
}

// Close closes the connections.
func (c *Client) Close() { c.e.client.CloseIdleConnections() }

// body is an answer's body. Closing it ends the request.
type body struct{ a *answer }

func (b body) Read(p []byte) (int, error) {
	n, err := b.a.Body.Read(p)
	if err != nil && err != io.EOF {
		err = explainError(err)
	}
	return n, err
}

func (b body) Close() error {
	b.a.Close()
	return nil
}

// lacking returns, in one line, why a process cannot be read.
type lacking struct {
	pid  int
	lack probe.Lack
}

func (l *lacking) Error() string {
	return fmt.Sprintf("pid %d: %s: %s", l.pid, l.lack.Why, l.lack.Do)
}
