package html

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// stacked is a page that is only what threads did.
type stacked struct{ named []string }

func (p stacked) addTo(doc *document) error {
	v := &diagnosisView{N: doc.diagnoses, H: 2, Sub: 3, State: "threads", Nothing: "Only threads.", Tone: "plain", NoRequests: "none", AddRequests: "true"}
	doc.diagnoses++
	doc.Head = v
	x := stacksOf(starved(), p.named)
	x.ID, x.H, x.Sub, x.Title = "threads-0-1", 2, 3, "Threads"
	v.Stacks = []stacksView{x}
	doc.Parts = append(doc.Parts, partView{Diagnosis: v})
	return nil
}

// TestThreads checks the threads' part of a page: it needs no script, unfolds by the
// keyboard, fits, is readable, and prints in full.
func TestThreads(t *testing.T) {
	b := startBrowser(t)
	file := save(t, stacked{[]string{"Shop!CartController.Get(int)"}})
	for name, l := range map[string]look{"wide": wide, "narrow": narrow, "dark": {width: 1280, height: 800, dark: true}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, file, l)
			const groups = `[...document.querySelectorAll(".groups > li > details")]`
			if open := eval[[]bool](p, groups+`.map(d => d.open)`); len(open) != 3 || !open[0] || open[1] || open[2] {
				t.Errorf("unfolded %v, want the first only", open)
			}
			bars := eval[[]float64](p, `[...document.querySelectorAll(".groups > li > details > summary .bar rect")].map(r => r.getBoundingClientRect().width / r.closest(".bar").getBoundingClientRect().width)`)
			if len(bars) != 3 || bars[0] < .88 || bars[0] > .92 || bars[2] < .05 || bars[2] > .1 {
				t.Errorf("bars of %v, want 37/41, 1/41, 3/41", bars)
			}
			if n := eval[int](p, `[...document.querySelectorAll(".threads .frames li.culprit")].filter(e => e.checkVisibility()).length`); n != 1 {
				t.Errorf("%d frames are marked, want 1", n)
			}
			eval[chromedp.Void](p, groups+`[1].firstElementChild.focus()`)
			p.run(chromedp.KeyEvent(kb.Enter))
			if !eval[bool](p, groups+`[1].open`) {
				t.Error("Enter does not unfold a group")
			}
			eval[chromedp.Void](p, `document.querySelectorAll("details").forEach(d => d.open = true)`)
			for _, wider := range eval[[]string](p, `[document.documentElement, ...document.querySelectorAll(".threads, .threads *")].filter(e => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1).map(e => e.tagName + "." + e.className + ": " + e.scrollWidth + " in " + e.clientWidth)`) {
				t.Errorf("wider than its place: %s", wider)
			}
			found := eval[struct {
				Seen int
				Low  []string
			}](p, contrasts)
			if found.Seen < 30 {
				t.Errorf("only %d texts were looked at", found.Seen)
			}
			for _, low := range found.Low {
				t.Errorf("contrast %s", low)
			}
			p.quiet()
		})
	}
	p := b.open(t, file, wide)
	eval[chromedp.Void](p, `dispatchEvent(new Event("beforeprint"))`)
	if n := eval[int](p, `document.querySelectorAll(".threads details:not(.below):not([open])").length`); n != 0 {
		t.Errorf("%d parts are folded on paper", n)
	}
	eval[chromedp.Void](p, `dispatchEvent(new Event("afterprint"))`)
	if n := eval[int](p, `document.querySelectorAll(".groups > li > details[open]").length`); n != 1 {
		t.Errorf("%d groups are unfolded after printing, want 1 as before", n)
	}
}

// TestStarved opens the report of a recorded service whose pool starves: its answer
// and the method to change come first; thread count, CPU, queue and latency share
// one time line; goroutines are not mentioned.
func TestStarved(t *testing.T) {
	const folder = "../../diagnose/check/testdata/dotnet.threadpool-starvation/sick"
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	e := incident.NewBundle()
	for _, f := range files {
		if f.Name() == "truth.json" {
			continue
		}
		if err := format.Read(t.Context(), all.Formats, format.File(filepath.Join(folder, f.Name())), e); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(t.Context(), e, diagnose.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	file := save(t, Diagnosed{Diagnosis: d})
	b := startBrowser(t)
	for name, l := range map[string]look{"wide": wide, "narrow": narrow, "dark": {width: 1280, height: 800, dark: true}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, file, l)
			if s := p.text(".verdict"); !strings.Contains(s, "dotnet.threadpool-starvation") || !strings.Contains(s, "DiagScenarioController.TaskWait") {
				t.Errorf("the answer is\n%s", s)
			}
			titles := eval[[]string](p, `[...document.querySelectorAll("[data-view=timeline] .app-title")].map(e => e.firstChild.data)`)
			at := func(begins string) int {
				return slices.IndexFunc(titles, func(s string) bool { return strings.HasPrefix(s, begins) })
			}
			last := -1
			for _, want := range []string{"Latency of the 125 requests", "pool adjusted: starvation", "threads of the pool", "CPU of the process", "work queued for a pool thread", "requests under way"} {
				if i := at(want); i <= last {
					t.Errorf("%q is row %d, want it below row %d of %q", want, i, last, titles)
				} else {
					last = i
				}
			}
			if n := eval[int](p, report(0)+`.timeline.counts().bands["pool-starving"]`); n < 3 {
				t.Errorf("%d adjustments for starvation", n)
			}
			if marked := eval[[]string](p, `[...document.querySelectorAll(".groups .frames li.culprit")].map(e => e.textContent)`); len(marked) == 0 || !strings.Contains(marked[0], "DiagScenarioController.TaskWait") {
				t.Errorf("marked are %q", marked)
			}
			if _, after, ok := strings.Cut(p.text("main"), "goroutine"); ok {
				t.Errorf("it tells of goroutines: …goroutine%.80s", after)
			}
			for _, width := range []int64{400, 320, 768, 1280} {
				p.look(look{width: width, height: 800})
				p.drawn()
				if w := eval[int64](p, `document.documentElement.scrollWidth`); w > width {
					t.Errorf("%d wide at %d", w, width)
				}
			}
			for _, low := range eval[struct{ Low []string }](p, contrasts).Low {
				t.Errorf("contrast %s", low)
			}
			p.quiet()
		})
	}
}
