package hotspot

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
	"github.com/unstall/unstall/internal/collect/probe/probetest"
	"github.com/unstall/unstall/lab/jvmapp"
)

// TestRecorder is not a test: it is the recorder that TestRecorderKilled kills.
func TestRecorder(t *testing.T) {
	pid, err := strconv.Atoi(os.Getenv("UNSTALL_TEST_RECORD"))
	if err != nil {
		t.Skip("is run by another test")
	}
	found := findAccess(t.Context(), resolved(t, pid))
	_ = found[0].Record(t.Context(), probe.Plan{For: time.Minute, Flight: true}, probetest.NewSink())
}

// ownLogs returns the logs that a JVM writes for recordings.
func ownLogs(t *testing.T, pid int) (n int) {
	for _, o := range outputsOf(t, pid) {
		if strings.HasPrefix(o.filePath(), jvmTmp+probe.OwnFile) {
			n++
		}
	}
	return n
}

// until waits for a condition, no longer than a JVM on a busy host takes.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not yet: ", what)
		}
	}
}

func notes(dir string) []string {
	names, _ := filepath.Glob(dir + "/" + "unstall-left/*.json")
	return names
}

// TestRecorderKilled kills a recorder during a recording. The next start switches off only what it left on.
func TestRecorderKilled(t *testing.T) {
	user := filepath.Join(t.TempDir(), "user.log")
	a := start(t, 17, "-Xmx32m", "-Xlog:class+load:file="+user)
	before := outputsOf(t, a.PID)
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	recorder := exec.Command(os.Args[0], "-test.run=^TestRecorder$")
	recorder.Env = append(os.Environ(), "UNSTALL_TEST_RECORD="+strconv.Itoa(a.PID))
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "its GC log and its flight recording are on", func() bool { return ownLogs(t, a.PID) == 1 && len(notes(dir)) == 2 })
	var said []string
	say := func(text string) { said = append(said, text) }
	tidyAll(t.Context(), say)
	if len(said) > 0 || ownLogs(t, a.PID) != 1 {
		t.Errorf("it still records, but %q", said)
	}
	_ = recorder.Process.Kill()
	_ = recorder.Wait()
	for _, name := range notes(dir) {
		if fi, err := os.Stat(name); err != nil || fi.Mode().Perm() != 0o600 {
			t.Error(fi.Mode(), err)
		}
	}
	until(t, "both are off", func() bool { tidyAll(t.Context(), say); return len(notes(dir)) == 0 })
	if len(said) != 2 || !strings.Contains(strings.Join(said, "\n"), fmt.Sprintf("pid %d: an earlier recording ended before it could switch its GC log off: it is off now", a.PID)) {
		t.Errorf("said %q", said)
	}
	clean(t, a.PID, before)
	tidyAll(t.Context(), say)
	if len(said) != 2 {
		t.Errorf("said again %q", said)
	}
}

// asked is a context that notes whether a command to a JVM was made from it.
type asked struct {
	context.Context
	any bool
}

func (a *asked) Deadline() (time.Time, bool) {
	a.any = true
	return a.Context.Deadline()
}

// TestStopped stops a JVM until its recording has ended. A stopped JVM gets no commands. Once it continues, the next start switches off what was
// left on.
func TestStopped(t *testing.T) {
	a := start(t, 17, "-Xmx32m")
	before := outputsOf(t, a.PID)
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	recorder := exec.Command(os.Args[0], "-test.run=^TestRecorder$")
	recorder.Env = append(os.Environ(), "UNSTALL_TEST_RECORD="+strconv.Itoa(a.PID))
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "its GC log is on", func() bool { return ownLogs(t, a.PID) == 1 && len(notes(dir)) == 2 })
	_ = syscall.Kill(a.PID, syscall.SIGSTOP)
	defer func() { _ = syscall.Kill(a.PID, syscall.SIGCONT) }()
	until(t, "it has stopped", func() bool { return attach.Stopped(a.PID) }) // on a busy host this takes some time after the signal
	_ = recorder.Process.Signal(syscall.SIGKILL)
	_ = recorder.Wait()
	var said []string
	say := func(text string) { said = append(said, text) }
	ctx := &asked{Context: t.Context()}
	tidyAll(ctx, say)
	if len(said) > 0 || len(notes(dir)) == 0 || ctx.any {
		t.Errorf("said %q, asked it %v", said, ctx.any)
	}
	_ = syscall.Kill(a.PID, syscall.SIGCONT)
	until(t, "both are off", func() bool { tidyAll(ctx, say); return len(notes(dir)) == 0 })
	if !ctx.any {
		t.Error("a command to a JVM is not noticed")
	}
	if len(said) != 2 {
		t.Errorf("said %q", said)
	}
	clean(t, a.PID, before)
}

