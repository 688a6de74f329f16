package diagnose_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/exchanges"
)

// refreshUnderLock writes the exchanges of a Go program: one request in 200 calls for so many ms, and all others wait until the call is answered.
func refreshUnderLock(took func(call int) float64) string {
	const begun = int64(1763689985e9)
	var w strings.Builder
	fmt.Fprintf(&w, "# exchanges of pid 4711\nfrom %d\n", begun)
	at, held := func(ms float64) int64 { return begun + int64(ms*1e6) }, 0.
	for i := range 2000 {
		came := 10 * float64(i)
		worker, answered := fmt.Sprintf("%d/%d", 20+i%3, 100+i), max(came, held)+.3
		if i%200 == 100 {
			held = came + .2 + took(i/200)
			answered = held + .1
			fmt.Fprintf(&w, "k %d 0 %d 0 80 90 1 1 %s %[3]s 4000 10.0.0.7:8081 http 200 GET /prices\n", at(came+.2), int64(1e6*(held-came-.2)), worker)
		}
		fmt.Fprintf(&w, "q %d 0 %d 0 80 90 1 1 %s %[3]s 8080/%d - http 200 GET /plants\n", at(came), int64(1e6*(answered-came)), worker, 1+i)
	}
	fmt.Fprintf(&w, "until %d\n", at(20000))
	return w.String()
}

// Goroutines that go on when another one's call of the usual length is answered wait for a lock; if the call takes far longer than usual, for the
// dependency.
func TestLockOverCall(t *testing.T) {
	for name, x := range map[string]struct {
		took  func(call int) float64
		first string
	}{
		"calls of the usual length": {func(int) float64 { return 450 }, "go.lock-contention"},
		"some calls are late": {func(call int) float64 {
			if call%3 == 0 {
				return 900
			}
			return 20
		}, "service.dependency-slow"},
	} {
		b := incident.NewBundle()
		text := refreshUnderLock(x.took)
		a := &format.Artifact{Name: "exchanges.txt", Size: int64(len(text)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
		if err := format.Read(t.Context(), []format.Format{exchanges.Format}, a, b); err != nil {
			t.Fatal(err)
		}
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "process"}), "process")
		p.Subject(evidence.Subject{Name: "nursery", PID: 4711, Runtime: "go"})
		p.Close()
		d, err := diagnose.Run(t.Context(), b, diagnose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if ids := supported(d); len(ids) == 0 || ids[0] != x.first {
			t.Errorf("%s: supported are %v, want %q first; %+v", name, ids, x.first, d.Ledger)
		}
	}
}
