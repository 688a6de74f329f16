package journey

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/load"
)

// recorder keeps the rows of a run.
type recorder struct {
	mu   sync.Mutex
	rows []load.Row
}

func (o *recorder) Progress(load.Snapshot) {}

func (o *recorder) Rows(rows []load.Row) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows = append(o.rows, rows...)
	return nil
}

func read(t testing.TB, text string) *Script {
	t.Helper()
	s, err := Read("journey.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t testing.TB, s *Script, opt Options) (*load.Result, []load.Row) {
	t.Helper()
	var o recorder
	r, err := Run(t.Context(), s, opt, &o)
	if err != nil {
		t.Fatal(err)
	}
	if u := r.Users; u.Arrived != u.Finished+u.Failed+u.Cut || int64(len(o.rows)) != r.Offered {
		t.Errorf("%+v, %d rows of %d requests", u, len(o.rows), r.Offered)
	}
	for _, q := range o.rows {
		if q.End < q.Intended || q.Lag < 0 || q.Lag > q.End-q.Intended || q.Sent != 0 && q.Sent < q.Intended {
			t.Fatalf("%+v", q)
		}
	}
	return r, o.rows
}

// The journey uses every feature, each where the site fails without it.
const everything = `
vars:
  base: BASE
  name: ada
  password: secret
base: ${base}
headers: {X-User: "${user}"}
journeys:
  all:
    - get: /
      check: {status: 200, contains: home}
      resources: true
    - name: login page
      get: /login
      take:
        token: {selector: "input[name=csrf]", attribute: value}
        title: {selector: title}
        again: {regexp: 'value="([^"]+)"'}
        session: {cookie: session}
        none: {header: X-None, default: nothing}
    - name: wrong password
      post: /session
      form: {csrf: "${token}", user: "${name}", password: wrong, lang: en, stay: on}
      check: 403
    - name: login
      post: /session
      form: {csrf: "${again}", user: "${name}", password: "${password}", lang: en, stay: on}
      check: {status: 2xx, contains: "hello ${name}", lacks: "${none}", selector: [h1, "a[href]"]}
    - name: follow
      follow: "a[href='/offers']"
      check: 200
    - name: items
      get: /items
      take: {id: {json: "$.items[1].id"}, all: {json: "$.items[*].name", choose: random}}
      check: {json: $.items, below: 5s}
    - name: item
      get: /item/${id}
      check: {contains: item 8}
    - repeat: 3
      steps:
        - name: once more
          get: /item/3
          think: 1ms..5ms
scenarios:
  some: {journeys: {all: 1}, arrivals: {users: 5, for: 500ms}}
`

func TestEverything(t *testing.T) {
	s := newSite(t)
	r, rows := run(t, read(t, strings.ReplaceAll(everything, "BASE", s.URL)), Options{})
	if r.Users.Finished != 5 || len(r.ErrorKinds) != 0 {
		t.Fatalf("%+v %v", r.Users, r.ErrorKinds)
	}
	j := r.Journeys[0]
	if len(j.Steps) != 8 || j.Steps[0].Name != "GET /" || j.Steps[0].Requests < 5*30 || j.Steps[7].Count != 15 || j.Steps[2].Errors != 5 {
		t.Errorf("%+v", j.Steps)
	}
	for _, q := range rows {
		if q.Journey != "all" || q.Step == "" {
			t.Fatalf("%+v", q)
		}
	}
}

// TLS and HTTP/2: what the server offers is spoken, and HTTP/1.1 where that is asked for.
func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		offers bool
		http   string
		want   string
	}{{true, "auto", "HTTP/2.0"}, {true, "1.1", "HTTP/1.1"}, {false, "auto", "HTTP/1.1"}} {
		var mu sync.Mutex
		protocols, remotes := map[string]int{}, map[string]int{}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			protocols[r.Proto]++
			remotes[r.RemoteAddr]++
			mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			if r.URL.Path == "/" {
				w.Header().Set("Content-Type", "text/html")
				for i := range 30 {
					fmt.Fprintf(w, "<img src=/%d.png>", i)
				}
			}
		}))
		server.EnableHTTP2 = c.offers
		server.StartTLS()
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		text := fmt.Sprintf("base: %s\nhttp: %q\nresources: true\njourneys: {a: [{get: /}]}\nscenarios: {b: {journey: a, arrivals: {users: 2, for: 200ms}}}", server.URL, c.http)
		r, _ := run(t, read(t, text), Options{Roots: roots})
		server.Close()
		most := map[string]int{"HTTP/2.0": 1, "HTTP/1.1": 6}[c.want]
		if protocols[c.want] != 64 || len(protocols) != 1 || len(remotes) != 2*most || r.Users.Finished != 2 {
			t.Errorf("%v: %v over %d connections, %+v %v", c, protocols, len(remotes), r.Users, r.ErrorKinds)
		}
	}
}

