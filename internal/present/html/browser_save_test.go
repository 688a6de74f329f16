package html

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// saved is what a page would have saved: names and contents.
type saved struct {
	Name string
	Body string // base64
}

// catch keeps what a page saves instead of asking the reader where to.
const catch = `window.__saved = []; window.__blobs = new Map();
	URL.createObjectURL = blob => { const url = "blob:" + Math.random(); window.__blobs.set(url, blob); return url };
	HTMLAnchorElement.prototype.click = function () {
		const blob = window.__blobs.get(this.href), reader = new FileReader();
		reader.onload = () => window.__saved.push({Name: this.download, Body: reader.result.split(",")[1]});
		reader.readAsDataURL(blob);
	}`

// TestSave saves every picture of a report, as SVG and as PNG.
func TestSave(t *testing.T) {
	b := startBrowser(t)
	for name, l := range map[string]look{"light": wide, "dark and narrow": {width: 400, height: 800, dark: true}} {
		t.Run(name, func(t *testing.T) {
			p := b.open(t, save(t, Diagnosed{Diagnosis: diagnosis(t, "sick")}), l)
			eval[chromedp.Void](p, catch)
			// In the select of each are all pictures of the part.
			want := eval[int](p, `(() => {
				let n = 0;
				for (const box of document.querySelectorAll(".app-save")) {
					const select = box.querySelector("select"), [svg, png] = box.querySelectorAll("button");
					for (const value of select ? [...select.options].map(o => o.value) : [""]) {
						if (select) select.value = value;
						svg.click();
						png.click();
						n += 2;
					}
				}
				return n;
			})()`)
			if want < 20 {
				t.Errorf("%d pictures can be saved", want)
			}
			p.until(`window.__saved.length >= %s`, want)
			for _, s := range eval[[]saved](p, `window.__saved`) {
				body, err := base64.StdEncoding.DecodeString(s.Body)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case strings.HasSuffix(s.Name, ".png"):
					img, err := png.Decode(strings.NewReader(string(body)))
					if err != nil {
						t.Errorf("%s: %v", s.Name, err)
						continue
					}
					first, colours := img.At(0, 0), 0
					for y := range img.Bounds().Dy() {
						for x := range img.Bounds().Dx() {
							if img.At(x, y) != first {
								colours++
							}
						}
					}
					if colours < 200 {
						t.Errorf("%s has %d pixels that are not its ground", s.Name, colours)
					}
				case strings.HasSuffix(s.Name, ".svg"):
					if err := wellFormed(string(body)); err != nil {
						t.Errorf("%s: %v", s.Name, err)
					}
					for _, never := range []string{"NaN", "undefined", "Infinity", "var(--"} {
						if strings.Contains(string(body), never) {
							t.Errorf("%s has %s in it", s.Name, never)
						}
					}
				default:
					t.Errorf("saved as %q", s.Name)
				}
			}
			p.quiet()
		})
	}
}

// wellFormed reads all of an XML document.
func wellFormed(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestFigures checks that every picture has a table of the figures in view.
func TestFigures(t *testing.T) {
	b := startBrowser(t)
	p := b.open(t, save(t, drawn{many(2000, 400)}), wide)
	const table = `document.querySelector("#timeline-0 .app-curves")`
	if n := eval[int](p, table+`.rows.length`); n != 0 {
		t.Errorf("%d rows before it is opened", n)
	}
	p.click(p.at(`document.querySelector("#timeline-0 .app-details summary")`, .1, .5))
	p.until(table + `.rows.length > 4`)
	all := p.text("#timeline-0 .app-curves")
	for _, want := range []string{"2,000 requests", "20 slow", "1.23 s", "gc-mark: 100", "CPU"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in the table:\n%s", want, all)
		}
	}
	eval[chromedp.Void](p, report(0)+`.timeline.zoom(0, 1e9)`)
	p.until(`!` + table + `.textContent.includes("20 slow")`)
	p.quiet()
}
