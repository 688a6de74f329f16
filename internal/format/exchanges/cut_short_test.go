package exchanges

import (
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// An answer that is sent in pieces up to the end of the recording is not complete as far as anyone knows; one whose last piece was longer ago than pieces are
// apart is, and so is one of a single piece.
func TestAnswerBeingSent(t *testing.T) {
	for _, c := range []struct {
		what  string
		ago   float64 // ms from the last piece to the end of the recording
		lasts float64 // ms from the first piece to the last
		sends int
		next  bool // something later was recorded of its connection
		want  evidence.Outcome
	}{
		{"pieces until the end", 2, 100, 51, false, evidence.Unfinished},
		{"five distances ago", 9.9, 100, 51, false, evidence.Unfinished},
		{"longer ago", 10.1, 100, 51, false, evidence.OK},
		{"header and body", 2, 100, 2, false, evidence.OK},
		{"one piece", 0, 0, 1, false, evidence.OK},
		{"its connection went on", 2, 100, 51, true, evidence.OK},
	} {
		w := newText()
		last := fmt.Sprintf("q %d 0 %d %d 90 80000 1 %d 30 30 8080/3 - http 200 GET /lists\n", began+ns(3000-c.ago-c.lasts-5), ns(5), ns(c.lasts), c.sends)
		if c.next {
			fmt.Fprint(w, last)
		}
		fmt.Fprint(w, "open\n")
		if !c.next {
			fmt.Fprint(w, last)
		}
		b := w.read(t, 3000)
		if b.Requests.Len() != 1 {
			t.Fatalf("%s: %d requests, want 1", c.what, b.Requests.Len())
		}
		if got := b.Requests.Outcome.At(0); got != c.want {
			t.Errorf("%s: outcome %v, want %v", c.what, got, c.want)
		}
	}
}
