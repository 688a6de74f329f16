package serverlog

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "error.log", Match: map[string]format.Confidence{
	"2016/03/14 00:45:26 [alert] 25909#0: 1024 worker_connections are not enough\n":                                  format.Sure,
	"[2024-01-09 13:34:39 +0000] [1637] [CRITICAL] WORKER TIMEOUT (pid:7214)\n":                                      format.Sure,
	"2018-03-12 19:11:42.911102 W | wal: sync duration of 1.2s, expected less than 1s\n":                             format.Sure,
	"[00:48:07] [Server thread/WARN]: Can't keep up! Is the server overloaded? Running 5031ms or 100 ticks behind\n": format.Sure,
	"Can't keep up! says the server when it is late\n":                                                               format.No,
	"WARN - socket usage at capacity=50 and 344 additional requests are enqueued.\n":                                 format.Sure,
	"raise worker_connections, if they are not enough\n":                                                             format.No,
	"ERROR: Too many connections said the page\n":                                                                    format.No,
	"2016/03/14 00:45:26 [error] 25909#0: *1 open() \"/x\" failed (2: No such file or directory)\n":                  format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("2020/12/07 11:36:00 [error] 1045#1045: *4 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 192.0.2.1, server: x, request: \"GET / HTTP/1.1\", upstream: \"http://192.0.2.9:80/a\", host: \"x\"\n", 10_000)))
}
