package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/unstall/unstall/"

// floors are the folders of internal from the lowest to the highest. A package imports packages of its own floor and of
// those below.
var floors = []string{"base", "format", "collect", "analyze", "diagnose", "operate", "present", "serve"}

// forbidden are imports that go down and are still wrong. A path that ends with / stands for what is below it alone, "" for all.
var forbidden = []struct{ from, to, why string }{
	{"internal/", "lab", "the product does not know the labs"},
	{"internal/", "dev", "the product does not know the developers' tools"},
	{"internal/", "cmd", "commands use packages, not the other way round"},
	{"cmd/unstall", "lab", "bin/unstall-lab runs the labs"},
	{"internal/base/evidence", "", "everything points at evidence, which points at the standard library alone"},
	{"internal/base/stats", "internal/base/evidence", "statistics are of numbers"},
	{"internal/analyze/ledger", "internal/format", "a ledger is made of evidence, whatever file it is from"},
	{"internal/analyze/metrics", "internal/format", "metrics are read from evidence, whatever file it is from"},
	{"internal/analyze/model", "internal/format", "a model is calibrated on evidence, whatever file it is from"},
	{"internal/analyze/model", "internal/analyze/platform", "a platform names its models"},
	{"internal/diagnose/check", "internal/format", "a check reads evidence, whatever file it is from"},
	{"internal/diagnose/check", "internal/collect", "a check reads evidence and touches no process"},
	{"internal/present/", "internal/analyze/model/", "a report renders the rows of an answer and knows no model"},
	{"internal/operate/compare", "internal/diagnose/check", "a comparison has figures and no verdicts"},
	{"internal/present/html", "internal/format", "a report renders a diagnosis and reads no file"},
	{"internal/present/sentence", "internal/format", "a report renders a diagnosis and reads no file"},
	{"internal/present/text", "internal/format", "a report renders a diagnosis and reads no file"},
}

// TestFloors holds that imports go down: tests may look anywhere.
func TestFloors(t *testing.T) {
	for _, wrong := range [][2]string{{"internal/base/units", "internal/format"}, {"internal/format/jfr", "internal/analyze/threads"},
		{"internal/operate/watch", "internal/present/sentence"}, {"internal/present/html", "internal/format/jfr"}, {"internal/present", "lab"}, {"cmd/unstall", "internal/format/formattest"}} {
		if why := wrongImport(wrong[0], wrong[1]); why == "" {
			t.Errorf("%s may import %s", wrong[0], wrong[1])
		}
	}
	seen := 0
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			from := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			for _, i := range file.Imports {
				to, _ := strconv.Unquote(i.Path.Value)
				if to, ours := strings.CutPrefix(to, module); ours {
					seen++
					if why := wrongImport(from, to); why != "" {
						t.Errorf("%s imports %s: %s", path, to, why)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen == 0 {
		t.Error("no import was found")
	}
}

// wrongImport says why one package may not import another, "" if it may.
func wrongImport(from, to string) string {
	if forTests(to) && !forTests(from) {
		return "it is for tests alone"
	}
	a, b := floorOf(from), floorOf(to)
	if a >= 0 && b > a {
		return floors[a] + " is below " + floors[b]
	}
	for _, f := range forbidden {
		mayBe := strings.HasPrefix(from+"/", f.from) && !forTests(from)
		below := strings.HasPrefix(to, strings.TrimSuffix(f.to, "/")+"/")
		if mayBe && from != to && (f.to == "" || to == f.to || below) {
			return f.why
		}
	}
	return ""
}

// floorOf is the index of a package's floor, -1 of one outside internal.
func floorOf(pkg string) int {
	rest, ok := strings.CutPrefix(pkg, "internal/")
	if !ok {
		return -1
	}
	name, _, _ := strings.Cut(rest, "/")
	return slices.Index(floors, name)
}

// forTests says whether a package is there for tests alone.
func forTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }
