package html

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
)

var (
	wide   = look{width: 1280, height: 800}
	narrow = look{width: 400, height: 800}
)

// TestOpen opens reports from disk. They ask for nothing, and the answer is there
// without scrolling, wide and narrow.
func TestOpen(t *testing.T) {
	b := startBrowser(t)
	for name, want := range map[string][]string{"sick": {"go.gc-rate", " ms", "GOMEMLIMIT="}, "fixed": {"nothing wrong", "Healthy"}} {
		file := save(t, Diagnosed{Diagnosis: diagnosis(t, name)})
		for size, l := range map[string]look{"1280": wide, "400": narrow} {
			t.Run(name+"/"+size, func(t *testing.T) {
				p := b.open(t, file, l)
				for _, w := range want {
					if shown := eval[bool](p, `[...document.querySelectorAll(".verdict .cause, .verdict .headline, .verdict .change")].some(e => {
						const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), range = document.createRange();
						if (!e.textContent.includes(%[1]s)) return false;
						range.selectNodeContents(e);
						const r = range.getBoundingClientRect();
						const holds = (r) => r.width > 0 && r.left >= 0 && r.right <= innerWidth && r.top >= 0 && r.bottom <= innerHeight;
						if (!e.classList.contains("change")) return holds(r);
						while (texts.nextNode()) {
							if (!texts.currentNode.data.includes(%[1]s)) continue;
							range.selectNodeContents(texts.currentNode);
							return innerWidth < 600 || holds(range.getBoundingClientRect());
						}
						return true;
					})`, w); !shown {
						t.Errorf("%q is not in the answer on the first screen:\n%s", w, p.text(".verdict"))
					}
				}
				p.quiet()
			})
		}
	}
	if all := b.called.all(); len(all) > 0 {
		t.Errorf("left the browser: %q", all)
	}
}

// TestNoCalls opens and uses reports: their file has all they need, and the browser makes
// no connection.
func TestNoCalls(t *testing.T) {
	b := startBrowser(t)
	p := b.open(t, save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")}), wide)
	p.use()
	p.quiet()
	if all := b.called.all(); len(all) > 0 {
		t.Errorf("left the browser: %q", all)
	}
}

// use operates everything on a page as a reader does.
func (p *tab) use() {
	p.t.Helper()
	for n := range eval[int](p, `window.unstall ? window.unstall.reports.length : 0`) {
		r := report(n)
		if eval[bool](p, `!`+r) {
			continue // a diagnosis without pictures
		}
		if eval[bool](p, r+`.timeline !== null`) {
			e := r + `.timeline.element`
			for _, down := range []float64{.05, .3, .6, .95} {
				p.hover(p.at(e, .5, down))
				p.drawn()
			}
			p.drag(p.at(e, .4, .2), p.at(e, .7, .2))
			p.drawn()
			for _, key := range []string{"+", "-", "ArrowLeft", "Escape"} {
				eval[chromedp.Void](p, e+`.focus()`)
				p.press(key)
			}
			p.drawn()
		}
		for i := range eval[int](p, r+`.request ? Math.min(3, `+r+`.request.count()) : 0`) {
			eval[chromedp.Void](p, r+`.request.select(%s)`, i)
			p.drawn()
		}
		if eval[bool](p, r+`.flames !== null`) {
			eval[chromedp.Void](p, r+`.flames.zoom(1)`)
			eval[chromedp.Void](p, r+`.flames.search("a")`)
			p.drawn()
		}
	}
}

// TestFits checks that nothing is wider than a telephone.
func TestFits(t *testing.T) {
	b := startBrowser(t)
	line := many(1000, 400)
	long := strings.Repeat("a.very.long.name.without.a.space/", 12)
	line.Requests[0].Source, line.Bands[0].Title, line.Slow[0].Route = long, long, long
	line.Slow[0].States[0].Holder, line.Slow[0].States[1].Where = long, long
	for name, part := range map[string]Part{"sick": Diagnosed{Diagnosis: diagnosis(t, "sick")}, "fixed": Diagnosed{Diagnosis: diagnosis(t, "fixed")}, "long names": drawn{line}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, save(t, part), narrow)
			for _, width := range []int64{400, 320, 768, 1280, 1440} {
				p.look(look{width: width, height: 800})
				p.drawn()
				for _, wider := range eval[[]string](p, `[document.documentElement, ...document.querySelectorAll("body, header, main, footer, article, section, nav, nav ul, figure, table, .mount")]
					.filter(e => !e.closest(".app-scroll > *") && e.checkVisibility() && e.clientWidth > 1 && e.scrollWidth > e.clientWidth)
					.map(e => e.tagName + "#" + e.id + "." + e.className + ": " + e.scrollWidth + " in " + e.clientWidth)`) {
					t.Errorf("at %d pixels: %s", width, wider)
				}
				for _, figure := range eval[[]string](p, `[...document.querySelectorAll("table.rows tbody .num")]
					.filter(e => {
						const text = document.createRange()
						text.selectNodeContents(e)
						const lines = [...text.getClientRects()].filter(b => b.width > 0)
						return e.checkVisibility() && e.innerText.length < 12 && lines.some(b => b.top >= lines[0].bottom - 1)
					})
					.map(e => e.innerText)`) {
					t.Errorf("at %d pixels a figure is broken into lines: %q", width, figure)
				}
			}
			p.quiet()
		})
	}
}

