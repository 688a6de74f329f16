package all_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
)

// frame is the package of the frame around the checks; those of the fields are below it.
const frame = "github.com/unstall/unstall/internal/diagnose/check"

// fields are the packages that hold checks, the frame first.
var fields = []string{"", "service", "linux", "golang", "jvm", "dotnet", "redis"}

// noThreshold are constants that figures are compared with and that decide no verdict, and why.
var noThreshold = map[string]string{
	"jvm.mostBytes": "bounds what is plausible", "service.mostWorkers": "bounds what is plausible", "linux.mostCells": "bounds memory",
	"jvm.reserve": "a factor for advice", "jvm.ahead": "a bound of advice", "jvm.earliest": "a bound of advice", "jvm.atHalf": "advice where nothing tells", "jvm.larger": "a factor for advice", "service.aboutOne": "how a number of calls is written", "service.stormSecond": "the length of a step", "jvm.moreHeap": "a factor for advice",
	"jvm.enlarged": "a factor for advice", "jvm.regions": "how G1 sizes its regions", "jvm.leastRegion": "how G1 sizes its regions", "jvm.mostRegion": "how G1 sizes its regions", "jvm.mostRegion18": "how G1 sizes its regions",
	"jvm.answered": "how long a dump takes to be written", "jvm.inTitle": "the length of a title", "jvm.paceOf": "a quantile", "service.nearlyNone": "a factor for advice", "service.noGap": "how samples are joined",
	"linux.silence": "the scheduler's slice", "linux.cell": "the resolution of a raster", "check.leastShown": "how a share is written", "redis.oneEach": "how a rate is written", "redis.rarer": "how a rate is written", "check.useWindow": "the length of a step", "check.AMinute": "the length of a stretch", "linux.page": "the size of a page", "linux.ofFault": "the part of a fault that a profile sees",
	"jvm.besideHeap": "a factor for advice", "dotnet.usualLimit": "a default of ASP.NET", "redis.costs": "an estimate of a cost", "check.sameFigure": "whether two figures are the same",
}

// TestEveryThresholdIsDeclared requires of each threshold a name of its own, a unit, a reason and a source, and of each check that it lists
// those that it compares with.
func TestEveryThresholdIsDeclared(t *testing.T) {
	units := []string{"1", "count", "threads", "times", "CPUs", "s", "ns", "1/s", "bytes", "bytes/s"}
	for _, k := range all.Causes {
		if len(k.Thresholds) == 0 || k.Least == "" {
			t.Errorf("%s lists no thresholds", k.ID)
		}
		for i, x := range k.Thresholds {
			if len(x.Name) < 10 || len(x.Why) < 5 || x.Source == "" || !slices.Contains(units, x.Unit) {
				t.Errorf("%s: a name, a unit, a reason or a source is missing: %+v", k.ID, x)
			}
			if slices.Contains([]string{check.Judgement, "arithmetic", "M/M/1", "Poisson", "binomial error", "Poisson error"}, x.Source) {
				t.Errorf("%s: the source of %q names only a kind: give the formula, or what was weighed against what", k.ID, x.Name)
			}
			if slices.ContainsFunc(k.Thresholds[:i], func(y check.Threshold) bool { return y.Name == x.Name }) {
				t.Errorf("%s has two thresholds of the name %q", k.ID, x.Name)
			}
		}
	}
	sources := readSources(t)
	sources.constants(t)
	sources.lists(t)
}

// sources are the packages of the checks with their types.
type sources struct {
	set      *token.FileSet
	packages map[string]*types.Package
	files    map[string][]*ast.File
	info     types.Info
	compiled types.Importer
}

// Import gives the packages of checks as they were read, and others as they are compiled.
func (s *sources) Import(name string) (*types.Package, error) {
	if p := s.packages[name]; p != nil {
		return p, nil
	}
	return s.compiled.Import(name)
}

func readSources(t *testing.T) *sources {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", frame+"/...").Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no go command")
	}
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	s := &sources{set: token.NewFileSet(), packages: make(map[string]*types.Package), files: make(map[string][]*ast.File),
		info: types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}}
	s.compiled = importer.ForCompiler(s.set, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
	for _, field := range fields {
		names, _ := filepath.Glob(filepath.Join("..", field, "*.go"))
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(s.set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.files[field] = append(s.files[field], f)
		}
		at := path.Join(frame, field)
		if s.packages[at], err = (&types.Config{Importer: s}).Check(at, s.set, s.files[field], &s.info); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// name is how an object at the top of a package of checks is called: "linux.rarely"; "" of any other.
func name(o types.Object) string {
	if o == nil || o.Pkg() == nil || !strings.HasPrefix(o.Pkg().Path(), frame) || o.Parent() != o.Pkg().Scope() {
		return ""
	}
	return path.Base(o.Pkg().Path()) + "." + o.Name()
}

// isThreshold says whether an object is a declared threshold.
func isThreshold(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && name(o) != "" && v.Type().String() == frame+".Threshold"
}

// constants holds that what is compared with a number at the top of a package is compared with a threshold.
func (s *sources) constants(t *testing.T) {
	fraction := regexp.MustCompile(`^\d*\.\d*[1-9]|e`)
	for _, field := range fields {
		for _, f := range s.files[field] {
			ast.Inspect(f, func(n ast.Node) bool {
				x, ok := n.(*ast.BinaryExpr)
				if !ok || !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, x.Op) {
					return true
				}
				ast.Inspect(x, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.CallExpr: // what is handed over is compared there
						return false
					case *ast.Ident:
						c, ok := s.info.Uses[n].(*types.Const)
						if ok && name(c) != "" && noThreshold[name(c)] == "" {
							t.Errorf("%s: %s is compared with, and is no check.Threshold: declare it with a reason and a source", s.set.Position(n.Pos()), name(c))
						}
					case *ast.BasicLit:
						if n.Kind == token.FLOAT && fraction.MatchString(n.Value) && n.Value != "1e9" && n.Value != "1e6" && n.Value != "1e-9" && n.Value != "1e3" {
							t.Errorf("%s: %s is compared with, and has no name: declare a check.Threshold with a reason and a source", s.set.Position(n.Pos()), n.Value)
						}
					}
					return true
				})
				return true
			})
		}
	}
}

