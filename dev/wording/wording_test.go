// Package wording checks that all text which the program prints is plain English: string literals, goldens, help, rules and
// documents contain none of the phrases below. Each pattern says why, and what to write instead.
package wording

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// pattern is a phrase that a reader must read twice.
type pattern struct {
	match  *regexp.Regexp
	why    string
	better string
}

func phrase(expr, why, better string) pattern {
	return pattern{regexp.MustCompile(`(?i)` + expr), why, better}
}

var patterns = []pattern{
	phrase(`\b(nobody|somebody|anybody|everybody|someone)\b`, "no person acts in a service", "name the thread, process, client or tool"),
	phrase(`\b(whoever|who (comes|asks|allocates|syncs|waits|writes|held|needs|used|connects|was|reads|else uses|caused))\b|\bto who(m)?\b`, "no person acts in a service", "name the thread, process, client or tool"),
	phrase(`\bmeanwhile\b`, "a reader must find which time is meant", "during the pause, at that time, until then"),
	phrase(`\bin the mean\b`, "not the field's word", "on average, mean"),
	phrase(`\banew\b|\baltogether\b|\bfor want of\b|\bby way of\b|\bin place of\b|\ball the same\b`, "old-fashioned", "again, completely, because … is missing, through, instead of, nevertheless"),
	phrase(`\b(is|are|was|were|be) told\b|\bis said\b|\btold from\b|\btell(s)? of\b|\btold apart\b`, "no person speaks", "is reported, is recorded, shows, distinguish"),
	phrase(`\blooked at (it|them|what|its)\b|\blooks at (its|the) threads\b|\bin .{1,20} looks\b|\bof looks at\b`, "not the field's word", "sample, sampled"),
	phrase(`\bthere is no such\b|\bthere is no %`, "three words too many", "unknown …, no such …, … does not exist"),
	phrase(`\bas long as the evidence goes back\b`, "a riddle", "throughout the recording"),
	phrase(`\bstopped with the world\b|\ba CPU (the collector|other requests) held\b`, "not the field's words", "paused by GC (stop-the-world); runnable, CPU busy with …"),
	phrase(`\bthe collector's (events|work)\b|\bthe collector runs\b|\bcollections bring\b|\b(bring|brings|brought) on\b`, "one word per thing", "GC events, GC work, GC runs, trigger"),
	phrase(`\bthread blocked until a task completes\b`, "the wait has a name", "blocked on .Result (X)"),
	phrase(`\btold from its look-alikes\b|\blook-alike`, "a riddle", "how to tell it from similar problems"),
	phrase(`\bweigh (it|them) down\b|\ba tenth more\b|\ba (quarter|fifth|tenth) of (the )?slow time\b`, "a figure is clearer", "lower its priority; at least 10 %; 25 % of slow time"),
	phrase(`\bholds? up\b|\bheld up\b|\bstands still\b|\bnever rests\b`, "the field says it in one word", "delays, stops, is saturated"),
	phrase(`\basks? for again\b|\basked for again\b|\bwhat is asked for\b`, "a riddle", "at the same time, in use, requested"),
	phrase(`\bwhat is left out\b|\bleft out of the figures\b|\bgives? back\b|\bput(s)? back\b`, "the field's word is shorter", "omissions; not counted; release, return; restore"),
	phrase(`\bskipped, of no format\b|\bof no format\b`, "a riddle", "unknown format"),
	phrase(`\bthe least that counts\b|\bbeyond (what is|the) usual\b|\bfor who reads\b`, "a riddle", "minimum threshold, above the usual"),
	phrase(`\bof the same time\b`, "not the field's words", "from the same period"),
	phrase(`\bwithout a name in its stack\b|\bwhenever looked at\b`, "a riddle", "unnamed code, always"),
	phrase(`\bsets? off\b`, "a rule fires", "fires, raises an alarm"),
	phrase(`\bit takes (this|root|two|Linux)\b|; it takes `, "a need is a sentence of its own", "needs …"),
}

