package redis

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/reach"
)

const (
	patience      = 5 * time.Second // for an address that the user named
	shortPatience = 3 * time.Second // for a socket of any kind
)

// place is where a server is reached, and its name in messages.
type place struct {
	shown   string // without secrets
	address string // "10.0.0.7:6379", or a path
	unix    bool
	secure  *tls.Config // nil: without TLS
	user    string
	secret  string
	pid     int // process whose network it is in, 0 this process
}

// server is a server that answers.
type server struct {
	place
	client  *client
	version string   // "Valkey 8.1.2"
	program string   // "redis-server", "" unknown
	asks    []string // INFO and its section with all fields
}

// openServer connects to the first place of a target at which a server answers. If none does, the error is that of the most likely place.
func openServer(ctx context.Context, t discover.Target) (*server, error) {
	places, err := placesOf(t)
	if err != nil {
		return nil, err
	}
	var first *refusal
	for _, p := range places {
		within := patience
		if len(places) > 1 {
			within = shortPatience
		}
		s, why := p.connectServer(ctx, within)
		if why == nil {
			return s, nil
		}
		if first == nil || why.known && !first.known {
			first = why
		}
	}
	return nil, first
}

// placesOf returns where a server may be: at the URL, else at the sockets it listens on.
func placesOf(t discover.Target) ([]place, error) {
	secret := cmp.Or(os.Getenv("REDISCLI_AUTH"), os.Getenv("VALKEYCLI_AUTH"))
	if isURL(t.URL) {
		p, err := placeOf(t.URL, secret)
		if err != nil {
			return nil, err
		}
		return []place{*p}, nil
	}
	here := fmt.Sprintf("redis of pid %d", t.PID)
	inside := 0
	if reach.Elsewhere(t.PID) {
		if err := reach.Enterable(t.PID); err != nil {
			why, do := reach.WhyNot(t.PID, err, "give the URL of it, such as redis://host:6379, as reachable from here")
			return nil, &refusal{where: here, why: why, do: do}
		}
		inside = t.PID
	}
	var places []place
	for _, l := range t.Listens {
		switch {
		case l.Addr.IsValid() && l.Addr.Port() > 10000 && l.Addr.Port()-10000 == mainPort(t.Listens):
			// the bus of a cluster, which speaks another protocol
		case l.Addr.IsValid():
			at := reach.Address(l.Addr)
			p := place{shown: "redis://" + at, address: at, secret: secret, pid: inside}
			places = append(places, p)
			p.shown, p.secure = "rediss://"+at, &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the process is known, and on loopback there is no other host in between
			if host, _, _ := net.SplitHostPort(at); reach.Loopback(host) {
				places = append(places, p)
			}
		case strings.HasPrefix(l.Path, "/") || strings.HasPrefix(l.Path, "@") && inside == 0:
			places = append([]place{{shown: "unix://" + l.Path, address: reach.SocketPath(l.Path, t.PID), unix: true, secret: secret}}, places...)
		}
	}
	if len(places) == 0 {
		return nil, &refusal{where: here, why: "this user can see no socket it listens on", do: "give its URL, such as redis://127.0.0.1:6379, or run unstall as root"}
	}
	return places, nil
}

// mainPort returns the lowest port a server listens on.
func mainPort(all []discover.Listener) uint16 {
	port := uint16(0)
	for _, l := range all {
		if l.Addr.IsValid() && (port == 0 || l.Addr.Port() < port) {
			port = l.Addr.Port()
		}
	}
	return port
}

