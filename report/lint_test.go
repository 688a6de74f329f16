package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unstall/unstall/report/reporttest"
)

// TestGoldensAreReadable holds the golden files of all reports to the rules by which they are written.
func TestGoldensAreReadable(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	more, err := filepath.Glob("../docs/gallery/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, more...) {
		if strings.HasPrefix(filepath.Base(name), "extremes") {
			continue // of figures that there cannot be
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