// TestFlightSecrets plants secrets where a flight recording would find them, and searches every byte of the capture.
func TestFlightSecrets(t *testing.T) {
	other := exec.Command("sh", "-c", "sleep 300 # planted-other-hZ4")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	t.Setenv("PLANTED_ENV", "planted-env-hZ4")
	for _, release := range releases {
		for _, users := range []bool{false, true} { // whether a recording of the user has these events on
			if users && release != 17 {
				continue
			}
			t.Run(fmt.Sprint(release, users), func(t *testing.T) {
				args := []string{"-Xmx64m", "-Dplain=planted-property-hZ4", "-Ddb.password=planted-password-hZ4"}
				if users {
					args = append(args, "-XX:StartFlightRecording=settings=default,filename="+filepath.Join(t.TempDir(), "own.jfr"))
				}
				a := jvmapp.Start(t, release, busy, args...)
				a.Line(t)
				path := filepath.Join(t.TempDir(), "c.unstall")
				w, err := capture.Create(path, capture.Info{Start: time.Now()})
				if err != nil {
					t.Fatal(err)
				}
				to := &captured{w: w}
				if err := live(t, a).Record(t.Context(), probe.Plan{For: 5 * time.Second, Flight: true}, to); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				flight := unpack(t, path, func(name string, b []byte) {
					for _, s := range []string{"planted-env", "planted-property", "planted-password", "planted-other"} {
						var wide []byte
						for _, c := range utf16.Encode([]rune(s)) {
							wide = binary.LittleEndian.AppendUint16(wide, c)
						}
						if bytes.Contains(b, []byte(s)) || bytes.Contains(b, wide) {
							t.Errorf("%s holds %s", name, s)
						}
					}
				})
				if len(flight) < 10_000 {
					t.Fatalf("a flight recording of %d bytes; warned %q", len(flight), to.warnings)
				}
				file := filepath.Join(t.TempDir(), "f.jfr")
				if err := os.WriteFile(file, flight, 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command(a.Home+"/bin/jfr", "print", "--events", "jdk.InitialEnvironmentVariable,jdk.SystemProcess,jdk.JVMInformation,jdk.GarbageCollection,jdk.CPULoad,jdk.ActiveSetting", file).CombinedOutput()
				if err != nil || !bytes.Contains(out, []byte("jdk.ActiveSetting")) {
					t.Errorf("jfr print: %v: %.500s", err, out)
				}
				if !users && bytes.Contains(out, []byte("jdk.SystemProcess {")) {
					t.Error("events of other processes are on")
				}
			})
		}
	}
}

// captured is a sink that is a capture.
type captured struct {
	w        *capture.Writer
	warnings []string
}

func (c *captured) Create(m capture.Meta) (io.WriteCloser, error) { return c.w.Create(m) }
func (c *captured) Known([]byte) bool                             { return true }
func (c *captured) Warnf(f string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(f, args...))
}
func (c *captured) Lack(l probe.Lack) { c.warnings = append(c.warnings, l.What+l.Why) }

// unpack reads every artifact of a capture, and returns the flight recording.
func unpack(t *testing.T, path string, look func(name string, b []byte)) (flight []byte) {
	t.Helper()
	c, err := capture.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range c.Artifacts() {
		r, err := a.Reader()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		look(a.Name, b)
		if names = append(names, a.Name); strings.HasSuffix(a.Name, ".jfr") {
			flight = b
		}
	}
	if !slices.Contains(names, "hsperfdata.txt") {
		t.Errorf("only %q", names)
	}
	return flight
}
