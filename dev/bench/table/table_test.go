package table

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRowsOfSeveralPrograms(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows")
	if rows, err := Read(name); len(rows) != 0 || err != nil {
		t.Fatalf("without a file: %v, %v", rows, err)
	}
	Add(Row{Work: "lost"}) // the environment names no file
	t.Setenv(Variable, name)
	Add(Row{Work: "GC log", Peer: "wc -l", Got: "13.6 (13.1–18.5)", Goal: "≤ 20", Met: true})
	Add(Row{Work: "trace", Peer: Limit, Got: "300 MiB", Goal: "≤ 256 MiB"})
	Add(Row{Work: "redis", Why: "no redis-server"})
	rows, err := Read(name)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	var w strings.Builder
	Print(&w, rows)
	want := `work    peer or limit  measured          goal       met
GC log  wc -l          13.6 (13.1–18.5)  ≤ 20       yes
trace   limit          300 MiB           ≤ 256 MiB  MISSED
redis                                               not measured: no redis-server
1 of 3 goals are met, 1 were not measured
`
	if w.String() != want {
		t.Errorf("got\n%s\nwant\n%s", w.String(), want)
	}
}

func TestReplacePart(t *testing.T) {
	got, ok := ReplacePart("a\n<!-- measured: x -->\nold\n<!-- end -->\n<!-- measured: y -->\n<!-- end -->\nb\n", "x", "new\n\n")
	if want := "a\n<!-- measured: x -->\n```text\nnew\n```\n<!-- end -->\n<!-- measured: y -->\n<!-- end -->\nb\n"; got != want || !ok {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := ReplacePart("a", "x", ""); got != "a" || ok {
		t.Errorf("of a document without the part: %q, %v", got, ok)
	}
}
