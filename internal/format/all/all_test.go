package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// TestFormatsDoNotClaimEachOthers gives every format the others' golden inputs:
// only one format may be sure of an input, or its rows would count twice.
// Logs with gc lines in them really hold two formats.
func TestFormatsDoNotClaimEachOthers(t *testing.T) {
	files, _ := filepath.Glob("../*/testdata/*.txtar")
	if len(files) < 50 {
		t.Fatalf("only %d golden inputs", len(files))
	}
	for _, path := range files {
		owner := filepath.Base(filepath.Dir(filepath.Dir(path)))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archive := txtar.Parse(data)
		for _, f := range archive.Files {
			if strings.Contains(f.Name, "want") || strings.Contains(f.Name, "golden") || strings.Contains(f.Name, "output") || len(f.Data) == 0 {
				continue
			}
			var sure []string
			whole := false
			for _, k := range all.Formats {
				if k.Match(f.Data) == format.Sure {
					sure = append(sure, k.Name)
					whole = whole || k.Whole
				}
			}
			if len(sure) > 1 && !whole && !strings.Contains(string(f.Data), "ms clock") && !strings.Contains(string(f.Data), "[gc,classhisto") && !shared(sure) {
				t.Errorf("%s, %s: %v are sure of it, it is %s's", path, f.Name, sure, owner)
			}
		}
	}
}

// shared says whether formats read different lines of one file by design: a page of metrics has those of its runtime and of its pools, and
// the output of a JVM its log and what else it prints.
func shared(sure []string) bool {
	if len(sure) == 2 && sure[0] == "sysstat" && sure[1] == "process-list" { // a screen of top: CPU time of the host, and of processes
		return true
	}
	for _, name := range sure {
		if !strings.HasPrefix(name, "metrics-") && name != "gauges" && name != "safepointtimeout" && name != "safepointstats" && name != "hotspotgc" && name != "threaddump" {
			return false
		}
	}
	return true
}
