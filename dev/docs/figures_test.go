package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/diagnose/check"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
)

// figured are the folders whose code makes the figures of a diagnosis.
var figured = []string{"internal/diagnose", "internal/analyze/metrics"}

// shown is a figure's text in the code, and the causes whose files make it.
type shown struct {
	text string
	by   []string
}

// figureTable lists the ids of all figures and predictions, as the sources make them.
func figureTable() string {
	all := map[string]*shown{}
	for _, dir := range figured {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool { find(n, causeOf(name), all); return true })
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	t := newTable("id", "unit", "what it is", "of")
	for _, id := range sortedKeys(all) {
		s := all[id]
		slices.Sort(s.by)
		by := slices.Compact(s.by)
		if len(by) > 4 {
			by = append(by[:3:3], "…")
		}
		if runtimeTexts[id] != "" {
			s.text = runtimeTexts[id]
		}
		if s.text == "" {
			panic(id + ": its text is made as it goes: say in runtimeTexts what it is")
		}
		t.row(code(id), check.UnitOf(id), s.text, strings.Join(by, ", "))
	}
	return t.String()
}

// runtimeTexts has the texts of figures that the code assembles at run time.
var runtimeTexts = map[string]string{
	"alive.share":                 "share of the sampled live objects that are of a class, allocated in one place",
	"alloc.at_share":              "share of what is allocated in one place (sampled)",
	"pinned.at_s":                 "waits of pinned virtual threads in one place",
	"g1.region_bytes":             "region size",
	"gc.gen2_for_large":           "gen 2 collections for large objects",
	"gc.induced_by_caller":        "of these, requested by one caller",
	"gc.pause_s":                  "one of the longest pauses",
	"gc.paused_by_reason_ms":      "pauses by collections of one reason",
	"gc.these":                    "collections that the verdict is about",
	"gc.these_paused_worst_share": "share of the worst stretch paused by them",
	"gc.these_per_min":            "collections that the verdict is about, per minute",
	"holder.state_share":          "share of that time in which the holder was in one state",
	"metaspace.max_bytes":         "MaxMetaspaceSize",
	"pool.queued_items":           "work items waiting for a pool thread, on average",
	"process.cpus_share":          "share of the CPUs in use",
	"safepoint.operation_s":       "pauses for one operation, or until all threads had stopped for it",
	"process.memory_limit_bytes":  "the least memory limit of the process, else the total memory",
	"redis.command_per_s":         "calls of one command",
	"requests.in_flight":          "requests in flight",
	"requests.repeated_share":     "share of requests that the same caller repeats",
	"slow.wait_ms":                "slow time waiting at one place",
	"slow.kernel_ms":              "slow time in one mechanism of the kernel",
}

// find collects the ids that a node gives to figures: the first string of a call or of a table entry before its
// text, or the value of a field called ID.
func find(n ast.Node, by string, all map[string]*shown) {
	take := func(list []ast.Expr) {
		for i, e := range list[:min(2, len(list))] { // a verdict or a value may stand before it
			id, ok := literal(e)
			if !ok || !check.FigureID(id) || known(id) {
				continue
			}
			s := all[id]
			if s == nil {
				s = &shown{}
				all[id] = s
			}
			if by != "" {
				s.by = append(s.by, by)
			}
			for _, next := range list[i+1:] {
				if text := words(next); s.text == "" && strings.Trim(text, "… ") != "" && text != check.UnitOf(id) && text != "1" && text != "CPUs" {
					s.text = text
				}
			}
			return
		}
	}
	switch x := n.(type) {
	case *ast.CallExpr:
		if len(x.Args) > 1 {
			take(x.Args)
		}
	case *ast.CompositeLit:
		for i, e := range x.Elts {
			if k, ok := e.(*ast.KeyValueExpr); ok {
				if name, ok := k.Key.(*ast.Ident); ok && name.Name == "ID" {
					list := []ast.Expr{k.Value}
					for _, o := range x.Elts[i+1:] {
						if o, ok := o.(*ast.KeyValueExpr); ok {
							list = append(list, o.Value)
						}
					}
					take(list)
				}
			}
		}
		if _, keyed := first(x.Elts).(*ast.KeyValueExpr); !keyed && len(x.Elts) > 1 {
			take(x.Elts)
		}
	case *ast.AssignStmt:
		if s, ok := first(x.Lhs).(*ast.SelectorExpr); ok && s.Sel.Name == "ID" {
			take(x.Rhs)
		}
	}
}

func first(list []ast.Expr) ast.Expr {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// known reports whether id names a cause.
func known(id string) bool {
	return slices.ContainsFunc(causes.Causes, func(c check.Check) bool { return c.ID == id })
}

var verb = regexp.MustCompile(`%[-+.0-9]*[a-z]`)

// words returns the text of a figure as far as the source has it, with "…" for each inserted value.
func words(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		s, _ := literal(x)
		return strings.TrimSuffix(strings.ReplaceAll(verb.ReplaceAllString(s, "…"), "%%", "%"), ": ")
	case *ast.CallExpr:
		if len(x.Args) > 0 {
			return words(x.Args[0])
		}
	case *ast.BinaryExpr:
		before, after := words(x.X), words(x.Y)
		switch {
		case before == "" && after == "":
			return ""
		case before == "":
			return "… " + strings.TrimSpace(after)
		case after == "":
			return strings.TrimSpace(before) + " …"
		}
		return before + after
	}
	return ""
}

// causeOf returns the cause that a file judges, or "": for internal/diagnose/check/golang/gc_rate.go it is go.gc-rate.
func causeOf(name string) string {
	dir, file := filepath.Split(filepath.ToSlash(name))
	field := filepath.Base(dir)
	if field == "golang" {
		field = "go"
	}
	id := field + "." + strings.ReplaceAll(strings.TrimSuffix(file, ".go"), "_", "-")
	if known(id) {
		return code(id)
	}
	return ""
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
