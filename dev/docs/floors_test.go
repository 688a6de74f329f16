package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// floors of internal, the lowest first. A package imports its own floor and those below.
var floors = []string{"base", "format", "collect", "analyze", "diagnose", "operate", "present", "serve"}

// upward are imports that still go up: each waits for its small shared part to move down.
var upward = []string{
	"analyze/platform -> operate/top",
	"collect/probe/linux -> analyze/platform",
	"collect/probe/phpfpm -> analyze/platform",
	"format/dotnetstack -> analyze/threads",
	"format/jfr -> analyze/threads",
	"format/threaddump -> analyze/threads",
	"operate/watch -> present/sentence",
}

// TestFloorImports checks that imports within internal go down only, and that none leads to cmd, dev or lab.
func TestFloorImports(t *testing.T) {
	const module = "github.com/unstall/unstall/"
	inner := filepath.Join(root, "internal")
	err := filepath.WalkDir(inner, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(inner, filepath.Dir(path))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(folder)
		for _, spec := range file.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			to, inside := strings.CutPrefix(target, "internal/")
			switch {
			case !ours || slices.Contains(upward, from+" -> "+to):
			case !inside:
				t.Errorf("%s imports %s, which is above internal", path, target)
			case floorOf(t, to) > floorOf(t, from):
				t.Errorf("%s imports %s, which is on a higher floor: move the shared part down", path, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func floorOf(t *testing.T, folder string) int {
	name, _, _ := strings.Cut(folder, "/")
	i := slices.Index(floors, name)
	if i < 0 {
		t.Fatalf("internal/%s is on no floor: %s", folder, strings.Join(floors, " < "))
	}
	return i
}
