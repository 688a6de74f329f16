package gopprof

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var listings = formattest.Suite{Format: Listing, Dir: "testdata/listing", Name: "top.txt", Match: map[string]format.Confidence{
	"Total: 4120 samples\n    1203  29.2%  29.2%     1203  29.2% main\n": format.Sure,
	"Total: 4120 samples\n": format.No,
	"50% of 60s total\n":    format.No,
	"23.10s of 24.50s total (94.29%)\n     3.80s 15.51% 15.51%     11.50s 46.94%  runtime.pcvalue\n":                                                                                                                   format.Sure,
	"         0     0%   100%      0.05s  2.48%  runtime.gcDrain\n         0     0%   100%      0.48s 23.76%  runtime.main\n     0.02s  0.99%  99.5%      0.02s  0.99%  main.work\n":                                   format.Sure,
	"         0     0%   100%      0.05s  2.48%  runtime.gcDrain\n":                                                                                                                                                    format.No,
	"Type: goroutine\n-----------+-------------------------------------------------------\n        40   runtime.gopark\n             shop.load\n-----------+-------------------------------------------------------\n": format.Sure,
	"GET /a%20b%  runtime.js 200\n": format.No,
}}

func TestListing(t *testing.T) { listings.Test(t) }
func FuzzListing(f *testing.F) { listings.Fuzz(f) }

func BenchmarkListing(b *testing.B) {
	listings.Benchmark(b, []byte("Total: 4120 samples\n"+strings.Repeat("    1203  29.2%  29.2%     1203  29.2% base::SpinLock::Lock\n", 10_000)))
}
