package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	module = "github.com/unstall/unstall/"
	checks = module + "internal/diagnose/check"
)

// source is the checks' code with its types.
type source struct {
	packages []*typed
	edits    map[string][]edit // by file
	// comparable are the names of thresholds that a figure is compared with, or that are handed to what compares. Others are only
	// used in computations.
	comparable map[string]bool
}

// typed is a package of checks.
type typed struct {
	files []*ast.File
	set   *token.FileSet
	info  types.Info
}

// edit is a text to insert.
type edit struct {
	at     int
	text   string
	closes bool // goes before what begins at the same place
}

// readSource reads the packages of checks. The types of what they import are those that the compiler wrote.
func readSource(ctx context.Context, root string) (*source, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles", checks+"/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	exports := make(map[string]string)
	var ours []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if p.ImportPath == checks || strings.HasPrefix(p.ImportPath, checks+"/") {
			ours = append(ours, p)
		}
	}
	s := &source{edits: make(map[string][]edit), comparable: make(map[string]bool)}
	for _, x := range ours {
		p := &typed{set: token.NewFileSet(), info: types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}}
		for _, name := range x.GoFiles {
			f, err := parser.ParseFile(p.set, filepath.Join(x.Dir, name), nil, 0)
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, f)
		}
		from := importer.ForCompiler(p.set, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
		if _, err := (&types.Config{Importer: from}).Check(x.ImportPath, p.set, p.files, &p.info); err != nil {
			return nil, err
		}
		s.packages = append(s.packages, p)
	}
	return s, nil
}

// instrument puts a call around each comparison with a threshold.
func (s *source) instrument() error {
	names := s.thresholdNames()
	for _, p := range s.packages {
		for _, f := range p.files {
			file := p.set.Position(f.Pos()).Filename
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			in := &instrumented{source: s, p: p, file: file, text: text, names: names}
			if !strings.HasSuffix(file, "/check/decision.go") { // it is handed figures: see patches
				ast.Inspect(f, in.visit)
			}
			ast.Inspect(f, in.noteHandedOver)
			if len(s.edits[file]) > 0 {
				s.importMeter(file, f, p.set)
			}
		}
	}
	return nil
}

// importMeter adds the import on the line of the package clause, so that lines keep their numbers.
func (s *source) importMeter(file string, f *ast.File, set *token.FileSet) {
	s.edits[file] = append(s.edits[file], edit{at: set.Position(f.Name.End()).Offset, text: `; import meter "` + module + `dev/thresholds/meter"`})
}

// instrumented is a file.
type instrumented struct {
	*source
	p     *typed
	file  string
	text  []byte
	names map[types.Object]string
}

func (in *instrumented) visit(n ast.Node) bool {
	x, ok := n.(*ast.BinaryExpr)
	if !ok || !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, x.Op) {
		return true
	}
	uses := in.usesIn(x)
	of := make(map[string][]ast.Expr) // by how the threshold is written
	for _, u := range uses {
		of[in.textOf(u)] = append(of[in.textOf(u)], u)
		in.noteComparable(u)
	}
	written := make([]string, 0, len(of))
	for text := range of {
		written = append(written, text)
	}
	slices.Sort(written)
	for _, t := range written {
		gap := "float64(" + in.replaced(x.X, of[t]) + ") - float64(" + in.replaced(x.Y, of[t]) + ")"
		in.insert(x.Pos(), "meter.Compare(", false)
		in.insert(x.End(), fmt.Sprintf(", %s.Name, %s.Value, func(meterValue float64) float64 { meterT := %s; meterT.Value = meterValue; return %s })", t, t, t, gap), true)
	}
	return true
}

func (in *instrumented) insert(at token.Pos, text string, closes bool) {
	in.edits[in.file] = append(in.edits[in.file], edit{in.offset(at), text, closes})
}

func (in *instrumented) offset(p token.Pos) int { return in.p.set.Position(p).Offset }

func (in *instrumented) textOf(n ast.Node) string {
	return string(in.text[in.offset(n.Pos()):in.offset(n.End())])
}

// usesIn returns the thresholds whose values an expression has.
func (in *instrumented) usesIn(e ast.Expr) (out []ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // it has comparisons of its own
			return false
		case *ast.SelectorExpr:
			if slices.Contains([]string{"Value", "Int", "Int64", "Duration"}, n.Sel.Name) && in.isThreshold(n.X) {
				out = append(out, n.X)
			}
		}
		return true
	})
	return out
}

func (in *instrumented) isThreshold(e ast.Expr) bool {
	t := in.p.info.TypeOf(e)
	return t != nil && t.String() == checks+".Threshold"
}

// replaced is an expression with another threshold in place of one.
func (in *instrumented) replaced(e ast.Expr, uses []ast.Expr) string {
	var b strings.Builder
	from := in.offset(e.Pos())
	for _, u := range uses {
		if u.Pos() < e.Pos() || u.End() > e.End() {
			continue
		}
		b.Write(in.text[from:in.offset(u.Pos())])
		b.WriteString("meterT")
		from = in.offset(u.End())
	}
	b.Write(in.text[from:in.offset(e.End())])
	return b.String()
}

// objectOf is the variable that an expression names, nil if it is none.
func (in *instrumented) objectOf(e ast.Expr) types.Object {
	switch e := e.(type) {
	case *ast.Ident:
		return in.p.info.Uses[e]
	case *ast.SelectorExpr:
		return in.p.info.Uses[e.Sel]
	}
	return nil
}

