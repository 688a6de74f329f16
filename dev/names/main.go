// Names prints figures about how the code reads: how many function names are a single word, how often comments use a negative pronoun,
// how many lines each floor has, and how many lines of tests internal/diagnose has for a line of code. They show a trend; they judge
// nothing. Run it at the root: go run ./dev/names.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// floors are the folders of internal from the lowest to the highest, then the folders beside it.
var floors = []string{"internal/base", "internal/format", "internal/collect", "internal/analyze", "internal/diagnose", "internal/operate",
	"internal/present", "internal/serve", "cmd", "dev", "lab", "remedy"}

var (
	oneWord  = regexp.MustCompile(`^[a-z0-9]+$`)
	pronouns = regexp.MustCompile(`(?i)\b(nobody|nothing|none|nowhere|neither|no one)\b`)
	word     = regexp.MustCompile(`[\pL\pN_'’-]+`)
)

// sums are what is counted.
type sums struct {
	functions, single int // outside tests
	words, negative   int // of comments outside tests
	code, tests       map[string]int
}

func main() {
	s := sums{code: make(map[string]int), tests: make(map[string]int)}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "bin", "out"}, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		return s.addFile(filepath.ToSlash(path))
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(1)
	}
	s.print()
}

// addFile counts a file.
func (s *sums) addFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Count(string(text), "\n")
	floor := "other"
	if i := slices.IndexFunc(floors, func(f string) bool { return strings.HasPrefix(path, f+"/") }); i >= 0 {
		floor = floors[i]
	}
	if strings.HasSuffix(path, "_test.go") {
		s.tests[floor] += lines
		return nil
	}
	s.code[floor] += lines
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name == "main" || f.Name.Name == "init" {
			continue
		}
		s.functions++
		if oneWord.MatchString(f.Name.Name) {
			s.single++
		}
	}
	for _, c := range file.Comments {
		s.words += len(word.FindAllString(c.Text(), -1))
		s.negative += len(pronouns.FindAllString(c.Text(), -1))
	}
	return nil
}

func (s *sums) print() {
	fmt.Printf("one-word names of functions  %.1f %% (%d of %d, outside tests; exported names are not counted as one word)\n", 100*float64(s.single)/float64(max(1, s.functions)), s.single, s.functions)
	fmt.Printf("negative pronouns            %.0f per 100,000 words of comments (%d of %d words)\n", 1e5*float64(s.negative)/float64(max(1, s.words)), s.negative, s.words)
	fmt.Println("lines outside tests, of tests")
	for _, f := range append(floors, "other") {
		if s.code[f]+s.tests[f] > 0 {
			fmt.Printf("  %-18s %7d %7d\n", f, s.code[f], s.tests[f])
		}
	}
	fmt.Printf("internal/diagnose            %.2f lines of tests for a line of code\n", float64(s.tests["internal/diagnose"])/float64(max(1, s.code["internal/diagnose"])))
}
