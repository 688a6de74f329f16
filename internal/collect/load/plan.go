package load

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Mode says what triggers the next request.
type Mode int

// Modes. Open: its time has come. Closed: a connection got its answer.
const (
	Open Mode = iota
	Closed
)

func (m Mode) String() string { return [...]string{"open", "closed"}[min(max(m, 0), 1)] }

// Arrivals is how the gaps between intended times are distributed.
type Arrivals int

// Arrivals. Poisson is what many independent users make.
const (
	Constant Arrivals = iota
	Poisson
)

func (a Arrivals) String() string { return [...]string{"constant", "poisson"}[min(max(a, 0), 1)] }

// Limits and defaults of a plan.
const (
	DefaultDuration          = 10 * time.Second
	DefaultTimeout           = 10 * time.Second
	DefaultClosedConnections = 125
	DefaultOpenConnections   = 10_000 // at most; a run opens those it needs
	DefaultOpenStreams       = 100    // at once on a connection of HTTP/2; browsers and servers count like that
	maxRate                  = 10e6
)

// Plan says what to send, when, and over what.
type Plan struct {
	URL    string   // http or https; the host is also the one asked for on a UNIX socket
	Socket string   // path of a UNIX socket to connect to instead of the URL's host
	Paths  []string // request targets taken in turn instead of the URL's, such as "/play/1"

	// Method is GET, or POST if there is a body, unless it says otherwise. Paths,
	// header values and the body may hold {n}, the number of the request from 0,
	// {n%2000}, its remainder, and {n%2000:7}, that padded with zeros to 7 digits.
	Method string
	Header http.Header
	Body   []byte

	Mode     Mode
	Arrivals Arrivals
	Rate     float64 // per second, of an open loop; the base of Pattern where it has none of its own
	Pattern  Pattern // how the rate goes on over time; nil: constant
	Seed     uint64  // of Poisson arrivals: the same seed gives the same schedule

	// Connections is how many are open at most. 0: 125 in a closed loop; in an open
	// one as many as it takes, up to 10,000 or what the limit on open files allows.
	Connections int

	// HTTP2 is HTTP/2 instead of HTTP/1.1: over TLS as agreed on with the server (ALPN),
	// else without asking (prior knowledge, RFC 9113, 3.3). Streams is how many requests
	// each of its connections has at once, if the server allows as many. 0: 1 in a closed
	// loop, 100 in an open one.
	HTTP2   bool
	Streams int

	Duration time.Duration // 0: 10 s, or until Requests are sent, or as the pattern says
	Requests int64         // 0: no limit
	Timeout  time.Duration // of one request from its sending, and of the wait for the last ones; 0: 10 s
	Insecure bool          // accept any TLS certificate
}

// ErrPlan is wrapped by errors for a plan that cannot be carried out.
var ErrPlan = errors.New("cannot be done")

func planError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrPlan, fmt.Sprintf(format, args...))
}

// Check returns an error if a plan cannot be carried out; it wraps [ErrPlan].
func (p Plan) Check() error {
	_, _, err := p.withDefaults()
	return err
}

// withDefaults checks a plan and fills in its defaults.
func (p Plan) withDefaults() (Plan, *url.URL, error) {
	u, err := parseURL(p.URL)
	if err != nil {
		return p, nil, err
	}
	switch {
	case p.Mode == Open && len(p.Pattern) == 0 && (!(p.Rate > 0) || math.IsInf(p.Rate, 0)):
		return p, nil, planError("rate %g: give requests per second above zero", p.Rate)
	case p.Connections < 0:
		return p, nil, planError("%d connections: give a number above zero", p.Connections)
	case p.Streams < 0:
		return p, nil, planError("%d streams: give a number above zero", p.Streams)
	case p.Streams > 0 && !p.HTTP2:
		return p, nil, planError("%d streams: only a connection of HTTP/2 has them: give --http2 as well", p.Streams)
	case p.Duration < 0:
		return p, nil, planError("duration %s: give a time above zero", p.Duration)
	case p.Requests < 0:
		return p, nil, planError("%d requests: give a number above zero", p.Requests)
	case p.Timeout < 0:
		return p, nil, planError("timeout %s: give a time above zero", p.Timeout)
	case p.Mode == Closed && len(p.Pattern) > 0:
		return p, nil, planError("a closed loop has no schedule: leave out the pattern, or give a rate")
	}
	if p.Timeout == 0 {
		p.Timeout = DefaultTimeout
	}
	if p.Connections == 0 {
		p.Connections = DefaultClosedConnections
		if p.Mode == Open {
			p.Connections = min(DefaultOpenConnections, openFiles())
		}
	}
	if p.HTTP2 && p.Streams == 0 {
		p.Streams = 1
		if p.Mode == Open {
			p.Streams = DefaultOpenStreams
		}
	}
	if p.Method == "" {
		p.Method = http.MethodGet
		if p.Body != nil {
			p.Method = http.MethodPost
		}
	}
	if p.Mode == Closed {
		if p.Duration == 0 && p.Requests == 0 {
			p.Duration = DefaultDuration
		}
		return p, u, nil
	}
	if len(p.Pattern) == 0 {
		if p.Duration == 0 && p.Requests == 0 {
			p.Duration = DefaultDuration
		}
		p.Pattern = Pattern{{For: p.Duration, From: p.Rate, To: p.Rate}}
	}
	for i, s := range p.Pattern {
		if !(s.From >= 0) || !(s.To >= 0) || s.From > maxRate || s.To > maxRate {
			return p, nil, planError("rate %g to %g: give requests per second from 0 to %.0f", s.From, s.To, maxRate)
		}
		if s.For < 0 || s.For == 0 && (i < len(p.Pattern)-1 || p.Requests == 0 || s.From != s.To || s.From == 0) {
			return p, nil, planError("a part of the pattern lasts %s: give a time above zero", s.For)
		}
	}
	if p.Pattern.meanRate() == 0 {
		return p, nil, planError("rate 0: give requests per second above zero")
	}
	return p, u, nil
}

// formatPlanURL returns a URL without its password and with the braces of a pattern as they were typed.
func formatPlanURL(u *url.URL) string {
	return strings.NewReplacer("%7B", "{", "%7D", "}").Replace(u.Redacted())
}

// parseURL reads a URL as people type it: the scheme may be missing.
func parseURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, planError("no URL: give http://host:port/path")
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(placeholder.ReplaceAllString(text, "{n}")) // the % of {n%5} escapes nothing
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, planError("%s: %v: give http://host:port/path", text, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, planError("%s: requests are made with http or https", text)
	}
	if u.Host == "" || u.Hostname() == "" {
		return nil, planError("%s: it names no host: give http://host:port/path", text)
	}
	return u, nil
}
