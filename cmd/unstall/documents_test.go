package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands parses every command that the documents show, so that none has
// a flag that is not there.
func TestDocumentedCommands(t *testing.T) {
	const root = "../.."
	fenced := regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
	command := regexp.MustCompile(`^\s*(?:sudo )?(?:bin/)?unstall(?:\s+(.*))?$`)
	n := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" || e.Name() == "bin"):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
			for _, line := range strings.Split(block[1], "\n") {
				shell, _, _ := strings.Cut(line, " #") // a comment
				for _, part := range strings.FieldsFunc(shell, func(r rune) bool { return r == '|' || r == ';' || r == '>' || r == '&' }) {
					m := command.FindStringSubmatch(part)
					if m == nil {
						continue
					}
					n++
					if err := parses(words(m[1])); err != nil {
						t.Errorf("%s: %s: %v", path, strings.TrimSpace(part), err)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 50 {
		t.Errorf("%d commands were found", n)
	}
}

func parses(args []string) error {
	if len(args) == 0 {
		return nil // the list
	}
	_, err := newProgram(new(cli)).Parse(args, nil)
	return err
}

// words splits a command line as a shell does; quotes are single ones.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
