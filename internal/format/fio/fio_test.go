package fio

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const line = "    sync (usec): min=534, max=15766, avg=1273.08, stdev=1084.70\n"

var suite = formattest.Suite{Format: Format, Name: "fio.txt", Match: map[string]format.Confidence{
	line:                            format.Sure,
	"the sync (of the disk) waits:": format.No,
	"  read: IOPS=812, BW=3249KiB/s (3327kB/s)(190MiB/60001msec)\n    clat (nsec): min=741, max=18204, avg=1230.1, stdev=88.1\n": format.Sure,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(line, 10_000))) }
