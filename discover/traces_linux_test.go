package discover

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What a process that was killed left behind is not the next one's that has its
// id.
func TestTracesOfOthers(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "hsperfdata_app"), 0o755); err != nil {
		t.Fatal(err)
	}
	counters := filepath.Join(dir, "hsperfdata_app", "4711")
	if err := os.WriteFile(counters, hsperfdata(binary.LittleEndian, "java.property.java.version", "21.0.2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dotnet-diagnostic-4712-69123-socket", "dotnet-diagnostic-x-1-socket", "dotnet-diagnostic-4711-socket"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := newHost()
	h.left[h.mounts] = findTraces(dir)
	of := func(pid int, started uint64, uid int) *process {
		return &process{pid: pid, mounts: h.mounts, stat: stat{comm: "app", start: started}, status: status{tgid: pid, uid: uid}}
	}
	us := os.Geteuid()
	soon := uint64(time.Since(h.booted)/tick) + 360000
	for _, c := range []struct {
		p    *process
		want string
	}{
		{of(4711, 1, us), "jvm 21.0.2"},
		{of(4711, soon, us), " "}, // it started after the file was last written to
		{of(4711, 1, us+1), " "},  // another user's
		{of(4712, 69123, us), "dotnet "},
		{of(4712, 69124, us), " "}, // another process with that id
		{of(4713, 1, us), " "},
	} {
		// Processes with such ids may run here: what the traces tell is asked alone.
		got := " "
		if j, ok := h.hotspot(c.p); ok {
			got = "jvm " + j.version
		} else if h.diagnosticSocket(c.p) {
			got = "dotnet "
		}
		if got != c.want {
			t.Errorf("pid %d, started %d, user %d: %q, want %q", c.p.pid, c.p.start, c.p.uid, got, c.want)
		}
	}
}

func TestVersionsByPlace(t *testing.T) {
	root := t.TempDir()
	jdk := "/usr/lib/jvm/java-8"
	if err := os.MkdirAll(root+jdk+"/jre/lib/amd64/server", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+jdk+"/release", []byte("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"1.8.0_402\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := releaseVersion(root, jdk+"/jre/lib/amd64/server/libjvm.so"); got != "1.8.0_402" {
		t.Errorf("release: %q", got)
	}
	for library, want := range map[string]string{
		"/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.4/libcoreclr.so": "8.0.4",
		"/srv/app/libcoreclr.so": "",
	} {
		if got := coreVersion("", library); got != want {
			t.Errorf("%s: %q, want %q", library, got, want)
		}
	}
	// A pipe in the file's place must not be waited for.
	fifo := filepath.Join(root, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := openRegular(fifo); err == nil {
		t.Error("opened a pipe")
	}
	if _, _, err := openRegular(fmt.Sprintf("/proc/%d/exe", os.Getpid())); err == nil {
		t.Error("followed a link")
	}
}
