package diagnose_test

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/present/json"
)

// TestWorkers holds that a diagnosis is the same however many CPUs make it.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []byte
	for _, n := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(n)
		b := incident.NewBundle()
		for _, f := range []string{"access.log.gz", "cpu.pb.gz", "gctrace.log", "trace.out.gz"} {
			if err := incident.Read(t.Context(), format.File(filepath.Join("../../lab/go-ballast/recorded/sick", f)), b); err != nil {
				t.Fatal(err)
			}
		}
		d, err := diagnose.Run(t.Context(), b, diagnose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := json.Encode(&text, d); err != nil {
			t.Fatal(err)
		}
		switch {
		case first == nil:
			first = text.Bytes()
		case !bytes.Equal(first, text.Bytes()):
			t.Errorf("with %d CPUs:\n%s\nwith one:\n%s", n, text.Bytes(), first)
		}
	}
}
