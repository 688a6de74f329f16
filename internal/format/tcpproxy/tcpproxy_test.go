package tcpproxy

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const one = `{"method":null,"duration":5301,"bytes_sent":8453,"bytes_received":17341,"response_code":0,"response_flags":"-","upstream_cluster":"app","start_time":"2022-09-10T14:37:14.956Z"}` + "\n"

var suite = formattest.Suite{Format: Format, Name: "envoy.log", Match: map[string]format.Confidence{
	one: format.Sure,
	strings.Replace(one, `"method":null`, `"method":"GET"`, 1):          format.No,
	strings.Replace(one, `"response_code":0`, `"response_code":200`, 1): format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(one, 5_000))) }
