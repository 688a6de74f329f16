package html

import (
	"testing"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/analyze/model/goheap"
	"github.com/unstall/unstall/internal/analyze/platform"
)

// asked returns a prediction of two settings for a service with much garbage, and of what
// more memory would gain.
func asked(t testing.TB) Predicted {
	t.Helper()
	const mib = 1 << 20
	h := &goheap.Heap{Setting: goheap.Default, Told: true, Minor: 26, Exact: true, Procs: 2, Span: 10, Paced: 8.4, Marking: .4, Alloc: 497 * mib,
		RSS: 142 * mib, Process: 1.17, P99: 35.3, Most: 8192 * mib, Who: "container", Source: "gateway-1402.unstall"}
	for range 80 {
		h.Cycles = append(h.Cycles, goheap.Cycle{Mark: .048, Assist: .0273, Background: .0257, Idle: .0072, Before: 100 * mib, After: 117.4 * mib, Marked: 58.4 * mib, Goal: 118 * mib, Alloc: 497 * mib})
	}
	wanted, err := model.ParseSets(platform.Models(), []string{"GOMEMLIMIT=300MiB"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.Ask("gateway pid 4711", wanted, func(_, then goheap.Outcome) model.Estimate { return model.Exactly(2 + 4*then.Cycles.Value) })
	if err != nil {
		t.Fatal(err)
	}
	return Predicted{p}
}

// A prediction's page fits every screen, can be read in light and dark, and says its
// answer on the first screen.
func TestPredictionOpens(t *testing.T) {
	b := startBrowser(t)
	file := save(t, asked(t))
	for name, l := range map[string]look{"light": wide, "dark": {width: 1280, height: 800, dark: true}, "narrow": narrow} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, file, l)
			if !eval[bool](p, `(() => {
				const r = document.querySelector("h1").getBoundingClientRect(), change = document.querySelector(".change dd").getBoundingClientRect();
				return r.top > 0 && r.bottom < innerHeight && r.right <= innerWidth && change.top > 0 && change.bottom < innerHeight && document.querySelectorAll("h1").length === 1;
			})()`) {
				t.Error("the answer is not on the first screen")
			}
			for _, unnamed := range eval[[]string](p, `[...document.querySelectorAll("main table, main section, main figure")]
				.filter(e => !e.caption && !e.ariaLabel && !document.getElementById(e.getAttribute("aria-labelledby")))
				.map(e => e.tagName + "#" + e.id)`) {
				t.Errorf("%s has no name", unnamed)
			}
			for _, low := range eval[struct{ Low []string }](p, contrasts).Low {
				t.Errorf("contrast %s", low)
			}
			for _, width := range []int64{320, 400, 768, 1280} {
				p.look(look{width: width, height: 800, dark: l.dark})
				for _, wider := range eval[[]string](p, `[document.documentElement, ...document.querySelectorAll("body, header, main, section, figure, table, dl")]
					.filter(e => e.checkVisibility() && e.clientWidth > 1 && e.scrollWidth > e.clientWidth)
					.map(e => e.tagName + "#" + e.id + "." + e.className + ": " + e.scrollWidth + " in " + e.clientWidth)`) {
					t.Errorf("at %d pixels: %s", width, wider)
				}
			}
			p.quiet()
		})
	}
}