// contrasts lists texts that differ too little from what is behind them: the ratio
// of https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio is below 4.5. It leaves out the
// bar whose texts are on SVG rectangles, which the test of colours checks.
const contrasts = `(() => {
	const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const known = new Map();
	const rgba = (css) => {
		if (!known.has(css)) {
			context.clearRect(0, 0, 1, 1);
			context.fillStyle = css;
			context.fillRect(0, 0, 1, 1);
			const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
			known.set(css, [r, g, b, a / 255]);
		}
		return known.get(css);
	};
	const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
	const behind = (e) => {
		if (!e) return rgba(getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "white");
		const s = getComputedStyle(e), own = rgba(s.backgroundColor);
		return own[3] === 1 ? own : over(own, behind(e.parentElement));
	};
	const luminance = (c) => [.2126, .7152, .0722].reduce((sum, k, i) => {
		const v = c[i] / 255;
		return sum + k * (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
	}, 0);
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange(), low = [];
	let seen = 0;
	while (texts.nextNode()) {
		const text = texts.currentNode, e = text.parentElement;
		if (!text.data.trim() || e.closest("script, style, noscript, .stack svg, :disabled, option") || !e.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
		range.selectNodeContents(text);
		const box = range.getBoundingClientRect(), around = e.getBoundingClientRect();
		if (box.width <= 1 || around.width <= 1 || around.height <= 1) continue;
		seen++;
		const s = getComputedStyle(e), back = behind(e);
		const ink = rgba(e instanceof SVGElement ? s.fill : s.color).slice();
		for (let a = e; a; a = a.parentElement) ink[3] *= getComputedStyle(a).opacity;
		const [x, y] = [luminance(over(ink, back)), luminance(back)].sort((a, b) => b - a), ratio = (x + .05) / (y + .05);
		if (ratio < 4.5) low.push(ratio.toFixed(2) + " " + e.tagName.toLowerCase() + "." + (e.getAttribute("class") || "") + " " + JSON.stringify(text.data.trim().slice(0, 60)) + " " + ink + " on " + back);
	}
	return {Seen: seen, Low: [...new Set(low)], Back: String(behind(document.body))};
})()`

// TestContrast checks that all text is readable in light and in dark, and that these differ.
func TestContrast(t *testing.T) {
	b := startBrowser(t)
	file := save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")})
	backs := make(map[string]string)
	for name, l := range map[string]look{"light": wide, "dark": {width: 1280, height: 800, dark: true}, "narrow": narrow, "printed": {width: 1280, height: 800, dark: true, print: true}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, file, l)
			if eval[bool](p, report(0)+`.request !== null`) {
				eval[chromedp.Void](p, report(0)+`.request.select(0)`)
				p.drawn()
			}
			found := eval[struct {
				Seen int
				Low  []string
				Back string
			}](p, contrasts)
			if found.Seen < 100 {
				t.Errorf("only %d texts were looked at", found.Seen)
			}
			for _, low := range found.Low {
				t.Errorf("contrast %s", low)
			}
			backs[name] = found.Back
			p.quiet()
		})
	}
	if backs["light"] == backs["dark"] {
		t.Errorf("light and dark are both on %s", backs["dark"])
	}
	if backs["printed"] != backs["light"] {
		t.Errorf("paper is %s, not as light as %s", backs["printed"], backs["light"])
	}
}