// lists holds that a check lists the thresholds that its functions use, and no others.
func (s *sources) lists(t *testing.T) {
	uses := make(map[types.Object][]types.Object)
	checks := make(map[string]types.Object)
	for _, field := range fields {
		for _, f := range s.files[field] {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					uses[s.info.Defs[d.Name]] = s.usedIn(d)
					if d.Recv == nil && d.Name.Name == "init" {
						s.setIn(d, uses)
					}
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						v, ok := spec.(*ast.ValueSpec)
						if !ok || d.Tok != token.VAR {
							continue
						}
						for i, id := range v.Names {
							if i < len(v.Values) {
								uses[s.info.Defs[id]] = s.usedIn(v.Values[i])
								checks[idOf(v.Values[i])] = s.info.Defs[id]
							}
						}
					}
				}
			}
		}
	}
	declared := s.declared()
	for _, k := range all.Causes {
		var want, have []string
		reach(checks[k.ID], uses, make(map[types.Object]bool), func(o types.Object) { want = append(want, declared[name(o)]) })
		for _, x := range k.Thresholds {
			have = append(have, x.Name)
		}
		for _, x := range want {
			if !slices.Contains(have, x) {
				t.Errorf("%s compares with %q and does not list it", k.ID, x)
			}
		}
		for _, x := range have {
			if !slices.Contains(want, x) {
				t.Errorf("%s lists %q and compares nothing with it", k.ID, x)
			}
		}
	}
}

// setIn adds what an init function uses to the variables that it sets.
func (s *sources) setIn(d *ast.FuncDecl, uses map[types.Object][]types.Object) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for _, l := range a.Lhs {
			if id, ok := l.(*ast.Ident); ok && s.info.Uses[id] != nil {
				uses[s.info.Uses[id]] = append(uses[s.info.Uses[id]], s.usedIn(d)...)
			}
		}
		return true
	})
}

// usedIn are the functions and variables of checks that a declaration names, but for the list of thresholds itself.
func (s *sources) usedIn(n ast.Node) (out []types.Object) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && (id.Name == "Thresholds" || id.Name == "Least") {
				return false
			}
		case *ast.Ident:
			if o := s.info.Uses[n]; o != nil && o.Pkg() != nil && strings.HasPrefix(o.Pkg().Path(), frame) {
				if f, ok := o.(*types.Func); ok {
					o = f.Origin()
				}
				out = append(out, o)
			}
		}
		return true
	})
	return out
}

func reach(o types.Object, uses map[types.Object][]types.Object, seen map[types.Object]bool, found func(types.Object)) {
	if seen[o] {
		return
	}
	seen[o] = true
	if isThreshold(o) {
		found(o)
		return
	}
	for _, u := range uses[o] {
		if u.Type().String() == frame+".Check" { // by its id: it is not asked
			continue
		}
		reach(u, uses, seen, found)
	}
}

// idOf is the id of a check that an expression makes, "" if it makes none.
func idOf(e ast.Expr) string {
	if c, ok := e.(*ast.CompositeLit); ok {
		for _, el := range c.Elts {
			if kv, ok := el.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok && id.Name == "ID" {
					if l, ok := kv.Value.(*ast.BasicLit); ok {
						return strings.Trim(l.Value, `"`)
					}
				}
			}
		}
	}
	return ""
}

// declared are the names of thresholds by those of their variables.
func (s *sources) declared() map[string]string {
	out := make(map[string]string)
	for _, field := range fields {
		for _, f := range s.files[field] {
			ast.Inspect(f, func(n ast.Node) bool {
				v, ok := n.(*ast.ValueSpec)
				if !ok || len(v.Values) != len(v.Names) {
					return true
				}
				for i, id := range v.Names {
					c, ok := v.Values[i].(*ast.CompositeLit)
					if !ok || !isThreshold(s.info.Defs[id]) {
						continue
					}
					for _, el := range c.Elts {
						kv := el.(*ast.KeyValueExpr)
						if l, ok := kv.Value.(*ast.BasicLit); ok && kv.Key.(*ast.Ident).Name == "Name" {
							out[name(s.info.Defs[id])] = strings.Trim(l.Value, `"`)
						}
					}
				}
				return true
			})
		}
	}
	return out
}
