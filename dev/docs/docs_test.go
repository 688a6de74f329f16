// Package docs tests the documents against the code: the code writes their tables, their links lead
// somewhere, and the files that ARCHITECTURE.md names exist.
package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/operate/watch/notify"
)

// TestTables compares the tables between <!-- generated: NAME --> and <!-- end -->
// with those of the code, and checks that each stands in some document.
func TestTables(t *testing.T) {
	var all strings.Builder
	for name, old := range documents(t) {
		all.WriteString(old)
		now, err := fill(old)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if *goldentest.Update && now != old {
			if err := os.WriteFile(filepath.Join(root, name), []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if d := cmp.Diff(strings.Split(old, "\n"), strings.Split(now, "\n")); d != "" {
			t.Errorf("%s does not show what the code lists: %s\n%s", name, goldentest.Command(), d)
		}
	}
	for name := range tables {
		if !strings.Contains(all.String(), begin+name+" -->") {
			t.Errorf("no document has the table %q", name)
		}
	}
}

// link matches [text](target) or an image, in a text without code; linkedFile matches a link whose text is a Go file.
var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	linkedFile = regexp.MustCompile(`\[([a-z_0-9]+\.go)\]\(([^)#\s]+)`)
)

// TestLinks checks that the files and headings exist that documents link to, and that a link named x.go leads to a file of that name.
func TestLinks(t *testing.T) {
	all := documents(t)
	for name, text := range all {
		for _, m := range linkedFile.FindAllStringSubmatch(withoutCode(text), -1) {
			if m[1] != path.Base(m[2]) {
				t.Errorf("%s calls a link %s that leads to %s", name, m[1], m[2])
			}
		}
		for _, m := range link.FindAllStringSubmatch(withoutCode(text), -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // of the web
			}
			to := filepath.Join(filepath.Dir(name), target)
			if target == "" {
				to = name
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if heading != "" && strings.HasSuffix(to, ".md") && !slices.Contains(headings(all[to]), heading) {
				t.Errorf("%s links to %s: %s has no such heading", name, m[1], to)
			}
		}
	}
}

// TestCommandPages checks that each command has a page, and that commandPages has no other commands.
func TestCommandPages(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `unstall ([a-z]+)` \\|.*\\| (.*) \\|$").FindAllStringSubmatch(commandTable(), -1)
	named := make(map[string]bool)
	for _, m := range rows {
		named[m[1]] = true
		if m[2] == "" {
			t.Errorf("unstall %s has no page: write docs/%[1]s.md, or add the page that describes it to commandPages", m[1])
		}
	}
	for name := range commandPages {
		if !named[name] {
			t.Errorf("commandPages has %s, which is no command that users see", name)
		}
	}
	if len(rows) == 0 {
		t.Error("no commands")
	}
}

// TestReachable checks that links lead from the README to every page.
func TestReachable(t *testing.T) {
	all := documents(t)
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, m := range link.FindAllStringSubmatch(withoutCode(all[name]), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			to := filepath.Join(filepath.Dir(name), target)
			for _, to := range []string{to, filepath.Join(to, "README.md")} {
				if _, ok := all[to]; ok {
					visit(to)
				}
			}
		}
	}
	visit("README.md")
	for name := range all {
		if !seen[name] {
			t.Errorf("no link leads to %s", name)
		}
	}
}

// TestMap checks that every folder and Go file exists that ARCHITECTURE.md and the ledger's rules name,
// and that ARCHITECTURE.md names every folder at the root.
func TestMap(t *testing.T) {
	all := documents(t)
	named := regexp.MustCompile("`[^`\n]+`")
	file := regexp.MustCompile(`^[a-z][a-zA-Z0-9_/.-]*(/|\.go|\.md|\.mod|\.sh)$`)
	var folders []string
	for _, page := range []string{"docs/decisions/ledger.md", "ARCHITECTURE.md"} {
		folders = folders[:0]
		for _, span := range named.FindAllString(all[page], -1) {
			name := strings.Trim(span, "`")
			if !file.MatchString(name) {
				continue
			}
			folders = append(folders, name)
			if info, err := os.Stat(filepath.Join(root, name)); err != nil || strings.HasSuffix(name, "/") != info.IsDir() {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name() + "/"
		if !e.IsDir() || strings.HasPrefix(name, ".") || ignored[e.Name()] {
			continue
		}
		if !slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(f, name) }) {
			t.Errorf("ARCHITECTURE.md does not name %s", name)
		}
	}
}

// TestSizes keeps the first pages short.
func TestSizes(t *testing.T) {
	all := documents(t)
	for name, most := range map[string]int{"README.md": 9 << 10, "ARCHITECTURE.md": 8 << 10, "CONTRIBUTING.md": 6 << 10} {
		if n := len(all[name]); n > most {
			t.Errorf("%s has %d bytes, at most %d are read: move something to docs/", name, n, most)
		}
	}
}

