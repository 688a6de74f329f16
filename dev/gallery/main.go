// Gallery makes docs/gallery: the reports of the recorded incidents as pages, and
// pictures of them. `make gallery` runs it.
//
// Its opinion: an example is made by the code it is an example of. Nothing in the
// gallery is written by hand but the sentence about each page, and a test holds
// what the pages say to what is said now.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
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
	if err := run(*shots); err != nil {
		fmt.Fprintln(os.Stderr, "gallery:", err)
		os.Exit(1)
	}
}

func run(chromium string) error {
	pages, err := pages(".")
	if err != nil {
		return err
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(folder, p.Name), p.HTML, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s/%s %d KB\n", folder, p.Name, len(p.HTML)/1000)
	}
	if err := os.WriteFile(filepath.Join(folder, "README.md"), readme(pages), 0o644); err != nil {
		return err
	}
	if chromium == "" {
		return nil
	}
	return photograph(chromium)
}

// entry is a page of the gallery.
type entry struct {
	Name, Title, About string
	HTML               []byte
}

// recording is of a service that was sick and of the same after its fix.
type recording struct {
	lab                 string
	folders             [2]string // of the recordings: sick, fixed
	sick, fixed, before string    // about each page; "": there is none
}

var incidents = []recording{{
	lab:     "go-ballast",
	folders: [2]string{"lab/go-ballast/recorded/sick", "lab/go-ballast/recorded/fixed"},
	sick:    "A gateway in Go that collects garbage all the time: a small heap on a big machine. The cause, what it costs slow requests, and the setting that fixes it.",
	fixed:   "The same gateway under the same load with GOMEMLIMIT: no cause is found, and what was looked for and ruled out is listed.",
	before:  "The two compared: what changed, and why one pair of runs decides nothing yet.",
}, {
	lab:     "dotnet-starvation",
	folders: [2]string{"internal/diagnose/check/testdata/dotnet.threadpool-starvation/sick", "internal/diagnose/check/testdata/dotnet.threadpool-starvation/healthy"},
	sick:    "An ASP.NET Core service whose handlers wait for a query with .Result: all threads of the pool are blocked, it grows by one or two per second, and the CPUs are idle. The method to change, the stacks, and thread count, CPU, queue and latency on one timeline.",
	fixed:   "The same load where the handlers await the query: few threads serve it, and no cause is found.",
}, {
	lab:     "jvm-parnew",
	folders: [2]string{"internal/diagnose/check/testdata/jvm.young-gc-rate/sick", "internal/diagnose/check/testdata/jvm.young-gc-rate/healthy"},
	sick:    "An HTTP service on a JVM with a young generation so small that ParNew stops it three times per second: how long slow requests waited in pauses, the sizes to set and what they would do, and heap, allocation and pauses on one timeline.",
	fixed:   "The same JVM under the same load, but a request allocates a quarter and keeps nothing: short collections now and then, and no cause is found.",
}}

// pages makes the gallery's pages of the recordings of a checkout.
func pages(root string) ([]entry, error) {
	var made []entry
	for _, x := range incidents {
		var diagnoses [2]*diagnose.Diagnosis
		var runs [2][]compare.Run
		for i, kind := range []string{"sick", "fixed"} {
			b, err := read(filepath.Join(root, x.folders[i]))
			if err != nil {
				return nil, err
			}
			if diagnoses[i], err = diagnose.Run(context.Background(), b, diagnose.Options{}); err != nil {
				return nil, err
			}
			// Measure aligns the clocks as Run does, which is done once to a bundle.
			if b, err = read(filepath.Join(root, x.folders[i])); err != nil {
				return nil, err
			}
			runs[i] = compare.Measure(b, kind, compare.MeasureOptions{})
		}
		c, err := compare.Compare(runs[0], runs[1], compare.Options{})
		if err != nil {
			return nil, err
		}
		command := func(s string) html.Options { return html.Options{Repeat: []string{s}} }
		for _, p := range []struct {
			kind, title, about string
			write              func(io.Writer) error
		}{
			{"sick", "sick", x.sick, func(w io.Writer) error {
				return command("unstall "+x.folders[0]+" -o sick.html").Report(w, diagnoses[0])
			}},
			{"fixed", "fixed", x.fixed, func(w io.Writer) error {
				return command("unstall "+x.folders[1]+" -o fixed.html").Report(w, diagnoses[1])
			}},
			// With the answers of both sides, without their pictures: these are above.
			{"before-after", "before and after", x.before, func(w io.Writer) error {
				return html.Page{Title: "sick → fixed", Strip: []string{x.lab + ": sick → fixed"}, Repeat: []string{"unstall compare " + x.folders[0] + " " + x.folders[1] + " -o compared.html"},
					Parts: []html.Part{html.Compared{Comparison: c, Before: diagnoses[0], After: diagnoses[1], Lead: true}}}.Write(w)
			}},
		} {
			if p.about == "" {
				continue
			}
			var b bytes.Buffer
			if err := p.write(&b); err != nil {
				return nil, err
			}
			made = append(made, entry{x.lab + "-" + p.kind + ".html", x.lab + ", " + p.title, p.about, b.Bytes()})
		}
	}
	log, err := gcLog(root)
	if err != nil {
		return nil, err
	}
	made = append(made, log)
	return append(made, entry{"index.html", "", "", index(made)}), nil
}

// gcLog is the page of a JVM's log and nothing else.
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
	return entry{"gc-log.html", "gc-log", "The log of a JVM's garbage collector alone, without any requests: the cause, throughput, how long pauses were and why they came, and heap, allocation and promotion on one timeline.", page.Bytes()}, nil
}

// read reads what was recorded, without what only the recorder knows.
func read(folder string) (*evidence.Bundle, error) {
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

func index(pages []entry) []byte {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>unstall: reports of incidents</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>:root { color-scheme: light dark; background: Canvas; color: CanvasText } body { font: 1rem/1.5 sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem } dt { margin-top: 1rem; font-weight: bold } dd { margin: 0 }</style>
</head><body><main>
<h1>Reports of incidents</h1>
<p>Reports on recorded incidents, as unstall writes them. Each is one file that loads nothing.</p>
<dl>
`)
	for _, p := range pages {
		fmt.Fprintf(&b, "<dt><a href=\"%s\">%s</a></dt><dd>%s</dd>\n", p.Name, p.Title, p.About)
	}
	b.WriteString("</dl>\n</main></body></html>\n")
	return []byte(b.String())
}

func readme(pages []entry) []byte {
	var b strings.Builder
	b.WriteString("# Reports of incidents\n\nThese are reports on recorded incidents, as unstall writes them with `-o report.html`. Each is one file that loads nothing. Download one and open it: GitHub shows only its source. `make gallery` writes them from the recordings in this repository.\n\n| report | |\n|---|---|\n")
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
