package exporter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Store is a system that figures are sent to.
type Store struct {
	Name   string // its name in messages: "remote write"
	Where  string // its address without secrets
	Encode func(State) (payload []byte, points int)
	Send   func(ctx context.Context, payload []byte) error
}

// ErrRefused is wrapped by errors of a store that refuses a payload each time it is sent.
var ErrRefused = errors.New("it rejects the data")

// ErrToken is wrapped by errors of a store that does not recognise the sender.
var ErrToken = errors.New("the token or password is wrong")

// Bounds of the queue for a store: an hour of states every 15 s, or this many bytes.
const (
	mostStates = 240
	mostBytes  = 8 << 20
)

// Pusher sends states to a store. States that the store does not take wait; those beyond the queue's bound are lost.
type Pusher struct {
	Store
	Say func(what, text string) // called once when a trouble begins
	OK  func(what, text string) // called when it is over

	mu      sync.Mutex
	waiting []payload
	bytes   int
	lost    int64 // points
	sent    int64
	wake    chan struct{}
}

type payload struct {
	text   []byte
	points int
}

// NewPusher returns a pusher to a store.
func NewPusher(s Store, say, ok func(what, text string)) *Pusher {
	return &Pusher{Store: s, Say: say, OK: ok, wake: make(chan struct{}, 1)}
}

// Put queues a state to be sent.
func (p *Pusher) Put(s State) {
	text, n := p.Encode(s)
	if n == 0 {
		return
	}
	p.mu.Lock()
	p.waiting = append(p.waiting, payload{text, n})
	p.bytes += len(text)
	for len(p.waiting) > mostStates || p.bytes > mostBytes && len(p.waiting) > 1 {
		p.dropOldest()
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// dropOldest drops the oldest payload and counts its points as lost. The caller holds mu.
func (p *Pusher) dropOldest() {
	p.bytes -= len(p.waiting[0].text)
	p.lost += int64(p.waiting[0].points)
	p.waiting = append(p.waiting[:0], p.waiting[1:]...)
}

// Lost returns how many points were given up, how many the store took, and how many wait.
func (p *Pusher) Lost() (lost, sent, waiting int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.waiting {
		waiting += int64(x.points)
	}
	return p.lost, p.sent, waiting
}

// Pauses between two tries while a store takes nothing.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	patience     = 10 * time.Second // for an answer
)

// Run sends until the context ends.
func (p *Pusher) Run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		p.mu.Lock()
		n := len(p.waiting)
		var first payload
		if n > 0 {
			first = p.waiting[0]
		}
		p.mu.Unlock()
		if n == 0 {
			select {
			case <-p.wake:
			case <-ctx.Done():
			}
			continue
		}
		of, cancel := context.WithTimeout(ctx, patience)
		err := p.Send(of, first.text)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil, errors.Is(err, ErrRefused):
			p.mu.Lock()
			// The oldest payload may have been given up since.
			if len(p.waiting) > 0 && &p.waiting[0].text[0] == &first.text[0] {
				if err == nil {
					p.sent += int64(first.points)
					p.bytes -= len(first.text)
					p.waiting = append(p.waiting[:0], p.waiting[1:]...)
				} else {
					p.dropOldest()
				}
			}
			p.mu.Unlock()
			pause = firstPause
			if err != nil {
				p.Say(p.Name, fmt.Sprintf("%s to %s: %v", p.Name, p.Where, err))
				continue
			}
			p.OK(p.Name, fmt.Sprintf("%s to %s: works again", p.Name, p.Where))
		default:
			p.Say(p.Name, fmt.Sprintf("%s to %s: %v; figures wait, at most %d states, then the oldest are lost", p.Name, p.Where, err, mostStates))
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			pause = min(2*pause, longestPause)
		}
	}
}

// Auth identifies the sender to a store.
type Auth struct {
	Token          string // sent as a bearer token
	User, Password string // from the URL
}

// parseEndpoint splits a URL into the address and its user and password.
func parseEndpoint(address string) (where string, a Auth, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", a, fmt.Errorf("%q is not a URL: give http://HOST:PORT/PATH", strings.ReplaceAll(address, "\n", " "))
	}
	if u.User != nil {
		a.User = u.User.Username()
		a.Password, _ = u.User.Password()
		u.User = nil
	}
	return u.String(), a, nil
}

// postPayload sends a payload by HTTP.
func postPayload(ctx context.Context, client *http.Client, where string, auth Auth, header map[string]string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, where, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	switch {
	case auth.Token != "":
		r.Header.Set("Authorization", "Bearer "+auth.Token)
	case auth.User != "":
		r.SetBasicAuth(auth.User, auth.Password)
	}
	answer, err := client.Do(r)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		return err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
	said := strings.Join(strings.Fields(string(text)), " ")
	switch c := answer.StatusCode; {
	case c/100 == 2:
		return nil
	case c == http.StatusUnauthorized || c == http.StatusForbidden:
		return fmt.Errorf("%s: %w: give another by --token-file or in the URL", answer.Status, ErrToken)
	case c == http.StatusTooManyRequests, c >= 500, c == http.StatusNotFound, c == http.StatusRequestTimeout:
		return fmt.Errorf("%s %s", answer.Status, said) // from a proxy, or from a store that is starting
	default:
		return fmt.Errorf("%w: %s %s", ErrRefused, answer.Status, said)
	}
}

// newHTTPClient returns a client that keeps one connection and follows no redirects.
func newHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.IdleConnTimeout = 1, 2*time.Minute
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