func (in *instrumented) noteComparable(e ast.Expr) {
	if name := in.nameOf(in.objectOf(e)); name != "" {
		in.comparable[name] = true
	}
}

// noteHandedOver notes thresholds that are handed over as they are: to a function, or in a field.
func (in *instrumented) noteHandedOver(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Thresholds" { // the list for readers
			return false
		}
		if in.isThreshold(n.Value) {
			in.noteComparable(n.Value)
		}
	case *ast.CallExpr:
		for _, a := range n.Args {
			if in.isThreshold(a) {
				in.noteComparable(a)
			}
		}
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if in.isThreshold(e) {
				in.noteComparable(e)
			}
		}
	case *ast.AssignStmt:
		for _, e := range n.Rhs {
			if in.isThreshold(e) {
				in.noteComparable(e)
			}
		}
	}
	return true
}

// nameOf is a threshold's name. Objects of other packages are found by their path, as they are read from export data.
func (in *instrumented) nameOf(o types.Object) string {
	for x, name := range in.names {
		if o == x || o != nil && o.Pkg() != nil && x.Name() == o.Name() && x.Pkg().Path() == o.Pkg().Path() && o.Parent() == o.Pkg().Scope() {
			return name
		}
	}
	return ""
}

// thresholdNames are the names of the thresholds that are declared at the top of packages.
func (s *source) thresholdNames() map[types.Object]string {
	out := make(map[types.Object]string)
	for _, p := range s.packages {
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				v, ok := n.(*ast.ValueSpec)
				if !ok || len(v.Values) != len(v.Names) {
					return true
				}
				for i, id := range v.Names {
					c, ok := v.Values[i].(*ast.CompositeLit)
					if t := p.info.TypeOf(v.Values[i]); !ok || t == nil || t.String() != checks+".Threshold" {
						continue
					}
					for _, el := range c.Elts {
						kv, ok := el.(*ast.KeyValueExpr)
						if !ok {
							continue
						}
						if l, ok := kv.Value.(*ast.BasicLit); ok && kv.Key.(*ast.Ident).Name == "Name" {
							out[p.info.Defs[id]] = strings.Trim(l.Value, `"`)
						}
					}
				}
				return true
			})
		}
	}
	return out
}

// patches are the places that ask checks and keep figures: old text, new text.
var patches = []struct{ file, old, new string }{
	{"internal/diagnose/run.go", "withdrawVague(withdrawUnknown(c, k.Judge(c)), c)", "meter.Asked(k.ID, func(c *check.Case) check.Verdict { return withdrawVague(withdrawUnknown(c, k.Judge(c)), c) })(c)"},
	{"internal/diagnose/run.go", "k.JudgeHost(c)", "meter.AskedHost(k.ID, k.JudgeHost)(c)"},
	{"internal/diagnose/check/once.go", "return v.(T)", "meter.Again(c, key); return v.(T)"},
	{"internal/diagnose/check/once.go", "v := read(c)", "v := meter.Once(c, key, func() T { return read(c) })"},
	{"internal/diagnose/check/decision.go", "w := weighed{", "meter.Weighed(t.Name, t.Value, figure); w := weighed{"},
}

// overlay writes the changed files and the list that tells the compiler to take them.
func (s *source) overlay(root, dir string) (list string, err error) {
	texts := make(map[string]string)
	for file, all := range s.edits {
		old, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		texts[file] = applyEdits(string(old), all)
	}
	for _, p := range patches {
		file := filepath.Join(root, p.file)
		text, ok := texts[file]
		if !ok {
			old, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			text = string(old)
		}
		if n := strings.Count(text, p.old); n != 1 {
			return "", fmt.Errorf("%s has %q %d times, not once: mend the patches of dev/thresholds", p.file, p.old, n)
		}
		if text = strings.Replace(text, p.old, p.new, 1); !strings.Contains(text, "dev/thresholds/meter") {
			clause, rest, _ := strings.Cut(text[strings.Index(text, "\npackage ")+1:], "\n")
			text = text[:strings.Index(text, "\npackage ")+1] + clause + `; import meter "` + module + `dev/thresholds/meter"` + "\n" + rest
		}
		texts[file] = text
	}
	replace := make(map[string]string)
	for file, text := range texts {
		name := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(file)))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[file] = name
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o644)
}

// applyEdits inserts texts. At one place what closes comes first; what was put in last encloses what was before.
func applyEdits(text string, all []edit) string {
	slices.SortStableFunc(all, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(boolToInt(b.closes), boolToInt(a.closes)))
	})
	var b strings.Builder
	from := 0
	for _, e := range all {
		b.WriteString(text[from:e.at])
		b.WriteString(e.text)
		from = e.at
	}
	return b.String() + text[from:]
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// buildInstrumented builds unstall so that it writes down what it compares.
func (s *source) buildInstrumented(ctx context.Context, root, work string) (bin string, err error) {
	dir, err := os.MkdirTemp(work, "overlay-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	list, err := s.overlay(root, dir)
	if err != nil {
		return "", err
	}
	bin = filepath.Join(work, "unstall")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-overlay", list, "-o", bin, "./cmd/unstall")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, said)
	}
	return bin, nil
}
