package formattest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// File is a file of an archive.
type File = txtar.File

type txtarFile = File

// dir is where the golden files are.
func (s *Suite) dir() string {
	if s.Dir == "" {
		return "testdata"
	}
	return s.Dir
}

func (s *Suite) archives(t testing.TB) []string {
	files, err := filepath.Glob(filepath.Join(s.dir(), "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// given are an archive's inputs. All files are, but those that say what is wanted.
func given(a *txtar.Archive) (in []txtar.File) {
	for _, f := range a.Files {
		if !strings.HasSuffix(f.Name, "want") {
			in = append(in, f)
		}
	}
	return in
}

// wanted is the name of the file that says what is wanted of an input.
func wanted(input string, alone bool) string {
	if alone {
		return "want"
	}
	return strings.TrimSuffix(input, filepath.Ext(input)) + ".want"
}

func (s *Suite) input(t testing.TB, f txtar.File) []byte {
	if s.Input == nil {
		return f.Data
	}
	return s.Input(t, f)
}

// inputs are those of all archives, and More.
func (s *Suite) inputs(t testing.TB) (all [][]byte) {
	for _, path := range s.archives(t) {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range given(a) {
			all = append(all, s.input(t, f))
		}
	}
	if s.More != nil {
		all = append(all, s.More(t)...)
	}
	return all
}

// golden holds what comes of each input of an archive against the file behind it.
func (s *Suite) golden(t *testing.T) {
	for _, path := range s.archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			in := given(a)
			got := &txtar.Archive{Comment: a.Comment}
			for _, f := range in {
				got.Files = append(got.Files, f, txtar.File{Name: wanted(f.Name, len(in) == 1), Data: []byte(s.outcome(t, f))})
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(txtar.Format(a)), string(txtar.Format(got))); d != "" {
				t.Errorf("-want +got; rewritten by -update\n%s", d)
			}
		})
	}
}

// Golden holds got against a file of its own, for what an archive cannot hold beside its
// input.
func Golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
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
		t.Errorf("-want +got; rewritten by -update\n%s", d)
	}
}

// outcome is what came of an input, as text.
func (s *Suite) outcome(t testing.TB, f txtar.File) string {
	data := s.input(t, f)
	artifact := s.Artifact(data)
	if s.Name == "" {
		artifact.Name = f.Name
	}
	b, err := s.ReadArtifact(artifact)
	s.sound(t, data, b, err)
	stacktest.Real(t, b)
	text := ""
	if s.Confidence {
		text = "match " + word(s.match(data)) + "\n"
	}
	if s.Render == nil {
		return text + Render(b, err)
	}
	return text + s.Render(b, err)
}
