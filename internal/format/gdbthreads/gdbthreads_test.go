package gdbthreads

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const line = "  12   Thread 0x7f5300438700 (LWP 13921) \"work_8\" 0x00007f52ffa5754d in __lll_lock_wait () from /lib64/libpthread.so.0\n"

var suite = formattest.Suite{Format: Format, Name: "gdb.txt", Match: map[string]format.Confidence{
	line: format.Sure,
	"Thread 3 (Thread 0x7fc513d65700 (LWP 32036)):\n": format.Sure,
	"Thread 132 (idle): \"MainThread\"\n":             format.No,
	"\"Thread-3\" #12 prio=5 tid=0x1 nid=0x2\n":       format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(line, 10_000))) }