// anyPattern finds what any of the patterns finds: most text has no match.
var anyPattern = func() *regexp.Regexp {
	var all []string
	for _, p := range patterns {
		all = append(all, p.match.String())
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

// exceptions are findings that stay, each with its reason.
var exceptions = []struct{ file, text, reason string }{
	{"internal/base/evidence/kind.go", "nobody", "the name of a state, which JSON keeps"},
	{"internal/format/gotrace/wire/", "told", "errors of a reader about an event of a damaged trace, not sentences for users"},
	{"internal/present/html/template/", "there is no", "errors of the authors of a page"},
	{"internal/present/reporttest/", "", "failures of tests about reports"},
}

// documents are all pages that people read.
var documents = []string{"*.md", "docs/[b-z]*.md", "docs/decisions/*.md", "lab/*.md", "lab/*/README.md", "deploy/*.md", "remedy/*/*.md", "remedy/*/*/*.md", "python/*.md", "internal/*/*.md", "internal/*/*/*.md"}

// TestWording reads everything that is printed.
func TestWording(t *testing.T) {
	for _, s := range literals(t) {
		check(t, s.where, s.text)
	}
	files := []string{"internal/operate/watch/rule/default.yaml"}
	for _, glob := range append([]string{"internal/present/testdata/*", "cmd/unstall/testdata/script/*", "internal/operate/watch/generate/testdata/*", "internal/operate/top/testdata/*"}, documents...) {
		found, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			rel, _ := filepath.Rel(root, f)
			files = append(files, filepath.ToSlash(rel))
		}
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(root, f))
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() || strings.HasSuffix(f, ".html") { // the words of a page are those of its text report and of literals
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if line := strings.TrimSpace(line); !strings.HasPrefix(line, "# ") {
				check(t, fmt.Sprintf("%s:%d", f, n), line)
			}
		}
	}
}

// TestPatternsFindPhrases checks that each pattern finds its phrase.
func TestPatternsFindPhrases(t *testing.T) {
	for _, s := range []string{"nobody looked at its threads", "to who comes", "the CPU is idle meanwhile", "12 ms in the mean", "begins anew", "what is left out is said",
		"as long as the evidence goes back", "stopped with the world", "the collector's events", "a quarter of slow time", "holds up all clients", "there is no such form",
		"skipped, of no format that unstall reads", "an access log of the same time", "a rule was set off"} {
		if len(findings("", s)) == 0 {
			t.Errorf("no pattern finds %q", s)
		}
	}
	if f := findings("", "GC runs 8.3 times per second because the heap is too small."); len(f) > 0 {
		t.Error(f)
	}
}

func check(t *testing.T, where, text string) {
	for _, f := range findings(where, text) {
		t.Errorf("%s: %s", where, f)
	}
}

func findings(where, text string) (all []string) {
	if !anyPattern.MatchString(text) || excepted(where, text) {
		return nil
	}
	for _, p := range patterns {
		m := p.match.FindString(text)
		if m == "" {
			continue
		}
		all = append(all, fmt.Sprintf("%q (%s; write: %s) in %q", m, p.why, p.better, text))
	}
	return all
}

func excepted(where, text string) bool {
	for _, e := range exceptions {
		if strings.HasPrefix(where, e.file) && strings.Contains(text, e.text) && where != "" {
			return true
		}
	}
	return false
}

type literal struct{ where, text string }

// literals returns the string literals of non-test Go code, and the help in its struct tags.
func literals(t *testing.T) (all []literal) {
	for _, dir := range []string{"cmd", "internal", "lab"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			add := func(pos token.Pos, text string) {
				all = append(all, literal{fmt.Sprintf("%s:%d", filepath.ToSlash(rel), set.Position(pos).Line), strings.Join(strings.Fields(text), " ")})
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.Field:
					if n.Tag != nil {
						tag, _ := strconv.Unquote(n.Tag.Value)
						add(n.Tag.Pos(), reflect.StructTag(tag).Get("help"))
						add(n.Tag.Pos(), reflect.StructTag(tag).Get("jsonschema"))
					}
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
						add(n.Pos(), text)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
