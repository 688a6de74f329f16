package gcmonitor

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "node.log", Match: map[string]format.Confidence{
	"[2018-09-10T16:06:54,410][WARN ][o.e.m.j.JvmGcMonitorService] [n] [gc][355200] overhead, spent [547ms] collecting in the last [1s]\n":            format.Sure,
	"[2018-09-10T16:06:54,410][WARN ][o.e.m.j.JvmGcMonitorService] [n] [gc][young][7][8] duration [547ms], collections [1]/[1s], total [1s]/[2s]\r\n": format.Sure,
	"[1.5s][info][gc][more] GC(2) words\n": format.No,
	"[2018-09-10T16:06:54,410][WARN ][o.e.m.j.JvmGcMonitorService] [n] [gc][355200] overhead, spent [] collecting in the last [1s]\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&w, "[2018-09-10T16:%02d:%02d,468][INFO ][o.e.m.j.JvmGcMonitorService] [n] [gc][young][%d][1] duration [756ms], collections [1]/[1.5s], total [756ms]/[22.4m], memory [6.7gb]->[8.4gb]/[11.7gb]\n", i/60%60, i%60, i)
	}
	suite.Benchmark(b, w.Bytes())
}
