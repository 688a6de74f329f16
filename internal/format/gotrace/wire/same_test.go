package wire_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/unstall/unstall/internal/format/gotrace/wire"
	"github.com/unstall/unstall/internal/format/gotrace/wire/wiretest"
)

// same is wiretest.Same of what must be so.
func same(t testing.TB, data []byte, damaged bool) (events int) {
	t.Helper()
	events, err := wiretest.Same(data, damaged)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// recorded are the traces in the repository and, where it is, of the corpus beside it.
func recorded(t testing.TB) (files []string) {
	for _, p := range []string{"../testdata/http/*.trace.gz", "../../../diagnose/check/testdata/*/*/trace*", "../../../../lab/*/recorded/*/trace*", "../../../../lab/*/*/recorded/*/trace*",
		"../../../../../shared/corpus/go/*.trace.gz"} {
		m, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, m...)
	}
	return files
}

// content is a file without its compression.
func content(t testing.TB, name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	switch {
	case strings.HasSuffix(name, ".gz"):
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func version(data []byte) (minor int) {
	fmt.Sscanf(string(data[:min(len(data), wire.HeaderSize)]), "go 1.%d trace", &minor)
	return minor
}

func TestSameAsRecorded(t *testing.T) {
	compared := map[int]int{}
	for _, name := range recorded(t) {
		data := content(t, name)
		v := version(data)
		if !wire.Supported(v) { // an older format, which neither reads
			continue
		}
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			compared[v]++
			if n := same(t, data, false); n < 100 {
				t.Errorf("%d events", n)
			}
		})
	}
	for _, v := range []int{22, 23, 25, 26} {
		if compared[v] == 0 {
			t.Errorf("no trace of the version of Go 1.%d", v)
		}
	}
	t.Log("traces by version: ", compared)
}

// TestSameAsTheirs reads the test data of x/exp/trace, where the module is with its source.
func TestSameAsTheirs(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/exp").Output()
	if err != nil || len(bytes.TrimSpace(dir)) == 0 {
		t.Skip("golang.org/x/exp is not here with its test data: ", err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "trace/testdata/tests/*.test"))
	if len(files) == 0 {
		t.Skip("golang.org/x/exp is here without its test data")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) { same(t, written(t, name), false) })
	}
}

// TestSameAsRunning records small programs in this process, one of them over several generations.
func TestSameAsRunning(t *testing.T) {
	for seed := range uint64(40) {
		var atLeast time.Duration
		if seed == 0 && !testing.Short() {
			atLeast = 2500 * time.Millisecond
		}
		data, err := wiretest.Record(seed, atLeast)
		if err != nil {
			t.Skip(err) // go test -trace
		}
		if n := same(t, data, false); n < 10 {
			t.Errorf("seed %d: %d events", seed, n)
		}
	}
}
