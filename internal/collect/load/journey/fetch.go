package journey

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/load"
)

// call is one request, without redirects.
type call struct {
	method string
	url    *url.URL
	header http.Header // in addition to the headers of every request
	body   []byte
	keep   bool // keep the answer's body
	due    int64
	of     *settings
	step   *Step
}

// answer is the result of a call.
type answer struct {
	status int
	header http.Header
	body   []byte
	url    *url.URL
	end    int64
	err    error // the answer is missing or incomplete
}

// maxBody is how many bytes of an answer are kept; the rest is read and dropped.
const maxBody = 8 << 20

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// fetchCall makes one request and its row. The time it waits for a connection is in the latency; a
// late begin is the generator's lag.
func (s *session) fetchCall(ctx context.Context, c *call) answer {
	begun := s.r.nowNanos()
	row := load.Row{Intended: c.due, Lag: max(begun-c.due, 0), Route: c.method + " " + c.url.EscapedPath(), Journey: c.step.journey.Name, Step: c.step.Name}
	s.r.offered.Add(1)
	s.r.underWay.Add(1)
	ctx, cancel := context.WithDeadlineCause(ctx, s.r.timeAt(max(c.due, begun)+int64(c.of.timeout)), os.ErrDeadlineExceeded)
	defer cancel()
	a := s.sendCall(ctx, c, &row)
	a.url = c.url
	row.End, row.Status = s.r.nowNanos(), a.status
	a.end = row.End
	switch {
	case a.err == nil && a.status >= 200 && a.status < 400:
		row.Outcome = evidence.OK
	case a.err == nil:
		row.Outcome = evidence.Failed
	case s.r.over.Load():
		row.Outcome, row.Status = evidence.Unfinished, 0
	case errors.Is(a.err, os.ErrDeadlineExceeded), errors.Is(a.err, context.DeadlineExceeded):
		row.Outcome, row.Status = evidence.TimedOut, 0
	default:
		row.Outcome, row.Status = evidence.Failed, 0
		s.r.countFailure(load.Reason(a.err), a.err)
	}
	s.r.underWay.Add(-1)
	s.r.addRow(row, c.step)
	if a.err == nil {
		s.jar.SetCookies(c.url, (&http.Response{Header: a.header}).Cookies())
	}
	return a
}

// sendCall sends the request until a connection takes it: a kept connection may turn out to be
// closed, which is no failure (RFC 9112, 9.3.1).
func (s *session) sendCall(ctx context.Context, c *call, row *load.Row) (a answer) {
	for try := 0; ; try++ {
		conn, err := s.acquireConn(ctx, c.url, c.of, try > 2)
		if err != nil {
			return answer{err: err}
		}
		row.Sent = s.r.nowNanos()
		if conn.two != nil {
			a = s.overTwo(ctx, conn, c, row)
			if a.err != nil && conn.two.Err() != nil && conn.served > 0 && a.header == nil && try < 4 && ctx.Err() == nil {
				continue
			}
			return a
		}
		stale := false
		a, stale = s.overOne(ctx, conn, c, row)
		if !stale || try >= 4 || ctx.Err() != nil {
			return a
		}
	}
}

// overOne makes the request over HTTP/1.1; stale says that a kept connection was closed before it.
func (s *session) overOne(ctx context.Context, conn *conn, c *call, row *load.Row) (a answer, stale bool) {
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	release := func(good bool) {
		stop() // or it would end what the connection does next
		s.releaseConn(conn, good)
	}
	before := conn.in.n
	out := bodies.Get().(*bytes.Buffer)
	out.Reset()
	s.writeRequest(out, c)
	_, err := conn.Write(out.Bytes())
	bodies.Put(out)
	gone := func(err error) bool {
		return conn.served > 0 && conn.in.n == before && (err == io.EOF || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
	}
	if err != nil && gone(err) {
		release(false)
		return answer{err: err}, true
	}
	in := readers.Get().(*bufio.Reader)
	in.Reset(conn.in)
	defer func() {
		in.Reset(nil)
		readers.Put(in)
	}()
	if err != nil { // the server may have answered before it had read all (413)
		_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	}
	var resp *http.Response
	for {
		resp, err = http.ReadResponse(in, &http.Request{Method: c.method}) //nolint:bodyclose // readBody reads it to its end, and the connection stays open
		if err != nil || resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
	}
	if err != nil {
		release(false)
		if err == io.ErrUnexpectedEOF && conn.in.n == before {
			err = io.EOF
		}
		return answer{err: contextReason(ctx, err)}, gone(err)
	}
	a = answer{status: resp.StatusCode, header: resp.Header}
	a.body, a.err = readBody(resp, c.keep)
	a.err = contextReason(ctx, a.err)
	row.Bytes = conn.in.n - before
	conn.served++
	release(a.err == nil && !resp.Close && in.Buffered() == 0 && resp.StatusCode != http.StatusSwitchingProtocols)
	return a, false
}

// contextReason returns the cause of a context's end, if that is why reading ended, else the
// error.
func contextReason(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		if err != nil && strings.Contains(err.Error(), "malformed HTTP") {
			return fmt.Errorf("the answer is not HTTP: %w", err)
		}
		return err
	}
	return context.Cause(ctx)
}

