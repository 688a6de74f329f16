package html

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// window is the part of a span that a picture shows, ns from its beginning.
type window [2]float64

func (w window) wide() float64 { return w[1] - w[0] }

func (p *tab) window(part string) window {
	p.t.Helper()
	p.drawn()
	return eval[window](p, part+`.window()`)
}

// settled waits until the browser no longer counts a turn of the wheel as one that began with the page.
func (p *tab) settled() {
	p.t.Helper()
	eval[chromedp.Void](p, `window.__from = performance.now()`)
	p.until(`performance.now() > window.__from + 300`)
}

// TestZoom changes what is seen of the time line by mouse, wheel, keys and buttons.
func TestZoom(t *testing.T) {
	b := startBrowser(t)
	for name, part := range map[string]Part{"sick": Diagnosed{Diagnosis: diagnosis(t, "sick")}, "many": drawn{many(20_000, 2000)}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, save(t, part), wide)
			line := report(0) + `.timeline`
			e := line + `.element`
			full := p.window(line)
			if full[0] != 0 || full.wide() <= 0 {
				t.Fatalf("it opens at %v", full)
			}

			p.drag(p.at(e, .4, .1), p.at(e, .6, .1))
			dragged := p.window(line)
			if share := dragged.wide() / full.wide(); share < .15 || share > .3 || dragged[0] < .3*full[1] || dragged[1] > .7*full[1] {
				t.Errorf("dragging from 40 to 60 %% shows %v of %v", dragged, full)
			}

			middle := p.at(e, .5, .1)
			p.hover(middle)
			p.settled()
			scrolled := eval[float64](p, `scrollY`)
			p.wheel(middle, 40)
			p.until(`scrollY !== %s`, scrolled)
			if w := p.window(line); w != dragged {
				t.Errorf("the wheel alone shows %v after %v: it is to scroll the page", w, dragged)
			}
			p.settled()
			middle = p.at(e, .5, .1)
			p.hover(middle)
			p.wheel(middle, -200, chromedp.ModifierCtrl)
			nearer := p.window(line)
			if nearer.wide() >= dragged.wide() || nearer[0] < dragged[0] || nearer[1] > dragged[1] {
				t.Errorf("the wheel forward shows %v after %v", nearer, dragged)
			}
			p.settled()
			p.wheel(middle, 200, chromedp.ModifierCtrl)
			if w := p.window(line); w.wide() <= nearer.wide() {
				t.Errorf("the wheel backward shows %v after %v", w, nearer)
			}

			eval[chromedp.Void](p, e+`.focus()`)
			before := p.window(line)
			p.press("+")
			closer := p.window(line)
			if closer.wide() >= before.wide() {
				t.Errorf("+ shows %v after %v", closer, before)
			}
			p.press("ArrowRight")
			right := p.window(line)
			if right[0] <= closer[0] || right.wide() < .999*closer.wide() || right.wide() > 1.001*closer.wide() {
				t.Errorf("→ shows %v after %v", right, closer)
			}
			p.press("ArrowLeft")
			if left := p.window(line); left[0] >= right[0] {
				t.Errorf("← shows %v after %v", left, right)
			}
			p.press("-")
			if w := p.window(line); w.wide() <= closer.wide() {
				t.Errorf("- shows %v after %v", w, closer)
			}
			p.press("Escape")
			if w := p.window(line); w != full {
				t.Errorf("Escape shows %v, not %v", w, full)
			}

			p.drag(p.at(e, .2, .1), p.at(e, .3, .1))
			p.run(chromedp.MouseClickXY(middle.X, middle.Y, chromedp.ClickCount(2)))
			if w := p.window(line); w != full {
				t.Errorf("a double click shows %v, not %v", w, full)
			}
			p.quiet()
		})
	}
}

