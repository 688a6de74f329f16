package platform_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/platform"
)

// exempt are folders that say whose process they speak of, each of its own runtime, and
// those that run services rather than ask about them.
var exempt = []string{"internal/analyze/platform", "internal/collect/probe", "internal/format", "lab", "dev"}

// TestOnly holds that no room compares a runtime's ID with a word, switches on it, or keeps a
// table by it: it asks the runtime.
func TestOnly(t *testing.T) {
	for _, wrong := range []string{`s.Runtime == "go"`, `"jvm" != c.Runtime()`, `map[string]int{"go": 1, "jvm": 2}`, "func() { switch s.Runtime { case \"dotnet\": } }"} {
		if found := switches(t, "violation.go", "package p\n\nvar _ = "+wrong); len(found) == 0 {
			t.Errorf("%s is not found", wrong)
		}
	}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel("../../..", path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.' || slices.Contains(exempt, name)):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, found := range switches(t, path, nil) {
			t.Errorf("%s switches on a runtime's name: ask the runtime", found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func switches(t *testing.T, path string, source any) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(all ...ast.Expr) (n int) {
		for _, x := range all {
			if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, _ := strconv.Unquote(l.Value)
				if slices.ContainsFunc(platform.All, func(r *platform.Runtime) bool { return r.ID == text }) {
					n++
				}
			}
		}
		return n
	}
	ast.Inspect(file, func(n ast.Node) bool {
		wrong := false
		switch n := n.(type) {
		case *ast.BinaryExpr:
			wrong = (n.Op == token.EQL || n.Op == token.NEQ) && ids(n.X, n.Y) > 0
		case *ast.SwitchStmt:
			if of, ok := n.Tag.(*ast.SelectorExpr); ok && of.Sel.Name == "Runtime" {
				for _, c := range n.Body.List {
					wrong = wrong || ids(c.(*ast.CaseClause).List...) > 0
				}
			}
		case *ast.CompositeLit:
			var keys []ast.Expr
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					keys = append(keys, kv.Key)
				}
			}
			wrong = ids(keys...) > 1
		}
		if wrong {
			found = append(found, set.Position(n.Pos()).String())
		}
		return true
	})
	return found
}
