package all_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
	"github.com/unstall/unstall/internal/format"
)

const fixtures = "../testdata"

// diagnosis reads everything in a fixture but what the recorder knew.
func diagnosis(t *testing.T, dir string) *diagnose.Diagnosis {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if f.Name() != "truth.json" {
			names = append(names, filepath.Join(dir, f.Name()))
		}
	}
	return diagnosed(t, names...)
}

func diagnosed(t *testing.T, files ...string) *diagnose.Diagnosis {
	t.Helper()
	b := incident.NewBundle()
	for _, name := range files {
		if err := incident.Read(t.Context(), format.File(name), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stacktest.Real(t, b)
	return d
}

func supported(d *diagnose.Diagnosis) (ids []string) {
	for _, v := range d.Verdicts {
		if v.Verdict == check.Supported {
			ids = append(ids, v.Cause)
		}
	}
	return ids
}

// command is how all that can be typed begins: a program, a shell's loop, a setting of the
// environment, a program's option.
var command = regexp.MustCompile(`^(unstall|curl|jcmd|perf|redis-cli|dotnet-(counters|stack|trace|gcdump)) |^for i in |^[A-Z]+=\S+$|^-X\S`)

// typed holds that causes keep what can be typed apart from words.
func typed(t *testing.T, d *diagnose.Diagnosis) {
	t.Helper()
	for _, v := range d.Verdicts {
		for _, n := range v.Needs {
			if n.What == "" || strings.HasSuffix(n.What, ":") || command.MatchString(n.What) || n.Command != "" && !command.MatchString(n.Command) {
				t.Errorf("%s needs %q, shown by %q", v.Cause, n.What, n.Command)
			}
		}
	}
}

// decided holds that each verdict keeps the figures that decided it.
func decided(t *testing.T, d *diagnose.Diagnosis) {
	t.Helper()
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		if v.Decision == nil {
			t.Errorf("nothing says how %s was decided", v.Cause)
			continue
		}
		for _, fault := range checktest.Faults(v.Verdict, v.Decision) {
			t.Errorf("%s: %s (%s)", v.Cause, fault, v.Summary)
		}
	}
}

// fileOf is where a cause is: go.gc-rate in golang/gc_rate.go.
func fileOf(id string) string {
	field, name, _ := strings.Cut(id, ".")
	if field == "go" {
		field = "golang"
	}
	return filepath.Join("..", field, strings.ReplaceAll(name, "-", "_")+".go")
}

func declares(file, id string) bool {
	text, err := os.ReadFile(file)
	return err == nil && strings.Contains(string(text), `"`+id+`",`)
}

// TestEveryCauseIsKnown requires of every cause what a user and the next
// developer need: an id of its field, a text, and a recorded pair of a sick
// service and its healthy twin. The sick one must give this cause first; of the
// healthy one nothing may be said at all.
func TestEveryCauseIsKnown(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range all.Causes {
		t.Run(c.ID, func(t *testing.T) {
			if seen[c.ID] {
				t.Error("the id is taken")
			}
			seen[c.ID] = true
			if field, name, ok := strings.Cut(c.ID, "."); !ok || field == "" || name == "" {
				t.Error("the id is not field.name")
			}
			if file := fileOf(c.ID); !declares(file, c.ID) {
				t.Errorf("it is not in %s, where one would look for it", file)
			}
			if c.Title == "" || len(c.Doc) < 200 || c.Least == "" || c.Needs == "" || c.Applies == nil || c.Judge == nil {
				t.Error("title, doc, least evidence, needs, applies or judge is missing")
			}
			if !slices.Contains(check.Steps, c.Step) {
				t.Errorf("step %q is none of %v", c.Step, check.Steps)
			}
			for _, kind := range []string{"sick", "healthy"} {
				dirs, _ := filepath.Glob(filepath.Join(fixtures, c.ID, kind+"*"))
				if len(dirs) == 0 {
					t.Errorf("there is no %s fixture", kind)
				}
				for _, dir := range dirs {
					t.Run(filepath.Base(dir), func(t *testing.T) {
						d := diagnosis(t, dir)
						typed(t, d)
						figured(t, d)
						decided(t, d)
						ids := supported(d)
						switch {
						case kind == "sick" && (len(ids) == 0 || ids[0] != c.ID):
							t.Errorf("supported are %v, want %s first", ids, c.ID)
						case kind == "healthy" && len(ids) > 0:
							t.Errorf("supported are %v, want none", ids)
						}
					})
				}
			}
		})
	}
	dirs, _ := filepath.Glob(fixtures + "/*")
	for _, d := range dirs {
		if !seen[filepath.Base(d)] {
			t.Errorf("%s belongs to no cause", d)
		}
	}
}
