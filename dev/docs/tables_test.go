package docs

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/diagnose/check"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
	formats "github.com/unstall/unstall/internal/format/all"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/internal/operate/top"
	"github.com/unstall/unstall/internal/present"
	"github.com/unstall/unstall/internal/present/export"
	"github.com/unstall/unstall/internal/present/export/parquet"
	"github.com/unstall/unstall/internal/present/sentence"
	"github.com/unstall/unstall/lab"
	labs "github.com/unstall/unstall/lab/all"
)

// root is the checkout, relative to this package.
const root = "../.."

// tables makes the table of each <!-- generated: NAME -->.
var tables = map[string]func() string{
	"formats":     formatTable,
	"causes":      causeTable,
	"policy":      policyTable,
	"sources":     sourceTable,
	"thresholds":  thresholdTables,
	"mechanisms":  mechanismTable,
	"passes":      passTable,
	"reports":     reportTable,
	"exports":     exportTable,
	"columns":     columnTable,
	"metrics":     metricTable,
	"rules":       ruleTable,
	"rule fields": ruleFieldTable,
	"settings":    settingTable,
	"tried":       triedTable,
	"labs":        labTable,
	"make":        makeTable,
	"commands":    commandTable,
	"figures":     figureTable,
}

func init() {
	for _, l := range labs.Labs {
		tables["variants of "+l.Name] = func() string { return variantTable(l) }
	}
}

func formatTable() string {
	t := newTable("format", "what it reads")
	for _, f := range formats.Formats {
		t.row(code(f.Name), f.About)
	}
	return t.String()
}

// ruleFieldTable lists the fields of a rule in a file of rules, with the comments of their types.
func ruleFieldTable() string {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "internal/operate/watch/rule/rule.go"), nil, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	t := newTable("field", "what it is")
	for _, of := range []struct{ name, lead string }{{"Rule", ""}, {"Condition", ""}, {"Days", "usual: "}, {"Period", "period: "}} {
		for _, field := range structFields(file, of.name) {
			tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("yaml")
			if tag == "-" || strings.HasPrefix(tag, ",") {
				continue
			}
			about := strings.TrimSpace(field.Comment.Text())
			about = regexp.MustCompile(`\b(Above|Below|Over|For|Usual|Than|Period)\b`).ReplaceAllStringFunc(about, func(s string) string { return "`" + strings.ToLower(s) + "`" })
			t.row(code(of.lead+tag), about)
		}
	}
	return t.String()
}

// structFields returns the fields of a struct type that a file declares.
func structFields(file *ast.File, name string) (fields []*ast.Field) {
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
			fields = spec.Type.(*ast.StructType).Fields.List
		}
		return true
	})
	return fields
}

func causeTable() string {
	t := newTable("cause", "step", "what it is", "evidence it needs", "least evidence from which it is named")
	for _, c := range causes.Causes {
		t.row(code(c.ID), string(c.Step), c.Title, c.Needs, c.Least)
	}
	return t.String()
}

func policyTable() string {
	t := newTable("question", "in words", "answer", "in JSON", "what follows", "what would change it")
	last := check.Question("")
	for _, r := range check.Policy {
		question, asks := "", ""
		if r.Question != last {
			question, asks, last = string(r.Question), r.Question.Asks(), r.Question
		}
		t.row(question, asks, r.Says, code(r.Answer), sentence.Outcome(r.State), r.Changes)
	}
	return t.String()
}

func passTable() string {
	t := newTable("time", "pass", "needs", "charges", "why")
	seen, unseen := ledger.Passes()
	for of, passes := range [][]ledger.Pass{seen, unseen} {
		for _, p := range passes {
			charges := "what its evidence says"
			if p.Charges != nil {
				var ids []string
				for _, m := range p.Charges {
					ids = append(ids, m.String())
				}
				charges = codes(ids)
			}
			t.row([]string{"with a state", "without"}[of], p.Name, p.Needs, charges, p.About)
		}
	}
	return t.String()
}

func mechanismTable() string {
	t := newTable("in the report", "in JSON")
	for m := range ledger.NumMechanisms {
		t.row(m.Title(), code(m.String()))
	}
	return t.String()
}

func reportTable() string {
	t := newTable("`--format`", "`-o` names ending in", "also for")
	for _, f := range present.Forms {
		var other []string
		for command, there := range map[string]bool{"inspect": f.Inspect != nil, "compare": f.Compare != nil, "predict": f.Predict != nil} {
			if there {
				other = append(other, code(command))
			}
		}
		t.row(code(f.Name), codes(f.Extensions), sorted(other))
	}
	return t.String()
}

func exportTable() string {
	t := newTable("`--to`", "`-o` names ending in", "parts, the first unless asked otherwise")
	for _, f := range export.Forms {
		parts := ""
		if f.Flag != "" {
			parts = code("--"+f.Flag) + " " + codes(f.Parts)
		}
		t.row(code(f.Name), codes(f.Extensions), parts)
	}
	return t.String()
}

