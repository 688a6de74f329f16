package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// refusal is why a server does not answer, in one line.
type refusal struct {
	where, why, do string
	known          bool // it is a Redis server that says so
}

func (r *refusal) Error() string {
	text := r.where + ": " + r.why
	if r.do != "" {
		text += ": " + r.do
	}
	return text
}

// explainError says what an error means. The texts of the server are those of src/server.c,
// src/networking.c and src/acl.c.
func (p *place) explainError(err error) *refusal {
	r := &refusal{where: p.shown, known: true}
	text := err.Error()
	begins := func(s string) bool { return strings.HasPrefix(text, s) || strings.Contains(text, ": "+s) }
	switch {
	case begins("NOAUTH"):
		r.why, r.do = "the server wants a password", "REDISCLI_AUTH=PASSWORD unstall "+p.shown
		if p.user != "" {
			r.do = "give it as " + p.withUser()
		}
	case begins("WRONGPASS"), begins("ERR invalid password"):
		r.why, r.do = "the server does not take this user and password", "check REDISCLI_AUTH, or give them as "+p.withUser()
	case begins("ERR AUTH <password> called without any password"), begins("ERR Client sent AUTH, but no password is set"):
		r.why, r.do = "the server has no password, and one was given", "leave it out, and unset REDISCLI_AUTH"
	case begins("DENIED"):
		r.why, r.do = "the server is in protected mode: it has no password and answers loopback alone", "run unstall on its host, or set a password or protected-mode no"
	case begins("NOPERM"):
		r.why, r.do = "this user may not call "+quotedCommand(text, "'", "INFO"), "ACL SETUSER "+cmp.Or(p.user, "default")+" "+allowed
	case begins("ERR unknown command"):
		r.why, r.do = "INFO is renamed or switched off (rename-command)", "let it have its name"
	case begins("ERR max number of clients reached"):
		r.why, r.do = "the server takes no more connections (maxclients)", "raise maxclients, or close connections; CLIENT LIST shows their owners"
	case begins("LOADING"), begins("BUSY"), begins("MASTERDOWN"), begins("CLUSTERDOWN"):
		r.why, r.do = "the server says: "+text, "try again when it answers"
	case begins("ERR"), begins("MISCONF"):
		r.why = "the server says: " + text
	default:
		r.known = false
		p.explainUnreached(r, err)
	}
	return r
}

// explainUnreached says why a server cannot be reached at all.
func (p *place) explainUnreached(r *refusal, err error) {
	text := err.Error()
	var unsigned x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, errPlain), errors.As(err, &record), strings.Contains(text, "first record does not look like a TLS handshake"):
		r.why, r.do = "what answers there does not use TLS", "give redis://"+p.address
	case strings.Contains(text, "certificate required"), strings.Contains(text, "tls: handshake failure"), strings.Contains(text, "bad certificate"):
		r.why, r.do = "the server wants a certificate of its clients (tls-auth-clients)", "give one: "+p.shown+"?cert=client.crt&key=client.key"
	case errors.As(err, &unsigned), errors.As(err, &name), errors.As(err, &invalid):
		r.why, r.do = "its certificate cannot be verified: "+oneLineError(err), "give who signed it: "+p.shown+"?cacert=ca.crt, or take any: ?insecure=1"
	case errors.Is(err, syscall.ECONNREFUSED):
		r.why, r.do = "connection refused", "check the address, and whether the server runs"
	case errors.Is(err, os.ErrNotExist):
		r.why, r.do = "no such socket", "CONFIG GET unixsocket says where it is"
	case errors.Is(err, os.ErrPermission):
		r.why, r.do = "this user may not connect to the socket", "run unstall as root, or as a permitted user (unixsocketperm)"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		r.why, r.do = "no answer within 5 s", "check the address; a command that takes long keeps a server from answering, then give its PID as well"
	case errors.Is(err, errOther), strings.Contains(text, "can't parse"), strings.Contains(text, "invalid reply"), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		r.why, r.do = "what answers is no Redis server, or one that speaks TLS", "check the port; by TLS give rediss://"+p.address
	default:
		r.why = oneLineError(err)
	}
}

// allowed is what a user must be allowed for all that is recorded.
const allowed = "+info +ping +slowlog|get +latency|latest +latency|history +latency|histogram +memory|stats +config|get +client|list +client|setname +cluster|info"

// quotedCommand returns the command that a text names in quotes, else the usual one.
func quotedCommand(text, quote, usual string) string {
	if parts := strings.Split(text, quote); len(parts) > 2 {
		return strings.ToUpper(strings.ReplaceAll(parts[1], "|", " "))
	}
	return usual
}

func (p *place) withUser() string {
	scheme, rest, _ := strings.Cut(p.shown, "://")
	return scheme + "://USER:PASSWORD@" + rest
}

// oneLineError returns an error in one line, without addresses that were said before.
func oneLineError(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
