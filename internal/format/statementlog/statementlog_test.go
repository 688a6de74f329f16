package statementlog

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const line = "(0.002) SELECT \"shop_part\".\"id\" FROM \"shop_part\" WHERE \"shop_part\".\"id\" = 7 LIMIT 21; args=(7,); alias=default\n"

var suite = formattest.Suite{Format: Format, Name: "app.log", Match: map[string]format.Confidence{
	line: format.Sure,
	"info: Microsoft.EntityFrameworkCore.Database.Command[20101]\n      Executed DbCommand (1,204ms) [Parameters=[], CommandType='Text', CommandTimeout='30']\n": format.Sure,
	"[0.512ms] [rows:1] SELECT * FROM `parts` LIMIT 1\n":            format.Sure,
	"    0 nanoseconds spent executing 0 JDBC statements;\n":        format.Sure,
	"    0 nanoseconds spent executing 0 flushes (of 0 entities)\n": format.No,
	"Executed DbCommand (soon)\n":                                   format.No,
	"call f(0.5) SELECTED; args=(7,)\n":                             format.No,
	"main.run(a, b); args=(1,)\n":                                   format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(line, 5_000))) }

func TestShapes(t *testing.T) {
	for in, want := range map[string]string{
		"SELECT *  FROM t1 WHERE id = 42 AND name = 'a b'":       "SELECT * FROM t1 WHERE id = ? AND name = ?",
		"SELECT a FROM t WHERE b IN (1, 2, 3.5)\n LIMIT 1":       "SELECT a FROM t WHERE b IN (?, ?, ?) LIMIT ?",
		"SELECT [s].[Id] FROM [S] AS [s] WHERE [s].[N] = @__n_0": "SELECT [s].[Id] FROM [S] AS [s] WHERE [s].[N] = @__n_0",
	} {
		if got := shapeOf(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
