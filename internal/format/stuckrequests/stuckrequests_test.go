package stuckrequests

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "out.log", Match: map[string]format.Confidence{
	"Thread [exec-1] (id=[22]) has been active for [125,838] milliseconds (since":                                  format.Sure,
	"WSVR0605W: Thread \"WebContainer : 1\" (0000003b) has been active for 706023 milliseconds and may be hung.\n": format.Sure,
	"WSVR0606W: Thread \"WebContainer : 1\" (0000003b) was previously reported to be hung but has completed.\n":    format.No,
	"the valve says that a thread has been active for [\n":                                                         format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	suite.Benchmark(b, []byte(strings.Repeat("Thread [exec-1] (id=[22]) has been active for [125,838] milliseconds (since [9/15/23 8:06 PM])\n\tat java.net.SocketInputStream.socketRead0(Native Method)\n\tat shop.Dao.load(Dao.java:118)\n", 10_000)))
}

func TestDigitsOfLocales(t *testing.T) {
	for in, want := range map[string]float64{"125,838": 125838, "125.838": 125838, "1.125.838": 1125838, "125 838": 125838, "706023": 706023, "": 0, "x": 0, "-1": 0} {
		if got := parseNumber(in, true); got != want {
			t.Errorf("%q is %v, want %v", in, got, want)
		}
	}
	if got := parseNumber("703.571", false); got != 703.571 {
		t.Errorf("a fraction is %v", got)
	}
}