// overTwo makes the request over HTTP/2.
func (s *session) overTwo(ctx context.Context, conn *conn, c *call, row *load.Row) answer {
	req := (&http.Request{Method: c.method, URL: c.url, Host: c.url.Host, Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{}}).WithContext(ctx)
	if c.body != nil {
		req.Body = io.NopCloser(bytes.NewReader(c.body))
		req.ContentLength = int64(len(c.body))
	}
	s.setHeaders(c, func(name, value string) { req.Header.Add(name, value) })
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	resp, err := conn.two.RoundTrip(req)
	if err != nil {
		return answer{err: contextReason(ctx, err)}
	}
	count := &counted{r: resp.Body}
	body := resp.Body
	resp.Body = io.NopCloser(count)
	a := answer{status: resp.StatusCode, header: resp.Header}
	a.body, a.err = readBody(resp, c.keep)
	a.err = contextReason(ctx, a.err)
	_ = body.Close()
	row.Bytes = count.n
	return a
}

// writeRequest writes a request as HTTP/1.1.
func (s *session) writeRequest(out *bytes.Buffer, c *call) {
	out.WriteString(c.method)
	out.WriteByte(' ')
	out.WriteString(c.url.RequestURI())
	out.WriteString(" HTTP/1.1\r\n")
	if c.header.Get("Host") == "" {
		out.WriteString("Host: ")
		out.WriteString(c.url.Host)
		out.WriteString("\r\n")
	}
	s.setHeaders(c, func(name, value string) {
		out.WriteString(name)
		out.WriteString(": ")
		out.WriteString(strings.Map(func(r rune) rune {
			if r == '\r' || r == '\n' {
				return ' '
			}
			return r
		}, value))
		out.WriteString("\r\n")
	})
	if c.body != nil || c.method == http.MethodPost || c.method == http.MethodPut || c.method == http.MethodPatch {
		fmt.Fprintf(out, "Content-Length: %d\r\n", len(c.body))
	}
	out.WriteString("\r\n")
	out.Write(c.body)
}

// setHeaders sets the headers that a browser sends with a request, and those of the step.
func (s *session) setHeaders(c *call, set func(name, value string)) {
	usual := func(name, value string) {
		if _, ok := c.header[name]; !ok {
			set(name, value)
		}
	}
	usual("User-Agent", "unstall-load/1")
	usual("Accept", "*/*")
	usual("Accept-Encoding", "gzip, deflate, zstd")
	if u := c.url.User; u != nil {
		password, _ := u.Password()
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(u.Username(), password)
		usual("Authorization", r.Header.Get("Authorization"))
	}
	for name, all := range c.header {
		for _, value := range all {
			set(name, value)
		}
	}
	if cookies := s.jar.Cookies(c.url); len(cookies) > 0 {
		var b strings.Builder
		for i, k := range cookies {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(k.Name + "=" + k.Value)
		}
		set("Cookie", b.String())
	}
}

// readBody reads an answer to its end and returns its body, without its encoding, if it is to be
// kept.
func readBody(resp *http.Response, keep bool) ([]byte, error) {
	if !keep {
		_, err := io.Copy(io.Discard, resp.Body)
		return nil, err
	}
	raw := bodies.Get().(*bytes.Buffer)
	raw.Reset()
	defer func() {
		if raw.Cap() <= 1<<20 {
			bodies.Put(raw)
		}
	}()
	_, err := io.Copy(raw, io.LimitReader(resp.Body, maxBody))
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if err != nil {
		return nil, err
	}
	return decodeBody(raw.Bytes(), resp.Header.Get("Content-Encoding")), nil
}

// decodeBody returns a copy of a body without its encoding; a body that cannot be decoded stays as
// it is.
func decodeBody(raw []byte, encoding string) []byte {
	var r io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(bytes.NewReader(raw))
	case "deflate":
		if len(raw) > 2 && raw[0]&0x0f == 8 { // with the header of zlib, as the standard has it
			raw = raw[2:]
		}
		r = flate.NewReader(bytes.NewReader(raw))
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20)); err == nil {
			defer d.Close()
			r = d
		}
	}
	if r == nil || err != nil {
		return bytes.Clone(raw)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxBody))
	if err != nil && len(out) == 0 {
		return bytes.Clone(raw)
	}
	return out
}
