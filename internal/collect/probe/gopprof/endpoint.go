package gopprof

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/unstall/unstall/internal/collect/probe/reach"
	"time"
)

// endpoint is an address at which net/http/pprof is served.
type endpoint struct {
	base   *url.URL // without credentials; its path ends in "/"
	user   *url.Userinfo
	shown  string // without secrets
	client *http.Client
}

// newEndpoint takes the URL of an index page. It accepts self-signed certificates on loopback only, where no other host is in
// between. socket is a path, "@name" for an abstract one, "" for TCP.
func newEndpoint(u *url.URL, socket string) *endpoint {
	base := *u
	base.User, base.Fragment = nil, ""
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	base.RawPath = ""
	dialer := net.Dialer{Timeout: 5 * time.Second}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment, // never for loopback
		DisableCompression:  true,                      // artifacts are stored as they come
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     10 * time.Second,
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: reach.Loopback(u.Hostname())},
	}
	dial := dialer.DialContext
	e := &endpoint{base: &base, user: u.User, shown: redactURL(u), client: &http.Client{Transport: transport}}
	if socket != "" {
		e.shown = "unix:" + socket + strings.TrimRight(base.Path, "/")
		transport.Proxy = nil
		dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		}
	}
	transport.DialContext = dialAskFirst(dial)
	e.client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 3 || r.URL.Host != base.Host {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return e
}

// dialWithin connects from within the network namespace of a process.
func (e *endpoint) dialWithin(pid int) {
	t := e.client.Transport.(*http.Transport)
	t.Proxy = nil
	t.DialContext = dialAskFirst(reach.DialIn(pid))
	e.shown = fmt.Sprintf("network of pid %d: %s", pid, e.shown)
}

// dialAskFirst returns a dial function whose connections are read only after something was written to them.
func dialAskFirst(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &askFirst{Conn: c, asked: make(chan struct{})}, nil
	}
}

// askFirst is a connection that is read only after something was written to it. Servers of other protocols send a greeting, which
// net/http would log as an unsolicited answer.
type askFirst struct {
	net.Conn
	once  sync.Once
	asked chan struct{}
}

func (c *askFirst) Read(p []byte) (int, error) {
	<-c.asked
	return c.Conn.Read(p)
}

func (c *askFirst) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.once.Do(func() { close(c.asked) })
	return n, err
}

// CloseWrite closes the half of the connection that sends requests.
func (c *askFirst) CloseWrite() error {
	w, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return w.CloseWrite()
}

func (c *askFirst) Close() error {
	c.once.Do(func() { close(c.asked) })
	return c.Conn.Close()
}

// redactURL formats a URL without possible secrets.
func redactURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}).String()
}

// answer is a response whose status is 200.
type answer struct {
	*http.Response
	cancel context.CancelFunc
}

func (a *answer) Close() {
	_ = a.Body.Close()
	a.cancel()
}

// refused is an answer with another status.
type refused struct {
	status int
	text   string // its first line
}

func (r *refused) Error() string {
	if r.text == "" {
		return fmt.Sprintf("HTTP status %d", r.status)
	}
	return fmt.Sprintf("HTTP status %d: %s", r.status, r.text)
}

// requestPath requests a path below the index page, "" for the page itself. The request and the reading of its body end after the time
// within. The error is of
// type *refused if the status is not 200.
func (e *endpoint) requestPath(ctx context.Context, path, query string, within time.Duration) (*answer, error) {
	u := *e.base
	u.Path += path
	switch {
	case u.RawQuery == "":
		u.RawQuery = query
	case query != "":
		u.RawQuery += "&" + query
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, err
	}
	r.Header.Set("User-Agent", "unstall-record/1")
	r.Close = path == "trace" // its connection may be half closed, see ending
	if e.user != nil {
		password, _ := e.user.Password()
		r.SetBasicAuth(e.user.Username(), password)
	}
	resp, err := e.client.Do(r) //nolint:bodyclose // by whom the answer is given to
	if err != nil {
		cancel()
		return nil, explainError(err)
	}
	a := &answer{resp, cancel}
	if resp.StatusCode != http.StatusOK {
		head, _ := io.ReadAll(io.LimitReader(resp.Body, 400))
		a.Close()
		if resp.StatusCode == http.StatusBadRequest && (bytes.Contains(head, []byte("HTTP request to an HTTPS server")) || bytes.Contains(head, []byte("HTTP request was sent to HTTPS port"))) {
			return nil, errTLS // the text of net/http and nginx
		}
		return nil, &refused{resp.StatusCode, firstLine(head)}
	}
	return a, nil
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if bytes.HasPrefix(line, []byte("<")) {
		return "" // a page of HTML does not fit on one line
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(line[:min(len(line), 120)]), ""))
}

// explainError removes the URL, which may hold secrets, from an error, and adds what people can do about it.
func explainError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var unknown *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return errTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return errGone
	case errors.As(err, &unknown):
		return fmt.Errorf("its certificate is not trusted: %w", unknown.Err)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return errPlain
	case strings.Contains(err.Error(), "malformed HTTP"):
		return errNotHTTP
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errHungUp
	}
	return err
}

var (
	errTimeout = errors.New("did not answer in time")
	errGone    = errors.New("nothing listens there")
	errNotHTTP = errors.New("does not speak HTTP")
	errHungUp  = errors.New("closed the connection")
	errPlain   = errors.New("it does not speak TLS: use http://")
	errTLS     = errors.New("it speaks TLS: use https://")
)
