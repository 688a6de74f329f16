package sos

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "sos.txt", Match: map[string]format.Confidence{
	"Worker Thread: Total: 9 Running: 1 Idle: 8 MaxLimit: 32767 MinLimit: 8\n": format.Sure,
	"Worker Thread: started\n":           format.No,
	"the column TotalSize is of bytes\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte("      MT    Count    TotalSize Class Name\n"+strings.Repeat("00007f3c5d0e1c80   812033     25985056 System.Threading.Tasks.Task\n", 10_000)))
}
