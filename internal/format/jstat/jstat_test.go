package jstat

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "jstat.txt", Match: map[string]format.Confidence{
	"  S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT     GCT\n":                                                                                                                            format.Sure,
	"$ jstat -gcnew 4711 1s\n S0C    S1C    S0U    S1U   TT MTT  DSS      EC       EU     YGC     YGCT\n":                                                                                                         format.Sure,
	"Timestamp       S0     S1     E      O      P     YGC     YGCT    FGC    FGCT     GCT   \r\n":                                                                                                                format.Sure,
	" NGCMN    NGCMX     NGC     S0C   S1C       EC      OGCMN      OGCMX       OGC         OC     YGC    FGC\n":                                                                                                  format.No,
	"the columns YGC and YGCT count young collections\n":                                                                                                                                                          format.No,
	"Thread 7: (state = BLOCKED)\n - java.util.concurrent.locks.LockSupport.park(java.lang.Object) @bci=14, line=175 (Compiled frame)\n - a.b(c) @bci=0, line=1 (Compiled frame; information may be imprecise)\n": format.No,
	"Loaded  Bytes  Unloaded  Bytes     Time\n":                                                                                                                                                                   format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w bytes.Buffer
	w.WriteString("$ jstat -gcutil 4711 1s\n  S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT     GCT\n")
	for i := range 20_000 {
		fmt.Fprintf(&w, "  0.00  99.80  16.21  78.21  88.44  83.26  %d    %.3f     1    0.089    0.414\n", i, float64(i)/50)
	}
	suite.Benchmark(b, w.Bytes())
}

// The command tells the process and the interval, in all the ways it is written.
func TestCommand(t *testing.T) {
	for text, want := range map[string]struct {
		pid      int
		interval int64
	}{
		"jstat -gc -h10 17079 10s":         {17079, 10e9},
		"jstat -gcutil 4711@host 500ms 20": {4711, 500e6},
		"jstat -gcutil -t 4711 1000":       {4711, 1e9},
		"jstat -gc $(pgrep java)":          {0, 0},
		"jstat -gc 4711":                   {4711, 0},
		"jstat -gc 4711 99999999999999":    {4711, 0},
	} {
		var p parser
		p.parseCommand(text)
		if p.pid != want.pid || p.interval != want.interval {
			t.Errorf("%s: process %d, every %d ns", text, p.pid, p.interval)
		}
	}
}
