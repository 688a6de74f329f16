package hotspot

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attachtest"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
)

// TestOld records a JVM that answers as JDK 8 does: it knows neither VM.log nor the
// CPU time of threads.
func TestOld(t *testing.T) {
	t.Parallel()
	s := &attachtest.Server{Answer: func(command string) string {
		switch command {
		case "VM.version":
			return "0\nOpenJDK 64-Bit Server VM version 25.292-b10\nJDK 8.0_292\n"
		case "VM.flags -all":
			return "0\n[Global flags]\n"
		case "Thread.print":
			return "0\n2026-11-21 14:00:00\nFull thread dump OpenJDK 64-Bit Server VM (25.292-b10 mixed mode):\n"
		case "GC.class_histogram -all":
			return "0\n\n num     #instances         #bytes  class name\n"
		case "Thread.print -e":
			return "-1\njava.lang.IllegalArgumentException: Unknown argument '-e' in diagnostic command.\n"
		}
		return "-1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n"
	}}
	vm, to := s.Start(t), probetest.NewSink()
	if err := recordJVM(t.Context(), vm, discover.Target{PID: os.Getpid(), Runtime: "jvm"}, probe.Plan{For: 700 * time.Millisecond}, to); err != nil {
		t.Fatal(err)
	}
	kept := to.Names()
	for _, want := range []string{"vm-version.txt", "vm-flags.txt", "threads-0001.txt", "classes-0001.txt"} {
		if !slices.Contains(kept, want) {
			t.Errorf("kept %q, not %s", kept, want)
		}
	}
	if !slices.ContainsFunc(to.Lacks, func(l probe.Lack) bool {
		return l.What == "GC log" && strings.Contains(l.Why, "before JDK 9") && strings.Contains(l.Do, "-Xloggc")
	}) {
		t.Errorf("lacks %+v", to.Lacks)
	}
	if slices.ContainsFunc(s.Commands(), func(c string) bool { return strings.Contains(c, "what=") || strings.Contains(c, "disable") }) {
		t.Errorf("asked %q", s.Commands())
	}
}

// TestMissed records a JVM whose first answers take as long as the recording: what is not there for that reason is said.
func TestMissed(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := &attachtest.Server{Answer: func(command string) string {
		if command == "VM.version" {
			return "0\nOpenJDK 64-Bit Server VM version 17.0.9+9\nJDK 17.0.9\n"
		}
		<-over
		return "-1\n"
	}}
	vm, to := s.Start(t), probetest.NewSink()
	t.Cleanup(func() { close(over) })
	if err := recordJVM(t.Context(), vm, discover.Target{PID: os.Getpid(), Runtime: "jvm"}, probe.Plan{For: 200 * time.Millisecond, Flight: true}, to); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"thread dumps", "flight recording"} {
		if !slices.ContainsFunc(to.Lacks, func(l probe.Lack) bool { return l.What == what && strings.Contains(l.Why, "ended before the JVM") }) {
			t.Errorf("nothing is said of %s: %+v", what, to.Lacks)
		}
	}
}
