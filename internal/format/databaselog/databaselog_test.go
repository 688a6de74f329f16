package databaselog

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "db.log", Match: map[string]format.Confidence{
	"x LOG:  duration: 812.1 ms  statement: SELECT 1\n":           format.Sure,
	"# Query_time: 12.412331  Lock_time: 0.000121 Rows_sent: 1\n": format.Sure,
	"x LOG:  connection received: host=x\n":                       format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("2023-05-02 10:11:12.120 UTC [2211] app@shop LOG:  duration: 8123.441 ms  statement: SELECT * FROM orders WHERE customer = 4711\n", 10_000)))
}
