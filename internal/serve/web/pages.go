package web

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/html"
	"github.com/unstall/unstall/internal/serve/capturestore"
)

// mostShown bounds how many captures a page lists.
const mostShown = 200

// serveList serves the first page.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	s.writeList(w, r, http.StatusOK, "")
}

// writeList writes the list of captures, and why a request failed.
func (s *Server) writeList(w http.ResponseWriter, r *http.Request, code int, failed string) {
	items, left, err := s.shelf.Items()
	if err != nil {
		s.writeError(w, err)
		return
	}
	part := html.Shelf{Dir: s.shelf.Dir(), Query: r.URL.Query().Get("q"), Sort: "time", Left: left, Token: s.form, Failed: failed,
		Records: s.opt.Record != nil, DefaultTime: defaultSeconds, LongestTime: mostSeconds, Instructions: "start unstall serve with --allow-record."}
	if by := r.URL.Query().Get("sort"); by == "verdict" || by == "service" {
		part.Sort = by
	}
	for _, item := range items {
		if item.Broken != "" && len(part.Broken) < mostShown {
			part.Broken = append(part.Broken, html.Broken{Name: item.Name, Why: item.Broken})
		}
		if !item.Capture {
			continue
		}
		c := html.Shelved{Name: item.Name, Target: item.Target, Size: units.Size(float64(item.Bytes)), At: item.At, For: item.For, Tone: "plain"}
		if item.Running {
			c.Says = "is being recorded, or was cut off"
		}
		if f, ok := s.shelf.Known(item.Name); ok {
			c.Cause, c.Tone = f.Cause, findingTone(f)
			c.Says = strings.Replace(f.Brief, ": "+f.Cause+". ", ". ", 1) // the cause stands before it
		}
		if !matchesQuery(part.Query, c) {
			continue
		}
		if c.Says == "" {
			part.Pending++
		}
		part.Captures = append(part.Captures, c)
	}
	if part.Sort == "verdict" { // those with a cause first, the same ones together
		sorting.Short(part.Captures, func(a, b html.Shelved) int {
			if (a.Cause == "") != (b.Cause == "") {
				return strings.Compare(b.Cause, a.Cause)
			}
			return strings.Compare(a.Cause, b.Cause)
		})
	}
	if part.Sort == "service" { // the services by name, and of each the latest day first
		sorting.Short(part.Captures, func(a, b html.Shelved) int { return strings.Compare(a.Target, b.Target) })
		last := ""
		for i := range part.Captures {
			c := &part.Captures[i]
			if group := cmp.Or(c.Target, "of an unknown service") + " · " + c.At.UTC().Format("2006-01-02"); group != last {
				c.Group, last = group, group
			}
		}
	}
	if more := len(part.Captures) - mostShown; more > 0 {
		part.Captures, part.Left = part.Captures[:mostShown], part.Left+more
	}
	part.Processes, part.NoProcesses = s.listProcesses(r)
	part.Under = s.recordingTarget()
	writePage(w, code, func(text *bytes.Buffer) error {
		return html.Page{Title: "captures", Strip: []string{s.shelf.Dir()}, Version: s.opt.Version, Parts: []html.Part{part}}.Write(text)
	})
}

func findingTone(f capturestore.Finding) string {
	switch {
	case f.Cause != "":
		return "found"
	case f.Outcome == diagnose.NothingFound:
		return "calm"
	}
	return "plain"
}

// matchesQuery says whether a capture has all words of a search.
func matchesQuery(query string, c html.Shelved) bool {
	text := strings.ToLower(strings.Join([]string{c.Name, c.Target, c.Cause, c.Says}, " "))
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// listProcesses returns the processes of this host, or why there are none.
func (s *Server) listProcesses(r *http.Request) (all []html.Running, why string) {
	if s.opt.List == nil {
		return nil, ""
	}
	found, err := s.opt.List(r.Context())
	if err != nil {
		return nil, err.Error()
	}
	for _, f := range found {
		p := html.Running{PID: f.PID, Name: f.Name, About: []string{fmt.Sprintf("%.2f CPUs", f.CPU), units.Size(float64(f.RSS))}}
		if runtime := cmp.Or(platform.ByID(f.Runtime).Release(f.Version), f.Runtime); runtime != "" {
			p.About = slices.Insert(p.About, 0, runtime)
		}
		for _, l := range f.Listens[:min(3, len(f.Listens))] {
			p.About = append(p.About, l.String())
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		why = "No process here has a runtime that unstall knows; record other processes by PID."
	}
	return all, why
}

// serveReport serves the report of a capture.
func (s *Server) serveReport(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	d, err := s.shelf.Diagnose(r.Context(), []string{name}, diagnose.Options{})
	if err != nil {
		s.writeError(w, err)
		return
	}
	writePage(w, http.StatusOK, func(text *bytes.Buffer) error {
		return html.Options{Home: "/", Repeat: []string{"unstall " + quoteForShell(name)}}.Report(text, d)
	})
}

// serveComparison serves the comparison of two captures, with the diagnoses of both.
func (s *Server) serveComparison(w http.ResponseWriter, r *http.Request) {
	before, after := r.URL.Query().Get("before"), r.URL.Query().Get("after")
	if runs := r.URL.Query()["run"]; len(runs) == 2 {
		before, after = s.sortByStart(runs[0], runs[1])
	}
	if before == "" || after == "" || before == after {
		s.writeList(w, r, http.StatusBadRequest, "To compare, tick two captures: one from before the change and one from after it.")
		return
	}
	c, err := s.shelf.Compare(r.Context(), []string{before}, []string{after}, 0)
	if err != nil {
		s.writeError(w, err)
		return
	}
	side := func(name string) *diagnose.Diagnosis {
		d, err := s.shelf.Diagnose(r.Context(), []string{name}, diagnose.Options{})
		if err != nil || len(d.Verdicts) == 0 {
			return nil
		}
		return d
	}
	writePage(w, http.StatusOK, func(text *bytes.Buffer) error {
		return html.Options{Home: "/", Repeat: []string{"unstall compare " + quoteForShell(before) + " " + quoteForShell(after)}}.Compare(text, c, side(before), side(after))
	})
}

// sortByStart returns two captures, the one that began earlier first.
func (s *Server) sortByStart(a, b string) (before, after string) {
	items, _, err := s.shelf.Items()
	if err != nil {
		return a, b
	}
	at := func(name string) int {
		return slices.IndexFunc(items, func(i capturestore.Item) bool { return i.Name == name })
	}
	if i, k := at(a), at(b); i >= 0 && k >= 0 && items[k].At.Before(items[i].At) {
		return b, a
	}
	return a, b
}

// writeError writes a page that says what could not be read.
func (s *Server) writeError(w http.ResponseWriter, err error) {
	code := http.StatusUnprocessableEntity
	if errors.Is(err, capturestore.ErrName) {
		code = http.StatusNotFound
	}
	s.writeNotice(w, code, html.Notice{Label: "not shown", Text: "This page cannot be shown.", More: strings.Split(err.Error(), "\n")})
}

func (s *Server) writeNotice(w http.ResponseWriter, code int, n html.Notice) {
	writePage(w, code, func(text *bytes.Buffer) error {
		return html.Page{Title: n.Label, Version: s.opt.Version, Home: "/", Parts: []html.Part{n}}.Write(text)
	})
}

// quoteForShell quotes a file's name so that a shell takes it as one word.
func quoteForShell(name string) string {
	if strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:", r))
	}) < 0 {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
