package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// shot is a picture of a page.
type shot struct {
	name, page string
	height     int64
	look       string // what is done before
	about      string
}

const (
	firstScreen = `scrollTo(0, 0)`
	atTimeline  = `document.querySelector("#timeline-0").scrollIntoView({behavior: "instant"})`
	atThreads   = `document.querySelector("#threads-0-1").scrollIntoView({behavior: "instant"})`
)

var shots = []shot{
	{"go-ballast.png", "go-ballast-sick.html", 800, firstScreen, "The first screen of go-ballast, sick: the cause, its share of slow time, what to change"},
	{"go-ballast-timeline.png", "go-ballast-sick.html", 900, atTimeline, "Its timeline: requests, GC cycles, and where slow requests' time went"},
	{"dotnet-starvation.png", "dotnet-starvation-sick.html", 800, firstScreen, "The first screen of dotnet-starvation, sick: the method that blocks the pool's threads"},
	{"dotnet-starvation-threads.png", "dotnet-starvation-sick.html", 800, atThreads, "Its threads, grouped by what they do"},
	{"dotnet-loh.png", "dotnet-loh-sick.html", 800, firstScreen, "The first screen of dotnet-loh, sick: the type and the method that bring on gen 2 collections"},
	{"jvm-parnew.png", "jvm-parnew-sick.html", 800, firstScreen, "The first screen of jvm-parnew, sick: young collections, and the flag to set"},
	{"jvm-parnew-timeline.png", "jvm-parnew-sick.html", 1050, atTimeline, "Its timeline: requests, pauses, heap and allocation"},
	{"linux-thp.png", "linux-thp-sick.html", 800, firstScreen, "The first screen of linux-thp, sick: page faults that compact memory"},
	{"redis.png", "redis-sick.html", 800, firstScreen, "The first screen of redis, sick: the command that stops all clients"},
}

// takeScreenshots takes the pictures that the pages in Markdown show.
func takeScreenshots(chromium string) error {
	scratch, err := os.MkdirTemp("", "chromium") // holds what Chromium leaves behind
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.Env("TMPDIR="+scratch), chromedp.Flag("headless", "new"),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("hide-scrollbars", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	ctx, enough := context.WithTimeout(ctx, time.Minute)
	defer enough()
	const width = 1280
	for _, shot := range shots {
		file, err := filepath.Abs(filepath.Join(folder, shot.page))
		if err != nil {
			return err
		}
		if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: shot.height, DeviceScaleFactor: 1}); err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.Navigate("file://"+file)); err != nil {
			return err
		}
		for _, script := range []string{`window.unstall.ready`, shot.look, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`} {
			if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](script, chromedp.EvalAwaitPromise)); err != nil {
				return fmt.Errorf("%s: %w", shot.name, err)
			}
		}
		taken, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
		if err != nil {
			return err
		}
		small, err := reducePalette(taken.Data)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, shot.name), small, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s/%s %d KB\n", folder, shot.name, len(small)/1000)
	}
	return nil
}

// reducePalette encodes a picture with the palette of its 256 most frequent colours, and each
// other colour as the nearest of them.
func reducePalette(data []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	bounds := img.Bounds()
	count := make(map[color.RGBA]int)
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	out := image.NewPaletted(bounds, mostFrequent(count, 256))
	nearest := make(map[color.RGBA]uint8)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(out.Palette.Index(c))
				nearest[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out)
	return b.Bytes(), err
}
