// Package goldentest has the flag by which tests write their golden files anew, and the command to name when one differs.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "write the golden files again; read the diff")

// Command returns the command that writes the golden files of the package under test: "go test ./internal/present -update". It asks the
// directory in which the test began.
func Command() string { return "go test " + packagePath(begun) + " -update" }

var begun, _ = os.Getwd()

// packagePath returns a directory as a package relative to its module, "." if it is in none.
func packagePath(dir string) string {
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			rel, err := filepath.Rel(root, dir)
			if err != nil || rel == "." {
				return "."
			}
			return "./" + filepath.ToSlash(rel)
		}
		if root == filepath.Dir(root) {
			return "."
		}
	}
}