// TestContrastSees checks that unreadable text is found.
func TestContrastSees(t *testing.T) {
	p := startBrowser(t).blank(t, wide)
	p.run(chromedp.Navigate(`data:text/html,<body style="background:white"><p style="color:%23777">low</p><p style="color:black">high</p><div style="background:black"><p style="opacity:.4;color:white">faint</p><p style="color:%23fff">good</p></div>`))
	got := strings.Join(eval[struct{ Low []string }](p, contrasts).Low, "\n")
	if !strings.Contains(got, `"low"`) || !strings.Contains(got, `"faint"`) || strings.Contains(got, "high") || strings.Contains(got, "good") {
		t.Errorf("found\n%s\nwant low and faint", got)
	}
}

// TestPrint prints a report, in light and dark, and each page of the gallery: four sheets hold all that is not explored.
func TestPrint(t *testing.T) {
	b := startBrowser(t)
	sick := save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")})
	for name, l := range map[string]look{"light": wide, "dark": {width: 1280, height: 800, dark: true}} {
		t.Run(name, func(t *testing.T) { b.print(t, sick, l) })
	}
	gallery, err := filepath.Glob("../../../docs/gallery/*.html")
	if err != nil || len(gallery) < 5 {
		t.Fatalf("%d pages in the gallery, %v", len(gallery), err)
	}
	for _, file := range gallery {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".html"), func(t *testing.T) { b.print(t, file, wide) })
	}
}

// print checks that a page is at most four sheets of A4.
func (b *browser) print(t *testing.T, file string, l look) {
	t.Helper()
	p := b.open(t, file, l)
	yes := true
	pdf := call(p, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69, PrintBackground: &yes}).Data
	sheets := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1))
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || sheets < 1 || sheets > 4 {
		t.Errorf("%s: %d bytes of PDF with %d sheets", filepath.Base(file), len(pdf), sheets)
	}
	p.ready()
	p.quiet()
}

