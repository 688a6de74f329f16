package schedtrace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "sched.txt", Match: map[string]format.Confidence{
	"SCHED 1009ms: gomaxprocs=4 idleprocs=0 threads=21 runqueue=812 [41 38 55 60]\n": format.Sure,
	"SCHED 1009ms: of something\n": format.No,
	"the SCHED gomaxprocs=4\n":     format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&w, "SCHED %dms: gomaxprocs=4 idleprocs=0 threads=21 spinningthreads=0 needspinning=1 idlethreads=9 runqueue=812 [41 38 55 60]\n", 1000*i)
	}
	suite.Benchmark(b, []byte(w.String()))
}
