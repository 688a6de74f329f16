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

// TestGallery holds the words and figures of the gallery to what is written now.
// Styles, scripts and what these draw are left out: they change more often, and
// have tests of their own.
func TestGallery(t *testing.T) {
	pages, err := pages("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"README.md": readme(pages)}
	for _, p := range pages {
		files[p.Name] = p.HTML
	}
	const most = 2 << 20
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

var (
	hidden = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<svg.*?</svg>|<noscript.*?</noscript>`)
	tags   = regexp.MustCompile(`(?s)<[^>]*>`)
)

// words are the lines of a page that are to be read.
func words(page []byte) (lines []string) {
	text := tags.ReplaceAll(hidden.ReplaceAll(page, nil), []byte("\n"))
	for l := range bytes.SplitSeq(text, []byte("\n")) {
		if s := strings.TrimSpace(string(l)); s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}