// TestSlowRequest checks that a click on a slow request shows what it waited for, and
// that keys lead to the next.
func TestSlowRequest(t *testing.T) {
	b := startBrowser(t)
	for name, l := range map[string]look{"wide": wide, "narrow": narrow} {
		t.Run(name, func(t *testing.T) {
			line := many(3000, 400)
			p := b.open(t, save(t, drawn{line}), l)
			for _, slow := range []int{0, len(line.Slow) / 2, len(line.Slow) - 1} {
				p.at(report(0)+`.timeline.element`, .5, .5) // into view
				p.drawn()
				at := eval[*point](p, `(p => p && {X: p.x, Y: p.y})(`+report(0)+`.timeline.place(%s))`, slow)
				if at == nil {
					t.Fatalf("request %d has no place", slow)
				}
				p.click(*at)
				p.until(report(0)+`.request.selected() === %s`, slow)
				p.drawn()
				said := p.text("#request-0")
				for _, want := range []string{milliseconds(line.Slow[slow].Latency), "goroutine 7: mark worker", "main.handle"} {
					if !strings.Contains(said, want) {
						t.Errorf("request %d: %q is not in its time line: %s", slow, want, said)
					}
				}
			}
			eval[chromedp.Void](p, report(0)+`.request.select(0)`)
			p.drawn()
			eval[chromedp.Void](p, report(0)+`.timeline.element.focus()`)
			p.press("Enter")
			p.until(report(0) + `.request.selected() === 0`)
			p.quiet()
		})
	}
}

// milliseconds writes a latency as the page does: three digits.
func milliseconds(ns int64) string {
	if ns >= 999.5e6 {
		return strconv.FormatFloat(float64(ns)/1e9, 'g', 3, 64) + " s"
	}
	return strconv.FormatFloat(float64(ns)/1e6, 'g', 3, 64) + " ms"
}

// TestFlames zooms into a frame by a click, and out by Escape.
func TestFlames(t *testing.T) {
	b := startBrowser(t)
	d := diagnosis(t, "sick")
	line := d.Timeline()
	if line == nil || len(line.Flames) == 0 {
		t.Fatal("the recording has no flames")
	}
	p := b.open(t, save(t, Diagnosed{Diagnosis: d}), wide)
	flames := report(0) + `.flames`
	p.at(flames+`.element`, .5, .5)
	p.drawn()
	root := eval[string](p, flames+`.focused()`)
	frame := -1
	for i, n := range line.Flames[0].Nodes { // the first that is not all of it
		if i > 0 && n.Value < line.Flames[0].Total*9/10 && n.Value > line.Flames[0].Total/20 {
			frame = i
			break
		}
	}
	if frame < 0 {
		t.Fatal("no frame is a part for the whole response")
	}
	at := eval[*point](p, `(p => p && {X: p.x, Y: p.y})(`+flames+`.place(%s))`, frame)
	if at == nil {
		t.Fatalf("frame %d has no place", frame)
	}
	p.click(*at)
	p.drawn()
	if got, want := eval[string](p, flames+`.focused()`), line.Flames[0].Nodes[frame].Name; got != want || got == root {
		t.Errorf("a click on %q looks at %q", want, got)
	}
	eval[chromedp.Void](p, flames+`.element.focus()`)
	p.press("Escape")
	p.drawn()
	if got := eval[string](p, flames+`.focused()`); got != root {
		t.Errorf("Escape looks at %q, not %q", got, root)
	}
	p.quiet()
}