// TestAccessible checks a report as a screen reader presents it.
func TestAccessible(t *testing.T) {
	b := startBrowser(t)
	p := b.open(t, save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")}), wide)
	value := func(v *accessibility.Value) (s string) {
		if v != nil {
			json.Unmarshal(v.Value, &s)
		}
		return s
	}
	named := []string{"image", "img", "figure", "button", "link", "region", "navigation", "combobox", "textbox", "searchbox", "table", "application", "graphics-document", "Canvas", "slider", "checkbox"}
	count := make(map[string]int)
	level, tops := 0, 0
	nodes := call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
	byID := make(map[accessibility.NodeID]*accessibility.Node)
	for _, n := range nodes {
		byID[n.NodeID] = n
	}
	pictured := func(n *accessibility.Node) bool { // it is a part of a picture that has a name
		for n = byID[n.ParentID]; n != nil; n = byID[n.ParentID] {
			if role := value(n.Role); (role == "image" || role == "img") && value(n.Name) != "" {
				return true
			}
		}
		return false
	}
	for _, n := range nodes {
		role, name := value(n.Role), value(n.Name)
		if n.Ignored {
			continue
		}
		count[role]++
		if slices.Contains(named, role) && strings.TrimSpace(name) == "" && !pictured(n) {
			html := call(p, dom.GetOuterHTML, dom.GetOuterHTMLParams{BackendNodeID: n.BackendDOMNodeID}).OuterHTML
			t.Errorf("a %s has no name: %.300s", role, html)
		}
		if role != "heading" {
			continue
		}
		for _, q := range n.Properties {
			var l int
			if q.Name != "level" || json.Unmarshal(q.Value.Value, &l) != nil {
				continue
			}
			if l > level+1 {
				t.Errorf("heading %q is of level %d after one of level %d", name, l, level)
			}
			if level = l; l == 1 {
				tops++
			}
		}
	}
	if tops != 1 {
		t.Errorf("%d headings of level 1, want one", tops)
	}
	for role, least := range map[string]int{"main": 1, "banner": 1, "contentinfo": 1, "navigation": 1, "heading": 6, "table": 2, "button": 3, "status": 1} {
		if count[role] < least {
			t.Errorf("%d of role %s, want %d; there are %v", count[role], role, least, count)
		}
	}
	if count["main"] != 1 {
		t.Errorf("%d main landmarks", count["main"])
	}
	p.quiet()
}

// TestHostile checks that recorded text is shown and never run, even where the browser
// would run it.
func TestHostile(t *testing.T) {
	b := startBrowser(t)
	d, line := tainted(t)
	file := savePage(t, Page{Title: hostile, Strip: []string{hostile}, Version: "test", Repeat: []string{"unstall " + hostile}, Parts: []Part{Diagnosed{Diagnosis: d}, Diagnosed{Title: hostile, Diagnosis: d}, drawn{line}}})
	for name, l := range map[string]look{"lawful": wide, "lawless": {width: 1280, height: 800, lawless: true}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, file, l)
			p.use()
			if eval[bool](p, `window.__pwned !== undefined`) {
				t.Errorf("what was recorded was run: %d", eval[int](p, `window.__pwned`))
			}
			if found := eval[[]string](p, `[...document.querySelectorAll("*")].filter(e => [...e.attributes].some(a => a.name.startsWith("on") || /^\s*javascript:/i.test(a.value))).map(e => e.outerHTML.slice(0, 200))`); len(found) > 0 {
				t.Errorf("what was recorded became elements: %q", found)
			}
			if !strings.Contains(p.text("main"), "<script>window.__pwned=1</script>") {
				t.Error("what was recorded is not shown as it is")
			}
			p.quiet()
		})
	}
}

