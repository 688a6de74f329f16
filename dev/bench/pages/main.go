// Pages measures the pages of reports in Chromium: how large each is and after how long it can be used, and how many
// frames a second a flame graph of 100,000 samples shows while it is zoomed.
//
//	go run ./dev/bench/pages before.unstall ...      the pages of these captures, and the flame graph
//	go run ./dev/bench/pages docs/gallery/*.html     pages that are there already
//
// With -page dev/bench/performance.md its figures replace those of that document.
//
// Its opinion: a page can be used when its first screen is shown and it answers its reader; its pictures, which are further down, are drawn right
// after that, in turns so short that it still does. The page itself says all three (window.unstall.ready): when it could be used and when all was
// drawn, in milliseconds since its navigation began, and how long the longest turn took. Each figure is a median with the least and the most beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/dev/bench/table"
)

// The goals, for a capture of 25 s.
const (
	mostBytes  = 2e6
	mostOpen   = 1000. // ms
	mostTurn   = 100.  // ms: within that, an answer seems immediate (https://web.dev/articles/rail)
	leastRate  = 30.   // frames per second
	samples    = 100_000
	flameTitle = "Flame graph of 100,000 samples: zooming, frames/s"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often each page is opened, and each flame graph zoomed")
	tool := flag.String("unstall", "", "the build of unstall that writes pages; empty: built anew")
	chromium := flag.String("chromium", "", "the Chromium that draws them; empty: that of dev/tools/chromium.sh")
	document := flag.String("page", "", "the document whose part \"pages\" gets the figures; empty: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measurePages(ctx, *tool, *chromium, *rounds, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/pages:", err)
		os.Exit(1)
	}
	if *document == "" {
		return
	}
	if err := publishFigures(*document, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/pages:", err)
		os.Exit(1)
	}
}

// said is what was printed, for a document.
var said strings.Builder

func printLine(format string, args ...any) {
	fmt.Fprintf(io.MultiWriter(os.Stdout, &said), format+"\n", args...)
}

// publishFigures writes the figures into a document.
func publishFigures(document string, rounds int) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("%s, Chromium without a window, 1440 × 900, %d processors, %d rounds; median (least–most)\n\n", runtime.Version(), runtime.NumCPU(), rounds)
	now, ok := table.ReplacePart(string(text), "pages", head+said.String())
	if !ok {
		return fmt.Errorf("%s has no part <!-- measured: pages -->", document)
	}
	return os.WriteFile(document, []byte(now), 0o644)
}

func measurePages(ctx context.Context, tool, chromium string, rounds int, files []string) error {
	dir, err := os.MkdirTemp("", "unstall-pages")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if tool == "" {
		tool = filepath.Join(dir, "unstall")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/unstall").CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w: %s", err, out)
		}
	}
	if chromium == "" {
		out, err := exec.CommandContext(ctx, "dev/tools/chromium.sh").Output()
		if err != nil {
			return fmt.Errorf("dev/tools/chromium.sh: %w", err)
		}
		chromium = strings.TrimSpace(string(out))
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.Env("TMPDIR="+dir),
		chromedp.Flag("headless", "new"), chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	screen := emulation.SetDeviceMetricsOverrideParams{Width: 1440, Height: 900, DeviceScaleFactor: 1}
	if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, screen); err != nil {
		return err
	}
	for i, file := range files {
		page := file
		if filepath.Ext(file) != ".html" {
			page = filepath.Join(dir, fmt.Sprintf("%d.html", i))
			if err := writePage(ctx, tool, file, page); err != nil {
				return err
			}
		}
		if err := measureOpening(ctx, page, filepath.Base(file), rounds); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	cpu, page := filepath.Join(dir, "cpu.pb.gz"), filepath.Join(dir, "flame.html")
	if err := writeProfile(cpu); err != nil {
		return err
	}
	if err := writePage(ctx, tool, cpu, page); err != nil {
		return err
	}
	if err := measureOpening(ctx, page, "flame graph of 100,000 samples", rounds); err != nil {
		return err
	}
	return measureZoom(ctx, page, rounds)
}

func writePage(ctx context.Context, tool, file, page string) error {
	if out, err := exec.CommandContext(ctx, tool, file, "-o", page).CombinedOutput(); err != nil {
		return fmt.Errorf("unstall %s: %w: %s", file, err, out)
	}
	return nil
}

