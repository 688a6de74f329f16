package journey

import (
	"embed"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/collect/load"
)

//go:embed examples/*.yaml
var examples embed.FS

// Examples are the names of the scripts that come with the program.
func Examples() (names []string) {
	files, _ := examples.ReadDir("examples") // it was embedded
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Example is the text of one.
func Example(name string) ([]byte, error) {
	text, err := examples.ReadFile("examples/" + name + ".yaml")
	if err != nil {
		return nil, load.PlanError("--example %s: unknown name%s", name, suggestName(name, Examples()))
	}
	return text, nil
}
