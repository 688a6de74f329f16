package dotnetlog

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const late = "warn: Microsoft.AspNetCore.Server.Kestrel[22] As of \"05/10/2023 10:00:01 +00:00\", the heartbeat has been running for \"00:00:01.3100000\" which is longer than \"00:00:01\". This could be caused by thread pool starvation.\n"

var suite = formattest.Suite{Format: Format, Name: "app.log", Match: map[string]format.Confidence{
	late: format.Sure,
	"[1,2,10:00:00.1,INF] End of full blocking garbage collection at 06/06/2025 10:03:05. GC: #210548. Took: 15,727ms\n": format.Sure,
	"The .NET Thread Pool is exhibiting delays of 1.75s. This can indicate .NET Thread Pool starvation\n":                format.Sure,
	"the heartbeat has been running for \"a while\"\n":                                                                   format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) { suite.Benchmark(b, []byte(strings.Repeat(late, 5_000))) }
