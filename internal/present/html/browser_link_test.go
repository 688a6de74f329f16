package html

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestRoute chooses a route in the table: the page then shows only that route.
func TestRoute(t *testing.T) {
	b := startBrowser(t)
	line := many(2000, 400)
	p := b.open(t, save(t, drawn{line}), wide)
	r := report(0)
	all := eval[int](p, r+`.timeline.counts().requests`)
	const a = `document.querySelector('#routes-0 [data-route="GET /a"] button')`
	if eval[bool](p, `document.querySelector(".app-of-route").checkVisibility()`) {
		t.Error("a route is shown apart before one is chosen")
	}
	p.click(p.at(a, .5, .5))
	p.drawn()
	if got := eval[string](p, r+`.route()`); got != "GET /a" || eval[string](p, a+`.getAttribute("aria-pressed")`) != "true" {
		t.Errorf("chosen is %q", got)
	}
	some := eval[int](p, r+`.timeline.counts().requests`)
	if some == 0 || some >= all*2/3 {
		t.Errorf("%d of %d requests are of the route, want half", some, all)
	}
	slow := 0
	for _, s := range line.Slow {
		if s.Route == "GET /a" {
			slow++
		}
	}
	if got := eval[int](p, `document.querySelectorAll("#request-0 select option").length`); got != slow {
		t.Errorf("%d slow requests can be chosen, want %d", got, slow)
	}
	if s := p.text(".app-of-route"); !strings.Contains(s, "GET /a lost") || !strings.Contains(s, "own work") {
		t.Errorf("what it lost reads %q", s)
	}
	eval[chromedp.Void](p, a+`.focus()`) // as users without a mouse do
	p.press("Enter")
	p.drawn()
	if got := eval[int](p, r+`.timeline.counts().requests`); got != all {
		t.Errorf("chosen again %d requests are shown, want all %d", got, all)
	}
	p.quiet()
}

// TestLink opens the page's address again and expects the same view.
func TestLink(t *testing.T) {
	b := startBrowser(t)
	file := save(t, drawn{many(2000, 400)})
	p := b.open(t, file, wide)
	r := report(0)
	if h := eval[string](p, `location.hash`); h != "" {
		t.Errorf("the address ends in %q before anything was done", h)
	}
	eval[chromedp.Void](p, r+`.choose("GET /b")`)
	eval[chromedp.Void](p, r+`.request.select(7)`)
	eval[chromedp.Void](p, r+`.timeline.zoom(1e10, 2e10)`)
	p.until(`location.hash.includes("zoom=")`)
	hash := eval[string](p, `location.hash`)
	for _, want := range []string{"at=timeline-0", "route=GET+/b", "request=8", "zoom=10000000000,20000000000"} {
		if !strings.Contains(hash, want) {
			t.Errorf("the address ends in %q, without %s", hash, want)
		}
	}

	q := b.open(t, file, wide)
	q.run(chromedp.Navigate("about:blank"))
	q.run(chromedp.Navigate(q.file + hash))
	q.ready()
	if w := q.window(r + `.timeline`); w != (window{1e10, 2e10}) {
		t.Errorf("the link shows %v", w)
	}
	if got := eval[string](q, r+`.route()`); got != "GET /b" {
		t.Errorf("the link is of route %q", got)
	}
	if got := eval[int](q, r+`.request.selected()`); got != 7 {
		t.Errorf("the link shows request %d, want 7", got)
	}
	if top := eval[float64](q, `document.getElementById("timeline-0").getBoundingClientRect().top`); top < -5 || top > 200 {
		t.Errorf("the time line is at %v, out of sight", top)
	}

	// A jump within the page keeps the view in the address.
	eval[chromedp.Void](q, `location.hash = "request-0"`)
	q.until(`location.hash.includes("at=request-0") && location.hash.includes("zoom=")`)
	eval[chromedp.Void](q, r+`.choose(null)`)
	eval[chromedp.Void](q, r+`.timeline.reset()`)
	q.until(`!location.hash.includes("zoom=") && !location.hash.includes("route=")`)
	p.quiet()
	q.quiet()
}
