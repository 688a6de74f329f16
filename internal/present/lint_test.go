package present

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/present/reporttest"
)

// TestGoldensAreReadable checks the golden files of all text for people by the rules of package reporttest.
func TestGoldensAreReadable(t *testing.T) {
	var files []string
	for _, pattern := range []string{"testdata/*", "../../docs/gallery/*.html", "../../lab/testdata/*"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %d files: %v", pattern, len(some), err)
		}
		files = append(files, some...)
	}
	for _, name := range files {
		if strings.HasPrefix(filepath.Base(name), "extremes") {
			continue // its figures are impossible
		}
		check := map[string]func(string) []string{".txt": reporttest.Terminal, ".md": reporttest.Markdown, ".html": reporttest.HTML}[filepath.Ext(name)]
		if check == nil {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range check(string(text)) {
			t.Errorf("%s: %s", name, w)
		}
	}
}
