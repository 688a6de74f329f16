package export

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// TestAllocations exports who allocated in a recorded program: the type is the innermost frame, and
// the bytes are those of its allocation ticks.
func TestAllocations(t *testing.T) {
	path := filepath.Join("../../../../shared/corpus/nettrace", "truth8.nettrace.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no corpus of traces beside the checkout: %v", err)
	}
	b := incident.NewBundle()
	if err := format.Read(context.Background(), all.Formats, format.File(path), b); err != nil {
		t.Fatal(err)
	}
	s := Of(b, Options{})
	p := parsed(t, exported(t, s, "pprof", "allocations"))
	column := func(name string) int {
		for i, v := range p.SampleType {
			if v.Type == name {
				return i
			}
		}
		t.Fatalf("no column %s", name)
		return 0
	}
	large, objects := column("large_alloc_space"), column("large_alloc_objects")
	var bytes, n int64
	for _, x := range p.Sample {
		if f := x.Location[0].Line[0].Function.Name; x.Value[objects] > 0 && f != "System.Byte[]" && f != "System.Object[]" {
			t.Errorf("a large %s", f)
		}
		bytes, n = bytes+x.Value[large], n+x.Value[objects]
	}
	if n != 6005 || bytes < 1_200_000_000 || bytes > 1_210_000_000 {
		t.Errorf("%d large objects of %d bytes", n, bytes)
	}
	var scope struct {
		Profiles []struct {
			Name     string
			EndValue int64
		}
	}
	if err := json.Unmarshal(exported(t, s, "speedscope", ""), &scope); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(scope.Profiles, func(x struct {
		Name     string
		EndValue int64
	}) bool {
		return x.Name == "large objects allocated, truth pid 26759" && x.EndValue == bytes
	}) {
		t.Errorf("%+v", scope.Profiles)
	}
}
