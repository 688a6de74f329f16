package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	_ "net/http/pprof" // the data recorded of the child
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/capture"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/diagnose"
)

// TestMain lets the test binary run as a service that tests watch.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("WATCHING") != "":
		watchUntilKilled(os.Getenv("WATCHING"), os.Args[1])
	case os.Getenv("WATCHED") == "":
		os.Exit(m.Run())
	}
	go func() { _ = http.ListenAndServe("127.0.0.1:0", nil) }()
	more, fewer := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(more, syscall.SIGUSR1)
	signal.Notify(fewer, syscall.SIGUSR2)
	go threads(context.Background(), more, fewer)
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the process that started it ends
}

// lockThread makes the thread end with its goroutine.
func lockThread() { goruntime.LockOSThread() }

// service starts a service under a name of its own.
func service(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Link(self, path); err != nil {
		if err := exec.Command("cp", self, path).Run(); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(path)
	c.Env = append(os.Environ(), "WATCHED=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = c.Process.Kill(); _ = c.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return c
}

// watching runs a watcher and returns its lines.
func watching(t *testing.T, opt Options, change func(*Watcher)) (lines func(event string) Line, stop func()) {
	t.Helper()
	r, w := io.Pipe()
	opt.Log = w
	if opt.RingSize == 0 {
		opt.RingSize = 64 << 20
	}
	opt.Captures, opt.Probes = 64<<20, all.Probes
	opt.Resolve = func(ctx context.Context, arg string) (discover.Target, error) {
		return discover.Resolve(ctx, arg, platform.Recognisers())
	}
	opt.Diagnose = func(ctx context.Context, path string) (*diagnose.Diagnosis, error) {
		c, err := capture.Open(path)
		if err != nil {
			return nil, err
		}
		b := incident.NewBundle()
		incident.ReadCapture(ctx, c, b)
		return diagnose.Run(ctx, b, diagnose.Options{})
	}
	watcher, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	watcher.eval.WarmUp = 0
	if change != nil {
		change(watcher)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = watcher.Run(ctx); _ = w.Close() }()
	all := make(chan Line, 256)
	go func() {
		defer close(all)
		for s := bufio.NewScanner(r); s.Scan(); {
			var x Line
			if err := json.Unmarshal(s.Bytes(), &x); err != nil {
				t.Errorf("%s: %v", s.Text(), err)
			}
			all <- x
		}
	}()
	lines = func(event string) Line {
		t.Helper()
		var seen []string
		late := time.After(90 * time.Second)
		for {
			select {
			case x, ok := <-all:
				if !ok {
					t.Fatalf("no %s before the end, but %q", event, seen)
				}
				if x.Event == event {
					return x
				}
				seen = append(seen, x.Event+": "+x.Text)
			case <-late:
				t.Fatalf("no %s, but %q", event, seen)
			}
		}
	}
	stop = func() {
		cancel()
		go func() {
			for range all {
			}
		}()
		<-ended
	}
	t.Cleanup(stop)
	return lines, stop
}

// TestAlarm checks that an alarm gives a capture that includes the time before it, and that the capture is diagnosed. It
// checks that a target which ends and comes back is watched again.
func TestAlarm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := fmt.Sprintf("watched%d", os.Getpid()%10000)
	child := service(t, name)
	lines, _ := watching(t, Options{Targets: []string{name}, Rules: rules(t, "- {id: any, title: it is there, series: proc/threads, over: 1s, above: 0, for: 6s}\n"), Dir: dir, After: 2 * time.Second},
		func(w *Watcher) { w.part = 2 * time.Second })
	if x := lines(EventFound); x.PID != child.Process.Pid || x.Runtime != "go" {
		t.Fatalf("found %+v", x)
	}
	if x := lines(EventAlarm); x.Rule != "any" || x.Value == nil || *x.Value < 1 {
		t.Fatalf("alarm %+v", x)
	}
	x := lines(EventDiagnosis)
	if x.Outcome == "" || x.Before < 5 || x.Until.Sub(x.From) < 7*time.Second {
		t.Errorf("diagnosis %+v: want what was 5 s before and 2 s after", x)
	}
	c, err := capture.Open(x.Capture)
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]int)
	for _, a := range c.Artifacts() {
		kinds[a.Name]++
	}
	if kinds["procfs.txt"] != 1 || kinds["cpu-0001.pb.gz"] != 1 || !c.Ended {
		t.Errorf("the capture has %v, ended %t", kinds, c.Ended)
	}
	b := incident.NewBundle()
	incident.ReadCapture(t.Context(), c, b)
	if from, until := b.Window(); time.Duration(until-from) < 7*time.Second {
		t.Errorf("what was recorded covers %s", time.Duration(until-from))
	}

	_ = child.Process.Signal(syscall.SIGKILL)
	_ = child.Wait()
	if x := lines(EventResolved); x.Rule != "any" || !strings.Contains(x.Text, "has ended") {
		t.Errorf("resolved %+v", x)
	}
	lines(EventGone)
	again := service(t, name)
	if x := lines(EventFound); x.PID != again.Process.Pid {
		t.Errorf("found %+v", x)
	}
}

