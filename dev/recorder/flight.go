package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// flown are the events of a flight recording that a fixture keeps, with the settings of default.jfc, and for waits with a lower
// threshold. It leaves out events about the host and events that no format reads.
var flown = []struct{ event, settings string }{
	{"jdk.ExecutionSample", "period=20 ms"}, {"jdk.NativeMethodSample", "period=20 ms"}, {"jdk.ObjectAllocationSample", "throttle=50/s stackTrace=true"},
	{"jdk.JavaMonitorEnter", "threshold=10 ms stackTrace=true"}, {"jdk.JavaMonitorWait", "threshold=20 ms stackTrace=true"},
	{"jdk.ThreadPark", "threshold=20 ms stackTrace=true"}, {"jdk.ThreadSleep", "threshold=20 ms stackTrace=true"},
	{"jdk.SocketRead", "threshold=20 ms stackTrace=true"}, {"jdk.SocketWrite", "threshold=20 ms stackTrace=true"},
	{"jdk.VirtualThreadPinned", "threshold=10 ms stackTrace=true"}, {"jdk.OldObjectSample", "stackTrace=true"},
	{"jdk.GarbageCollection", "threshold=0 ms"}, {"jdk.GCPhasePause", "threshold=0 ms"}, {"jdk.GCHeapSummary", ""}, {"jdk.G1HeapSummary", ""}, {"jdk.PSHeapSummary", ""},
	{"jdk.G1GarbageCollection", "threshold=0 ms"}, {"jdk.MetaspaceSummary", ""}, {"jdk.GCCPUTime", ""}, {"jdk.EvacuationFailed", ""}, {"jdk.PromotionFailed", ""},
	{"jdk.ConcurrentModeFailure", ""}, {"jdk.ZAllocationStall", "threshold=0 ms stackTrace=true"}, {"jdk.GCConfiguration", "period=everyChunk"},
	{"jdk.GCHeapConfiguration", "period=everyChunk"}, {"jdk.SafepointBegin", "threshold=10 ms"}, {"jdk.ExecuteVMOperation", "threshold=10 ms"},
	{"jdk.CPULoad", "period=1000 ms"}, {"jdk.CPUInformation", "period=everyChunk"}, {"jdk.ActiveSetting", ""},
}

// takeOff starts a flight recording.
func (s *session) takeOff(ctx context.Context, home string) error {
	var text strings.Builder
	text.WriteString(`<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">`)
	for _, x := range flown {
		fmt.Fprintf(&text, `<event name="%s"><setting name="enabled">true</setting>`, x.event)
		for _, one := range settingsOf(x.settings) {
			name, value, _ := strings.Cut(one, "=")
			fmt.Fprintf(&text, `<setting name="%s">%s</setting>`, name, value)
		}
		text.WriteString("</event>")
	}
	text.WriteString("</configuration>")
	if err := os.WriteFile(s.tmpPath("flight.jfc"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	return s.runJcmd(ctx, home, "JFR.start", "name=fixture", "settings="+s.tmpPath("flight.jfc"))
}

// settingsOf splits the settings of a line, whose values may contain a blank: "threshold=10 ms stackTrace=true".
func settingsOf(line string) (out []string) {
	for _, word := range strings.Fields(line) {
		if n := len(out); !strings.Contains(word, "=") && n > 0 {
			out[n-1] += " " + word
		} else {
			out = append(out, word)
		}
	}
	return out
}

// stopFlight ends the flight recording and keeps it.
func (s *session) stopFlight(home string) error {
	return s.runJcmd(context.Background(), home, "JFR.stop", "name=fixture", "filename="+s.tmpPath("flight.jfr"))
}

func (s *session) runJcmd(ctx context.Context, home string, words ...string) error {
	said, err := exec.CommandContext(ctx, filepath.Join(home, "bin", "jcmd"), append([]string{strconv.Itoa(s.service.PID)}, words...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("jcmd %s: %w: %s", words[0], err, said)
	}
	return nil
}
