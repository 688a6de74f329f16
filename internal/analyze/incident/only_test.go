package incident_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOnly holds that this package alone makes an incident of a bundle, and bundles: one that
// does not know what launches programs would tell a process from its launcher.
func TestOnly(t *testing.T) {
	steps := []string{"Unify", "Align", "Attach", "Clip", "NewBundle"}
	calls := func(path string, source any) (found []string) {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := c.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(steps, f.Sel.Name) {
				return true
			}
			of, ok := f.X.(*ast.Ident)
			if f.Sel.Name == "NewBundle" && (!ok || of.Name != "evidence") {
				return true
			}
			if ok && of.Name == "slices" || f.Sel.Name == "Attach" && (!ok || of.Name != "threads") {
				return true
			}
			found = append(found, set.Position(c.Pos()).String()+": "+f.Sel.Name)
			return true
		})
		return found
	}
	if len(calls("violation.go", "package p\n\nfunc f() { b.Unify(); b.Align(); threads.Attach(b); _ = evidence.NewBundle(); _ = incident.NewBundle() }")) != 4 {
		t.Fatal("the steps are not found where they stand")
	}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.' || d.Name() == "incident" || d.Name() == "formattest" || d.Name() == "probetest" || d.Name() == "sightingstest" || d.Name() == "checktest"): // what tests are made with
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, found := range calls(path, nil) {
			t.Errorf("%s: only incident does that: ask incident.Of", found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