// TestRing checks that the ring stays within its bound, and that segments which a killed watcher left there are bounded,
// too, and read.
func TestRing(t *testing.T) {
	dir := t.TempDir()
	r, err := OpenRing(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Unix(1000, 0)
	for i := range 20 {
		path := r.New("gateway pid 7", begin.Add(time.Duration(i)*time.Minute))
		if err := os.WriteFile(path, make([]byte, 150), 0o600); err != nil {
			t.Fatal(err)
		}
		if i < 18 { // the other segments are being written when it is killed
			r.Done(path)
		}
	}
	r, err = OpenRing(dir, 700)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.listSegments()); n != 4 {
		t.Errorf("%d segments of 150 bytes within 700", n)
	}
	got := r.Since("gateway pid 7", begin.Add(18*time.Minute+30*time.Second))
	if len(got) != 2 || !got[0].From.Equal(begin.Add(18*time.Minute)) {
		t.Errorf("since: %+v", got)
	}
	if n := len(r.Since("other", begin)); n != 0 {
		t.Errorf("%d of somebody else", n)
	}
	r.Keep(begin.Add(19 * time.Minute))
	if n := len(r.listSegments()); n != 2 {
		t.Errorf("%d segments are kept", n)
	}
}

// TestTrouble checks that rules are still evaluated if nothing can be stored.
func TestTrouble(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	child := service(t, fmt.Sprintf("trouble%d", os.Getpid()%10000))
	lines, _ := watching(t, Options{Targets: []string{fmt.Sprint(child.Process.Pid)}, Rules: rules(t, "- {id: any, title: it is there, series: proc/threads, over: 1s, above: 0, for: 1s}\n"), Dir: file, After: time.Second}, nil)
	for !strings.Contains(lines(EventTrouble).Text, "not a directory") { // other troubles may come first
	}
	if x := lines(EventAlarm); x.Rule != "any" {
		t.Errorf("alarm %+v", x)
	}
}

// TestFull checks that a full disk is reported once, that rules are still evaluated, and that everything is stored again
// once there is room.
func TestFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small disk can be made: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	full := filepath.Join(dir, "others")
	if err := os.WriteFile(full, make([]byte, 248<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	child := service(t, fmt.Sprintf("full%d", os.Getpid()%10000))
	lines, _ := watching(t, Options{Targets: []string{fmt.Sprint(child.Process.Pid)}, Rules: rules(t, "- {id: any, title: it is there, series: proc/threads, over: 1s, above: 0, for: 15s, severity: note}\n"), Dir: dir, After: time.Second},
		func(w *Watcher) { w.part = 2 * time.Second })
	for !strings.Contains(lines(EventTrouble).Text, "no space left") { // other troubles may come first
	}
	if x := lines(EventAlarm); x.Rule != "any" {
		t.Errorf("alarm %+v", x)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(lines(EventTrouble).Text, "recorded again") {
	}
}

// TestReadOnly checks that rules are still evaluated if nothing can be written, and that this is reported once.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY, ""); err != nil {
		t.Skipf("no disk can be made that is read-only: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	child := service(t, fmt.Sprintf("readonly%d", os.Getpid()%10000))
	lines, _ := watching(t, Options{Targets: []string{fmt.Sprint(child.Process.Pid)}, Rules: rules(t, "- {id: any, title: it is there, series: proc/threads, over: 1s, above: 0, for: 1s}\n"), Dir: dir, After: time.Second}, nil)
	for !strings.Contains(lines(EventTrouble).Text, "read-only file system") { // other troubles may come first
	}
	if x := lines(EventAlarm); x.Rule != "any" {
		t.Errorf("alarm %+v", x)
	}
	for !strings.Contains(lines(EventTrouble).Text, "captures of alarms cannot be kept") {
	}
}

// watchUntilKilled runs a watcher in a process of its own.
func watchUntilKilled(dir, pid string) {
	w, err := New(Options{Targets: []string{pid}, Dir: dir, RingSize: 64 << 20, Captures: 64 << 20, After: time.Second, Log: os.Stdout, Probes: all.Probes,
		Resolve: func(ctx context.Context, arg string) (discover.Target, error) {
			return discover.Resolve(ctx, arg, platform.Recognisers())
		}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	w.part = 2 * time.Second
	_ = w.Run(context.Background())
}

// TestKilled checks that the files of a killed watcher can be read, and that the next watcher continues in the same
// folder.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := service(t, fmt.Sprintf("killed%d", os.Getpid()%10000))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, fmt.Sprint(child.Process.Pid))
	c.Env = append(os.Environ(), "WATCHING="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	segments := func() []string {
		found, _ := filepath.Glob(filepath.Join(dir, "ring", "*.unstall"))
		return found
	}
	until(t, 60*time.Second, "the ring has three segments", func() bool { return len(segments()) >= 3 }, nil)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	left := segments()
	for i, path := range left {
		// The watcher may have been killed before it stored anything of the last segment.
		if c, err := capture.Open(path); err != nil || i+1 < len(left) && len(c.Artifacts()) == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
	lines, _ := watching(t, Options{Targets: []string{fmt.Sprint(child.Process.Pid)}, Rules: rules(t, "- {id: any, title: it is there, series: proc/threads, over: 1s, above: 0, for: 1s}\n"), Dir: dir, After: time.Second}, nil)
	if x := lines(EventDiagnosis); x.Outcome == "" || x.Before < 2 {
		t.Errorf("the next one's diagnosis, which has what the first recorded: %+v", x)
	}
}
