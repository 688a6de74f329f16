package pythonstacks

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "stacks.txt", Match: map[string]format.Confidence{
	"Thread 132 (idle): \"MainThread\"\n    _send (multiprocessing/connection.py:368)\n":                                 format.Sure,
	"Thread 0x00007f5e1bfff640 (most recent call first):\n  File \"/usr/lib/python3.10/x.py\", line 81 in _worker\n":     format.Sure,
	"Thread 140211882126784 \"waitress-3\" hangs\n  File \"/srv/shop/views.py\", line 118, in fetch\n    r = get(url)\n": format.Sure,
	"# ThreadID: 140211882126784\nFile: \"/srv/shop/views.py\", line 118, in fetch\n":                                    format.Sure,
	"Thread 12 \"web\" #31 daemon prio=5\n   java.lang.Thread.State: RUNNABLE\n":                                         format.No,
	"Thread (0x25968):\n  System.Private.CoreLib.il!System.Threading.Monitor.Wait()\n":                                   format.No,
	"Thread 1 (LWP 12):\n#0  0x1 in read () at x.c:11\n":                                                                 format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("Thread 132 (idle): \"MainThread\"\n    wait (threading.py:295)\n    result (_base.py:427)\n    main (main.py:841)\n", 5_000)))
}