// placeOf reads redis://user:password@host:port, rediss://…, unix://user:password@/path. With TLS a query may name files, like redis-cli's
// options: ?cacert=ca.crt&cert=client.crt&key=client.key. ?insecure=1 accepts any certificate.
func placeOf(u *url.URL, secret string) (*place, error) {
	p := &place{secret: secret}
	if u.User != nil {
		p.user = u.User.Username()
		if given, ok := u.User.Password(); ok {
			p.secret = given
		}
	}
	if u.Scheme == "unix" {
		p.unix, p.address, p.shown = true, u.Path, "unix://"+u.Path
		return p, nil
	}
	p.address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "6379"))
	p.shown = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	if u.Scheme == "redis" || u.Scheme == "valkey" {
		return p, nil
	}
	q := u.Query()
	p.secure = &tls.Config{ServerName: u.Hostname()}
	on, _ := strconv.ParseBool(cmp.Or(q.Get("insecure"), q.Get("skip_verify")))
	p.secure.InsecureSkipVerify = on || reach.Loopback(u.Hostname()) && q.Get("cacert") == ""
	if file := q.Get("cacert"); file != "" {
		pem, err := os.ReadFile(file)
		p.secure.RootCAs = x509.NewCertPool()
		if err != nil || !p.secure.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &refusal{where: p.shown, why: fmt.Sprintf("cacert=%s cannot be read as a certificate", file), do: "give a file of PEM certificates"}
		}
	}
	if file := q.Get("cert"); file != "" {
		c, err := tls.LoadX509KeyPair(file, cmp.Or(q.Get("key"), file))
		if err != nil {
			return nil, &refusal{where: p.shown, why: fmt.Sprintf("cert=%s and its key cannot be read", file), do: "give both: ?cert=client.crt&key=client.key"}
		}
		p.secure.Certificates = []tls.Certificate{c}
	}
	return p, nil
}

// connectServer connects and identifies the server. A server also answers INFO while it loads its data, or has lost its master.
func (p place) connectServer(ctx context.Context, within time.Duration) (*server, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	s := &server{place: p, client: &client{place: &p}}
	text, err := s.client.askText(ctx, "INFO", "server")
	if err == nil && !strings.Contains(text, "redis_version:") {
		err = errOther
	}
	if err != nil {
		_ = s.client.Close()
		return nil, p.explainError(p.findReason(err))
	}
	s.version = versionOf(text)
	if file := infoField(text, "executable"); file != "" {
		s.program = path.Base(file)
	}
	s.asks = []string{"INFO", "everything"}
	if v := infoField(text, "redis_version"); isOlder(v, 6, 2) {
		s.asks = []string{"INFO", "all"} // before 6.2 modules have no section, so "everything" adds nothing
	}
	return s, nil
}

// findReason returns the server's text if it closes a connection before it reads from it, as in protected mode or with too many clients. If a
// server without TLS closes it silently, it says so. Otherwise it returns the error.
func (p *place) findReason(err error) error {
	var dial *net.OpError
	if isAnswer(err) || errors.Is(err, errOther) || errors.As(err, &dial) && dial.Op == "dial" || p.pid != 0 {
		return err
	}
	network := "tcp"
	if p.unix {
		network = "unix"
	}
	c, e := net.DialTimeout(network, p.address, time.Second)
	if e != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond))
	if p.secure != nil {
		_, _ = io.WriteString(c, "PING\r\n")
	}
	first, _ := bufio.NewReader(io.LimitReader(c, 512)).ReadString('\n')
	switch {
	case p.secure != nil && (strings.HasPrefix(first, "+") || strings.HasPrefix(first, "-")):
		return errPlain
	case strings.HasPrefix(first, "-") && len(first) > 2:
		return errors.New(strings.TrimSpace(first[1:]))
	}
	return err
}

var errPlain = errors.New("it does not use TLS")

var errOther = errors.New("what answers is no Redis server")

// infoField returns a field of INFO, "" if it is absent.
func infoField(text, name string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// versionOf returns the name and version of a server.
func versionOf(text string) string {
	number := infoField(text, "redis_version")
	switch {
	case infoField(text, "valkey_version") != "":
		return "Valkey " + infoField(text, "valkey_version")
	case strings.Contains(infoField(text, "executable"), "keydb") || infoField(text, "server_threads") != "":
		return "KeyDB " + number
	}
	return "Redis " + number
}

// isOlder says whether a version is below another; false for one that is not understood.
func isOlder(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, err := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil && (a < major || a == major && b < minor)
}
