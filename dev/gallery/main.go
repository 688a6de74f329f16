// Gallery makes docs/gallery: the reports of the recorded incidents as pages, and
// pictures of them. `make gallery` runs it.
//
// Its opinion: the program makes its own examples. Only the sentence about each page
// is written by hand, and a test compares the pages with what the program says now.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/html"
)

const folder = "docs/gallery"

func main() {
	shots := flag.String("screenshots", "", "also take the pictures, with this Chromium")
	flag.Parse()
	if err := makeGallery(*shots); err != nil {
		fmt.Fprintln(os.Stderr, "gallery:", err)
		os.Exit(1)
	}
}

func makeGallery(chromium string) error {
	pages, err := makePages(".")
	if err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(folder, p.Name), p.HTML, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s/%s %d KB\n", folder, p.Name, len(p.HTML)/1000)
	}
	if err := os.WriteFile(filepath.Join(folder, "README.md"), formatReadme(pages), 0o644); err != nil {
		return err
	}
	if chromium == "" {
		return nil
	}
	return takeScreenshots(chromium)
}

// entry is a page of the gallery.
type entry struct {
	Name, Title, About string
	HTML               []byte
}

// recording is a sick service and the same after its fix, or a healthy twin.
type recording struct {
	lab                string
	folders            [2]string // of the recordings: sick, and its twin
	twin               string    // what the second one is: "fixed" or "healthy"
	sick, well, before string    // about each page; before "": the two are not compared
}

const fixtures = "internal/diagnose/check/testdata/"

var incidents = []recording{{
	lab:     "go-ballast",
	folders: [2]string{"lab/go-ballast/recorded/sick", "lab/go-ballast/recorded/fixed"},
	twin:    "fixed",
	sick:    "A Go gateway collects garbage eight times per second because its heap is small on a big machine. The page has the cause, what it costs slow requests, and the setting that fixes it.",
	well:    "The same gateway under the same load with GOMEMLIMIT: no cause is found, and the page lists what is ruled out.",
	before:  "Both compared: what changed, and why one pair of runs decides nothing yet.",
}, {
	lab:     "dotnet-starvation",
	folders: [2]string{fixtures + "dotnet.threadpool-starvation/sick", fixtures + "dotnet.threadpool-starvation/healthy"},
	twin:    "fixed",
	sick:    "The handlers of an ASP.NET Core service block on .Result: every pool thread is blocked, the pool grows by one or two threads per second, and the CPUs are idle. The page has the method to change, the stacks, and threads, CPU, queue and latency on one timeline.",
	well:    "The same load where the handlers await the query: few threads serve it, and no cause is found.",
}, {
	lab:     "dotnet-loh",
	folders: [2]string{fixtures + "dotnet.loh-churn/sick", fixtures + "dotnet.loh-churn/healthy"},
	twin:    "fixed",
	sick:    "An ASP.NET Core service allocates arrays of megabytes for each request, so that .NET collects its oldest generation eight times per second. The page has the type, the method that allocates it, and what streaming would save.",
	well:    "The same service without the large arrays: no cause is found.",
}, {
	lab:     "jvm-parnew",
	folders: [2]string{fixtures + "jvm.young-gc-rate/sick", fixtures + "jvm.young-gc-rate/healthy"},
	twin:    "healthy",
	sick:    "The young generation of a JVM is so small that ParNew pauses its HTTP service three times per second. The page has how long slow requests waited in pauses, the sizes to set and their predicted effect, and heap, allocation and pauses on one timeline.",
	well:    "The same JVM under the same load, but a request allocates a quarter and keeps nothing: short collections now and then, and no cause is found.",
}, {
	lab:     "linux-thp",
	folders: [2]string{fixtures + "linux.thp-stall/sick", fixtures + "linux.thp-stall/healthy"},
	twin:    "healthy",
	sick:    "A service touches fresh memory for each request on a host without free huge pages: the kernel compacts memory in its page faults, for most of the process's CPU time. The page has the kernel stacks, the setting to change and what it would save.",
	well:    "The same service with the same settings on a host with free huge pages: it answers 25 times as many requests, and huge pages are not the cause of the slow ones.",
}, {
	lab:     "redis",
	folders: [2]string{fixtures + "redis.slow-command/sick", fixtures + "redis.slow-command/healthy"},
	twin:    "fixed",
	sick:    "Another host sends KEYS to a Redis twice per second: each call stops all its clients for 0.4 s. The page has the command, where it comes from, how many clients wait, and what to send instead.",
	well:    "The same load where the other host walks the keys by SCAN: no command takes 10 ms.",
}}

