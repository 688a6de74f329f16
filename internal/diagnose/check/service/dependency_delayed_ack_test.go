package service

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
)

// stored are requests that read a key, which takes 3 ms, and others that write one by a call in so many writes, which takes so long.
func stored(writes int, took int64) []byte {
	const seconds, store = 20, "10.0.0.8:6379"
	s := newKernelSaw()
	for i, at := range s.arrivals(40, seconds) {
		w := s.worker(at)
		sends, what, lasts := 1, "GET", s.vary(3*ms)
		if i%3 == 0 {
			sends, what, lasts = writes, "SET", took+s.vary(2*ms)
		}
		begun := at + 200_000
		s.lines = append(s.lines, line{begun + lasts, fmt.Sprintf("k %d 20000 %d 0 30 140 1 %d %d %[4]d %d %s resp - %s", begun, lasts, sends, firstThread+w, 40000+w, store, what)})
		s.request(w, at, begun+lasts+200_000, 200, what+" /tickets/{id}")
	}
	return s.bytes(seconds)
}

// Calls in several writes that take as much longer as an acknowledgement is delayed wait for it; longer or shorter ones have another reason.
func TestDelayedAcknowledgement(t *testing.T) {
	for name, x := range map[string]struct {
		text  []byte
		found bool
	}{
		"two writes, 42 ms":                    {stored(2, 41*ms), true},
		"three writes, 42 ms":                  {stored(3, 41*ms), true},
		"one write":                            {stored(1, 41*ms), false},
		"two writes, quick":                    {stored(2, 1*ms), false},
		"two writes of something that is slow": {stored(2, 90*ms), false},
		"two writes, 25 ms":                    {stored(2, 25*ms), false},
	} {
		c := caseOf(t, x.text)
		v := judgeDependency(c)
		if found := v.Supported() && strings.Contains(v.Title, "to acknowledge a part of a call"); found != x.found {
			t.Errorf("%s: %s: %s %s", name, v.State, v.Title, v.Summary)
		}
		if x.found && (!strings.Contains(v.Fix[0].Text, "TCP_NODELAY") || v.Rule.Answer != check.Matters.Answer || len(v.Prediction) == 0) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
