package accesslog

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// TestProfilesAreNoRequests checks that a profile which took 30 s is no slow request.
func TestProfilesAreNoRequests(t *testing.T) {
	var w bytes.Buffer
	for i := range 60 {
		fmt.Fprintf(&w, "10.0.0.1 - - [21/Nov/2026:14:00:%02d +0000] \"GET /cart HTTP/1.1\" 200 5 \"-\" \"c\" rt=0.010\n", i)
	}
	fmt.Fprintf(&w, "10.0.0.1 - - [21/Nov/2026:14:01:00 +0000] \"GET /debug/pprof/profile?seconds=30 HTTP/1.1\" 200 5 \"-\" \"c\" rt=30.010\n")
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{Format}, formattest.Artifact("access.log", w.Bytes()), b); err != nil {
		t.Fatal(err)
	}
	if n := b.Requests.Len(); n != 60 {
		t.Errorf("%d requests, want 60", n)
	}
}