// columnTable lists the columns of the Parquet tables; a name that ends in ? can be null.
func columnTable() string {
	t := newTable("table", "columns")
	for _, name := range parquet.Tables {
		t.row(code(name), strings.Join(columns(parquet.SchemaOf(name).Fields()), ", "))
	}
	return t.String()
}

func columns(of []pq.Field) (all []string) {
	for _, c := range of {
		name, node, list := c.Name(), pq.Node(c), ""
		if c.Optional() {
			name += "?"
		}
		if c.Type().String() == "LIST" {
			list, node = "list of ", c.Fields()[0].Fields()[0]
		}
		all = append(all, code(name)+" "+list+columnType(node))
	}
	return all
}

func columnType(n pq.Node) string {
	if !n.Leaf() {
		return "(" + strings.Join(columns(n.Fields()), ", ") + ")"
	}
	switch n.Type().String() {
	case "STRING":
		return "text"
	case "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)":
		return "timestamp, µs"
	}
	return strings.ToLower(n.Type().Kind().String())
}

func metricTable() string {
	t := newTable("metric", "in JSON", "unit", "better", "exit code 1 if it regressed")
	for _, m := range compare.Metrics {
		gate := ""
		if m.Gate {
			gate = "yes"
		}
		t.row(m.Title, code(m.Name), m.Unit, string(m.Better), gate)
	}
	return t.String()
}

func ruleTable() string {
	t := newTable("counter", "its rule", "said when it holds")
	rules := top.ProcRules
	for _, r := range platform.All {
		if c := top.CountersOf(r.ID); c != nil {
			rules = append(slices.Clip(rules), c.Rules...)
		}
	}
	for _, r := range rules {
		said := ""
		if r.Holds != nil {
			said = "yes"
		}
		t.row(code(r.ID), r.Text, said)
	}
	return t.String()
}

func settingTable() string {
	t := newTable("of", "settings", "load")
	for _, m := range platform.Models() {
		var settings, load []string
		for _, k := range m.Knobs {
			if k.Load {
				load = append(load, k.String())
			} else {
				settings = append(settings, k.String())
			}
		}
		t.row(m.About, codes(settings), codes(load))
	}
	return t.String()
}

func triedTable() string {
	t := newTable("setting", "what it is", "what can be given")
	for _, s := range experiment.All {
		about := s.About
		if s.Host {
			about += " (`--host`, root)"
		}
		t.row(code(s.Title()+"="), about, s.Values)
	}
	return t.String()
}

func labTable() string {
	t := newTable("lab", "what happens", "made after")
	for _, l := range labs.Labs {
		after := "an article (see its page)"
		if l.Report != "" {
			after = "[" + host(l.Report) + "](" + l.Report + ")"
		}
		t.row("["+l.Name+"](../lab/"+l.Name+"/README.md)", l.About, after)
	}
	return t.String()
}

func variantTable(l *lab.Lab) string {
	t := newTable("variant", "what it does", "must find", "must not find")
	for _, v := range l.Variants {
		e := v.Expected
		must, not := "", codes(append(slices.Clone(e.NoneOf), e.Not...))
		switch {
		case e.Nothing():
			must, not = "nothing", ""
		case e.First != "":
			must = code(e.First) + " first"
			if e.Behind != "" {
				must += ", or behind " + code(e.Behind)
			}
		case len(e.AnyOf) > 1:
			must = "one of " + codes(e.AnyOf)
		default:
			must = codes(e.AnyOf)
		}
		t.row(v.Name, v.About, must, not)
	}
	return t.String()
}

// makeTable lists the Makefile's targets with the comment behind each.
func makeTable() string {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		panic(err)
	}
	t := newTable("command", "what it does")
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):.*## (.*)$`).FindAllStringSubmatch(string(text), -1) {
		t.row(code("make "+m[1]), m[2])
	}
	return t.String()
}

// commandTable lists the commands in the fields of the type cli, each with the page that is named after it.
func commandTable() string {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "cmd/unstall/main.go"), nil, 0)
	if err != nil {
		panic(err)
	}
	t := newTable("command", "what it does", "page")
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "cli" {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			tag, _ := literal(field.Tag)
			tags := reflect.StructTag(tag)
			_, command := tags.Lookup("cmd")
			if _, hidden := tags.Lookup("hidden"); hidden || !command {
				continue
			}
			name := cmp.Or(tags.Get("name"), strings.ToLower(field.Names[0].Name))
			page := cmp.Or(commandPages[name], name+".md")
			link := "[" + strings.TrimSuffix(page, ".md") + "](" + page + ")"
			if _, err := os.Stat(filepath.Join(root, "docs", page)); err != nil {
				link = ""
			}
			t.row(code("unstall "+name), tags.Get("help"), link)
		}
		return false
	})
	return t.String()
}

// commandPages are the pages of commands that share one.
var commandPages = map[string]string{
	"diagnose": "report.md", "record": "recording.md", "list": "start.md", "inspect": "formats.md", "calibrate": "host.md", "run": "try.md",
	"debug": "containers.md", "explain": "report.md", "completion": "install.md", "version": "install.md",
}

func host(url string) string {
	url = strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "www.")
	before, _, _ := strings.Cut(url, "/")
	return before
}
