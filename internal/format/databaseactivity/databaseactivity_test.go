package databaseactivity

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "activity.txt", Match: map[string]format.Confidence{
	" pid | state  | query\n-----+--------+------\n 12 | active | SELECT 1\n":                                                       format.Sure,
	"| Id | User | Host | db | Command | Time | State | Info |\n|  1 | app  | h    | d  | Query   |   41 | updating | SELECT 1 |\n": format.Sure,
	"| state | of | the art |\n| a | b | c |\n":                                                                                     format.No,
	"GET /state?Command=1\n": format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(" pid | state  | query\n-----+--------+------\n"+strings.Repeat(" 12 | active | SELECT 1\n", 10_000)))
}

func TestSeconds(t *testing.T) {
	for s, want := range map[string]float64{"41": 41, "00:03:11.5": 191.5, "1 day 02:00:00": 93600, "2 days": 172800, "": -1, "now": -1, "-5": -1} {
		if v, ok := parseSeconds(s); ok != (want >= 0) || ok && v != want {
			t.Errorf("%q is %v, %v; want %v", s, v, ok, want)
		}
	}
}
