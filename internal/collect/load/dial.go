package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// ErrUnreachable is wrapped by errors for a service that gives no response at all.
var ErrUnreachable = errors.New("cannot be loaded")

// newDialer returns a function that opens connections as a plan says.
func newDialer(p *Plan, u *url.URL) func(context.Context) (net.Conn, error) {
	network, address := "tcp", u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	if p.Socket != "" {
		network, address = "unix", p.Socket
	}
	d := &net.Dialer{Timeout: min(p.Timeout, 10*time.Second), KeepAlive: -1}
	if u.Scheme == "http" {
		return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, network, address) }
	}
	protocols := []string{"http/1.1"}
	if p.HTTP2 {
		protocols = []string{"h2"}
	}
	config := &tls.Config{ServerName: u.Hostname(), InsecureSkipVerify: p.Insecure, NextProtos: protocols,
		ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	t := &tls.Dialer{NetDialer: d, Config: config}
	return func(ctx context.Context) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, d.Timeout)
		defer cancel()
		return t.DialContext(ctx, network, address)
	}
}

// Reach opens a connection as a plan says and closes it again. The error is that of a run that cannot begin; it wraps [ErrUnreachable].
func (p Plan) Reach(ctx context.Context) error {
	p, u, err := p.withDefaults()
	if err != nil {
		return err
	}
	conn, err := newDialer(&p, u)(ctx)
	if err != nil {
		return unreachableError(&p, u, err)
	}
	return conn.Close()
}

// noProtocol says whether a server speaks none of the offered protocols (RFC 7301, 3.2). crypto/tls identifies the alert only by its text.
func noProtocol(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" && strings.HasSuffix(op.Err.Error(), "no application protocol")
}

// shortReason words an error in a few words, the same for all errors of its kind.
func shortReason(err error) string {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		errno     syscall.Errno
		timeout   interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, errNotHTTP), errors.Is(err, errRefused):
		return err.Error()
	case noProtocol(err):
		return "it does not offer HTTP/2"
	case errors.As(err, &dns):
		return "unknown host " + dns.Name
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify):
		return strings.TrimPrefix(err.Error(), "tls: failed to verify certificate: ")
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed in the middle of an answer"
	case err == io.EOF, errors.Is(err, net.ErrClosed):
		return "connection closed without an answer"
	case errors.Is(err, syscall.ENOENT):
		return "no such socket"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "connecting took too long"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return err.Error()
}

// adviceFor returns what to do about an error, "" if that is plain.
func adviceFor(err error, u *url.URL) string {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return ": give --insecure to accept it"
	case errors.As(err, &record):
		return ": use http://" + u.Host
	case errors.Is(err, syscall.ECONNREFUSED):
		return ": is it running, and on that port?"
	case errors.Is(err, errOlder), noProtocol(err):
		return ": leave out --http2"
	case errors.Is(err, errNotHTTP):
		return ": is that the right port?"
	}
	return ""
}

// unreachableError words an error that ends a run before it began; it wraps [ErrUnreachable].
func unreachableError(p *Plan, u *url.URL, err error) error {
	where := u.Redacted()
	if p.Socket != "" {
		where = p.Socket
	}
	return fmt.Errorf("%s %w: %s%s", where, ErrUnreachable, shortReason(err), adviceFor(err, u))
}
