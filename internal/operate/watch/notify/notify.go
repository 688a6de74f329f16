// Package notify sends the watcher's events to chats and alert systems. Each event is one HTTP POST in the form that the
// receiver expects.
//
// The package's opinion: a receiver that is down must cost nothing else. Messages wait in a bounded queue and are retried
// while the receiver may take them later. They are given up when it will not, or when they are old; lost messages are
// counted and reported. A webhook's URL is a password, so only its host is ever printed, and no redirect is followed with
// it.
package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Event is what a receiver is sent.
type Event struct {
	Kind     string // "alarm", "resolved", "diagnosis"
	Text     string // one line
	Time     time.Time
	Since    time.Time // when the alarm began
	Host     string
	Target   string
	Service  string
	Rule     string
	Severity string // "page", "warn", "note"; "" unknown
	Look     string // where to look next
	Cause    string // of a diagnosis
	Capture  string
	Line     []byte // the log's line, JSON
}

// Form is the form of message that a receiver expects.
type Form struct {
	Name   string
	Encode func(Event) []byte // returns nil for an event that is not sent
	Bearer bool               // it takes a bearer token
	host   func(*url.URL) bool
}

// Bounds of the queue for a receiver.
const (
	mostWaiting = 200
	mostTries   = 8
	oldest      = 15 * time.Minute // age at which an event is given up
	firstPause  = time.Second
	longest     = 2 * time.Minute // the longest pause between two tries
	patience    = 10 * time.Second
)

// Hook is a receiver.
type Hook struct {
	Form  Form
	Where string // its host, the only part that may be printed

	url    string
	token  string
	client *http.Client
	now    func() time.Time
	pause  func(ctx context.Context, d time.Duration)

	mu      sync.Mutex
	waiting []message
	lost    int64
	wake    chan struct{}
}

type message struct {
	text  []byte
	at    time.Time
	tries int
}

// Open returns the receiver that [FORM=]URL names. Without a form the URL decides it, else the form is the generic one.
func Open(arg, token string) (*Hook, error) {
	var form Form
	name, address, given := strings.Cut(arg, "=")
	if !given || strings.Contains(name, "://") {
		name, address = "", arg
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("not an address: give https://HOST/PATH, or FORM=https://HOST/PATH") // the parser's error quotes the whole address
	}
	for _, f := range Forms {
		if name == f.Name || name == "" && f.host != nil && f.host(u) {
			form = f
			break
		}
	}
	switch {
	case form.Encode == nil && name != "":
		return nil, fmt.Errorf("%s: unknown form: give %s", name, strings.Join(Names(), ", "))
	case form.Encode == nil:
		form = Forms[0]
	}
	h := &Hook{Form: form, Where: u.Scheme + "://" + u.Host, url: address, now: time.Now, pause: sleepWithContext, wake: make(chan struct{}, 1),
		client: &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if form.Bearer {
		h.token = token
	}
	return h, nil
}

// Tell queues an event to be sent, without waiting.
func (h *Hook) Tell(e Event) {
	text := h.Form.Encode(e)
	if text == nil {
		return
	}
	h.mu.Lock()
	if h.waiting = append(h.waiting, message{text: text, at: h.now()}); len(h.waiting) > mostWaiting {
		h.waiting = h.waiting[1:]
		h.lost++
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Test sends a message that says it is a test, once and without waiting in the queue. The error says what the receiver answered.
func (h *Hook) Test(ctx context.Context, e Event) error {
	text := h.Form.Encode(e)
	if text == nil {
		return fmt.Errorf("%s sends no messages of kind %s", h.Form.Name, e.Kind)
	}
	return h.postMessage(ctx, text)
}

// Lost returns how many events were given up.
func (h *Hook) Lost() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// Run sends waiting messages until the context ends; then each gets one more try. Run calls say about a trouble, and over
// when sending works again.
func (h *Hook) Run(ctx context.Context, say, over func(text string)) {
	for {
		select {
		case <-h.wake:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience/2)
			defer cancel()
			for m, ok := h.oldestWaiting(); ok; m, ok = h.oldestWaiting() {
				if h.postMessage(last, m.text) != nil {
					return
				}
				h.removeOldest(false)
			}
			return
		}
		for ctx.Err() == nil {
			m, ok := h.oldestWaiting()
			if !ok {
				break
			}
			err := h.postMessage(ctx, m.text)
			var refused *refusal
			final := errors.As(err, &refused) && refused.final
			switch {
			case err == nil:
				h.removeOldest(false)
				over("receives alarms again")
			case ctx.Err() != nil:
			case final || m.tries+1 >= mostTries || h.now().Sub(m.at) > oldest:
				h.removeOldest(true)
				say(fmt.Sprintf("did not receive an alarm: %v", err))
			default:
				say(fmt.Sprintf("does not receive alarms: %v; unstall tries again", err))
				h.countTry()
				h.pause(ctx, retryDelay(m.tries, refused))
			}
		}
	}
}

// oldestWaiting returns the oldest waiting message.
func (h *Hook) oldestWaiting() (message, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.waiting) == 0 {
		return message{}, false
	}
	return h.waiting[0], true
}

// removeOldest removes the oldest message, and counts it if it was lost.
func (h *Hook) removeOldest(lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.waiting) > 0 {
		h.waiting = h.waiting[1:]
	}
	if lost {
		h.lost++
	}
}

// countTry counts a try of the oldest message.
func (h *Hook) countTry() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.waiting) > 0 {
		h.waiting[0].tries++
	}
}

// retryDelay returns the pause until the next try: twice as long each time, or as long as the receiver asks for.
func retryDelay(tries int, r *refusal) time.Duration {
	d := min(firstPause<<min(tries, 10), longest)
	if r != nil && r.after > 0 {
		d = min(max(d, r.after), longest)
	}
	return d
}

func sleepWithContext(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// refusal is an answer other than success.
type refusal struct {
	status int
	final  bool          // a later try will fail the same way
	after  time.Duration // the pause that the receiver asks for, 0 if none
}

func (r *refusal) Error() string {
	text := "HTTP status " + strconv.Itoa(r.status)
	if r.status == http.StatusUnauthorized || r.status == http.StatusForbidden || r.status == http.StatusNotFound || r.status == http.StatusGone {
		text += ": the address or token is wrong, or was withdrawn"
	}
	return text
}

func (h *Hook) postMessage(ctx context.Context, text []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(text))
	if err != nil {
		return errors.New("the request cannot be made")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "unstall")
	if h.token != "" {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		var of *url.Error // its text has the whole address
		if errors.As(err, &of) {
			err = of.Err
		}
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is reused
	if resp.StatusCode/100 == 2 {
		return nil
	}
	r := &refusal{status: resp.StatusCode, final: resp.StatusCode/100 != 5 && resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusRequestTimeout}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		r.after = time.Duration(min(s, 3600)) * time.Second
	}
	return r
}
