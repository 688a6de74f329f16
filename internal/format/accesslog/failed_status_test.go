package accesslog

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// TestFailedStatus reads which status most failed requests have. A client's mistakes are no failures of the service.
func TestFailedStatus(t *testing.T) {
	for _, c := range []struct {
		statuses []int
		want     string
		number   float64
	}{{[]int{200, 200, 404}, "", 0}, {[]int{200, 500, 503, 503, 404, 404, 404}, "503", 2}} {
		var w strings.Builder
		for i := range 40 {
			status := 200
			if i < len(c.statuses) {
				status = c.statuses[i]
			}
			fmt.Fprintf(&w, "10.0.0.1 - - [21/Nov/2026:14:00:%02d +0000] \"GET / HTTP/1.1\" %d 5 \"-\" \"c\" rt=0.010\n", i, status)
		}
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, formattest.Artifact("access.log", []byte(w.String())), b); err != nil {
			t.Fatal(err)
		}
		if f, _ := b.Fact(-1, evidence.FactFailedStatus); f.Value != c.want || f.Number != c.number {
			t.Errorf("%v: %q %g", c.statuses, f.Value, f.Number)
		}
	}
}
