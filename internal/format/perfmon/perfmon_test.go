package perfmon

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "counters.csv"}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func TestPath(t *testing.T) {
	for text, want := range map[string]string{
		`\\WEB1\.NET CLR Memory(w3wp#1)\# Gen 2 Collections`: `.NET CLR Memory|w3wp#1|# Gen 2 Collections`,
		`\Process(a(b))\% Processor Time`:                    `Process|a(b)|% Processor Time`,
		`\\WEB1\ASP.NET\Requests Queued`:                     `ASP.NET||Requests Queued`,
		`nothing`:                                            `nothing||`,
	} {
		object, instance, name := splitPath(text)
		if got := strings.Join([]string{object, instance, name}, "|"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
