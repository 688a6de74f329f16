package exchanges

import (
	"fmt"
	"testing"
)

// A thread that reads a request, answers it and reads no other in between serves it. In a pool with awaits another thread mostly goes on, and an event loop reads
// more before it answers.
func TestServingThreads(t *testing.T) {
	for name, of := range map[string]struct {
		reads, answers func(i int) int // thread of request i
		took           int             // ms; requests come each 10 ms
		want           int             // of 100 requests
	}{
		"each thread one at a time":     {func(i int) int { return 20 + i%4 }, func(i int) int { return 20 + i%4 }, 35, 100},
		"another thread answers":        {func(i int) int { return 20 + i%4 }, func(i int) int { return 30 + i%4 }, 35, 0},
		"another answers one in five":   {func(i int) int { return 20 + i%4 }, func(i int) int { return 20 + i%4 + (i%5)/4*10 }, 35, 0},
		"another answers one in thirty": {func(i int) int { return 20 + i%4 }, func(i int) int { return 20 + i%4 + (i%30)/29*10 }, 35, 97},
		"one thread serves several":     {func(int) int { return 20 }, func(int) int { return 20 }, 35, 0},
		"four threads, several each":    {func(i int) int { return 20 + i%4 }, func(i int) int { return 20 + i%4 }, 70, 0},
	} {
		w := newText()
		for i := range 100 {
			fmt.Fprintf(w, "q %d 0 %d 0 80 90 1 1 %d %d 8080/%d - http 200 GET /tides\n", began+ns(float64(10*i)), ns(float64(of.took)), of.reads(i), of.answers(i), 1+i)
		}
		b := w.read(t, 5000)
		n := 0
		for _, thread := range b.Requests.Thread.All() {
			if thread != 0 {
				n++
			}
		}
		if n != of.want {
			t.Errorf("%s: of %d requests the thread is known, want %d", name, n, of.want)
		}
	}
}
