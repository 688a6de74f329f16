package linux

import (
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/lab/jvmapp"
)

const collecting = `
public class App {
	public static void main(String[] args) throws Exception {
		Thread t = new Thread(() -> { while (true) { System.gc(); } }, "collector");
		t.setDaemon(true);
		t.start();
	}
}`

// TestRotatedByJVM follows the GC log that a JVM has open and rotates.
func TestRotatedByJVM(t *testing.T) {
	log := filepath.Join(t.TempDir(), "gc.log")
	a := jvmapp.Start(t, 17, collecting, "-Xmx16m", "-XX:+UseSerialGC", "-Xlog:gc*:file="+log+":time,uptime,level,tags:filecount=20,filesize=64K")
	out := probetest.Begin(t, Probe.Find(t.Context(), discover.Target{PID: a.PID})[0])
	out.Wait(t, "gc.log", probetest.Lines(3000, ""))
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := out.Ended(); err != nil {
		t.Fatal(err)
	}
	b := out.Read(t, "gc.log")
	n := 0
	for i := range b.Intervals.Len() {
		if b.Intervals.Kind[i] == evidence.StopTheWorld {
			n++
		}
	}
	if n < 100 {
		t.Errorf("%d pauses", n)
	}
}
