package diagnose

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// Stacks that are given alone make a flame graph, also where nothing says of which process they are, or when they were taken.
func TestFlamesOfStacksAlone(t *testing.T) {
	samples, err := os.ReadFile("../format/perfscript/testdata/clock.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(samples), "-- clock --\n")
	script, _, _ = strings.Cut(script, "\n-- ")
	for name, c := range map[string]struct {
		text, flame, frame string
		total              int64
	}{
		"stacks.folded": {"main;serve;json.Encode 412\nmain;serve;db.Query;sys_read_[k] 95\nmain;gc;scan 33\n", "stacks", "sys_read_[k]", 540},
		"script.txt":    {script, "on-cpu", "compute", 0},
	} {
		b := incident.NewBundle()
		a := &format.Artifact{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.text)), nil }}
		if err := format.Read(t.Context(), all.Formats, a, b); err != nil {
			t.Fatal(name, err)
		}
		d, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		flames := d.Timeline().Flames
		i := slices.IndexFunc(flames, func(f timeline.Flame) bool { return f.ID == c.flame })
		if i < 0 {
			t.Errorf("%s: no flame %s", name, c.flame)
			continue
		}
		f := flames[i]
		if f.Total <= 0 || c.total > 0 && f.Total != c.total || !slices.ContainsFunc(f.Nodes, func(n timeline.Node) bool { return strings.HasPrefix(n.Name, c.frame) }) {
			t.Errorf("%s: %d in all, want %d, with a frame %s", name, f.Total, c.total, c.frame)
		}
	}
}
