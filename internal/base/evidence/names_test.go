package evidence_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// named are the files that name series, facts and kinds of coverage.
var named = []string{"names.go", "names_kernel.go", "names_redis.go"}

// TestNames holds that series, facts and kinds of coverage are named in those alone:
// where one is described or asked for stands no literal, and what they call by a word
// of several parts is spelled nowhere else.
func TestNames(t *testing.T) {
	names := make(map[string]bool)
	for _, of := range named {
		file, err := parser.ParseFile(token.NewFileSet(), of, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range literals(file) {
			names[text(l)] = true
		}
	}
	for _, wrong := range []string{
		`evidence.Series{Name: "process.cpu"}`, `evidence.Coverage{Kind: "requests"}`, `c.Fact("NumGC")`, `b.Covered(0, "gc cycles")`,
		`g.told("MaxHeapSize")`, `f.Key == "GOGC"`, `"deadlock" != f.Key`, `[]string{"host.cpu.busy"}`, `map[string]int{"/gc/heap/goal:bytes": 1}`,
	} {
		if found := misnamed(t, "violation.go", "package p\n\nvar _ = "+wrong, names); len(found) != 1 {
			t.Errorf("%s: found %q, want one misplaced name", wrong, found)
		}
	}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.' || path == filepath.Join("../../..", "lab")): // a lab's programs ask the runtime itself
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), filepath.Dir(path) == filepath.Join("../../..", "internal/base/evidence") && slices.Contains(named, filepath.Base(path)):
			return nil
		}
		for _, found := range misnamed(t, path, nil, names) {
			t.Error(found + " is a name: make it a constant of internal/base/evidence/names.go or one of the files beside it")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// misnamed finds names that are literals.
func misnamed(t *testing.T, path string, source any, names map[string]bool) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[*ast.BasicLit]bool)
	wrong := func(x ast.Node) {
		if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING && text(l) != "" && !seen[l] {
			seen[l] = true
			found = append(found, fmt.Sprintf("%s: %s", set.Position(l.Pos()), l.Value))
		}
	}
	for _, l := range literals(file) {
		if names[text(l)] && strings.ContainsAny(text(l), "./") {
			wrong(l)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			of, ok := n.Type.(*ast.SelectorExpr)
			if !ok || last(of.X) != "evidence" || !slices.Contains([]string{"Series", "Fact", "Coverage"}, of.Sel.Name) {
				break
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && slices.Contains([]string{"Name", "Key", "Kind"}, last(kv.Key)) {
					wrong(kv.Value)
				}
			}
		case *ast.CallExpr:
			asks := slices.Contains([]string{"Fact", "FactFrom", "Series", "SeriesOf", "SeriesFrom", "Covered"}, last(n.Fun))
			for _, a := range n.Args {
				if l, ok := a.(*ast.BasicLit); ok && (asks || l.Kind == token.STRING && names[text(l)] && last(n.Fun) == "told") {
					wrong(a)
				}
			}
		case *ast.BinaryExpr:
			for _, side := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
				if s, ok := side[0].(*ast.SelectorExpr); ok && slices.Contains([]string{"Key", "Name", "Kind"}, s.Sel.Name) && isName(side[1], names) {
					wrong(side[1])
				}
			}
		}
		return true
	})
	return found
}

// isName says whether an expression is a literal that names.go or names_kernel.go has.
func isName(x ast.Expr, names map[string]bool) bool {
	l, ok := x.(*ast.BasicLit)
	return ok && l.Kind == token.STRING && names[text(l)]
}

func literals(n ast.Node) (out []*ast.BasicLit) {
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			out = append(out, l)
		}
		return true
	})
	return out
}

func text(l *ast.BasicLit) string {
	s, _ := strconv.Unquote(l.Value)
	return s
}

// last is the last part of a name: "Series" of evidence.Series.
func last(x ast.Node) string {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}
