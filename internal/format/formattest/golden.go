package formattest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

// File is a file of an archive.
type File = txtar.File

type txtarFile = File

// goldenDir returns the folder of the golden files.
func (s *Suite) goldenDir() string {
	if s.Dir == "" {
		return "testdata"
	}
	return s.Dir
}

func (s *Suite) listArchives(t testing.TB) []string {
	files, err := filepath.Glob(filepath.Join(s.goldenDir(), "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// inputFiles returns an archive's inputs: all files but those whose names end in want.
func inputFiles(a *txtar.Archive) (in []txtar.File) {
	for _, f := range a.Files {
		if !strings.HasSuffix(f.Name, "want") {
			in = append(in, f)
		}
	}
	return in
}

// wantName returns the name of the file with the expected result of an input.
func wantName(input string, alone bool) string {
	if alone {
		return "want"
	}
	return strings.TrimSuffix(input, filepath.Ext(input)) + ".want"
}

func (s *Suite) inputData(t testing.TB, f txtar.File) []byte {
	if s.Input == nil {
		return f.Data
	}
	return s.Input(t, f)
}

// collectInputs returns the inputs of all archives, and More.
func (s *Suite) collectInputs(t testing.TB) (all [][]byte) {
	for _, path := range s.listArchives(t) {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range inputFiles(a) {
			all = append(all, s.inputData(t, f))
		}
	}
	if s.More != nil {
		all = append(all, s.More(t)...)
	}
	return all
}

// checkGolden compares the result of each input of an archive with the file behind it.
func (s *Suite) checkGolden(t *testing.T) {
	for _, path := range s.listArchives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			in := inputFiles(a)
			got := &txtar.Archive{Comment: a.Comment}
			for _, f := range in {
				got.Files = append(got.Files, f, txtar.File{Name: wantName(f.Name, len(in) == 1), Data: []byte(s.renderOutcome(t, f))})
			}
			if *goldentest.Update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(txtar.Format(a)), string(txtar.Format(got))); d != "" {
				t.Errorf("%s differs; if the new one is right: %s\n%s", path, goldentest.Command(), d)
			}
		})
	}
}

// Golden compares got with a golden file of its own, for results that an archive cannot hold beside their
// input.
func Golden(t *testing.T, path, got string) {
	t.Helper()
	if *goldentest.Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; if the new one is right: %s\n%s", path, goldentest.Command(), d)
	}
}

// renderOutcome reads an input and returns the result as text.
func (s *Suite) renderOutcome(t testing.TB, f txtar.File) string {
	data := s.inputData(t, f)
	artifact := s.Artifact(data)
	if s.Name == "" {
		artifact.Name = f.Name
	}
	b, err := s.ReadArtifact(artifact)
	s.checkSound(t, data, b, err)
	stacktest.Real(t, b)
	text := ""
	if s.Confidence {
		text = "match " + confidenceWord(s.matchSurest(data)) + "\n"
	}
	if s.Render == nil {
		return text + Render(b, err)
	}
	return text + s.Render(b, err)
}
