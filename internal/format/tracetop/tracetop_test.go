package tracetop

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const (
	head     = "Top 5 Functions (Exclusive)                                                  Inclusive           Exclusive           \n"
	function = "1. WaitHandle.WaitOneNoCheck(int32)                                          8.33%               8.33%               \n"
)

var suite = formattest.Suite{Format: Format, Name: "top.txt", Match: map[string]format.Confidence{
	head + function: format.Sure,
	function:        format.No,
	"Top Functions (see below)\n1. Install it 100% of the time\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(head+strings.Repeat(function, 5_000))) }
