// Package web serves a directory of captures as pages over HTTP, and records into it: the reports
// are those of package internal/present/html, the same that unstall writes to files.
//
// Its opinion: access to a port is not permission to read captures. So it listens on loopback, and
// demands a token on any other address; it answers only to host names that no foreign page can point
// at it (DNS rebinding); a change must come from its own pages; what is sent to it is bounded; and
// files are named by names, not by paths.
package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/serve/capturestore"
)

// Options are what is served, and to whom.
type Options struct {
	Version string   // of the tool
	Token   string   // that a browser must bring; "" none is needed
	Names   []string // by which it may be asked beside localhost and addresses

	// List finds what runs here. Nil: nothing is listed.
	List func(ctx context.Context) ([]discover.Found, error)

	// Record records a target into the directory. Nil: nothing can be recorded.
	Record func(ctx context.Context, target string, how time.Duration, passive bool) (name, said string, err error)
}

// Server is the handler. Close it after the last request.
type Server struct {
	shelf *capturestore.Shelf
	opt   Options
	form  string // what a form of our own pages brings back
	mux   http.Handler

	ctx   context.Context // of background work
	stop  context.CancelFunc
	going sync.WaitGroup

	mu        sync.Mutex
	recording *recording // the last one, nil none
}

// Bounds of what may be sent.
const (
	mostBody   = 64 << 10
	mostHeader = 32 << 10
)

// New returns a server of a directory. It starts to diagnose the captures there, one after the
// other, so that the list can say what was found.
func New(captures *capturestore.Shelf, opt Options) *Server {
	s := &Server{shelf: captures, opt: opt, form: Token()}
	s.ctx, s.stop = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serveList)
	mux.HandleFunc("GET /capture/{name}", s.serveReport)
	mux.HandleFunc("GET /compare", s.serveComparison)
	mux.HandleFunc("GET /recording", s.serveProgress)
	mux.HandleFunc("POST /record", s.startRecording)
	s.mux = s.guardRequests(http.NewCrossOriginProtection().Handler(mux))
	s.going.Go(s.diagnoseAll)
	return s
}

// Close ends everything that runs, recordings included: what they switched on is off when it
// returns.
func (s *Server) Close() {
	s.stop()
	s.going.Wait()
}

// Token returns a new random token.
func Token() string {
	var random [18]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// Serve answers on a listener until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader}
	ended := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer ended()
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// guardRequests returns a handler that passes on only requests that are allowed: to a known host
// name, with the token if there is one, and not too large.
func (s *Server) guardRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "frame-ancestors 'none'")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.isKnownHost(r.Host) {
			http.Error(w, "unstall serve does not answer to this name: use its address, or start it with --name", http.StatusMisdirectedRequest)
			return
		}
		if s.opt.Token != "" && !s.checkToken(w, r) {
			return
		}
		if r.ContentLength > mostBody {
			h.Set("Connection", "close")
			http.Error(w, fmt.Sprintf("at most %d bytes are accepted", mostBody), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		next.ServeHTTP(w, r)
	})
}

// isKnownHost says whether a host name certainly leads here: an address, localhost, or a name that
// the user gave.
func (s *Server) isKnownHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || slices.ContainsFunc(s.opt.Names, func(name string) bool { return strings.EqualFold(name, host) })
}

// cookieName returns the name of the cookie that carries the token. It differs by the token, as
// browsers send cookies to all ports of a host.
func (s *Server) cookieName() string {
	sum := sha256.Sum256([]byte(s.opt.Token))
	return "unstall-" + base64.RawURLEncoding.EncodeToString(sum[:6])
}

// checkToken says whether a request brings the token: as a bearer, in a cookie, or in the address,
// from where a redirect moves it into a cookie. If not, it has answered the request.
func (s *Server) checkToken(w http.ResponseWriter, r *http.Request) bool {
	is := func(given string) bool {
		a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.opt.Token))
		return subtle.ConstantTimeCompare(a[:], b[:]) == 1
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && is(bearer) {
		return true
	}
	if c, err := r.Cookie(s.cookieName()); err == nil && is(c.Value) {
		return true
	}
	q := r.URL.Query()
	if r.Method == http.MethodGet && q.Has("token") && is(q.Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Value: s.opt.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
		q.Del("token")
		to := url.URL{Path: r.URL.Path, RawQuery: q.Encode()}
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return false
	}
	http.Error(w, "unstall serve needs the token: open the address it printed when it was started", http.StatusUnauthorized)
	return false
}

// diagnoseAll diagnoses each capture, the latest first, and looks for new ones until the server is
// closed.
func (s *Server) diagnoseAll() {
	const every = 5 * time.Second
	for {
		items, _, err := s.shelf.Items()
		if err == nil {
			for _, item := range items {
				if item.Capture && !item.Running {
					if _, err := s.shelf.Find(s.ctx, item.Name); err != nil && s.ctx.Err() != nil {
						return
					}
				}
			}
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// writePage sends a page after it was rendered as a whole, so that an error while rendering leaves
// no half page.
func writePage(w http.ResponseWriter, code int, render func(*bytes.Buffer) error) {
	var text bytes.Buffer
	if err := render(&text); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text.Bytes())
}
