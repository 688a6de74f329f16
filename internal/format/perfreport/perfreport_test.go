package perfreport

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "perf.txt", Match: map[string]format.Confidence{
	"    70.12%  php  [kernel.kallsyms]  [k] native_queued_spin_lock_slowpath\n     4.10%  php  php  [.] execute_ex\n": format.Sure,
	"     9.90%     0.60%            57  [k] split_map_pages   -      -\n     9.10%     0.02%   2  [k] compact_zone\n": format.Sure,
	"java;[perf-8812.map];sys_futex 4\njava;read_[k] 1\nswapper;native_safe_halt_[k] 17242\njava;wri":                  format.Sure,
	"one;two\nthree;four 4\nmore words; and 5\n":                                                                       format.No,
	"5000:x  [k] of the keyboard\n and [.] a stop\n":                                                                   format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("    24.80%     0.00%             0  exe              [kernel.kallsyms]         [k] try_to_free_mem_cgroup_pages\n", 20_000)))
}
