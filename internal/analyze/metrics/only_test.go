package metrics

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// series are the names of what the kernel counts of processes, hosts and control groups.
var series = regexp.MustCompile(`^Series(Process|Host|Cgroup|Disk|Net)[A-Z]`)

// mayRead are the files that read them besides this package.
var mayRead = []string{
	"internal/base/evidence/",                 // it names them
	"internal/format/",                        // formats write them
	"internal/diagnose/timeline/charts.go",    // it draws them as they are, point by point
	"internal/diagnose/timeline/throttled.go", // likewise, a quota's
	"internal/analyze/threads/process.go",     // which this package asks: how much of a process ran, and in the kernel
}

// TestNobodyElse checks that only this package reads what the kernel counts, so that every caller gets the same figure.
func TestNobodyElse(t *testing.T) {
	if found := readers(t, "violation.go", "package p\n\nvar _ = evidence.SeriesHostCPUBusy"); len(found) != 1 {
		t.Errorf("found %q, want one reader", found)
	}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../.."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.' || name == "internal/analyze/metrics"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"),
			slices.ContainsFunc(mayRead, func(may string) bool { return strings.HasPrefix(name, may) }):
			return nil
		}
		for _, found := range readers(t, path, nil) {
			t.Error(found + " is read by package reading: ask it for the figure")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readers finds where a file mentions one of these series.
func readers(t *testing.T, path string, source any) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok && series.MatchString(x.Sel.Name) {
			found = append(found, fmt.Sprintf("%s: %s", set.Position(x.Pos()), x.Sel.Name))
		}
		return true
	})
	return found
}
