package diagnose_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// TestPastes holds evidence as people post it, of every kind and in every frame, against what is true of it: whether it is read, which
// causes may be found, and which must not. A cause that is true must not be ruled out either. Cases whose names begin with "posted-" are made
// after public reports before anybody had tried them: "first" is what came of the first try, and "open" why what is true is not found yet.
func TestPastes(t *testing.T) {
	const pastes = "testdata/pastes"
	entries, err := os.ReadDir(pastes)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			dir := filepath.Join(pastes, e.Name())
			want := pasteOf(t, dir)
			files, _ := filepath.Glob(filepath.Join(dir, "*"))
			b := incident.NewBundle()
			for _, f := range files {
				if filepath.Base(f) == "case.json" {
					continue
				}
				err := format.Read(context.Background(), all.Formats, format.File(f), b)
				if err != nil && want.Open != "" && want.Expect.Recognised {
					return
				}
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
			found := slices.DeleteFunc(supported(d), func(id string) bool { return slices.Contains(want.Expect.May, id) })
			if len(want.Expect.AnyOf) == 0 && len(found) > 0 {
				t.Errorf("found are %v, want none", found)
			}
			if want.Open != "" {
				if slices.ContainsFunc(found, func(id string) bool { return slices.Contains(want.Expect.AnyOf, id) }) {
					t.Errorf("found are %v: it is no longer open that %s", found, want.Open)
				}
			} else if len(want.Expect.AnyOf) > 0 && !slices.ContainsFunc(found, func(id string) bool { return slices.Contains(want.Expect.AnyOf, id) }) {
				t.Errorf("found are %v, want one of %v", found, want.Expect.AnyOf)
			}
			for _, id := range want.Expect.Not {
				if slices.Contains(found, id) {
					t.Errorf("%s is found", id)
				}
			}
			for _, v := range d.Verdicts { // of several names for what is true one is enough
				if v.Verdict == check.RuledOut && slices.Contains(want.Expect.AnyOf, v.Cause) && !slices.ContainsFunc(found, func(id string) bool { return slices.Contains(want.Expect.AnyOf, id) }) {
					t.Errorf("%s is ruled out: %s", v.Cause, v.Summary)
				}
			}
		})
	}
}

// paste is what is true of a paste.
type paste struct {
	First  string // what came of the first try: "right", or what was wrong
	Open   string // why it is not right yet
	Expect struct {
		Recognised bool
		AnyOf      []string `json:"supported_any_of"`
		May        []string // not due, and no fault
		Not        []string
		Figures    map[string]float64 // counted by hand
	}
}

func pasteOf(t *testing.T, dir string) (p paste) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPastesScore holds the scores that are told beside the cases against them, of each set that was written before it was tried.
func TestPastesScore(t *testing.T) {
	const pastes = "testdata/pastes"
	told, err := os.ReadFile(pastes + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"posted-", "posted3-", "posted4-", "posted5-", "posted6-", "posted7-", "posted8-", "posted9-", "posted9b-", "posted10-", "posted10b-", "posted11-", "posted12-", "posted13-", "posted14-", "posted16-", "posted17-", "posted18-", "posted19-", "posted19b-", "posted20a-", "posted20b-"} {
		dirs, _ := filepath.Glob(filepath.Join(pastes, set+"*"))
		first, now := 0, 0
		for _, dir := range dirs {
			p := pasteOf(t, dir)
			if p.First == "right" {
				first++
			}
			if p.Open == "" {
				now++
			}
		}
		if score := fmt.Sprintf("%d cases; right at the first try: %d; right now: %d", len(dirs), first, now); !strings.Contains(string(told), score) {
			t.Errorf("README.md does not tell %q of %s*", score, set)
		}
	}
}
