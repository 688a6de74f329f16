package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/platform"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
	formats "github.com/unstall/unstall/internal/format/all"
)

// TestPages checks that each cause, runtime and format has a page, that the contents list every page, and that links lead somewhere.
func TestPages(t *testing.T) {
	out := t.TempDir()
	if err := writeSite("../..", out); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	nav := read("mkdocs.yml")
	want := []string{"index.md", "accuracy.md", "causes.md"}
	for _, c := range causes.Causes {
		want = append(want, "causes/"+c.ID+".md")
	}
	for _, r := range platform.All {
		want = append(want, "runtimes/"+r.ID+".md")
	}
	for _, f := range formats.Formats {
		want = append(want, "formats/"+f.Name+".md")
	}
	for _, name := range want {
		if !strings.Contains(nav, " "+name+"\n") {
			t.Errorf("%s is not in the contents", name)
		}
		if len(read("docs/"+name)) < 60 {
			t.Errorf("%s says nothing", name)
		}
	}
	pages, err := filepath.Glob(filepath.Join(out, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"causes", "runtimes", "formats", "decisions"} {
		more, _ := filepath.Glob(filepath.Join(out, "docs", dir, "*.md"))
		pages = append(pages, more...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(path.Join(filepath.Dir(page), m[1])); err != nil && !strings.Contains(m[1], "`") {
				t.Errorf("%s links to %s", page, m[1])
			}
		}
	}
}

// TestCheck checks that a page that loads something from elsewhere is found, and one that only links there is not.
func TestCheck(t *testing.T) {
	for text, bad := range map[string]bool{
		`<link rel=stylesheet href="a.css"><script src="a.js"></script><a href="https://example.org">x</a><link rel=canonical href="https://example.org/">`: false,
		`<script src="https://cdn.example/a.js"></script>`: true,
		`<link rel=stylesheet href="//fonts.example/css">`: true,
		`<img src="http://example.org/x.png">`:             true,
	} {
		dir := t.TempDir()
		if err := writeFile(filepath.Join(dir, "index.html"), text); err != nil {
			t.Fatal(err)
		}
		if err := checkSite(dir); (err != nil) != bad {
			t.Errorf("%s: %v", text, err)
		}
	}
	dir := t.TempDir()
	worker := filepath.Join(t.TempDir(), "w.js")
	_ = writeFile(worker, "script")
	_ = writeFile(filepath.Join(dir, "causes/x.html"), `<script src="`+shim+`"></script>`)
	if err := finishSite(dir, worker); err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "causes/x.html")); !strings.Contains(string(text), `"../assets/javascripts/iframe-worker.js"`) {
		t.Errorf("%s", text)
	}
	dir = t.TempDir()
	if checkSite(dir) == nil {
		t.Error("a site without pages")
	}
	_ = writeFile(filepath.Join(dir, "index.html"), "x")
	_ = writeFile(filepath.Join(dir, "a.css"), `@font-face{src:url(https://fonts.example/x.woff2)}`)
	if checkSite(dir) == nil {
		t.Error("a font from elsewhere")
	}
}
