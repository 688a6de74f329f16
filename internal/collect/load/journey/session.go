package journey

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// session is one user's browser: cookies, connections and what it has cached.
type session struct {
	r   *runner
	jar *cookiejar.Jar

	mu     sync.Mutex
	hosts  map[string]*host
	cache  map[string]*cached
	icons  map[string]bool // origins whose icon was asked for
	closed bool
}

func newSession(r *runner) *session {
	jar, _ := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // it never fails
	return &session{r: r, jar: jar, hosts: map[string]*host{}}
}

// host is the connections of a session to one scheme, name and port.
type host struct {
	scheme, address, name string
	idle                  []*conn // the one used last is taken first
	open                  int     // those of HTTP/1.1, being opened or in use, too
	waiting               []chan *conn
	two                   *http.ClientConn
}

// conn is a connection that one request has for itself, or the one all share (two).
type conn struct {
	net.Conn
	host   *host
	served int
	in     *counted
	two    *http.ClientConn
}

// counted counts what is read from a connection.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

var errClosed = errors.New("the run is over")

// hostOf finds or adds the host of a URL; mu is held.
func (s *session) hostOf(u *url.URL) *host {
	key := u.Scheme + "://" + u.Host
	h := s.hosts[key]
	if h == nil {
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		h = &host{scheme: u.Scheme, name: u.Hostname(), address: net.JoinHostPort(u.Hostname(), port)}
		s.hosts[key] = h
	}
	return h
}

// acquireConn gets a connection for one request: a free one, a new one, or, where a user has as
// many as a browser would open, the next that gets free. fresh wants one that has served nothing.
func (s *session) acquireConn(ctx context.Context, u *url.URL, of *settings, fresh bool) (*conn, error) {
	s.mu.Lock()
	h := s.hostOf(u)
	for {
		if s.closed {
			s.mu.Unlock()
			return nil, errClosed
		}
		if h.two != nil {
			if two := h.two; two.Err() == nil && !fresh {
				s.mu.Unlock()
				return &conn{host: h, two: two, served: 1}, nil
			}
			_ = h.two.Close()
			h.two = nil
			s.r.conns.Add(-1)
		}
		for len(h.idle) > 0 {
			c := h.idle[len(h.idle)-1]
			h.idle = h.idle[:len(h.idle)-1]
			if !fresh && isAlive(c.Conn) {
				s.mu.Unlock()
				return c, nil
			}
			s.dropConn(h, c)
		}
		limit := of.connections
		if h.scheme == "https" && of.protocol != "1.1" && !s.r.speaksOne(h.address) {
			limit = 1 // until it is known whether one is enough
		}
		if h.open < limit {
			h.open++
			s.mu.Unlock()
			return s.openConn(ctx, h, of)
		}
		free := make(chan *conn, 1)
		h.waiting = append(h.waiting, free)
		s.mu.Unlock()
		s.r.waiting.Add(1)
		var c *conn
		var err error
		select {
		case c = <-free:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		s.r.waiting.Add(-1)
		if err != nil {
			s.leaveQueue(h, free)
			return nil, err
		}
		if c != nil && !fresh {
			return c, nil
		}
		s.mu.Lock()
		if c != nil {
			s.dropConn(h, c)
		}
	}
}

// leaveQueue gives up a place in the queue; a connection that came meanwhile goes to the next.
func (s *session) leaveQueue(h *host, free chan *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range h.waiting {
		if w == free {
			h.waiting = append(h.waiting[:i], h.waiting[i+1:]...)
			return
		}
	}
	if c := <-free; c != nil {
		s.handOver(h, c)
	} else {
		s.wakeNext(h)
	}
}

// handOver gives a free connection to the request that waits longest; mu is held.
func (s *session) handOver(h *host, c *conn) {
	if len(h.waiting) > 0 {
		h.waiting[0] <- c
		h.waiting = h.waiting[1:]
		return
	}
	h.idle = append(h.idle, c)
}

// wakeNext lets the request that waits longest look again; mu is held.
func (s *session) wakeNext(h *host) {
	if len(h.waiting) > 0 {
		h.waiting[0] <- nil
		h.waiting = h.waiting[1:]
	}
}

// dropConn closes a connection; mu is held.
func (s *session) dropConn(h *host, c *conn) {
	_ = c.Conn.Close()
	h.open--
	s.r.conns.Add(-1)
}

// releaseConn gives a connection back.
func (s *session) releaseConn(c *conn, good bool) {
	if c.two != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if good && !s.closed {
		s.handOver(c.host, c)
		return
	}
	s.dropConn(c.host, c)
	s.wakeNext(c.host)
}

// openConn opens a connection; a place was taken for it.
func (s *session) openConn(ctx context.Context, h *host, of *settings) (*conn, error) {
	raw, two, err := s.r.dialHost(ctx, h, of)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.closed {
		if two != nil {
			_ = two.Close()
		} else {
			_ = raw.Close()
		}
		err = errClosed
	}
	if err != nil {
		h.open--
		s.wakeNext(h)
		return nil, err
	}
	s.r.conns.Add(1)
	if two != nil {
		h.open--
		if h.two != nil {
			_ = h.two.Close()
			s.r.conns.Add(-1)
		}
		h.two = two
		for len(h.waiting) > 0 {
			s.wakeNext(h)
		}
		return &conn{host: h, two: two}, nil
	}
	for range min(of.connections-h.open, len(h.waiting)) { // it is known now that one is not enough
		s.wakeNext(h)
	}
	return &conn{Conn: raw, host: h, in: &counted{r: raw}}, nil
}

// close ends the session and whatever goes on in it.
func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	for _, h := range s.hosts {
		for _, c := range h.idle {
			s.dropConn(h, c)
		}
		h.idle = nil
		if h.two != nil {
			_ = h.two.Close()
			s.r.conns.Add(-1)
			h.two = nil
		}
		for len(h.waiting) > 0 {
			s.wakeNext(h)
		}
	}
}

