package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGallery compares the words and figures of the gallery with what the program writes now.
// It ignores styles, scripts and what these draw: they change more often and have tests of their own.
func TestGallery(t *testing.T) {
	pages, err := makePages("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"README.md": formatReadme(pages)}
	for _, p := range pages {
		files[p.Name] = p.HTML
	}
	const most = 9 << 18 // the requests of the log and of the trace, each once
	for name, now := range files {
		was, err := os.ReadFile(filepath.Join("../..", folder, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if len(now) > most {
			t.Errorf("%s has %d bytes, at most %d are kept", name, len(now), most)
		}
		if d := cmp.Diff(words(was), words(now)); d != "" {
			t.Errorf("%s says something else than is written now; if that is right: make gallery\n%.2000s", name, d)
		}
	}
	if len(words(files["go-ballast-sick.html"])) < 100 {
		t.Error("the report of the sick gateway is nearly empty")
	}
}

// TestQuestions checks that the first screen of a page, or a click, answers what a newcomer asks: what is
// wrong, how sure that is, since when, which route, what to change, what that will do, what was ruled
// out, what was not seen, one request, the same as JSON.
func TestQuestions(t *testing.T) {
	pages, err := makePages("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if strings.HasSuffix(p.Name, "index.html") || strings.HasSuffix(p.Name, "before-after.html") {
			continue // a list, and a comparison, whose rows answer all of it
		}
		page := hidden.ReplaceAllString(string(p.HTML), "")
		first, _, _ := strings.Cut(page, `<dl class="facts">`)
		facts, _, _ := strings.Cut(page[len(first):], "</dl>")
		sick := strings.Contains(first, ">cause found<")
		asks := func(what, where string, answers ...string) {
			for _, a := range answers {
				if strings.Contains(where, a) {
					return
				}
			}
			t.Errorf("%s: %s: none of %q", p.Name, what, answers)
		}
		asks("what is wrong", first, ">cause found<", ">nothing wrong<", ">no slower than usual<", ">no cause stands out<", ">not enough evidence<", ">cause not found<")
		asks("since when", first, "UTC")
		asks("which route", facts+first, "all of ", `href="#routes-0"`, "No request data")
		asks("what was ruled out", first, `href="#ruled-out-0"`)
		asks("what was not seen", first, `href="#not-seen-0"`)
		asks("one request", first, `href="#request-0"`, `href="#not-seen-0"`)
		asks("as JSON", first, `href="#json"`)
		if sick {
			asks("how sure", first, "of the slow time", "of the time")
			asks("what to change", first, `class="change"`)
			asks("why", first, "-how\">How it works")
			asks("what it will do", first, `class="predicted"`, "Why, conditions and alternatives")
		}
		for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(page, `id="`+link[1]+`"`) {
				t.Errorf("%s: a link to %s, which is not there", p.Name, link[1])
			}
		}
	}
}

var (
	hidden = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<svg.*?</svg>|<noscript.*?</noscript>`)
	tags   = regexp.MustCompile(`(?s)<[^>]*>`)
)

// words returns the lines of a page that people read.
func words(page []byte) (lines []string) {
	text := tags.ReplaceAll(hidden.ReplaceAll(page, nil), []byte("\n"))
	for l := range bytes.SplitSeq(text, []byte("\n")) {
		if s := strings.TrimSpace(string(l)); s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}