// A failure ends the journey of its user and is one line. The measurements so far are kept.
func TestWhatGoesWrong(t *testing.T) {
	s := newSite(t)
	step := func(text string) string {
		return "base: " + s.URL + "\njourneys:\n  a:\n    - get: /items\n    - " + text + "\n    - get: /item/9\nscenarios: {b: {journey: a, arrivals: {users: 3, for: 100ms}}}"
	}
	for _, c := range []struct{ step, want string }{
		{"{name: x, get: /account, check: 200}", `step "x" of a (journey.yaml:5): status 403`},
		{"{name: x, get: /item/1, check: {contains: none}}", `step "x" of a (journey.yaml:5): the answer does not contain "none"`},
		{"{name: x, get: /home, take: {y: {selector: 'a.none'}}}", `step "x" of a (journey.yaml:5): y: selector a.none matches nothing`},
		{"{name: x, get: /items, take: {y: {selector: a}}}", `step "x" of a (journey.yaml:5): y: the answer is not HTML`},
		{"{name: x, get: /items, take: {y: {json: $.none}}}", `step "x" of a (journey.yaml:5): y: $.none is not in the answer`},
		{"{name: x, get: /item/1, take: {y: {json: $.none}}}", `step "x" of a (journey.yaml:5): y: the answer is not JSON`},
		{"{name: x, follow: a}", `step "x" of a (journey.yaml:5): the answer before it is not HTML`},
	} {
		r, rows := run(t, read(t, step(c.step)), Options{})
		if r.Users.Failed != 3 || len(r.ErrorKinds) != 1 || r.ErrorKinds[0].Text != c.want || r.ErrorKinds[0].Count != 3 || len(rows) < 3 || r.Journeys[0].Steps[2].Count != 0 {
			t.Errorf("%s: %+v %v, want %s", c.step, r.Users, r.ErrorKinds, c.want)
		}
	}
	r, _ := run(t, read(t, step("{name: x, get: /account, continue: true}")), Options{})
	if r.Users.Finished != 3 || r.Journeys[0].Steps[2].Count != 3 {
		t.Errorf("it goes on: %+v", r)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	script := read(t, "base: "+server.URL+"\njourneys: {a: [{get: /}]}\nscenarios: {b: {journey: a, arrivals: {users: 2, for: 100ms}}}")
	r, err := Run(t.Context(), script, Options{}, nil)
	if r == nil || err == nil || !strings.Contains(err.Error(), "cannot be loaded: connection refused") || strings.Contains(err.Error(), "\n") || r.Users.Failed != 2 {
		t.Errorf("%v %+v", err, r)
	}
}

// A run that is ended early ends at once, with users who think, wait for an answer, and are yet to come.
func TestEnded(t *testing.T) {
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			<-hold
		}
	}))
	defer server.Close()
	defer close(hold)
	text := "base: " + server.URL + "\njourneys: {a: [{get: /, think: 1h}, {get: /}], b: [{get: /held}]}\nscenarios: {a: {journey: a, arrivals: {rate: 20, for: 1h}}, b: {journey: b, arrivals: {rate: 20, for: 1h}}}"
	ctx, cancel := context.WithCancel(t.Context())
	var seen sync.Once
	o := &watcher{func(s load.Snapshot) {
		if s.Users > 10 {
			seen.Do(cancel)
		}
	}}
	r, err := Run(ctx, read(t, text), Options{}, o)
	if err != nil || r.Users.Cut != r.Users.Arrived || r.Users.Cut <= 10 || r.Unfinished == 0 {
		t.Errorf("%v %+v", err, r)
	}
	r, _ = run(t, read(t, "base: "+server.URL+"\njourneys: {a: [{get: /, think: 1h}, {get: /}]}\nscenarios: {a: {journey: a, arrivals: {rate: 100, for: 1h}}}"), Options{For: time.Second})
	if u := r.Users; u.Arrived == 0 || u.Arrived > 105 || u.Cut != u.Arrived {
		t.Errorf("for a second: %+v", u)
	}
}

type watcher struct{ progress func(load.Snapshot) }

func (w *watcher) Progress(s load.Snapshot) { w.progress(s) }
func (w *watcher) Rows([]load.Row) error    { return nil }

