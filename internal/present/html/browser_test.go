package html

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/unstall/unstall/dev/tools/tooltest"
)

// patience bounds every wait for a page. It only decides when a failing test gives up.
const patience = time.Minute

// browser is a Chromium with a profile of its own. It ends with the test.
type browser struct {
	ctx context.Context
	// called records every request that left the browser.
	called *calls
}

// startBrowser starts one. Without a Chromium the test is skipped, unless CHROMIUM
// says that there is one.
func startBrowser(t testing.TB) *browser {
	t.Helper()
	path := tooltest.Find(t, "chromium")
	b := &browser{called: listen(t)}
	// Without UserDataDir, chromedp makes a directory and later kills leftover processes
	// by that directory's name.
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("proxy-server", b.called.address),
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Env("TMPDIR="+scratch(t)),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator, chromedp.WithErrorf(t.Logf))
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", path, err)
	}
	b.ctx = ctx
	return b
}

// scratch returns a folder for what a killed Chromium leaves behind: its sockets are among
// the temporary files, wherever its profile is.
func scratch(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// calls is a proxy that answers no request and records each.
type calls struct {
	address string
	mu      sync.Mutex
	lines   []string
}

func listen(t testing.TB) *calls {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &calls{address: l.Addr().String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			conn.SetReadDeadline(time.Now().Add(patience))
			first := make([]byte, 512)
			n, _ := conn.Read(first)
			conn.Close()
			line, _, _ := strings.Cut(string(first[:n]), "\r\n")
			c.mu.Lock()
			c.lines = append(c.lines, line)
			c.mu.Unlock()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return c
}

// ownCalls matches the requests that Chromium makes for itself on any page.
var ownCalls = regexp.MustCompile(`^[A-Z]+ (http://)?([\w-]+\.)*(google|googleapis|gstatic|gvt1)\.com[:/]`)

// all lists the calls so far that were not the browser's own.
func (c *calls) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.lines), ownCalls.MatchString)
}

// tab is a page that is open in a browser, and all it did.
type tab struct {
	t    testing.TB
	ctx  context.Context
	file string // its URL

	mu       sync.Mutex
	requests []string
	faults   []string // what no page may do: errors, warnings, violations of its policy
}

// look is how a page is looked at.
type look struct {
	width, height int64
	dark, print   bool
	lawless       bool // the page's policy is not enforced
}

// open opens a file from disk and waits until it says that it is ready.
func (b *browser) open(t testing.TB, file string, l look) *tab {
	t.Helper()
	p := b.blank(t, l)
	p.navigate(file)
	return p
}

