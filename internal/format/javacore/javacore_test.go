package javacore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "javacore.txt", Match: map[string]format.Confidence{
	"0SECTION       TITLE subcomponent dump routine\n3XMTHREADINFO      \"main\" J9VMThread:0x1, state:R, prio=5\n": format.Sure,
	"3STHSTTYPE     11:09:55:291666635 GMT j9mm.131 -   SystemGC start: newspace=1/2\n":                             format.Sure,
	"the tag is 3XMTHREADINFO\n": format.No,
	"0SECTION       TITLE\n":     format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&w, "3XMTHREADINFO      \"WebContainer : %d\" J9VMThread:0x%X, java/lang/Thread:0x1, state:B, prio=5\n", i, i+1)
		w.WriteString("3XMTHREADBLOCK     Blocked on: shop/Stock@0x00000000E0A1B2C8 Owned by: \"WebContainer : 5\" (J9VMThread:0x6)\n")
		w.WriteString("4XESTACKTRACE                at shop/Stock.take(Stock.java:118(Compiled Code))\n")
	}
	suite.Benchmark(b, []byte(w.String()))
}
