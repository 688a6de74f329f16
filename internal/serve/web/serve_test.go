package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/serve/capturestore"
)

const fixtures = "../../diagnose/check/testdata/go.gc-rate/"

// filled makes a capture of a fixture.
func filled(t testing.TB, path, from, target string, at time.Time) {
	t.Helper()
	w, err := capture.Create(path, capture.Info{Tool: "test", Host: "test", Target: target, Start: at})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gctrace.log", "access.log.gz", "trace.out.gz", "cpu.pb.gz"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.Create(capture.Meta{Name: name, Probe: "test"})
		if err == nil {
			_, err = a.Write(b)
		}
		if err = errors.Join(err, a.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// shelved returns a directory with a sick and a healthy capture, and a private file beside
// them.
func shelved(t testing.TB) *capturestore.Shelf {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "captures")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	filled(t, filepath.Join(dir, "shop-sick.unstall"), fixtures+"sick", "shop", at)
	filled(t, filepath.Join(dir, "shop-well.unstall"), fixtures+"healthy", "shop", at.Add(time.Hour))
	filled(t, filepath.Join(dir, "..", "xq-secret.unstall"), fixtures+"healthy", "xq-other", at)
	if err := os.Symlink("../xq-secret.unstall", filepath.Join(dir, "link.unstall")); err != nil {
		t.Fatal(err)
	}
	s, err := capturestore.Open(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func started(t testing.TB, opt Options) (*Server, *httptest.Server) {
	t.Helper()
	s := New(shelved(t), opt)
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.Close(); s.Close() })
	return s, h
}

// asked sends a request and gives the answer whole.
func asked(t testing.TB, r *http.Request) (int, string, http.Header) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

func get(t testing.TB, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func post(t testing.TB, to string, form url.Values) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

// TestPages lists, searches, opens and compares.
func TestPages(t *testing.T) {
	s, h := started(t, Options{})
	for _, name := range []string{"shop-sick.unstall", "shop-well.unstall"} {
		if _, err := s.shelf.Find(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path string
		code int
		has  []string
		not  []string
	}{
		{"/", 200, []string{"shop-sick.unstall", "<code>go.gc-rate</code>", "shop-well.unstall", "Nothing wrong. ", "<code>go.gc-rate</code> Cause found. "}, []string{"figures below", "NOT SEEN", "xq-", "link.unstall", "not diagnosed yet", `action="/record"`}},
		{"/?q=gc-rate", 200, []string{"shop-sick.unstall"}, []string{"shop-well.unstall"}},
		{"/?q=nothing-is-called-so", 200, []string{"No capture has that"}, []string{"shop-sick"}},
		{"/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", 200, nil, []string{"<script>alert"}},
		{"/capture/shop-sick.unstall", 200, []string{"go.gc-rate", `<a href="/">All captures</a>`, "timeline-data"}, nil},
		{"/compare?before=shop-sick.unstall&after=shop-well.unstall", 200, []string{"Before and after", "Before: shop-sick.unstall"}, []string{"/captures/"}},
		{"/compare?run=shop-well.unstall&run=shop-sick.unstall", 200, []string{"Before and after", "Before: shop-sick.unstall"}, nil},
		{"/compare?before=shop-sick.unstall", 400, []string{"tick two captures"}, nil},
		{"/compare?run=shop-sick.unstall", 400, []string{"tick two captures"}, nil},
		{"/?sort=service", 200, []string{"shop · 2026-11-23", "shop-sick.unstall"}, nil},
		{"/recording", 303, nil, nil},
		{"/nothing", 404, nil, nil},
	} {
		code, text, _ := asked(t, get(t, h.URL+c.path))
		if code != c.code {
			t.Errorf("%s answers %d: %.300s", c.path, code, text)
		}
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", c.path, want)
			}
		}
		for _, bad := range c.not {
			if strings.Contains(text, bad) {
				t.Errorf("%s says %q", c.path, bad)
			}
		}
	}
	_, text, _ := asked(t, get(t, h.URL+"/?sort=verdict"))
	if sick, well := strings.Index(text, "shop-sick.unstall"), strings.Index(text, "shop-well.unstall"); sick > well {
		t.Error("sorted by verdict, who is healthy comes first")
	}
	_, text, _ = asked(t, get(t, h.URL+"/"))
	if sick, well := strings.Index(text, "shop-sick.unstall"), strings.Index(text, "shop-well.unstall"); sick < well {
		t.Error("sorted by time, the older comes first")
	}
}

// TestGroups lists the captures of each service by day, the latest first, and each day once.
func TestGroups(t *testing.T) {
	s, h := started(t, Options{})
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	filled(t, filepath.Join(s.shelf.Dir(), "next-day.unstall"), fixtures+"healthy", "shop", noon)
	filled(t, filepath.Join(s.shelf.Dir(), "bakery.unstall"), fixtures+"healthy", "bakery", noon)
	_, text, _ := asked(t, get(t, h.URL+"/?sort=service"))
	last := -1
	for _, want := range []string{"bakery · 2026-11-24", `"/capture/bakery.unstall"`, "shop · 2026-11-24", `"/capture/next-day.unstall"`,
		"shop · 2026-11-23", `"/capture/shop-well.unstall"`, `"/capture/shop-sick.unstall"`} {
		if n := strings.Count(text, want); n != 1 {
			t.Errorf("%s is there %d times", want, n)
		}
		at := strings.Index(text, want)
		if at < last {
			t.Errorf("%s is above what belongs before it", want)
		}
		last = at
	}
}

// TestBroken lists what is named like a capture and is none, with the reason, and goes on.
func TestBroken(t *testing.T) {
	s, h := started(t, Options{})
	whole, err := os.ReadFile(filepath.Join(s.shelf.Dir(), "shop-well.unstall"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"empty.unstall": nil, "cut.unstall": whole[:100], "text.unstall": []byte("once upon a time\n")} {
		if err := os.WriteFile(filepath.Join(s.shelf.Dir(), name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, text, _ := asked(t, get(t, h.URL+"/"))
	for name, why := range map[string]string{"empty.unstall": "is empty: nothing was recorded", "cut.unstall": "was cut off before anything was recorded", "text.unstall": "is not a capture"} {
		if !regexp.MustCompile(`(?s)` + regexp.QuoteMeta(name) + `</th><td[^>]*>` + regexp.QuoteMeta(why)).MatchString(text) {
			t.Errorf("%s is not listed with why: %s", name, why)
		}
	}
	if !strings.Contains(text, "shop-well.unstall") {
		t.Error("the others are not listed")
	}
}

// TestOutside asks for what is not in the directory.
func TestOutside(t *testing.T) {
	_, h := started(t, Options{})
	for _, path := range []string{"/capture/..%2fxq-secret.unstall", "/capture/%2e%2e%2fxq-secret.unstall", "/capture/../../xq-secret.unstall", "/capture/link.unstall", "/capture/..", "/capture/.%2e",
		"/capture/%2fetc%2fpasswd", "/capture/..%5cxq-secret.unstall", "/capture/xq-secret.unstall%00", "/compare?before=../xq-secret.unstall&after=shop-sick.unstall", "/compare?before=/etc/passwd&after=shop-sick.unstall"} {
		r := get(t, h.URL+"/")
		at, err := url.Parse(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = at
		code, text, _ := asked(t, r)
		if code < 300 || strings.Contains(text, "xq-other") {
			t.Errorf("%s answers %d: %.200s", path, code, text)
		}
	}
}

// TestRefused sends requests that no page of ours sends.
func TestRefused(t *testing.T) {
	recorded := 0
	s, h := started(t, Options{Record: func(context.Context, string, time.Duration, bool) (string, string, error) {
		recorded++
		return "shop-sick.unstall", "", nil
	}})
	good := url.Values{"token": {s.form}, "target": {"shop"}, "seconds": {"5"}}
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""} {
		r := get(t, h.URL+"/")
		r.Host = host
		if host == "" {
			r.Host = "x y"
		}
		if code, text, _ := asked(t, r); code != http.StatusMisdirectedRequest && code != http.StatusBadRequest {
			t.Errorf("by the name %q it answers %d: %.100s", host, code, text)
		}
	}
	for name, change := range map[string]func(*http.Request){
		"a foreign page":           func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"a foreign site's request": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"no origin at all":         func(r *http.Request) { r.Header.Set("Origin", "null") },
		"another port":             func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") },
	} {
		r := post(t, h.URL+"/record", good)
		change(r)
		if code, text, _ := asked(t, r); code != http.StatusForbidden {
			t.Errorf("%s: %d: %.100s", name, code, text)
		}
	}
	for name, form := range map[string]url.Values{
		"no token":  {"target": {"shop"}, "seconds": {"5"}},
		"bad token": {"token": {"x"}, "target": {"shop"}, "seconds": {"5"}},
		"an hour":   {"token": {s.form}, "target": {"shop"}, "seconds": {"3600"}},
		"nobody":    {"token": {s.form}, "target": {" "}, "seconds": {"5"}},
	} {
		if code, text, _ := asked(t, post(t, h.URL+"/record", form)); code != http.StatusForbidden && code != http.StatusBadRequest {
			t.Errorf("%s: %d: %.100s", name, code, text)
		}
	}
	if code, _, _ := asked(t, get(t, h.URL+"/record?token="+s.form+"&target=shop&seconds=5")); code != http.StatusMethodNotAllowed {
		t.Errorf("by GET: %d", code)
	}
	garbage := bytes.Repeat([]byte("x=\xff&"), 10<<20/4)
	for name, body := range map[string]io.Reader{"10 MB": bytes.NewReader(garbage), "10 MB of unknown length": io.MultiReader(bytes.NewReader(garbage))} {
		r, err := http.NewRequest(http.MethodPost, h.URL+"/record", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		client := &http.Client{}
		answer, err := client.Do(r)
		if err != nil { // it may end the connection while we still send
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
	if recorded != 0 {
		t.Errorf("%d recordings were begun", recorded)
	}
	_, _, header := asked(t, get(t, h.URL+"/"))
	if header.Get("X-Frame-Options") != "DENY" || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", header)
	}
}

// TestToken asks with and without it.
func TestToken(t *testing.T) {
	_, h := started(t, Options{Token: "right", Names: []string{"captures.example"}})
	for _, path := range []string{"/", "/?token=wrong", "/?token=", "/capture/shop-sick.unstall", "/recording"} {
		if code, text, _ := asked(t, get(t, h.URL+path)); code != http.StatusUnauthorized || strings.Contains(text, "shop") {
			t.Errorf("%s: %d", path, code)
		}
	}
	code, _, header := asked(t, get(t, h.URL+"/?q=shop&token=right"))
	cookie := header.Get("Set-Cookie")
	if code != http.StatusSeeOther || header.Get("Location") != "/?q=shop" || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("%d %v", code, header)
	}
	for name, with := range map[string]func(*http.Request){
		"the cookie": func(r *http.Request) { r.Header.Set("Cookie", strings.Split(cookie, ";")[0]) },
		"a bearer":   func(r *http.Request) { r.Header.Set("Authorization", "Bearer right") },
		"its name": func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer right")
			r.Host = "Captures.Example:80"
		},
	} {
		r := get(t, h.URL+"/")
		with(r)
		if code, _, _ := asked(t, r); code != http.StatusOK {
			t.Errorf("with %s: %d", name, code)
		}
	}
	r := get(t, h.URL+"/")
	r.Header.Set("Authorization", "Bearer wrong")
	if code, _, _ := asked(t, r); code != http.StatusUnauthorized {
		t.Errorf("with a wrong bearer: %d", code)
	}
}

// TestProcesses lists what runs: of a process of an unknown runtime what is known, without a separator before it. The page names its whole folder.
func TestProcesses(t *testing.T) {
	s, h := started(t, Options{List: func(context.Context) ([]discover.Found, error) {
		return []discover.Found{{Target: discover.Target{PID: 7, Name: "till"}, CPU: .5, RSS: 1 << 20}}, nil
	}})
	_, text, _ := asked(t, get(t, h.URL+"/"))
	for _, want := range []string{">0.50 CPUs · 1 MiB<", s.shelf.Dir()} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	if !filepath.IsAbs(s.shelf.Dir()) {
		t.Errorf("the folder is called %s", s.shelf.Dir())
	}
}

var field = regexp.MustCompile(`name="token" value="([^"]+)"`)

// TestRecord begins a recording from the page, waits as a browser does, and is led to the report.
func TestRecord(t *testing.T) {
	begun, end := make(chan string, 2), make(chan error)
	s, h := started(t, Options{Record: func(ctx context.Context, target string, how time.Duration, passive bool) (string, string, error) {
		begun <- fmt.Sprint(target, " ", how, " ", passive)
		select {
		case err := <-end:
			return "shop-sick.unstall", "", err
		case <-ctx.Done():
			return "", "", ctx.Err()
		}
	}})
	_, text, _ := asked(t, get(t, h.URL+"/"))
	token := field.FindStringSubmatch(text)
	if token == nil {
		t.Fatal("the page has no form to record")
	}
	form := url.Values{"token": {token[1]}, "target": {"http://me:hunter2@127.0.0.1:6060"}, "seconds": {"5"}, "passive": {"1"}}
	ours := func() *http.Request {
		r := post(t, h.URL+"/record", form)
		r.Header.Set("Origin", h.URL)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		return r
	}
	if code, text, _ := asked(t, ours()); code != http.StatusSeeOther {
		t.Fatalf("%d: %.300s", code, text)
	}
	if got := <-begun; got != "http://me:hunter2@127.0.0.1:6060 5s true" {
		t.Errorf("begun %s", got)
	}
	if code, text, _ := asked(t, get(t, h.URL+"/recording")); code != http.StatusOK || !strings.Contains(text, `http-equiv="refresh"`) || strings.Contains(text, "hunter2") {
		t.Errorf("%d: %.300s", code, text)
	}
	if code, _, _ := asked(t, ours()); code != http.StatusConflict {
		t.Errorf("a second one: %d", code)
	}
	end <- nil
	led := func() string {
		for s.recordingTarget() != "" {
			time.Sleep(time.Millisecond)
		}
		_, text, header := asked(t, get(t, h.URL+"/recording"))
		return header.Get("Location") + regexp.MustCompile(`could not be recorded`).FindString(text)
	}
	if got := led(); got != "/capture/shop-sick.unstall" {
		t.Errorf("led to %q", got)
	}
	_, _, _ = asked(t, ours())
	<-begun
	end <- errors.New("shop: permission denied")
	if got := led(); got != "could not be recorded" {
		t.Errorf("of a failure it says %q", got)
	}
	_, _, _ = asked(t, ours())
	<-begun
	s.Close() // ends the recording, and waits for that
	if s.recordingTarget() != "" {
		t.Error("a recording goes on behind the server")
	}
}
