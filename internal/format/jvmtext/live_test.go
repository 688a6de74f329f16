package jvmtext

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/lab/jvmapp"
)

// TestLive compares eden's size derived from the flags with the JVM's measured size.
func TestLive(t *testing.T) {
	for _, major := range []int{11, 17, 25} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			a := jvmapp.Start(t, major, `public class App { public static void main(String[] args) { Host.say("up"); } }`,
				"-XX:+UseSerialGC", "-Xmx96m", "-Xms96m", "-Xmn48m", "-XX:SurvivorRatio=10")
			a.Line(t)
			ask := func(command ...string) *evidence.Bundle {
				out, err := exec.CommandContext(t.Context(), filepath.Join(a.Home, "bin", "jcmd"), append([]string{strconv.Itoa(a.PID)}, command...)...).Output()
				if err != nil {
					t.Fatal(err)
				}
				b := evidence.NewBundle()
				if err := format.Read(context.Background(), []format.Format{Format}, suite.Artifact(out), b); err != nil {
					t.Fatal(err)
				}
				if b.Subjects[0].PID != a.PID {
					t.Errorf("%v is of %+v", command, b.Subjects[0])
				}
				return b
			}
			number := func(b *evidence.Bundle, key string) float64 {
				f, ok := b.Fact(0, key)
				if !ok {
					t.Errorf("no %s", key)
				}
				return f.Number
			}
			flags, measured := ask("VM.flags", "-all"), ask("GC.heap_info")
			if most := number(flags, "MaxHeapSize"); most != 96<<20 {
				t.Errorf("MaxHeapSize %v", most)
			}
			derived, eden := number(flags, "heap.eden.capacity"), number(measured, "heap.eden.capacity")
			if d := derived - eden; d < -1<<20 || d > 1<<20 { // spaces are aligned
				t.Errorf("eden is %v by the flags, %v as measured", derived, eden)
			}
			if young := number(measured, "heap.young.capacity"); young != 48<<20 {
				t.Errorf("the young generation is %v", young)
			}
			for _, b := range []*evidence.Bundle{flags, measured} {
				if f, _ := b.Fact(0, evidence.FactCollector); f.Value != "Serial" {
					t.Errorf("collector %q", f.Value)
				}
			}
			if v := ask("VM.version").Subjects[0].Version; len(v) < 2 || v[:2] != strconv.Itoa(major) {
				t.Errorf("version %q", v)
			}
			if n := number(ask("VM.command_line"), "NewSize"); n != 48<<20 {
				t.Errorf("-Xmn48m is %v", n)
			}
		})
	}
}
