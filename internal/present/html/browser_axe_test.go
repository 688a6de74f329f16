package html

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/dev/tools/tooltest"
)

// TestAxe checks all pages of the gallery by axe's rules, including best practices: in light
// and dark, wide and narrow, folded and unfolded.
func TestAxe(t *testing.T) {
	axe, err := os.ReadFile(tooltest.Find(t, "axe")) // https://github.com/dequelabs/axe-core
	if err != nil {
		t.Fatal(err)
	}
	script := string(axe)
	b := startBrowser(t)
	files, err := filepath.Glob("../../../docs/gallery/*.html")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d pages in the gallery, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".html"), func(t *testing.T) {
			p := b.open(t, file, wide)
			eval[chromedp.Void](p, "{"+script+"}")
			for _, c := range []struct {
				name string
				look
				unfolded bool
			}{{"light", wide, true}, {"narrow and dark", look{width: 400, height: 800, dark: true}, false}} {
				p.look(c.look)
				eval[chromedp.Void](p, `for (const d of document.querySelectorAll("details")) d.open = %s`, c.unfolded)
				p.drawn()
				for _, v := range eval[[]string](p, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
					v.id + " (" + v.impact + "): " + v.help + "\n" + v.nodes.slice(0, 5).map(n => "\t" + n.html.slice(0, 200) + "\n\t\t" + n.failureSummary.replace(/\s+/g, " ")).join("\n")))`) {
					t.Errorf("%s: %s", c.name, v)
				}
			}
		})
	}
}
