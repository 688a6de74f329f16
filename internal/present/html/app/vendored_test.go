package app

import (
	"crypto/sha256"
	"fmt"
	"os"
	"regexp"
	"testing"
)

// TestVendored compares the files of uPlot with the table in its folder.
func TestVendored(t *testing.T) {
	readme, err := os.ReadFile("uplot/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `[^`]+` \\| `([0-9a-f]{64})` \\|$").FindAllSubmatch(readme, -1)
	if len(rows) != 3 {
		t.Fatalf("%d files in uplot/README.md, want 3", len(rows))
	}
	for _, row := range rows {
		b, err := os.ReadFile("uplot/" + string(row[1]))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != string(row[2]) {
			t.Errorf("uplot/%s: sha256 %s, the table says %s", row[1], got, row[2])
		}
	}
}
