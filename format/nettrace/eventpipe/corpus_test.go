package eventpipe

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

const corpusDir = "../../../../shared/corpus/nettrace"

func corpusFiles(t testing.TB) (names []string) {
	files, _ := filepath.Glob(corpusDir + "/*.nettrace.gz")
	if len(files) == 0 {
		t.Skipf("%s is not here: recorded streams are not decoded", corpusDir)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return names
}

func corpus(t testing.TB, name string) []byte {
	f, err := os.Open(filepath.Join(corpusDir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
