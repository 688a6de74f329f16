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
}}

func TestListing(t *testing.T) { listings.Test(t) }
func FuzzListing(f *testing.F) { listings.Fuzz(f) }

func BenchmarkListing(b *testing.B) {
	listings.Benchmark(b, []byte("Total: 4120 samples\n"+strings.Repeat("    1203  29.2%  29.2%     1203  29.2% base::SpinLock::Lock\n", 10_000)))
}
