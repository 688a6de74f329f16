package accesslog

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// TestRepeats counts a caller that sends the same query again within ten seconds; another
// query, another caller, a later time and a POST are no repeats.
func TestRepeats(t *testing.T) {
	var w strings.Builder
	line := func(second int, caller, method, target string) {
		fmt.Fprintf(&w, "%s - - [21/Nov/2026:14:%02d:%02d +0000] \"%s %s HTTP/1.1\" 200 5 \"-\" \"c\" rt=0.010\n", caller, second/60, second%60, method, target)
	}
	for i := range 25 {
		at := 20 * i
		line(at, "10.0.0.1", "GET", "/tree?id=7")
		line(at+1, "10.0.0.1", "GET", "/tree?id=7") // again
		line(at+2, "10.0.0.2", "GET", "/tree?id=7")
		line(at+3, "10.0.0.1", "GET", fmt.Sprintf("/tree?id=%d", 100+i))
		line(at+4, "10.0.0.1", "POST", "/tree?id=7")
	}
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, formattest.Artifact("access.log", []byte(w.String())), b); err != nil {
		t.Fatal(err)
	}
	f, ok := b.Fact(-1, evidence.FactRepeated)
	if want := 25. / 100; !ok || math.Abs(f.Number-want) > 1e-9 {
		t.Errorf("%v %v, want %v", f.Number, ok, want)
	}
}
