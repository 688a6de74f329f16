package present_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/present"
)

// foreign matches what users of a runtime cannot type or do not have, by the runtime in a fixture's
// name. Ids of JSON ("goroutine states") are allowed.
var foreign = map[string]*regexp.Regexp{
	"go":     regexp.MustCompile(`jcmd|jstack|-Xlog|-Xmx|JAVA_|\bJFR\b|flight recording|dotnet-|DOTNET_`),
	"jvm":    regexp.MustCompile(`gctrace|GOGC|GOMEMLIMIT|GODEBUG|pprof|(?i:goroutines?\b(?: states")?|execution trace)|dotnet-|DOTNET_`),
	"dotnet": regexp.MustCompile(`gctrace|GOGC|GOMEMLIMIT|GODEBUG|pprof|(?i:goroutines?\b(?: states")?|execution trace)|jcmd|jstack|-Xlog|-Xmx|JAVA_|\bJFR\b`),
}

// TestNoOtherRuntime checks that a service is told nothing that only another runtime has: with
// all that was recorded of it, and without requests, when reports ask for most.
func TestNoOtherRuntime(t *testing.T) {
	for _, r := range platform.All {
		if words, ok := foreign[r.ID]; ok && words.MatchString(strings.Join([]string{r.Requests, r.Settings, r.States.What, r.States.Command}, " ")) {
			t.Errorf("%s is told what another runtime has: %q, %q, %q", r.Title, r.Requests, r.Settings, r.States)
		}
	}
	if testing.Short() {
		t.Skip("reads all fixtures")
	}
	for field, words := range foreign {
		dirs, err := filepath.Glob("../diagnose/check/testdata/" + field + ".*/*")
		if err != nil || len(dirs) == 0 {
			t.Fatal(dirs, err)
		}
		for _, dir := range dirs {
			for _, without := range []string{"truth", "requests|access|load|truth"} {
				said := rendered(t, dir, regexp.MustCompile("^("+without+")"))
				for _, found := range words.FindAllStringIndex(said, -1) {
					if word := said[found[0]:found[1]]; word != `goroutine states"` {
						t.Errorf("%s without %s: %q in …%s…", dir, without, word, said[max(0, found[0]-80):min(len(said), found[1]+40)])
					}
				}
			}
		}
	}
}

// rendered returns the diagnosis of a fixture in all forms that are read as they are, without the
// files that match; "" if none is left.
func rendered(t *testing.T, dir string, without *regexp.Regexp) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := incident.NewBundle()
	for _, f := range files {
		if without.MatchString(f.Name()) {
			continue
		}
		if err := incident.Read(t.Context(), format.File(filepath.Join(dir, f.Name())), b); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.Artifacts) == 0 {
		return ""
	}
	d, err := diagnose.Run(t.Context(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for _, form := range present.Forms {
		if form.Name == "html" { // its script names all runtimes
			continue
		}
		if err := form.Report(&said, d); err != nil {
			t.Fatalf("%s: %v", form.Name, err)
		}
	}
	return strings.ToValidUTF8(said.String(), "")
}
