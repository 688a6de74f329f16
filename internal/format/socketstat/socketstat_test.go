package socketstat

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "ss.txt",
	Match: map[string]format.Confidence{
		"State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n":                                                                  format.Sure,
		"Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n":                                                                   format.Sure,
		"Recv-Q Send-Q   Local Address:Port    Peer Address:Port\n":                                                                           format.Sure,
		"Mon Nov 23 05:59:49 UTC 2026\nActive Internet connections (only servers)\nProto Recv-Q Send-Q Local Address Foreign Address State\n": format.Sure,
		"1763689985\nState Recv-Q Send-Q Local Address:Port Peer Address:Port\n":                                                              format.Sure,
		"Ip:\n    Forwarding: 1\n    5 total packets received\n":                                                                              format.Sure,
		"Active UNIX domain sockets (servers and established)\nProto RefCnt Flags Type State I-Node Path\n":                                   format.No,
		"some log\nState Recv-Q Send-Q Local Address:Port\n":                                                                                  format.No,
		"Ip: 10.0.0.1\n": format.No,
		"667399 times the listen queue of a socket overflowed\n667399 SYNs to LISTEN sockets ignored\n": format.Sure,
		"    12 SYNs to LISTEN sockets dropped\n":                                                       format.Sure,
		"many SYNs to LISTEN sockets dropped\n":                                                         format.No,
	},
	Hold: func(t testing.TB, b *evidence.Bundle, _ error) {
		for _, s := range b.Series {
			if slices.Min(s.V) < 0 {
				t.Errorf("%s is below zero: %v", s.Name, s.V)
			}
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w bytes.Buffer
	w.WriteString("State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\nLISTEN 3 4096 0.0.0.0:8080 0.0.0.0:*\n")
	for i := range 50_000 {
		fmt.Fprintf(&w, "ESTAB  %d      0      10.0.0.1:8080   10.0.%d.%d:%d\n", i%3, i>>8, i&255, 1024+i)
	}
	suite.Benchmark(b, w.Bytes())
}

func TestAddressOf(t *testing.T) {
	for s, want := range map[string]string{
		"*:80": "[::]:80", ":::80": "[::]:80", "[::]:80": "[::]:80", "::1:6379": "[::1]:6379", "[::1]:6379": "[::1]:6379", "0.0.0.0:80": "0.0.0.0:80",
		"127.0.0.53%lo:53": "127.0.0.53:53", "[fe80::1]%eth0:80": "[fe80::1]:80", "[::ffff:127.0.0.1]:80": "[::ffff:127.0.0.1]:80", "localhost:http": "localhost:http", "x": "x",
	} {
		if got := addressOf(s); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
