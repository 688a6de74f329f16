package gopprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/reach"
)

const (
	patience      = 5 * time.Second // for an address that the user named
	shortPatience = 3 * time.Second // for a socket of any kind; all sockets at once
)

const usual = "/debug/pprof"

// locateEndpoint finds the index page at or below a URL. The error is one line without
// the URL.
func locateEndpoint(ctx context.Context, u *url.URL) (*endpoint, error) {
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not http or https", u.Scheme)
	}
	if u.Host == "" {
		return nil, errors.New("the URL has no host")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	var first error
	for _, p := range candidatePaths(u.Path) {
		at := *u
		at.Path, at.RawPath = p, ""
		e := newEndpoint(&at, "")
		err := e.verifyPprof(ctx, patience)
		if err == nil {
			return e, nil
		}
		e.client.CloseIdleConnections()
		if first == nil {
			first = err
		}
		var status *refused
		if !errors.As(err, &status) && !errors.Is(err, errOther) {
			break // the next path would fail the same way
		}
	}
	return nil, first
}

// candidatePaths returns where the index page may be, given the path that the user typed: that path, the one above a profile, or the server's.
func candidatePaths(typed string) []string {
	if i := strings.Index(typed, usual); i >= 0 && (len(typed) == i+len(usual) || typed[i+len(usual)] == '/') {
		return []string{typed[:i+len(usual)]}
	}
	typed = strings.TrimRight(typed, "/")
	if typed == "" {
		return []string{usual}
	}
	return []string{typed, typed + usual, usual}
}

var errOther = errors.New("answered, but not with the index page of net/http/pprof")

// verifyPprof returns an error unless the endpoint is net/http/pprof. It checks the index page or, if only single handlers are installed,
// the text of the heap profile.
func (e *endpoint) verifyPprof(ctx context.Context, within time.Duration) error {
	head, err := e.readHead(ctx, "", "", within)
	if err == nil && isIndex(head) {
		return nil
	}
	var status *refused
	if err != nil && (!errors.As(err, &status) || status.status != http.StatusNotFound) {
		return err
	}
	text, second := e.readHead(ctx, "heap", "debug=1", within)
	if second == nil && bytes.HasPrefix(text, []byte("heap profile: ")) {
		return nil
	}
	if err == nil {
		err = errOther
	}
	return err
}

// isIndex recognises the page by text that all versions have.
func isIndex(page []byte) bool {
	return bytes.Contains(page, []byte("<title>/debug/pprof")) || bytes.Contains(page, []byte("full goroutine stack dump"))
}

// readHead returns the beginning of an answer, at most 16 KB.
func (e *endpoint) readHead(ctx context.Context, path, query string, within time.Duration) ([]byte, error) {
	a, err := e.requestPath(ctx, path, query, within)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	head, err := io.ReadAll(io.LimitReader(a.Body, 16<<10))
	if len(head) == 0 && err != nil {
		return nil, explainError(err)
	}
	return head, nil
}

// findAmongSockets asks all sockets of a process at once, and returns the first in their order that serves pprof, else a lack. It asks only a
// program that contains net/http/pprof, because other servers should not get unexpected requests.
func findAmongSockets(ctx context.Context, t discover.Target) (*endpoint, probe.Lack) {
	lack := probe.Lack{What: "CPU profile, execution trace, heap", Do: `add import _ "net/http/pprof" to the program and serve http.DefaultServeMux on a loopback port`}
	exe := fmt.Sprintf("/proc/%d/exe", t.PID)
	switch has, err := discover.HasPprof(exe); {
	case err != nil:
		// Whether the program contains it is unknown, and asking would be a guess.
		lack.Why, lack.Do = "its executable cannot be read", "give the URL of its net/http/pprof, or run unstall as root"
		if os.Geteuid() == 0 {
			lack.Do = "give the URL of its net/http/pprof"
		}
		return nil, lack
	case !has:
		lack.Why = "the program does not import net/http/pprof"
		return nil, lack
	}
	lack.Do = "give the URL of its net/http/pprof"
	if reach.Elsewhere(t.PID) {
		if err := reach.Enterable(t.PID); err != nil {
			lack.Why, lack.Do = reach.WhyNot(t.PID, err, "give the URL of its net/http/pprof as reachable from here")
			return nil, lack
		}
	}
	var asked []*endpoint
	for _, l := range t.Listens {
		asked = append(asked, candidateEndpoints(l, t.PID)...)
	}
	is := make([]bool, len(asked))
	var all sync.WaitGroup
	for i, e := range asked {
		all.Go(func() { is[i] = e.verifyPprof(ctx, shortPatience) == nil })
	}
	all.Wait()
	var found *endpoint
	for i, e := range asked {
		if is[i] && found == nil {
			found = e
			continue
		}
		e.client.CloseIdleConnections()
	}
	if found != nil {
		return found, lack
	}
	lack.Why = fmt.Sprintf("the program has net/http/pprof, but none of the sockets it listens on (%d) serves %s/", len(t.Listens), usual)
	if len(t.Listens) == 0 {
		lack.Why = "the program has net/http/pprof, but this user can see no socket it listens on"
	}
	return nil, lack
}

// programName returns the name of the process's program, "" if it is unknown. It shows which artifacts are of one process. Arguments, which
// may hold secrets, are not kept.
func (e *endpoint) programName(ctx context.Context) string {
	line, err := e.readHead(ctx, "cmdline", "", patience)
	if err != nil {
		return ""
	}
	first, _, _ := bytes.Cut(line, []byte{0})
	name := path.Base(strings.ReplaceAll(string(first), `\`, "/"))
	if name == "." || name == "/" || len(name) > 255 || !utf8.ValidString(name) {
		return ""
	}
	return name
}

// candidateEndpoints returns the ways in which a socket may serve pprof: plain and by TLS.
func candidateEndpoints(l discover.Listener, pid int) []*endpoint {
	inside := reach.Elsewhere(pid)
	if !l.Addr.IsValid() {
		if l.Path == "" || inside && l.Path[0] == '@' { // abstract names are a namespace's own
			return nil
		}
		return []*endpoint{newEndpoint(&url.URL{Scheme: "http", Host: "localhost", Path: usual}, reach.SocketPath(l.Path, pid))}
	}
	host := reach.Address(l.Addr)
	var out []*endpoint
	for _, scheme := range []string{"http", "https"} {
		e := newEndpoint(&url.URL{Scheme: scheme, Host: host, Path: usual}, "")
		if inside {
			e.dialWithin(pid)
		}
		out = append(out, e)
	}
	return out
}