// TestLittle opens reports about little or nothing.
func TestLittle(t *testing.T) {
	b := startBrowser(t)
	one := many(1, 0)
	one.Bands, one.Charts = nil, nil
	instant := many(1, 0)
	instant.To, instant.Bands = instant.From, nil
	instant.Requests[0].Latency[0], instant.Requests[0].Flags[0] = 0, 0
	instant.Slow, instant.Requests[0].Detail = nil, nil
	bands := many(0, 400)
	bands.Requests, bands.Threshold = nil, 0
	unanchored := many(500, 40)
	unanchored.Anchored = false
	for name, part := range map[string]Part{
		"nothing":               Diagnosed{Diagnosis: &diagnose.Diagnosis{Schema: diagnose.Schema}},
		"no timeline":           drawn{nil},
		"an empty timeline":     drawn{&timeline.Timeline{}},
		"one request":           drawn{one},
		"an instant":            drawn{instant},
		"no requests":           drawn{bands},
		"no intervals":          drawn{many(1000, 0)},
		"points without flags":  drawn{&timeline.Timeline{From: begin, To: begin + 1e9, Requests: []timeline.Points{{Source: "a", Count: 2, At: []int64{begin, begin + 5e8}, Latency: []int64{1, 2}, Flags: make([]timeline.Flags, 2)}}}},
		"an unknown time":       drawn{unanchored},
		"without a slow one":    drawn{&timeline.Timeline{From: begin, To: begin + 1e9, Threshold: 1e9, Requests: many(100, 0).Requests}},
		"an empty band":         drawn{&timeline.Timeline{From: begin, To: begin + 1e9, Bands: []timeline.Band{{ID: "gc-mark", Title: "collector"}}}},
		"a chart of one figure": drawn{&timeline.Timeline{From: begin, To: begin + 1e9, Charts: []timeline.Chart{{ID: "heap", Title: "heap", Unit: "bytes", Curves: []timeline.Curve{{ID: "goal", Title: "goal", T: []int64{begin}, V: []float64{5}}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, save(t, part), narrow)
			p.use()
			if said := p.text(".verdict"); len(said) < 10 {
				t.Errorf("the answer is %q", said)
			}
			p.quiet()
		})
	}
}

// TestNoSeparatorAlone checks that no dot between items stands alone on a line, at any width of a telephone: the last word of an item is in its
// last line.
func TestNoSeparatorAlone(t *testing.T) {
	b := startBrowser(t)
	p := b.open(t, save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")}), narrow)
	seen := 0
	for width := int64(320); width <= 440; width += 8 {
		p.look(look{width: width, height: 800})
		found := eval[struct {
			Seen  int
			Alone []string
		}](p, `(() => {
			const range = document.createRange(), alone = [];
			const items = [...document.querySelectorAll(".items > *:not(:last-child)")].filter(e => e.checkVisibility() && e.lastChild?.nodeType === Node.TEXT_NODE);
			for (const e of items) {
				const text = e.lastChild.data.trimEnd();
				range.setStart(e.lastChild, text.length - 1);
				range.setEnd(e.lastChild, text.length);
				const last = range.getBoundingClientRect();
				if (e.getBoundingClientRect().bottom - last.bottom > last.height / 2) alone.push(text);
			}
			return {Seen: items.length, Alone: alone};
		})()`)
		seen += found.Seen
		for _, text := range found.Alone {
			t.Errorf("at %d pixels a dot stands alone after %q", width, text)
		}
	}
	if seen == 0 {
		t.Error("no items")
	}
	p.quiet()
}

// TestDrawnInTurns checks that a page answers its reader before its pictures are drawn, that these are drawn then, and that a link to one of them finds
// all above it drawn.
func TestDrawnInTurns(t *testing.T) {
	b := startBrowser(t)
	file := save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")})
	open := func(hash string) (early, late int, usable, total float64) {
		p := b.blank(t, wide)
		// It is the first to hear that the document was read, and its timer the first to run after the page's own start.
		call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			addEventListener("DOMContentLoaded", () => setTimeout(() => { window.early = document.querySelectorAll(".mount canvas").length }))`})
		p.file = (&url.URL{Scheme: "file", Path: file}).String()
		p.run(chromedp.Navigate(p.file + hash))
		p.ready()
		took := eval[struct{ Usable, Total float64 }](p, `window.unstall.ready`)
		p.quiet()
		return eval[int](p, `window.early`), eval[int](p, `document.querySelectorAll(".mount canvas").length`), took.Usable, took.Total
	}
	if early, late, usable, total := open(""); early != 0 || late < 5 || usable <= 0 || usable >= total {
		t.Errorf("%d of %d pictures are drawn at first; usable after %.0f of %.0f ms", early, late, usable, total)
	}
	if early, late, _, _ := open("#flames-0"); early != late {
		t.Errorf("a link finds %d of %d pictures drawn", early, late)
	}
}

// TestDamaged checks that a picture whose data cannot be read says so, in a page that else is as it was.
func TestDamaged(t *testing.T) {
	file := save(t, drawn{many(100, 8)})
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(whole, []byte(`"latency":{"u32"`), []byte(`"latency":{"u33"`), 1)
	if bytes.Equal(whole, damaged) {
		t.Fatal("there is no such column")
	}
	if err := os.WriteFile(file, damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	p := startBrowser(t).open(t, file, wide)
	if s := p.text("#mount-timeline-0"); !strings.Contains(s, "cannot be drawn: column of unknown type u33") {
		t.Errorf("it says %q", s)
	}
}

// TestEvidenceColumns checks that the column of figures takes no more room than they need.
func TestEvidenceColumns(t *testing.T) {
	p := startBrowser(t).open(t, save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")}), wide)
	wider := eval[[]float64](p, `[...document.querySelectorAll("table.evidence")].map(t => t.rows[1].cells[0].getBoundingClientRect().width / t.getBoundingClientRect().width)`)
	if len(wider) == 0 || slices.Max(wider) > .15 {
		t.Errorf("the figures take %.2f of the width", wider)
	}
	p.quiet()
}
