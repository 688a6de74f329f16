package loadresult

import (
	"context"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// TestFailedStatus reads which status most failed requests have; one without an answer has none.
func TestFailedStatus(t *testing.T) {
	const head = "# unstall.requests/v1 url=http://127.0.0.1:8080/play mode=open arrivals=constant\n# intended_ns sent_ns end_ns lag_ns status bytes outcome route\n"
	at := "1795238832816279562 1795238832816280113 1795238832817676105 551 "
	for rows, want := range map[string]string{"200 121 ok|0 0 timeout": "", "200 121 ok|500 9 error|502 9 error|502 9 error|0 0 timeout": "502"} {
		text := head
		for _, r := range strings.Split(rows, "|") {
			text += at + r + " GET /play\n"
		}
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, formattest.Artifact("requests.txt", []byte(text)), b); err != nil {
			t.Fatal(err)
		}
		if f, _ := b.Fact(-1, evidence.FactFailedStatus); f.Value != want || f.Number != map[string]float64{"": 0, "502": 2}[want] {
			t.Errorf("%s: %q %g", rows, f.Value, f.Number)
		}
	}
}