// A connection that the server closes while a user thinks costs no request.
func TestClosedWhileThinking(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.IdleTimeout = 20 * time.Millisecond
	server.Start()
	defer server.Close()
	r, rows := run(t, read(t, "base: "+server.URL+"\njourneys: {a: [{post: /, think: 60ms}, {post: /}]}\nscenarios: {a: {journey: a, arrivals: {users: 5, for: 50ms}}}"), Options{})
	if r.Users.Finished != 5 || len(rows) != 10 || r.Errors != 0 {
		t.Errorf("%+v %v", r.Users, r.ErrorKinds)
	}
}

// The time of a step equals the server's measurement within 2 %: from the first request that the server saw to the end of the last. If
// the generator reports that it did not get CPU time, the test decides nothing.
func TestLatenciesAreTheServers(t *testing.T) {
	held := 0
	for range 6 {
		off, lag := latenciesOff(t)
		t.Logf("off by %.2f %% at most, the generator late by %.2f ms", 100*off, lag)
		if off <= .02 {
			return
		}
		if lag < 2 {
			held++
		}
	}
	if held < 3 {
		t.Skip("others hold this machine's CPUs: the generator was late nearly always")
	}
	t.Fatal("off by more than 2 % though the generator was on time")
}

func latenciesOff(t *testing.T) (most, late float64) {
	s := newSite(t)
	s.wait = func(path string) time.Duration {
		switch {
		case path == "/home" || path == "/login":
			return 80 * time.Millisecond
		case strings.HasPrefix(path, "/item"):
			return 50 * time.Millisecond
		}
		return 30 * time.Millisecond
	}
	var mu sync.Mutex
	type span struct{ from, to time.Time }
	seen := map[string]map[string]*span{} // by step, then user
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		s.Config.Handler.ServeHTTP(w, r)
		mu.Lock()
		defer mu.Unlock()
		step, user := r.Header.Get("X-Step"), r.Header.Get("X-User")
		if seen[step] == nil {
			seen[step] = map[string]*span{}
		}
		x := seen[step][user]
		if x == nil {
			x = &span{from: begin}
			seen[step][user] = x
		}
		x.to = time.Now()
	}))
	defer front.Close()
	text := `
headers: {X-User: "${user}"}
base: ` + front.URL + `
journeys:
  a:
    - {name: page, get: /frame/one, resources: true, headers: {X-Step: page}, think: 30ms..80ms}
    - {name: redirected, get: /moved, headers: {X-Step: redirected}, think: 30ms..80ms}
    - {name: item, get: /item/1, headers: {X-Step: item}}
scenarios: {b: {journey: a, arrivals: {rate: 15, for: 2s}}}`
	r, _ := run(t, read(t, text), Options{})
	for _, step := range r.Journeys[0].Steps {
		var theirs []float64
		for _, x := range seen[step.Name] {
			theirs = append(theirs, float64(x.to.Sub(x.from))/1e6)
		}
		slices.Sort(theirs)
		if len(theirs) != 30 {
			t.Fatalf("%s: %d users", step.Name, len(theirs))
		}
		p50 := (theirs[14] + theirs[15]) / 2
		t.Logf("%s: p50 %.2f ms, the server's %.2f ms; lag p99 %.2f ms", step.Name, *step.Latency.P50, p50, *step.SendLag.P99)
		most = max(most, *step.Latency.P50/p50-1, 1-*step.Latency.P50/p50)
		late = max(late, *step.SendLag.P99)
	}
	return most, late
}

// Users do not wait for each other. They arrive on time at a site that answers nothing, in the ratio of their weights, three to one.
func TestArrivals(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { time.Sleep(300 * time.Millisecond) }))
	defer server.Close()
	text := "base: " + server.URL + "\nseed: 1\njourneys: {a: [{get: /a}], b: [{get: /b}]}\nscenarios:\n  one: {journeys: {a: 3, b: 1}, arrivals: [{nothing: 100ms}, {ramp: [0, 400], for: 1s}]}\n  two: {journey: b, arrivals: {steps: [50, 100], for: 1s}}"
	begin := time.Now().UnixNano()
	r, rows := run(t, read(t, text), Options{})
	a, b := r.Journeys[0].Users.Arrived, r.Journeys[1].Users.Arrived
	if a < 120 || a > 180 || a+b < 273 || a+b > 277 {
		t.Errorf("%d and %d users", a, b)
	}
	early := 0
	for _, q := range rows {
		if q.Route == "GET /a" && q.Intended-begin < int64(100*time.Millisecond) {
			early++
		}
		if q.Outcome != evidence.OK {
			t.Fatalf("%+v", q)
		}
	}
	if early > 0 {
		t.Errorf("%d came while nobody should", early)
	}
}