// dialHost opens a connection as a browser does; the ClientConn is set where HTTP/2 was agreed on.
func (r *runner) dialHost(ctx context.Context, h *host, of *settings) (net.Conn, *http.ClientConn, error) {
	d := net.Dialer{Timeout: min(of.timeout, 10*time.Second), KeepAlive: -1}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	raw, err := d.DialContext(ctx, "tcp", h.address)
	if err != nil || h.scheme == "http" {
		return raw, nil, err
	}
	config := &tls.Config{ServerName: h.name, InsecureSkipVerify: of.insecure, NextProtos: []string{"h2", "http/1.1"}, ClientSessionCache: r.tickets, RootCAs: r.roots}
	switch of.protocol {
	case "1.1":
		config.NextProtos = config.NextProtos[1:]
	case "2":
		config.NextProtos = config.NextProtos[:1]
	}
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, nil, err
	}
	if secure.ConnectionState().NegotiatedProtocol != "h2" {
		r.oneOnly.Store(h.address, true)
		return secure, nil, nil
	}
	two, err := r.http2.NewClientConn(context.WithValue(ctx, dialed{}, net.Conn(secure)), "https", h.address)
	if err != nil {
		_ = raw.Close()
		return nil, nil, err
	}
	return nil, two, nil
}

// dialed is the key of a connection that was opened already.
type dialed struct{}

// http2Transport makes HTTP/2 connections of connections that are open.
func http2Transport() *http.Transport {
	t := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols),
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, ok := ctx.Value(dialed{}).(net.Conn)
			if !ok {
				return nil, errors.New("no connection was opened for it")
			}
			return c, nil
		}}
	t.Protocols.SetHTTP2(true)
	return t
}

func (r *runner) speaksOne(address string) bool {
	_, one := r.oneOnly.Load(address)
	return one
}

// readers are buffers that connections have while an answer is read.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}