// TestMaxima checks that the slowest request of a window is counted, drawn and found by a
// click, however many are drawn together.
func TestMaxima(t *testing.T) {
	b := startBrowser(t)
	const n = 1_000_000
	line := many(n, 100_000)
	all := line.Requests[0]
	p := b.open(t, save(t, drawn{line}), wide)
	part := report(0) + `.timeline`
	eval[chromedp.Void](p, part+`.element.scrollIntoView({behavior: "instant", block: "center"})`)
	full := p.window(part)

	type counts struct {
		Requests, Slow int
		Slowest        float64
		Bands          map[string]int
	}
	// held counts a window that is a tick narrower or wider, as beginnings are rounded
	// to ticks.
	held := func(w window, by float64) (c counts) {
		for i, at := range all.At {
			if t := float64(at - begin); t >= w[0]-by && t <= w[1]+by {
				c.Requests++
				if all.Flags[i]&timeline.Slow != 0 {
					c.Slow++
				}
				c.Slowest = max(c.Slowest, float64(all.Latency[i]))
			}
		}
		return c
	}
	check := func(w window) {
		t.Helper()
		got := eval[counts](p, part+`.counts()`)
		least, most := held(w, -20), held(w, 20)
		if got.Requests < least.Requests || got.Requests > most.Requests || got.Slow < least.Slow || got.Slow > most.Slow || got.Slowest < least.Slowest || got.Slowest > most.Slowest {
			t.Errorf("in %v: %d requests, %d slow, slowest %.0f ns; want %+v … %+v", w, got.Requests, got.Slow, got.Slowest, least, most)
		}
	}
	check(full)
	if got := eval[counts](p, part+`.counts()`); got.Requests != n || got.Bands["stop-the-world"] != 25_000 {
		t.Errorf("all of it: %+v, want %d requests and 25000 intervals of a kind", got, n)
	}

	slowest := line.Slow[0]
	at := float64(slowest.At - begin)
	r := rand.New(rand.NewPCG(3, 4))
	for wide := full.wide(); wide > 2e3; wide /= 4 {
		for _, from := range []float64{at - wide*r.Float64(), full[1] * r.Float64()} { // around the slowest, and anywhere
			eval[chromedp.Void](p, part+`.zoom(%s, %s)`, from, from+wide)
			w := p.window(part)
			check(w)
			if at < w[0] || at > w[1] {
				continue
			}
			place := eval[*point](p, `(p => p && {X: p.x, Y: p.y})(`+part+`.place(0))`)
			if place == nil {
				t.Fatalf("in %v the slowest has no place", w)
			}
			if !p.marked(*place) {
				t.Errorf("in %v the slowest is not drawn at %v", w, *place)
			}
		}
	}
	p.quiet()
}

// marked says whether something of the colour of slow requests is drawn at a place.
func (p *tab) marked(at point) bool {
	p.t.Helper()
	const reach = 4.
	// A selected request has a ring, and the pointer a cross: neither is there.
	png := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: &page.Viewport{
		X: at.X + eval[float64](p, `scrollX`) - reach, Y: at.Y + eval[float64](p, `scrollY`) - reach, Width: 2 * reach, Height: 2 * reach, Scale: 1}}).Data
	return eval[bool](p, `(async () => {
		const image = await createImageBitmap(new Blob([Uint8Array.from(atob(%s), c => c.charCodeAt(0))], {type: "image/png"}));
		const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext("2d", {willReadFrequently: true});
		context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
		context.fillRect(0, 0, 1, 1);
		const ink = [...context.getImageData(0, 0, 1, 1).data];
		context.drawImage(image, 0, 0);
		const {data} = context.getImageData(0, 0, image.width, image.height);
		for (let i = 0; i < data.length; i += 4) {
			const [r, g, b] = [0, 1, 2].map(k => data[i + k]);
			if (Math.abs(r - ink[0]) + Math.abs(g - ink[1]) + Math.abs(b - ink[2]) < 180) return true;
		}
		return false;
	})()`, png)
}

// TestTouch pinches the time line on a telephone.
func TestTouch(t *testing.T) {
	b := startBrowser(t)
	p := b.open(t, save(t, drawn{many(3000, 400)}), narrow)
	line := report(0) + `.timeline`
	full := p.window(line)
	left, right := p.at(line+`.element`, .45, .1), p.at(line+`.element`, .65, .1)
	fingers := func(a, b point) []*input.TouchPoint {
		first, second := 1., 2.
		return []*input.TouchPoint{{X: a.X, Y: a.Y, ID: &first}, {X: b.X, Y: b.Y, ID: &second}}
	}
	touch := func(typ input.DispatchTouchEventType, points []*input.TouchPoint) {
		call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: typ, TouchPoints: points})
	}
	touch(input.DispatchTouchEventTypeTouchStart, fingers(left, right))
	for range 4 {
		left.X, right.X = left.X-15, right.X+15
		touch(input.DispatchTouchEventTypeTouchMove, fingers(left, right))
	}
	touch(input.DispatchTouchEventTypeTouchEnd, []*input.TouchPoint{})
	if w := p.window(line); w.wide() > .8*full.wide() {
		t.Errorf("two fingers that spread show %v of %v", w, full)
	}
	p.quiet()
}
