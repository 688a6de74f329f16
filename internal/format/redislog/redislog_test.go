package redislog

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{
	Format:   Format,
	Modified: 1_795_500_000e9, // in November 2026
	Match: map[string]format.Confidence{
		"4711:M 23 Nov 2026 08:46:14.123 * Ready to accept connections\n":                                    format.Sure,
		"4711:X 23 Nov 2026 08:46:14.123 # +sdown master mymaster 127.0.0.1 6379\n":                          format.Sure,
		"4711:M 2026-11-23T08:46:14.123+01:00 * Ready to accept connections tcp\n":                           format.Sure,
		`pid=4711 role=primary timestamp="23 Nov 2026 08:46:14.123" level=notice message="Ready"` + "\n":     format.Sure,
		"4711:Q 23 Nov 2026 08:46:14.123 * Ready to accept connections\n":                                    format.No,
		"4711:M 23 Nov 2026 * Ready to accept connections\n":                                                 format.No,
		"4711:M 23 Nov 2026 08:46:14.123 ! Ready to accept connections\n":                                    format.No,
		"4711:S 23 Oct 10:19:16.041 * 10000 changes in 60 seconds. Saving...\n":                              format.Sure,
		"[2314] 01 Mar 05:50:23 * Background append only file rewriting started by pid 19350\n":              format.Sure,
		"[2314] 01 Mar 05:50:23.042 * Background saving started by pid 19350\n":                              format.Sure,
		"[x] 01 Mar 05:50:23 * Background saving started by pid 19350\n":                                     format.No,
		"[2314] 31 Feb 05:50:23 * Background saving started by pid 19350\n":                                  format.No,
		"GET / 200\nPOST / 200\n4711:M 23 Nov 2026 08:46:14.123 * Ready to accept connections\nGET /x 200\n": format.No,
	},
}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }
func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("4711:M 23 Nov 2026 08:46:14.123 * 1 changes in 60 seconds. Saving...\n4711:M 23 Nov 2026 08:46:14.123 * Background saving started by pid 4712\n", 5000)))
}

// Of more saves than are kept the newest are.
func TestNewest(t *testing.T) {
	const most = 8
	var kept []int
	for n := range 100 {
		kept = keepNewest(append(kept, n), most)
		if len(kept) > most || kept[len(kept)-1] != n || len(kept) < min(n+1, most/2) {
			t.Fatalf("after %d: %v", n, kept)
		}
	}
}