// blank returns a tab without a page yet.
func (b *browser) blank(t testing.TB, l look) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(b.ctx)
	t.Cleanup(end)
	p := &tab{t: t, ctx: ctx}
	p.must(chromedp.Listen(ctx, p.saw))
	call(p, log.Enable, cdp.Empty{})
	call(p, network.Enable, network.EnableParams{})
	call(p, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: l.lawless})
	// Not every violation is logged: one by eval is reported only to the page.
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		document.addEventListener("securitypolicyviolation", e => console.error("Content Security Policy, " + e.effectiveDirective, e.blockedURI, e.sample))`})
	p.look(l)
	return p
}

// look changes how a page is looked at.
func (p *tab) look(l look) {
	p.t.Helper()
	media, scheme := "", "light"
	if l.print {
		media = "print"
	}
	if l.dark {
		scheme = "dark"
	}
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: l.height, DeviceScaleFactor: 1, Mobile: l.width < 600})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
}

func (p *tab) navigate(file string) {
	p.t.Helper()
	abs, err := filepath.Abs(file)
	p.must(err)
	p.file = (&url.URL{Scheme: "file", Path: abs}).String()
	p.run(chromedp.Navigate(p.file))
	p.ready()
}

// ready waits until everything is drawn.
func (p *tab) ready() {
	p.t.Helper()
	eval[chromedp.Void](p, `document.querySelector("script.timeline-data") ? window.unstall.ready : null`)
	p.drawn()
}

// drawn waits until what was asked for so far is on the screen.
func (p *tab) drawn() {
	p.t.Helper()
	eval[chromedp.Void](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
}

// saw records an event. Calls come in the order of the events.
func (p *tab) saw(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fault := func(format string, args ...any) { p.faults = append(p.faults, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		p.requests = append(p.requests, e.URL)
	case *network.EventWebTransportCreated:
		p.requests = append(p.requests, e.URL)
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case "error", "warning", "assert":
			var said []string
			for _, a := range e.Args {
				said = append(said, a.Description+string(a.Value))
			}
			fault("console.%s: %s", e.Type, strings.Join(said, " "))
		}
	case *runtime.EventExceptionThrown:
		d := e.ExceptionDetails
		text := d.Text
		if d.Exception != nil {
			text = d.Exception.Description
		}
		fault("exception at %d:%d: %s", d.LineNumber+1, d.ColumnNumber+1, text)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			fault("%s %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text)
		}
	case *inspector.EventTargetCrashed:
		fault("the page crashed")
	}
}

// quiet reports everything forbidden that a page did: a request for anything but itself,
// an error, a warning, a violation of its policy.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		p.t.Errorf("the page: %s", f)
	}
	for _, r := range p.requests {
		if before, _, _ := strings.Cut(r, "#"); before != p.file && !strings.HasPrefix(r, "data:") {
			p.t.Errorf("the page asks for %.200s", r)
		}
	}
}

func (p *tab) must(err error) {
	p.t.Helper()
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("%v; the page until then: %q", err, p.faults)
	}
}

func (p *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	p.must(chromedp.Do(ctx, steps...))
}

// call runs a command of the protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	r, err := chromedp.Call(ctx, command, params)
	p.must(err)
	return r
}

// eval returns the value of an expression or of its promise.
func eval[T any](p *tab, expression string, args ...any) T {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](fill(expression, args), chromedp.EvalAwaitPromise))
	if err != nil {
		err = fmt.Errorf("%s: %w", fill(expression, args), err)
	}
	p.must(err)
	return v
}

// until waits until an expression holds.
func (p *tab) until(expression string, args ...any) {
	p.t.Helper()
	// By frames, and not with chromedp.Poll: that compiles the expression in the page,
	// which the page's policy forbids.
	eval[chromedp.Void](p, `new Promise(done => { const look = () => (`+fill(expression, args)+`) ? done() : requestAnimationFrame(look); look() })`)
}

// fill replaces the verbs of an expression by values, as JavaScript writes them.
func fill(expression string, args []any) string {
	if len(args) == 0 {
		return expression
	}
	literals := make([]any, len(args))
	for i, a := range args {
		b, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		literals[i] = string(b)
	}
	return fmt.Sprintf(expression, literals...)
}

// point is a place in the window, in CSS pixels.
type point struct{ X, Y float64 }

// at returns the point at a share of an element's width and height, scrolled into view.
func (p *tab) at(element string, right, down float64) point {
	p.t.Helper()
	return eval[point](p, `(() => { const e = `+element+`, y = () => { const r = e.getBoundingClientRect(); return r.top + r.height * %[2]s; };
		scrollBy({top: y() - innerHeight / 2, behavior: "instant"});
		const r = e.getBoundingClientRect();
		return {X: r.left + r.width * %[1]s, Y: y()}; })()`, right, down)
}

func (p *tab) mouse(typ input.DispatchMouseEventType, at point, o ...chromedp.MouseOption) {
	p.t.Helper()
	p.run(chromedp.MouseEvent(typ, at.X, at.Y, o...))
}

func (p *tab) hover(at point) { p.t.Helper(); p.mouse(input.DispatchMouseEventTypeMouseMoved, at) }

func (p *tab) click(at point) {
	p.t.Helper()
	p.hover(at)
	p.run(chromedp.MouseClickXY(at.X, at.Y))
}

func (p *tab) drag(from, to point) {
	p.t.Helper()
	left, held := chromedp.ButtonType(input.MouseButtonLeft), func(e *input.DispatchMouseEventParams) { e.Buttons = 1 }
	p.hover(from)
	p.mouse(input.DispatchMouseEventTypeMousePressed, from, left, chromedp.ClickCount(1))
	for _, share := range []float64{.3, .7, 1} {
		p.mouse(input.DispatchMouseEventTypeMouseMoved, point{from.X + share*(to.X-from.X), from.Y + share*(to.Y-from.Y)}, left, held)
	}
	p.mouse(input.DispatchMouseEventTypeMouseReleased, to, left, chromedp.ClickCount(1))
}

func (p *tab) wheel(at point, dy float64, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	p.mouse(input.DispatchMouseEventTypeMouseWheel, at, chromedp.ButtonModifiers(modifiers...), func(e *input.DispatchMouseEventParams) {
		e.DeltaX, e.DeltaY = 1e-9, dy // 0 would be left out, and the browser demands a value
	})
}

// press presses a key by its name in https://www.w3.org/TR/uievents-key/.
func (p *tab) press(key string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	named := map[string]string{"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "Escape": kb.Escape, "Enter": kb.Enter, "Home": kb.Home, "End": kb.End}
	if k, ok := named[key]; ok {
		key = k
	}
	p.run(chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// TestBrowserSees checks that every forbidden act is found, by a page that does all of
// them.
func TestBrowserSees(t *testing.T) {
	b := startBrowser(t)
	file := filepath.Join(t.TempDir(), "bad page.html")
	const bad = `<!doctype html><meta charset=utf-8><title>bad</title>
<meta http-equiv=Content-Security-Policy content="script-src 'unsafe-inline'">
<script>
	console.error("said an error")
	setTimeout(() => { throw new Error("threw") })
	fetch("http://outside.invalid/fetched").catch(() => {})
	new WebSocket("ws://outside.invalid/socket")
	new Image().src = "picture.png"
	try { eval("1") } catch {}
</script>`
	if err := os.WriteFile(file, []byte(bad), 0o644); err != nil {
		t.Fatal(err)
	}
	p := b.open(t, file, look{width: 800, height: 600})
	seen := func() string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return strings.Join(append(slices.Clone(p.faults), p.requests...), "\n")
	}
	for _, want := range []string{"said an error", "Error: threw", "Content Security Policy", "http://outside.invalid/fetched", "ws://outside.invalid/socket", "picture.png"} {
		for deadline := time.Now().Add(patience); !strings.Contains(seen(), want); p.drawn() {
			if time.Now().After(deadline) {
				t.Fatalf("%q was not seen:\n%s", want, seen())
			}
		}
	}
	for deadline := time.Now().Add(patience); len(b.called.all()) < 2; p.drawn() {
		if time.Now().After(deadline) {
			t.Fatalf("calls that left the browser: %q, want the request and the socket", b.called.all())
		}
	}
}
