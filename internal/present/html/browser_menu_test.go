package html

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/internal/present/html/app"
)

// The list of what is on a page stays on one line of a wide window and clips nothing.
func TestMenuOnOneLine(t *testing.T) {
	b := startBrowser(t)
	p := b.open(t, save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")}), wide)
	for _, width := range []int64{1440, 1280} {
		p.look(look{width: width, height: 900})
		p.drawn()
		got := eval[struct{ Rows, Links, Beyond float64 }](p, `(() => {
			const links = [...document.querySelectorAll(".contents a")], r = links.map(a => a.getBoundingClientRect());
			return {Rows: new Set(r.map(b => Math.round(b.top))).size, Links: links.length, Beyond: r.filter(b => b.right > innerWidth || b.left < 0).length};
		})()`)
		if got.Rows != 1 || got.Links < 8 || got.Beyond > 0 {
			t.Errorf("%d wide: %+v", width, got)
		}
	}
}

// A curve that is known at one moment is drawn, so that a heap with one collection is no empty chart.
func TestCurveOfOneMoment(t *testing.T) {
	_, source, found := strings.Cut(app.Script(), "\nfunction widen(")
	source, _, _ = strings.Cut(source, "\n}\n")
	if !found {
		t.Fatal("the script has no function widen")
	}
	p := startBrowser(t).blank(t, wide)
	p.run(chromedp.Navigate("about:blank"))
	got := eval[[]float64](p, `(() => { function widen(`+source+`}
		const v = [null, null, 7, null, null, 3, 3, null, 9]; widen(v); return v.map(x => x ?? -1); })()`)
	want := []float64{-1, 7, 7, 7, -1, 3, 3, 9, 9}
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
