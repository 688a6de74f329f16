package gopprof

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var debuggers = formattest.Suite{Format: Debugger, Dir: "testdata/debugger", Name: "goroutines.txt", Match: map[string]format.Confidence{
	"Goroutine 87\n  runtime.gopark (/usr/local/go/src/runtime/proc.go:364)\n":                         format.Sure,
	"Goroutine 87 main.(*pool).Do\n  main.(*pool).Do (<snip>/pool.go:440)\n":                           format.Sure,
	"  Goroutine 1 - User: ./main.go:8 main.main (0x49aeb4) (thread 812)\n":                            format.Sure,
	"  Goroutine 8 - Start: /usr/local/go/src/runtime/mgc.go:1817 runtime.gcBgMarkWorker (0x41db50)\n": format.No,
	"Goroutine 87 was started (see above)\n":                                                           format.No,
	"Goroutine leak\n  main.run (main.go:3)\n":                                                         format.No,
}}

func TestDebugger(t *testing.T) { debuggers.Test(t) }
func FuzzDebugger(f *testing.F) { debuggers.Fuzz(f) }

func BenchmarkDebugger(b *testing.B) {
	var w strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&w, "Goroutine %d\n  runtime.gopark (/usr/local/go/src/runtime/proc.go:364)\n  sync.runtime_SemacquireMutex (/usr/local/go/src/runtime/sema.go:77)\n  sync.(*Mutex).Lock (/usr/local/go/src/sync/mutex.go:71)\n  main.work (/src/main.go:9)\n\n", i+1)
	}
	debuggers.Benchmark(b, []byte(w.String()))
}
