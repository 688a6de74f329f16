package html

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/unstall/unstall/internal/diagnose/timeline"
)

// BenchmarkBrowserLog opens the pages of logs of 500 MB from disk. The targets are 2 MB and
// 1000 ms.
func BenchmarkBrowserLog(b *testing.B) {
	for name, write := range map[string]func(io.Writer, int) error{"access": logOf, "GC": gcLogOf} {
		b.Run(name, func(b *testing.B) {
			chrome := startBrowser(b)
			page := pageOf(b, 500_000_000, write)
			file := filepath.Join(b.TempDir(), "large.html")
			if err := os.WriteFile(file, page, 0o644); err != nil {
				b.Fatal(err)
			}
			var total float64
			b.ResetTimer()
			for range b.N {
				p := chrome.blank(b, wide)
				p.navigate(file)
				total += eval[struct{ Total float64 }](p, `window.unstall.ready`).Total
				p.quiet()
				p.run(chromedp.Navigate("about:blank"))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(total/float64(b.N), "ms/open")
			b.ReportMetric(float64(len(page))/1e6, "MB")
		})
	}
}

// BenchmarkBrowserOpen opens large reports from disk. ms/open is from the beginning
// of the navigation until all is drawn, as the page measures it; the target is 3000 for
// a million requests and 100,000 intervals. ms/redraw is the drawing of one zoom.
func BenchmarkBrowserOpen(b *testing.B) {
	for _, c := range []struct {
		name string
		line func() *timeline.Timeline
	}{
		{"1M-requests-100k-intervals", func() *timeline.Timeline { return many(1_000_000, 100_000) }},
		{"10M-requests-100k-intervals", func() *timeline.Timeline { return many(10_000_000, 100_000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			chrome := startBrowser(b)
			file := save(b, drawn{c.line()})
			size, err := os.Stat(file)
			if err != nil {
				b.Fatal(err)
			}
			var total, decode, redraw float64
			zooms := 0
			b.ResetTimer()
			for range b.N {
				p := chrome.blank(b, wide)
				p.navigate(file)
				took := eval[struct{ Decode, Draw, Total float64 }](p, `window.unstall.ready`)
				total, decode = total+took.Total, decode+took.Decode
				part := report(0) + `.timeline`
				for _, share := range []float64{1, .5, .2, .05, .01, .001} {
					eval[chromedp.Void](p, part+`.zoom(`+part+`.full()[1] * (.5 - %[1]s / 2), `+part+`.full()[1] * (.5 + %[1]s / 2))`, share)
					redraw += eval[float64](p, part+`.redraw()`)
					zooms++
				}
				p.quiet()
				p.run(chromedp.Navigate("about:blank"))
			}
			n := float64(b.N)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(total/n, "ms/open")
			b.ReportMetric(decode/n, "ms/decode")
			b.ReportMetric(redraw/float64(zooms), "ms/redraw")
			b.ReportMetric(float64(size.Size())/1e6, "MB")
		})
	}
}

// BenchmarkBrowserFlame zooms in a flame graph of 100,000 samples, of which each of the thousand that are large enough to be kept has a
// stack of its own, 40 deep. The target is 30 frames/s; ms/draw is the script's part of a frame.
func BenchmarkBrowserFlame(b *testing.B) {
	const depth, leaves, each = 40, 1000, 100
	f := timeline.Flame{ID: "stacks", Title: "samples by stack", Unit: "1", Total: leaves * each, Nodes: []timeline.Node{{Parent: -1, Name: "all", Kind: "own", Value: leaves * each}}}
	for leaf := range leaves {
		parent := int32(0)
		for level := range depth {
			f.Nodes = append(f.Nodes, timeline.Node{Parent: parent, Name: fmt.Sprintf("main.stack%d.level%d", leaf, level), Kind: "own", Value: each})
			parent = int32(len(f.Nodes) - 1)
		}
	}
	t := many(500, 50)
	t.Flames = []timeline.Flame{f}
	chrome := startBrowser(b)
	p := chrome.open(b, save(b, drawn{t}), wide)
	var frames, draw float64
	b.ResetTimer()
	for range b.N {
		got := eval[struct{ Frames, Draw float64 }](p, `(async () => {
			const f = `+report(0)+`.flames, begin = performance.now();
			f.element.scrollIntoView();
			let n = 0, drawing = 0;
			for (; performance.now() - begin < 2000; n++) {
				const at = performance.now();
				f.zoom(n % 2 ? 0 : 1 + n * 40 % 40000);
				drawing += performance.now() - at;
				await new Promise(requestAnimationFrame);
			}
			return {Frames: n / (performance.now() - begin) * 1000, Draw: drawing / n};
		})()`)
		frames, draw = frames+got.Frames, draw+got.Draw
	}
	p.quiet()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(frames/float64(b.N), "frames/s")
	b.ReportMetric(draw/float64(b.N), "ms/draw")
}
