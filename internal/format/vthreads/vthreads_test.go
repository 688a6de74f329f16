package vthreads

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Match: map[string]format.Confidence{
	"== 1795268461318000000 Thread.vthread_scheduler of 4711 ==\n": format.Sure,
	"4711:\njava.util.concurrent.ForkJoinPool@64ca93b7[Running, parallelism = 1, size = 1, active = 1, running = 0, steals = 12, tasks = 0, submissions = 29]\n": format.Sure,
	"== 1795268461318000000 hsperfdata of 4711 ==\n":                             format.No,
	"java.util.concurrent.ThreadPoolExecutor@64ca93b7[Running, pool size = 2]\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

// The queue is the sum of the carriers' own queues and the common one.
func TestQueue(t *testing.T) {
	b := suite.MustRead(t, []byte("== 1795268461318000000 Thread.vthread_scheduler of 4711 ==\n"+
		"java.util.concurrent.ForkJoinPool@1[Running, parallelism = 2, size = 3, active = 2, running = 2, steals = 12, tasks = 5, submissions = 29]\n"))
	for _, s := range b.Series {
		want := map[string]float64{evidence.SeriesPoolQueue: 34, evidence.SeriesPoolThreads: 2}[s.Name]
		if len(s.V) != 1 || s.V[0] != want || s.T[0] != 1795268461318000000 {
			t.Errorf("%s: %v at %v, want %v", s.Name, s.V, s.T, want)
		}
	}
}

var pinned = formattest.Suite{Format: Pinned, Dir: "testdata/pinned", Match: map[string]format.Confidence{
	"Thread[#22,ForkJoinPool-1-worker-1,5,CarrierThreads]\n    shop.Cart.total(Cart.java:31) <== monitors:1\n":                    format.Sure,
	"VirtualThread[#20,vt-1]/runnable@ForkJoinPool-1-worker-1 reason:MONITOR\n    shop.Cart.total(Cart.java:31) <== monitors:1\n": format.Sure,
	"Thread[#22,ForkJoinPool-1-worker-1,5,CarrierThreads]\n    shop.Cart.total(Cart.java:31)\n":                                   format.No,
	"Thread[#22,main,5,main]\n    shop.Cart.total(Cart.java:31) <== monitors:1\n":                                                 format.No,
}}

func TestPinned(t *testing.T) { pinned.Test(t) }
func FuzzPinned(f *testing.F) { pinned.Fuzz(f) }
