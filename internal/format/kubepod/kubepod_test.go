package kubepod

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "pod.txt", Match: map[string]format.Confidence{
	"    State:          Running\n    Restart Count:  0\n":               format.Sure,
	"State: Running\nRestart Count: many\n":                              format.No,
	"the Restart Count: 3 is high and the State: Running is of no use\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("  api:\n    Image: a\n    State:          Running\n    Restart Count:  0\n", 5_000)))
}

func TestQuantity(t *testing.T) {
	for s, want := range map[string]float64{"500m": .5, "2": 2, "512Mi": 512 << 20, "1G": 1e9, "1.5": 1.5, "": 0, "x": 0, "-1": 0} {
		if v, ok := parseQuantity(s); v != want || ok != (want > 0) {
			t.Errorf("%q is %v, %v; want %v", s, v, ok, want)
		}
	}
}
