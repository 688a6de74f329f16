// Package commands finds the commands that documents show, for tests that parse them.
package commands

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var fenced = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")

// Each calls do for every command of a program that the documents below a folder show in fenced text, with the
// file, the command and its arguments, and returns how many there are.
func Each(root, program string, do func(file, command string, args []string)) (n int, err error) {
	command := regexp.MustCompile(`^\s*(?:sudo )?(?:bin/)?` + regexp.QuoteMeta(program) + `(\s.*|$)`)
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
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
					if m := command.FindStringSubmatch(part); m != nil {
						n++
						do(path, strings.TrimSpace(part), splitWords(m[1]))
					}
				}
			}
		}
		return nil
	})
	return n, err
}

// splitWords splits a command line as a shell does; only single quotes are known.
func splitWords(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
