package all_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
)

// TestNoContradictions diagnoses every fixture, every recording of a lab, every file of the formats' tests and of the corpus, and
// wants each page to say one thing.
func TestNoContradictions(t *testing.T) {
	var held, unread atomic.Int32
	t.Run("", func(t *testing.T) {
		for name, files := range inputs(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := incident.NewBundle()
				for _, f := range files {
					if err := incident.Read(t.Context(), format.File(f), b); err != nil && len(files) == 1 {
						unread.Add(1)
						return // the file is of a kind that is to be refused
					}
				}
				d, err := diagnose.Run(t.Context(), b, diagnose.Options{})
				if err != nil {
					unread.Add(1)
					return
				}
				held.Add(1)
				for _, wrong := range d.Contradictions() {
					t.Error(wrong)
				}
			})
		}
	})
	t.Logf("%d inputs, and %d that nothing is diagnosed of", held.Load(), unread.Load())
	if held.Load() < 100 {
		t.Errorf("only %d inputs were diagnosed", held.Load())
	}
}

// inputs are the files that are diagnosed together, by a name.
func inputs(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, pattern := range []string{filepath.Join(fixtures, "*", "*"), "../../../../lab/*/recorded/*"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			files, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is well-formed
			for _, f := range files {
				if filepath.Base(f) != "truth.json" {
					all[filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir)] = append(all[filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir)], f)
				}
			}
		}
	}
	for _, root := range []string{"../../../format", "../../../../../shared/corpus"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.Contains(path, "/testdata/") && !strings.Contains(path, "/fuzz/") || strings.HasPrefix(root, "../../../../..")) {
				all[path] = []string{path}
			}
			return nil // what is not there is not looked through
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
