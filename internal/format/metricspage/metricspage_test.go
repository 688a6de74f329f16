package metricspage

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Go, Others: []format.Format{JVM, Dotnet, Redis, Node, Actuator, Runtime, Other, Container, Etcd}, Name: "page.txt", Match: map[string]format.Confidence{
	"go_goroutines 61\ngo_threads 14\n": format.Sure,
	"go_goroutines 61\n":                format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("go_goroutines 61\ngo_threads 14\n# 2024-01-09T10:00:00Z\n", 10_000)))
}
