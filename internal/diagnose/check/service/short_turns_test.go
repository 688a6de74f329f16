package service

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Own work of some ms is left open where slow requests wait for an event loop that serves many in short turns: these are that work. Longer work is not, nor work of
// threads, nor where hardly anything waits for the loop.
func TestOwnWorkInShortTurns(t *testing.T) {
	const loop = 7
	for name, x := range map[string]struct {
		own, wait float64 // ms
		turns     int
		rule      check.Rule
	}{
		"15 ms in turns":          {15, 25, 5, check.Unnoticed},
		"22 ms in turns":          {22, 25, 5, check.Matters},
		"15 ms, hardly any waits": {15, 3, 1, check.Matters},
		"15 ms, no loop":          {15, 0, 0, check.Matters},
	} {
		var slow []part
		for range x.turns {
			slow = append(slow, part{evidence.Segment{Kind: evidence.ThreadWait, Holder: loop, HolderKind: evidence.Unobserved}, x.wait / float64(x.turns)})
		}
		own := evidence.Segment{Kind: evidence.Running}
		slow = append(slow, part{own, x.own + 1}, part{evidence.Segment{Kind: evidence.Unobserved}, 6})
		c := spending("", 0, slow, []part{{own, 1}, {evidence.Segment{Kind: evidence.Unobserved}, 2}}, func(p *evidence.Builder, _ evidence.SubjectID) {
			for i := range x.turns {
				slow[i].state.Cause, slow[i].state.Via = p.Wait(evidence.EventLoop, "main-loop"), p.Name([]string{"GET /a", "GET /b"}[i%2])
			}
		})
		if v := ownWork(c); v.Rule != x.rule {
			t.Errorf("%s: %s: %s %s", name, v.Answer, v.Title, v.Summary)
		}
	}
}
