package jvmtext

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

var suite = formattest.Suite{Format: Format, Name: "jvm.txt", Render: render, Match: heads,
	Hold: func(t testing.TB, b *evidence.Bundle, err error) {
		if err != nil && len(b.Facts) > 0 {
			t.Errorf("%d facts and error %v", len(b.Facts), err)
		}
	}}

func TestFormat(t *testing.T) { suite.Test(t) }
func FuzzParse(f *testing.F)  { suite.Fuzz(f) }

func render(b *evidence.Bundle, err error) string {
	var w strings.Builder
	if err != nil {
		fmt.Fprintf(&w, "error %v\n", err)
	}
	for _, x := range b.Subjects {
		fmt.Fprintf(&w, "subject %s %s pid %d\n", x.Runtime, x.Version, x.PID)
	}
	for _, f := range b.Facts {
		fmt.Fprintf(&w, "@%d %s %s (%v)\n", f.Origin.Position(), f.Key, f.Value, f.Number)
	}
	for _, t := range b.Tables {
		fmt.Fprintf(&w, "table %s, %d rows\n", t.Title, len(t.Rows))
	}
	for _, x := range b.Warnings {
		fmt.Fprintf(&w, "warning @%d: %s\n", x.Origin.Position(), x.Text)
	}
	return w.String()
}

var heads = map[string]format.Confidence{
	"4711:\n-XX:CICompilerCount=2 -XX:+UseG1GC \n":                                                          format.Sure,
	"[Global flags]\n      int ActiveProcessorCount = -1 {product} {default}\n":                             format.Sure,
	"    uintx MaxHeapSize              := 4294967296      {product}\n":                                     format.Sure,
	"Attaching to process ID 17334, please wait...\nDebugger attached successfully.\nHeap Configuration:\n": format.Sure,
	"4711:\n PSYoungGen      total 38400K, used 30750K [0x1, 0x2, 0x3)\n":                                   format.Sure,
	"4711:\nOpenJDK 64-Bit Server VM version 17.0.15+6\nJDK 17.0.15\n":                                      format.Sure,
	"CommandLine flags: -XX:+UseG1GC\n":                                                                     format.No,
	"2.1: [GC [PSYoungGen: 1K->2K(3K)] 1K->2K(3K), 0.1 secs]\n":                                             format.No,
	"OpenJDK 64-Bit Server VM (25.292-b10) for linux-amd64 JRE (1.8.0_292-b10)\n":                           format.No,
	"int main = 3 {\n": format.No,
	strings.Repeat("GET / 200\n", 9) + " PSYoungGen      total 38400K, used 30750K [0x1, 0x2, 0x3)\n": format.No,
}

// What the incident's jmap said: NewSize goes before NewRatio, eden is 2048 MB × 10/12.
func TestDerived(t *testing.T) {
	for text, want := range map[string]string{
		"Heap Configuration:\n MaxHeapSize = 4294967296 (4096.0MB)\n NewSize = 2147483648 (2048.0MB)\n MaxNewSize = 2147483648 (2048.0MB)\n NewRatio = 2\n SurvivorRatio = 10\n G1HeapRegionSize = 0 (0.0MB)\n": "1789569706 = MaxNewSize × 10/(10 + 2) by SurvivorRatio",
		"Heap Configuration:\n MaxHeapSize = 3145728000 (3000.0MB)\n MaxNewSize = 17592186044415 MB\n NewRatio = 2\n SurvivorRatio = 8\n":                                                                       "838860800 = MaxHeapSize/(2 + 1) by NewRatio × 8/(8 + 2) by SurvivorRatio",
		"-XX:+UseParallelGC -XX:MaxNewSize=104857600 -XX:SurvivorRatio=8\n":                                                                                                                                     "",
		"-XX:+UseParallelGC -XX:-UseAdaptiveSizePolicy -XX:MaxNewSize=104857600 -XX:SurvivorRatio=8\n":                                                                                                          "83886080 = MaxNewSize × 8/(8 + 2) by SurvivorRatio",
		"-XX:+UseG1GC -XX:MaxNewSize=104857600 -XX:SurvivorRatio=8\n":                                                                                                                                           "",
		"VM Flags:\njvm_args: -Xmn100m -XX:SurvivorRatio=8 -XX:+UseSerialGC\n":                                                                                                                                  "83886080 = MaxNewSize × 8/(8 + 2) by SurvivorRatio",
	} {
		b := evidence.NewBundle()
		if err := format.Read(context.Background(), []format.Format{Format}, suite.Artifact([]byte(text)), b); err != nil {
			t.Fatal(err)
		}
		if f, _ := b.Fact(0, "heap.eden.capacity"); f.Value != want {
			t.Errorf("%s\n%q, want %q", text, f.Value, want)
		}
	}
}

func TestBytesOf(t *testing.T) {
	for in, want := range map[string]float64{"64m": 64 << 20, "2G": 2 << 30, "12": 12, "8k": 8192, "0": 0, "": 0, "m": 0, "-1": 0, "1.5g": 0} {
		if got, ok := bytesOf(in); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %v, %v", in, got, ok)
		}
	}
}
