package uwsgi

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "uwsgi.log", Match: map[string]format.Confidence{
	"Tue May 31 13:51:28 2022 - *** uWSGI listen queue of socket \":3030\" (fd: 4) full !!! (101/100) ***\n": format.Sure,
	"uwsgi[15377]: *** uWSGI listen queue of socket \"127.0.0.1:5000\" (fd: 3) full !!! (100/100) ***\n":     format.Sure,
	"the line *** uWSGI listen queue of socket stands in the log\n":                                          format.No,
	"Tue May 31 13:51:28 2022 - *** Starting uWSGI 2.0.20 (64bit) on [Tue May 31 13:51:28 2022] ***\n":       format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("Tue May 31 13:51:28 2022 - *** uWSGI listen queue of socket \":3030\" (fd: 4) full !!! (101/100) ***\n", 20_000)))
}