// makePages makes the gallery's pages from the recordings of a checkout.
func makePages(root string) ([]entry, error) {
	var made []entry
	for _, x := range incidents {
		var diagnoses [2]*diagnose.Diagnosis
		for i, kind := range []string{"sick", x.twin} {
			b, err := readRecording(filepath.Join(root, x.folders[i]))
			if err != nil {
				return nil, err
			}
			if diagnoses[i], err = diagnose.Run(context.Background(), b, diagnose.Options{}); err != nil {
				return nil, err
			}
			var page bytes.Buffer
			if err := (html.Options{Repeat: []string{"unstall " + x.folders[i] + " -o " + kind + ".html"}}).Report(&page, diagnoses[i]); err != nil {
				return nil, err
			}
			made = append(made, entry{x.lab + "-" + kind + ".html", x.lab + ", " + kind, []string{x.sick, x.well}[i], page.Bytes()})
		}
		if x.before == "" {
			continue
		}
		page, err := makeComparison(root, x, diagnoses)
		if err != nil {
			return nil, err
		}
		made = append(made, entry{x.lab + "-before-after.html", x.lab + ", before and after", x.before, page})
	}
	log, err := gcLog(root)
	if err != nil {
		return nil, err
	}
	made = append(made, log)
	return append(made, entry{"index.html", "", "", renderIndex(made)}), nil
}

// makeComparison makes the page that compares both sides. Their timelines are on their own pages.
func makeComparison(root string, x recording, diagnoses [2]*diagnose.Diagnosis) ([]byte, error) {
	var runs [2][]compare.Run
	for i, kind := range []string{"sick", x.twin} {
		b, err := readRecording(filepath.Join(root, x.folders[i])) // anew: a bundle's clocks are aligned once
		if err != nil {
			return nil, err
		}
		runs[i] = compare.Measure(b, kind, compare.MeasureOptions{})
	}
	c, err := compare.Compare(runs[0], runs[1], compare.Options{})
	if err != nil {
		return nil, err
	}
	change := "sick → " + x.twin
	var page bytes.Buffer
	err = html.Page{Title: change, Strip: []string{x.lab + ": " + change}, Repeat: []string{"unstall compare " + x.folders[0] + " " + x.folders[1] + " -o compared.html"},
		Parts: []html.Part{html.Compared{Comparison: c, Before: diagnoses[0], After: diagnoses[1], Lead: true}}}.Write(&page)
	return page.Bytes(), err
}

// gcLog makes the page of a JVM's GC log alone.
func gcLog(root string) (entry, error) {
	const file = "internal/diagnose/check/testdata/jvm.g1-evacuation-failure/sick/gc.log.gz"
	b := incident.NewBundle()
	a := format.File(filepath.Join(root, file))
	a.Name = filepath.Base(file)
	if err := format.Read(context.Background(), all.Formats, a, b); err != nil {
		return entry{}, err
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		return entry{}, err
	}
	var page bytes.Buffer
	if err := (html.Options{Repeat: []string{"unstall " + file + " -o gc-log.html"}}).Report(&page, d); err != nil {
		return entry{}, err
	}
	return entry{"gc-log.html", "gc-log", "A JVM's GC log alone, without any requests: the cause, throughput, how long pauses were and why they came, and heap, allocation and promotion on one timeline.", page.Bytes()}, nil
}

// readRecording reads a recording without truth.json, which only the recorder knows.
func readRecording(folder string) (*evidence.Bundle, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	b := incident.NewBundle()
	for _, f := range files {
		if f.Name() == "truth.json" {
			continue
		}
		a := format.File(filepath.Join(folder, f.Name()))
		a.Name = f.Name()
		if err := format.Read(context.Background(), all.Formats, a, b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func renderIndex(pages []entry) []byte {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>unstall: reports of incidents</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>:root { color-scheme: light dark; background: Canvas; color: CanvasText } body { font: 1rem/1.5 sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem } dt { margin-top: 1rem; font-weight: bold } dd { margin: 0 }</style>
</head><body><main>
<h1>Reports of incidents</h1>
<p>unstall writes these reports from recorded incidents. Each is one file that loads nothing.</p>
<dl>
`)
	for _, p := range pages {
		fmt.Fprintf(&b, "<dt><a href=\"%s\">%s</a></dt><dd>%s</dd>\n", p.Name, p.Title, p.About)
	}
	b.WriteString("</dl>\n</main></body></html>\n")
	return []byte(b.String())
}

func formatReadme(pages []entry) []byte {
	var b strings.Builder
	b.WriteString("# Reports of incidents\n\nThis page lists reports on recorded incidents, each with its fix or a healthy twin, as `unstall -o report.html` writes them. Each is one file that loads nothing. Download one to open it: GitHub shows only its source. `make gallery` writes them from the recordings in this repository.\n\n| report | |\n|---|---|\n")
	for _, p := range pages {
		if p.Title != "" {
			fmt.Fprintf(&b, "| [%s](%s) | %s |\n", p.Title, p.Name, p.About)
		}
	}
	for _, s := range shots {
		fmt.Fprintf(&b, "\n![%s](%s)\n", s.about, s.name)
	}
	return []byte(b.String())
}
