package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/internal/collect/discover"
)

// patience bounds every wait for the browser.
const patience = time.Minute

// browser is a Chromium with one page, and what that asked for and complained of.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	asked  []string
	faults []string
}

// browse starts a Chromium. Without one the test is skipped, unless CHROMIUM says that there is one.
func browse(t *testing.T) *browser {
	t.Helper()
	path := tooltest.Find(t, "chromium")
	scratch, err := os.MkdirTemp("", "chromium") // for what it leaves there when it is ended
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(scratch) })
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.Env("TMPDIR="+scratch),
		chromedp.ExecPath(path),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("no-pings", true),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator, chromedp.WithErrorf(t.Logf))
	t.Cleanup(end)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	err = chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.asked = append(b.asked, e.Request.URL)
		case *log.EventEntryAdded:
			if e.Entry.Level == "error" || e.Entry.Level == "warning" {
				b.faults = append(b.faults, e.Entry.Text)
			}
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) open(url string) {
	b.t.Helper()
	ctx, end := context.WithTimeout(b.ctx, patience)
	defer end()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		b.t.Fatal(err)
	}
}

// value returns the value of an expression, as text.
func (b *browser) value(expression string) string {
	b.t.Helper()
	ctx, end := context.WithTimeout(b.ctx, patience)
	defer end()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[string]("Promise.resolve("+expression+").then(String)", chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// follow runs an action that leads to another page, and waits for that page.
func (b *browser) follow(action, there string) {
	b.t.Helper()
	ctx, end := context.WithTimeout(b.ctx, patience)
	defer end()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[string]("setTimeout(() => {"+action+"}); ''"))
	for err == nil || !errors.Is(err, context.DeadlineExceeded) {
		var is string
		if is, err = chromedp.Run(ctx, chromedp.Evaluate[string]("String(document.readyState === 'complete' && !!("+there+"))")); is == "true" {
			return
		} // between two pages there is none to ask
		if ctx.Err() != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("%s did not lead to where %s: %v; at %s", action, there, err, b.value("location.href+' '+document.body.innerText.slice(0,500)"))
}

// TestBrowser uses the pages as a user does: the list, a report and a part of its time line, a
// comparison, a recording.
func TestBrowser(t *testing.T) {
	b := browse(t)
	s, h := started(t, Options{Token: "t0ken",
		List: func(context.Context) ([]discover.Found, error) {
			return []discover.Found{{Target: discover.Target{PID: 4711, Name: "shop", Runtime: "go", Version: "go1.26.8"}, CPU: .5}}, nil
		},
		Record: func(_ context.Context, target string, how time.Duration, passive bool) (string, string, error) {
			if target != "4711" || how != 2*time.Second && how != defaultSeconds*time.Second || passive {
				return "", "", fmt.Errorf("asked for %s, %s, %v", target, how, passive)
			}
			return "shop-sick.unstall", "", nil
		}})
	for _, name := range []string{"shop-sick.unstall", "shop-well.unstall"} {
		if _, err := s.shelf.Find(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	b.open(h.URL + "/?token=t0ken")
	if at := b.value("location.href"); at != h.URL+"/" {
		t.Errorf("the address keeps the token: %s", at)
	}
	if rows := b.value(`[...document.querySelectorAll("#compare tbody tr")].map(r => r.querySelector("a").textContent+" "+(r.querySelector("code")||{}).textContent).join()`); rows != "shop-well.unstall undefined,shop-sick.unstall go.gc-rate" {
		t.Errorf("listed %s", rows)
	}

	b.follow(`document.querySelector('input[name=q]').value='gc-rate'; document.querySelector('form[role=search] button').click()`, `location.search.includes('gc-rate')`)
	if rows := b.value(`document.querySelectorAll("#compare tbody tr").length`); rows != "1" {
		t.Errorf("found %s", rows)
	}

	b.follow(`document.querySelector('a[href="/capture/shop-sick.unstall"]').click()`, `location.pathname === '/capture/shop-sick.unstall'`)
	if cause := b.value(`document.querySelector(".verdict .cause").textContent`); !strings.Contains(cause, "go.gc-rate") {
		t.Errorf("the report says %s", cause)
	}
	const line = `window.unstall.reports[0].timeline`
	b.value(`window.unstall.ready.then(() => '')`)
	wide := b.value(line + `.window().join()`)
	b.value(line + `.element.focus()`)
	b.value(line + `.element.dispatchEvent(new KeyboardEvent('keydown', {key: '+', bubbles: true, cancelable: true}))`)
	b.value(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	if near := b.value(line + `.window().join()`); near == wide {
		t.Errorf("+ leaves the time line at %s", near)
	}

	b.follow(`[...document.querySelectorAll('a')].find(a => a.textContent === 'All captures').click()`, `document.querySelector('#compare')`)
	b.follow(`document.querySelector('input[name=run][value="shop-well.unstall"]').click(); document.querySelector('input[name=run][value="shop-sick.unstall"]').click(); document.querySelector('#compare button').click()`,
		`location.pathname === '/compare'`)
	if text := b.value(`document.body.innerText`); !strings.Contains(text, "Before: shop-sick.unstall") || !strings.Contains(text, "Before and after") || !strings.Contains(text, "go.gc-rate") {
		t.Errorf("the comparison says %.300s", text)
	}

	b.follow(`[...document.querySelectorAll('a')].find(a => a.textContent === 'All captures').click()`, `document.querySelector('#record')`)
	b.follow(`document.querySelector('#record [name=target]').value='4711'; document.querySelector('#record [name=seconds]').value='2'; document.querySelector('#record button').click()`,
		`location.pathname === '/capture/shop-sick.unstall'`)

	b.follow(`[...document.querySelectorAll('a')].find(a => a.textContent === 'All captures').click()`, `document.querySelector('#record-one')`)
	b.follow(`document.querySelector('button[form=record-one][value="4711"]').click()`, `location.pathname === '/capture/shop-sick.unstall'`)

	b.mu.Lock()
	defer b.mu.Unlock()
	ours, err := url.Parse(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range b.asked {
		if u, err := url.Parse(asked); err != nil || u.Host != ours.Host && u.Scheme != "data" {
			t.Errorf("a page asks for %s", asked)
		}
	}
	for _, fault := range b.faults {
		t.Errorf("a page: %s", fault)
	}
}
