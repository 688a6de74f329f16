package diagnose_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// TestPastes holds evidence as people post it, of every kind and in every frame, against what is true of it: whether it is read, which
// causes may be found, and which must not. A cause that is true must not be ruled out either.
func TestPastes(t *testing.T) {
	const pastes = "testdata/pastes"
	entries, err := os.ReadDir(pastes)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			dir := filepath.Join(pastes, e.Name())
			var want struct {
				Expect struct {
					Recognised bool
					AnyOf      []string `json:"supported_any_of"`
					Not        []string
				}
			}
			data, err := os.ReadFile(filepath.Join(dir, "case.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			b := incident.NewBundle()
			for _, f := range files {
				if filepath.Base(f) == "case.json" {
					continue
				}
				err := format.Read(context.Background(), all.Formats, format.File(f), b)
				if (err == nil) != want.Expect.Recognised {
					t.Fatalf("%s: %v", f, err)
				}
			}
			if !want.Expect.Recognised {
				return
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			found := supported(d)
			if len(want.Expect.AnyOf) == 0 && len(found) > 0 {
				t.Errorf("found are %v, want none", found)
			}
			if len(want.Expect.AnyOf) > 0 && !slices.ContainsFunc(found, func(id string) bool { return slices.Contains(want.Expect.AnyOf, id) }) {
				t.Errorf("found are %v, want one of %v", found, want.Expect.AnyOf)
			}
			for _, id := range want.Expect.Not {
				if slices.Contains(found, id) {
					t.Errorf("%s is found", id)
				}
			}
			for _, v := range d.Verdicts {
				if v.Verdict == check.RuledOut && slices.Contains(want.Expect.AnyOf, v.Cause) {
					t.Errorf("%s is ruled out: %s", v.Cause, v.Summary)
				}
			}
		})
	}
}