// measureOpening opens a page from disk, again and again.
func measureOpening(ctx context.Context, page, name string, rounds int) error {
	info, err := os.Stat(page)
	if err != nil {
		return err
	}
	var usable, drawn, longest []float64
	for range rounds {
		took, err := openPage(ctx, page)
		if err != nil {
			return err
		}
		usable, drawn, longest = append(usable, took.Usable), append(drawn, took.Total), append(longest, took.Longest)
	}
	reportFigure(name+": size, MB", []float64{float64(info.Size()) / 1e6}, "≤ 2", func(v float64) bool { return v <= mostBytes/1e6 })
	reportFigure(name+": usable after, ms", usable, "≤ 1000", func(v float64) bool { return v <= mostOpen })
	reportFigure(name+": all drawn after, ms", drawn, "≤ 1000", func(v float64) bool { return v <= mostOpen })
	reportFigure(name+": longest turn of drawing, ms", longest, "≤ 100", func(v float64) bool { return v <= mostTurn })
	return nil
}

// opened has the times (ms) after which a page can be used and is drawn, and the longest turn of its drawing, by the page itself.
type opened struct{ Usable, Total, Longest float64 }

// openPage opens a page and waits until all of it is drawn.
func openPage(ctx context.Context, page string) (opened, error) {
	path, err := filepath.Abs(page)
	if err != nil {
		return opened{}, err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+path)); err != nil {
		return opened{}, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[opened](`window.unstall.ready`, chromedp.EvalAwaitPromise))
}

// zoomed zooms the flame graph of a page into another frame in each animation frame, and out again, for two seconds. It
// returns how many animation frames there were a second.
const zoomed = `(async () => {
	const f = window.unstall.reports[0].flames, frame = () => new Promise(requestAnimationFrame);
	f.element.scrollIntoView({block: "center", behavior: "instant"});
	const n = f.values().length;
	await frame(); await frame();
	const began = performance.now();
	let frames = 0, node = 0;
	do {
		node = frames % 5 ? (node * 31 + 7) % n : 0; // each fifth time all of it
		f.zoom(node);
		await frame();
		frames++;
	} while (performance.now() - began < 2000);
	return {Rate: frames * 1000 / (performance.now() - began), Nodes: n};
})()`

func measureZoom(ctx context.Context, page string, rounds int) error {
	if _, err := openPage(ctx, page); err != nil {
		return err
	}
	var rates []float64
	for range rounds {
		got, err := chromedp.Run(ctx, chromedp.Evaluate[struct{ Rate, Nodes float64 }](zoomed, chromedp.EvalAwaitPromise))
		if err != nil {
			return err
		}
		if len(rates) == 0 {
			printLine("%-60s %.0f", "flame graph of 100,000 samples: frames in it", got.Nodes)
		}
		rates = append(rates, got.Rate)
	}
	reportFigure(flameTitle, rates, "≥ 30", func(v float64) bool { return v >= leastRate })
	return nil
}

// writeProfile writes a CPU profile of 100,000 samples, each a stack of its own: a tree of calls in which the first callee of each
// function is the most frequent one, as in a program of many routes.
func writeProfile(name string) error {
	const every = int64(10 * time.Millisecond)
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: every,
		TimeNanos: time.Now().UnixNano(), DurationNanos: samples * every / 4,
	}
	known := make(map[string]*profile.Location)
	locate := func(function string) *profile.Location {
		l := known[function]
		if l == nil {
			id := uint64(len(known) + 1)
			f := &profile.Function{ID: id, Name: function, SystemName: function}
			l = &profile.Location{ID: id, Line: []profile.Line{{Function: f, Line: 1}}}
			p.Function, p.Location, known[function] = append(p.Function, f), append(p.Location, l), l
		}
		return l
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range samples {
		stack := []*profile.Location{locate("main.main"), locate("net/http.(*Server).Serve"), locate("net/http.(*conn).serve")}
		for at, deep := 0, 10+r.IntN(50); len(stack) < deep; {
			at = (at*7 + int(r.ExpFloat64()*1.5)) % 10_000
			stack = append(stack, locate(fmt.Sprintf("example.com/shop/part%d.(*Handler).step%d", at%40, at)))
		}
		slices.Reverse(stack) // the innermost first
		p.Sample = append(p.Sample, &profile.Sample{Location: stack, Value: []int64{1, every}})
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := p.Write(f); err != nil {
		return err
	}
	return f.Close()
}

// reportFigure prints the median of a figure and adds its row to the table of all benchmarks.
func reportFigure(work string, all []float64, goal string, met func(float64) bool) {
	slices.Sort(all)
	median := all[len(all)/2]
	result := "MISSED"
	if met(median) {
		result = "got"
	}
	printLine("%-60s %.4g (%.4g–%.4g)  asked %s: %s", work, median, all[0], all[len(all)-1], goal, result)
	table.Add(table.Row{Work: work, Peer: table.Limit, Got: fmt.Sprintf("%.4g", median), Goal: goal, Met: met(median)})
}
