package journey

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/collect/load"
)

// shopping is what both do: a main page behind redirects, a login form, and what is behind it.
const shopping = `
base: BASE
resources: true
viewport: 1280x720
journeys:
  shopping:
    - name: home
      get: /
    - name: login page
      get: /login
    - name: login
      submit: "#login"
      form: {user: ada, password: secret}
      check: {selector: h1, contains: hello ada}
    - name: again
      submit: "#again"
      check: {selector: .done}
scenarios:
  one: {journey: shopping, arrivals: {users: 1, for: 1s}}
`

// What Chromium requests of a site on the same journey is what we request, but for what scripts fetch; what we
// request beside that is what only a layout, or the cascade of rules, tells.
func TestRequestsAreChromiums(t *testing.T) {
	s := newSite(t)
	browser := startChromium(t)
	result := goThrough(t, strings.ReplaceAll(shopping, "BASE", s.URL))
	if result.Users.Finished != 1 {
		t.Fatalf("%+v: %v", result.Users, result.ErrorKinds)
	}
	ours := s.hits()
	s.forget()
	if _, err := chromedp.Call(browser, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(browser, chromedp.EmulateViewport(1280, 720)); err != nil {
		t.Fatal(err)
	}
	do := func(expression string) chromedp.Action[chromedp.Void] {
		return chromedp.Evaluate[chromedp.Void](expression)
	}
	visit := func(at string, steps ...chromedp.Action[chromedp.Void]) {
		idle := make(chan struct{}, 1)
		ctx, stop := context.WithTimeout(browser, time.Minute)
		defer stop()
		began := false
		err := chromedp.Listen(ctx, func(e any) {
			l, ok := e.(*page.EventLifecycleEvent)
			began = began || ok && l.Name == "init"
			if ok && began && l.Name == "networkIdle" {
				select {
				case idle <- struct{}{}:
				default:
				}
			}
		})
		if err == nil {
			err = chromedp.Do(ctx, steps...)
		}
		if err != nil {
			t.Fatal(err)
		}
		for where := ""; where != s.URL+at; {
			select {
			case <-idle:
			case <-ctx.Done():
				t.Fatalf("Chromium never got done with %s; it is at %s", at, where)
			}
			if where, err = chromedp.Run(ctx, chromedp.Evaluate[string]("location.href")); err != nil {
				t.Fatal(err)
			}
		}
	}
	visit("/home", chromedp.Navigate(s.URL+"/"))
	visit("/login", chromedp.Navigate(s.URL+"/login"))
	visit("/account", do(`document.querySelector("[name=user]").value = "ada"; document.querySelector("[name=password]").value = "secret"; document.querySelector("#login button").click()`))
	visit("/once", do(`document.querySelector("#again button").click()`))
	theirs := s.hits()
	delete(theirs, "GET /by-a-script")
	t.Logf("ours %d, theirs %d different requests", len(ours), len(theirs))
	for _, what := range slices.Sorted(maps.Keys(theirs)) {
		if ours[what] != theirs[what] {
			t.Errorf("Chromium makes %d of %s, we %d", theirs[what], what, ours[what])
		}
	}
	for _, what := range slices.Sorted(maps.Keys(ours)) {
		if theirs[what] == 0 && !beyond[what] {
			t.Errorf("we make %d of %s, Chromium none", ours[what], what)
		}
	}
}

// beyond are requests that only the cascade of rules, or a layout, would spare.
var beyond = map[string]bool{"GET /loses.gif": true}

// goThrough runs a script.
func goThrough(t testing.TB, text string) *load.Result {
	t.Helper()
	script, err := Read("journey.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), script, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// startChromium starts one with a profile of its own, which finds this machine only. Without a Chromium the test is
// skipped, unless CHROMIUM says that there is one.
func startChromium(t testing.TB) context.Context {
	t.Helper()
	path := tooltest.Find(t, "chromium")
	scratch, err := os.MkdirTemp("", "chromium") // for what it leaves there when it is ended
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(scratch) })
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Env("TMPDIR="+scratch),
		chromedp.Flag("headless", "new"), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-domain-reliability", true), chromedp.Flag("no-pings", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator, chromedp.WithErrorf(t.Logf))
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return ctx
}
