package clrstack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "clrstack.txt", Match: map[string]format.Confidence{
	"OS Thread Id: 0x1dc1d (17)\n        Child SP               IP Call Site\n00007F2AE37F88D0 00007F2FE392B31D shop.Orders.Place()\n": format.Sure,
	"0:017> !clrstack\nOS Thread Id: 0x2f41 (41)\nChild SP       IP Call Site\n0a5bf0d4 7712013d [GCFrame: 0a5bf0d4] \n":               format.Sure,
	"OS Thread Id: 0x1dc1d (17)\nUnable to walk the managed stack. The current thread is likely not a \nmanaged thread.\n":             format.No,
	"the OS Thread Id: 0x1dc1d is shown\n00007F2AE37F88D0 is an address\n":                                                             format.No,
}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func BenchmarkParse(b *testing.B) {
	var w strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&w, "OS Thread Id: 0x%x (%d)\n        Child SP               IP Call Site\n", i+1, i)
		w.WriteString("00007F2AE37F8770 00007f305abc6360 [HelperMethodFrame_1OBJ: 00007f2ae37f8770] System.Threading.Monitor.ReliableEnter(System.Object, Boolean ByRef)\n")
		w.WriteString("00007F2AE37F88D0 00007F2FE392B31D shop.Orders.Place() [/app/Orders.cs @ 58]\n")
	}
	suite.Benchmark(b, []byte(w.String()))
}

func TestCall(t *testing.T) {
	for text, want := range map[string]string{
		"shop.Orders.Place() [/app/Orders.cs @ 58]":                          "shop.Orders.Place()",
		"shop.Orders.Place(System.String) [C:\\src (x86)\\Orders.cs @ 58]":   "shop.Orders.Place(System.String)",
		"System.Threading.WaitHandle.WaitOneNoCheck(Int32) + 117 at /_/a.cs": "System.Threading.WaitHandle.WaitOneNoCheck(Int32)",
		"Interop+Sys.Read(IntPtr, Byte*, Int32)":                             "Interop+Sys.Read(IntPtr, Byte*, Int32)",
		"":                                                                   "",
	} {
		if got := cutSource([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
