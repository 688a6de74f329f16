package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/goldentest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/format"
	output "github.com/unstall/unstall/internal/present/json"
)

const root = "../.."

// TestFiles compares docs/schema with the types.
func TestFiles(t *testing.T) {
	dir := filepath.Join(root, "docs", "schema")
	want := map[string]bool{"README.md": true}
	for _, d := range Documents {
		want[d.File()] = true
		now, err := d.Write(root, false)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, d.File())
		if *goldentest.Update {
			if err := os.WriteFile(name, now, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		old, _ := os.ReadFile(name)
		if diff := cmp.Diff(string(old), string(now)); diff != "" {
			t.Errorf("%s is not what the types say: %s\n%s", name, goldentest.Command(), diff)
		}
		if _, err := Compile(root, d.Name, false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("docs/schema/%s is of nothing that is written", f.Name())
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Documents {
		if !strings.Contains(string(page), "`"+d.Name+"`") {
			t.Errorf("docs/json.md does not name %s", d.Name)
		}
	}
}

// TestGoldens checks every document of the tests' golden files against its strict schema.
func TestGoldens(t *testing.T) {
	seen := 0
	for _, dir := range []string{"internal/present/testdata", "lab/testdata", "internal/diagnose/check/testdata"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			switch {
			case strings.HasSuffix(name, ".json.zst"):
				r, err := zstd.NewReader(nil)
				if err != nil {
					return err
				}
				defer r.Close()
				if text, err = r.DecodeAll(text, nil); err != nil {
					return err
				}
			case !strings.HasSuffix(name, ".json"):
				return nil
			}
			var head struct {
				Schema string `json:"schema"`
			}
			if json.Unmarshal(text, &head) != nil || !strings.HasPrefix(head.Schema, "unstall.") {
				return nil
			}
			seen++
			// Recordings are of the version that made them: keys of other versions are allowed there.
			if err := Holds(root, text, dir != "internal/diagnose/check/testdata"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 20 {
		t.Errorf("only %d documents were found", seen)
	}
}

// TestFixtures checks the output for every recording against its schema: the diagnosis, and the contents of the files.
func TestFixtures(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(root, "internal/diagnose/check/testdata", "*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d fixtures: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			b := incident.NewBundle()
			for _, f := range files {
				if f.Name() == "truth.json" {
					continue
				}
				if err := incident.Read(t.Context(), format.File(filepath.Join(dir, f.Name())), b); err != nil {
					t.Fatal(err)
				}
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []any{d, inspect.Of(b)} {
				var text bytes.Buffer
				if err := output.Encode(&text, v); err != nil {
					t.Fatal(err)
				}
				if err := Holds(root, text.Bytes(), true); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestHolds checks that a schema finds keys that are missing, of another kind, or, if it is strict, not described.
func TestHolds(t *testing.T) {
	const score = `{"schema":"unstall.lab.score/v1","variants":[],"top_1_accuracy":null,"false_alarms":0,"pass":true}`
	for text, want := range map[string]bool{
		score: true,
		strings.Replace(score, `"pass":true`, `"pass":1`, 1):           false,
		strings.Replace(score, `,"pass":true`, ``, 1):                  false,
		strings.Replace(score, `"pass"`, `"more":1,"pass"`, 1):         false,
		strings.Replace(score, `unstall.lab.score`, `unstall.lab`, 1):  false,
		strings.Replace(score, `unstall.lab.score`, `unstall.none`, 1): false,
	} {
		if err := Holds(root, []byte(text), true); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := Holds(root, []byte(strings.Replace(score, `"pass"`, `"more":1,"pass"`, 1)), false); err != nil {
		t.Errorf("a key of a later version: %v", err)
	}
}
