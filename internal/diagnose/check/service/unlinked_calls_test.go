package service

import (
	"fmt"
	"testing"
)

// lots are requests of which each asks the database for 36 rows, one after the other. The calls of all but one in three are sent by threads that read no request,
// if they are made at all.
func lots(others bool) []byte {
	const seconds = 25
	s := newKernelSaw()
	for i, at := range s.arrivals(30, seconds) {
		w := s.worker(at)
		now := at + 200_000
		for row := range 36 {
			took := s.vary(1_300_000)
			switch {
			case i%3 == 0:
				now = s.call(w, now+100_000, took, 96, database, "postgresql idle SELECT items")
				continue
			case others:
				s.lines = append(s.lines, line{now + 100_000 + took, fmt.Sprintf("k %d 0 %d 20000 96 300 1 1 %d %[3]d %d %s postgresql idle SELECT items", now+100_000, took-20_000, 6000+(i*36+row)%7, 50000+i%40, database)})
			}
			now += 100_000 + took
		}
		s.request(w, at, now+200_000, 200, "GET /lots/{id}")
	}
	return s.bytes(seconds)
}

// Where the calls of most requests are linked to none, those that are known stand for all, if there are as many calls.
func TestUnlinkedCalls(t *testing.T) {
	for others, want := range map[bool]bool{true: true, false: false} {
		c := caseOf(t, lots(others))
		if worst, some := findChattiest(c); (worst != nil && !some) != want {
			t.Fatalf("others %v: of some %v, %+v", others, some, worst)
		}
		if v := judgeChatty(c); v.Supported() != want {
			t.Errorf("others %v: %s: %s", others, v.State, v.Title+v.Summary)
		}
	}
}
