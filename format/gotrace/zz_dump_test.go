package gotrace

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestZZDump(t *testing.T) {
	out := os.Getenv("DUMP")
	if out == "" {
		t.Skip()
	}
	files, _ := filepath.Glob("testdata/http/*.gz")
	more, _ := filepath.Glob(corpus + "/*.trace.gz")
	more2, _ := filepath.Glob("/tmp/gt/cause/*.gz")
	f, _ := os.Create(out)
	for _, p := range append(append(files, more...), more2...) {
		b := readFile(t, p)
		h := sha256.New()
		for i := range b.Requests.Len() {
			r := b.Requests.Row(i)
			fmt.Fprintf(h, "%v\n", r)
		}
		a := fmt.Sprintf("%x", h.Sum(nil)[:6])
		h.Reset()
		fmt.Fprintf(h, "%+v %+v %v %v %v\n", b.Series, b.Intervals, b.Coverage, b.Warnings, b.Tables)
		i := fmt.Sprintf("%x", h.Sum(nil)[:6])
		h.Reset()
		for k := 0; k < b.Stacks.Len(); k++ {
			fmt.Fprintf(h, "%v", b.Stacks.Frames(0))
		}
		fmt.Fprintf(f, "%s %d req %s other %s stacks %d names %d %v\n", p, b.Requests.Len(), a, i, b.Stacks.Len(), b.Names.Len(), func() (s map[string]string) {
			s = map[string]string{}
			for _, x := range b.Facts {
				s[x.Key] = fmt.Sprint(x.Value, x.Number, x.From, x.Until)
			}
			return
		}())
	}
	f.Close()
}
