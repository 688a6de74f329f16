package heapreport

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

const (
	suspect = `One instance of "com.acme.Cache" loaded by "jdk.internal.loader.ClassLoaders$AppClassLoader @ 0x6c0" occupies 1,294,551,208 (78.44%) bytes.`
	heading = "Class Name                  | Shallow Heap | Retained Heap | Percentage\n"
)

var suite = formattest.Suite{Format: Format, Name: "report.txt", Match: map[string]format.Confidence{
	suspect: format.Sure,
	heading: format.Sure,
	"> **One instance of** \"a.B\" loaded by \"x\"\n> occupies **12 MB\n> (30.1%) bytes**\n": format.Sure,
	"the index occupies 5,210 (12.5%) bytes of the disk\n":                                   format.No,
	"Shallow Heap and Retained Heap are not the same\n":                                      format.No,
	"Class Name | Retained Heap\n":                                                           format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(heading+strings.Repeat("com.acme.desk.EventBus @ 0x7831c40a8 |           40 |   642,118,576 |     61.30%\n", 5_000)))
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]float64{"1,294,551,208": 1294551208, "1.294.551.208": 1294551208, "1,09,58,18,944": 1095818944, "1 294 551": 1294551,
		"187.01 MB": 187.01 * (1 << 20), "1,5 GB": 1.5 * (1 << 30), "1,024 KB": 1024 << 10, "984 B": 984, "40": 40} {
		if got, ok := bytesOf(text); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "MB", "many", "-4", "1.2.x MB"} {
		if got, ok := bytesOf(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}