// TestFloors checks that each floor and extension point has a README of at most 15 lines.
func TestFloors(t *testing.T) {
	pages := []string{
		"internal/collect/probe", "internal/diagnose/check", "internal/analyze/ledger", "internal/analyze/metrics", "internal/analyze/model",
		"internal/analyze/platform", "internal/operate/top", "internal/operate/experiment", "internal/operate/watch", "internal/present/html", "lab", "lab/accuracy", "lab/stacks",
	}
	floors, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range floors {
		if !f.IsDir() {
			continue
		}
		pages = append(pages, "internal/"+f.Name())
	}
	all := documents(t)
	for _, folder := range pages {
		text, ok := all[folder+"/README.md"]
		switch n := strings.Count(text, "\n"); {
		case !ok:
			t.Errorf("%s has no README.md: what comes in, what goes out, how one more is added, what must hold", folder)
		case n > 15:
			t.Errorf("%s/README.md has %d lines, at most 15", folder, n)
		case !strings.Contains(text, "\nIn: ") || !strings.Contains(text, "Out: "):
			t.Errorf("%s/README.md does not say what comes in and what goes out", folder)
		}
	}
}

// TestSchemas checks that docs/json.md names every schema that the program writes.
func TestSchemas(t *testing.T) {
	page := documents(t)["docs/json.md"]
	schema := regexp.MustCompile(`unstall\.[a-z.]+/v[0-9]+`)
	walk(t, ".go", func(name, text string) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "dev/") {
			return
		}
		for _, s := range schema.FindAllString(text, -1) {
			if !strings.Contains(page, "`"+s+"`") {
				t.Errorf("docs/json.md does not name %s, which %s has", s, name)
			}
		}
	})
}

// TestGlossary checks that the glossary has at most 60 words, each once, and that their packages exist.
func TestGlossary(t *testing.T) {
	const page, most = "docs/decisions/glossary.md", 60
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?m)^\\| ([a-z ]+) \\| (.+) \\| `(.+)` \\|$").FindAllStringSubmatch(documents(t)[page], -1) {
		word, folder := m[1], m[3]
		if seen[word] {
			t.Errorf("%s has two meanings of %s", page, word)
		}
		seen[word] = true
		if files, _ := filepath.Glob(filepath.Join(root, folder, "*.go")); len(files) == 0 {
			t.Errorf("%s says that %s is in %s, which is no package", page, word, folder)
		}
	}
	if n := len(seen); n == 0 || n > most {
		t.Errorf("%s has %d words, want 1 to %d", page, n, most)
	}
}

// TestWebhookForms checks that docs/watch.md names all forms of webhooks, and no others.
func TestWebhookForms(t *testing.T) {
	_, text, _ := strings.Cut(documents(t)["docs/watch.md"], "The forms are ")
	text, _, _ = strings.Cut(text, ". Alarms")
	text = regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(text, "")
	var named []string
	for _, name := range inline.FindAllString(text, -1) {
		named = append(named, strings.Trim(name, "`"))
	}
	if !slices.Equal(named, notify.Names()) {
		t.Errorf("docs/watch.md names the forms %q, internal/operate/watch/notify has %q", named, notify.Names())
	}
}

// TestGoldens checks that each test that writes golden files does so by the flag of goldentest, and names the command when one differs.
func TestGoldens(t *testing.T) {
	walk(t, ".go", func(name, text string) {
		if strings.Contains(text, "flag.Bool(\"update\"") && !strings.HasPrefix(name, "internal/base/goldentest/") {
			t.Errorf("%s has a flag -update of its own: use internal/base/goldentest", name)
		}
		if strings.Contains(text, "goldentest.Update") && !strings.Contains(text, "goldentest.Command()") {
			t.Errorf("%s writes golden files and does not say how (goldentest.Command)", name)
		}
	})
}

// ignored are folders without documents of the project.
var ignored = map[string]bool{"bin": true, "out": true, "testdata": true}

// documents returns the texts of all documents by their paths.
func documents(t *testing.T) map[string]string {
	all := make(map[string]string)
	walk(t, ".md", func(name, text string) {
		if !strings.HasPrefix(name, "internal/present/html/app/uplot/") { // another project's
			all[name] = text
		}
	})
	return all
}

func walk(t *testing.T, suffix string, visit func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || ignored[e.Name()]):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, suffix):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		visit(filepath.ToSlash(name), string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	fenced = regexp.MustCompile("(?ms)^```.*?^```")
	inline = regexp.MustCompile("`[^`\n]*`")
)

func withoutCode(text string) string {
	return inline.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
}

// headings returns the anchors of a document's headings, as GitHub makes them: small letters, hyphens
// for spaces, no other signs.
func headings(text string) (all []string) {
	for _, line := range strings.Split(fenced.ReplaceAllString(text, ""), "\n") {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', '0' <= r && r <= '9', 'a' <= r && r <= 'z':
				return r
			}
			return -1
		}, strings.ToLower(strings.TrimSpace(title))))
	}
	return all
}
