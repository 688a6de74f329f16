package ipc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipctest"
)

// TestMain lets the test binary play another process: IPC_TEST_ROLE says which.
func TestMain(m *testing.M) {
	switch os.Getenv("IPC_TEST_ROLE") {
	case "":
		os.Exit(m.Run())
	case "serve": // at the given path, else where a runtime would
		path := ""
		if len(os.Args) > 1 {
			path = os.Args[1]
		}
		if os.Getenv("IPC_TEST_TMPFS") != "" {
			if err := syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, ""); err != nil {
				fmt.Println("skip:", err)
				return
			}
		}
		if path == "" {
			var err error
			if path, err = ipctest.Path(os.TempDir()); err != nil {
				fmt.Println(err)
				return
			}
		}
		s := &ipctest.Server{Collect: 2, Info: 2, Assembly: "Other", Version: "6.0.1", Every: 10 * time.Millisecond}
		if err := s.Listen(path); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("up")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// play starts the test binary in a role and returns it when it is ready.
func play(t *testing.T, role string, prepare func(*exec.Cmd), args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), "IPC_TEST_ROLE="+role)
	if prepare != nil {
		prepare(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skipf("namespaces are not allowed here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	if skip, ok := strings.CutPrefix(line, "skip:"); ok {
		t.Skip("namespaces are not allowed here:", skip)
	}
	if line != "up\n" {
		t.Fatalf("the process says %q", line)
	}
	return cmd
}

// serve makes this process one with a runtime in it.
func serve(t *testing.T, s *ipctest.Server) *Client {
	t.Helper()
	path, err := ipctest.Path(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		_ = os.Remove(path)
	})
	c, err := Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if c.Path() != path {
		t.Fatalf("found %s, want %s", c.Path(), path)
	}
	return c
}

func soon(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

var wanted = Config{
	BufferMB: 16, Rundown: Rundown, NoStacks: true,
	Providers: []Provider{
		{Name: "System.Runtime", Level: 4, Keywords: 1 << 63, Args: "EventCounterIntervalSec=1"},
		{Name: "Ünïcode", Level: 5, Only: []uint32{1, 55}},
	},
}

// TestCollectTracing checks each form against a server that knows no newer one and says so in either way.
func TestCollectTracing(t *testing.T) {
	for form := 1; form <= 5; form++ {
		for _, other := range []uint32{ipctest.UnknownCommand, ipctest.BadEncoding} {
			t.Run(fmt.Sprintf("%d %x", form, other), func(t *testing.T) {
				s := &ipctest.Server{Collect: form, Info: 2, Other: other, Names: []byte(" and names")}
				c := serve(t, s)
				for range 2 { // the second time the form is known
					x, err := c.Start(soon(t, time.Minute), wanted)
					if err != nil {
						t.Fatal(err)
					}
					if x.Version != form {
						t.Fatalf("CollectTracing %d was understood, want %d", x.Version, form)
					}
					stopped := make(chan error)
					go func() { stopped <- x.Stop(soon(t, time.Minute), time.Minute) }()
					if got, err := io.ReadAll(x); err != nil || string(got) != "Nettrace and names" {
						t.Errorf("it delivers %q, %v", got, err)
					}
					if err := <-stopped; err != nil {
						t.Error(err)
					}
					if err := x.Stop(soon(t, time.Minute), time.Minute); err != nil {
						t.Errorf("stopping what has ended: %v", err)
					}
					if err := x.Close(); err != nil {
						t.Error(err)
					}
				}
				want := []ipctest.Provider{{Name: "System.Runtime", Level: 4, Keywords: 1 << 63, Args: "EventCounterIntervalSec=1"}, {Name: "Ünïcode", Level: 5}}
				rundown, stacks := uint64(1), form < 3
				if form == 5 {
					want[1].Enable, want[1].Events = true, []uint32{1, 55}
				}
				if form >= 4 {
					rundown = Rundown
				}
				for _, got := range s.Sessions() {
					if d := cmp.Diff(want, got.Providers); d != "" {
						t.Errorf("providers (-want +got):\n%s", d)
					}
					if got.BufferMB != 16 || got.Rundown != rundown || got.Stacks != stacks || got.Ended != "stopped" {
						t.Errorf("the session is %+v", got)
					}
				}
			})
		}
	}
}

// TestQuiet stops a session of a runtime before .NET 6, and one of a later runtime.
func TestQuiet(t *testing.T) {
	for info := 1; info <= 2; info++ {
		var last time.Time
		var mu sync.Mutex
		s := &ipctest.Server{Collect: 2, Info: info, Every: 700 * time.Millisecond, Stream: func(ipctest.Session) []byte {
			mu.Lock()
			defer mu.Unlock()
			last = time.Now()
			return append([]byte("odd"), mark...)
		}}
		c := serve(t, s)
		x, err := c.Start(soon(t, time.Minute), wanted)
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan error)
		go func() {
			_, err := io.Copy(io.Discard, x)
			over <- err
		}()
		if err := x.Stop(soon(t, time.Minute), time.Minute); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		after := time.Since(last)
		mu.Unlock()
		if old := info == 1; old != (x.beat != nil) || old && after < quietFrom {
			t.Errorf("ProcessInfo %d: stopped %v after counters", info, after)
		}
		if err := <-over; err != nil {
			t.Error(err)
		}
		s.Close()
		_ = os.Remove(c.Path())
	}
}

func TestWithoutRundown(t *testing.T) {
	s := &ipctest.Server{Collect: 3, Info: 3}
	c := serve(t, s)
	cfg := wanted
	cfg.Rundown = 0
	x, err := c.Start(soon(t, time.Minute), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Sessions()[0]; got.Rundown != 0 {
		t.Errorf("rundown %d, want 0", got.Rundown)
	}
	_ = x.Close()
	for s.Sessions()[0].Ended == "" {
		time.Sleep(time.Millisecond)
	}
	if how := s.Sessions()[0].Ended; how != "closed" {
		t.Errorf("closing the connection %s the session", how)
	}
}

func TestInfo(t *testing.T) {
	all := Info{PID: 7, OS: "Linux", Arch: "x64", Assembly: "Shop", Version: "8.0.4", RID: "linux_x64"}
	without := func(i Info, rid bool) Info {
		i.RID = ""
		if rid {
			i.Assembly, i.Version = "", ""
		}
		return i
	}
	for form, want := range []Info{{}, without(all, true), without(all, false), all} {
		t.Run(fmt.Sprint(form), func(t *testing.T) {
			c := serve(t, &ipctest.Server{Info: form, PID: 7, Assembly: "Shop", Version: "8.0.4", CommandLine: "shop --password=x"})
			got, err := c.Info(soon(t, time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestProblems checks the errors that users see.
func TestProblems(t *testing.T) {
	tests := []struct {
		name   string
		server *ipctest.Server
		kind   error
		text   string
	}{
		{"mute", &ipctest.Server{Mute: true}, ErrSilent, "no answer within"},
		{"garbage", &ipctest.Server{Garbage: true}, ErrProtocol, "remove that file"},
		{"hangs up", &ipctest.Server{HangUp: true}, ErrSilent, "it closed the connection: try again"},
		{"too old", &ipctest.Server{}, UnknownCommand, "update the runtime to .NET Core 3.1 or later"},
		{"suspended", &ipctest.Server{Other: 0x80131371}, ErrSuspended, "resume it"},
		{"refuses", &ipctest.Server{Other: 0x80004005}, Fail, "the runtime refused: the command failed (0x80004005)"},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			c := serve(t, x.server)
			within := time.Minute
			if x.server.Mute {
				within = 20 * time.Millisecond
			}
			_, err := c.Start(soon(t, within), wanted)
			var p *Problem
			if !errors.Is(err, x.kind) || !errors.As(err, &p) || p.Do == "" {
				t.Fatalf("%v (%#v)", err, err)
			}
			if !strings.Contains(err.Error(), x.text) || !strings.HasPrefix(err.Error(), fmt.Sprintf("pid %d: ", os.Getpid())) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it says %q, want %q in it", err, x.text)
			}
		})
	}
}

func TestCanceled(t *testing.T) {
	c := serve(t, &ipctest.Server{Mute: true})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := c.Info(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was canceled", err)
	}
}

// TestCanceledStart cancels the start of a session before the runtime has answered. The session exists all the same, and can be stopped.
func TestCanceledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := &ipctest.Server{Collect: 2, Info: 1, Asked: cancel}
	c := serve(t, server)
	s, err := c.Start(ctx, Config{Providers: []Provider{{Name: "A"}}, BufferMB: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go func() { _, _ = io.Copy(io.Discard, s) }()
	if err := s.Stop(t.Context(), time.Minute); err != nil {
		t.Error(err)
	}
	if all := server.Sessions(); len(all) != 1 || all[0].Ended != "stopped" {
		t.Errorf("%+v", all)
	}
	if _, err := c.Start(ctx, Config{BufferMB: 1}); !errors.Is(err, context.Canceled) || len(server.Sessions()) != 1 {
		t.Errorf("%v, %d sessions; want none begun once the context has ended", err, len(server.Sessions()))
	}
}

// TestDies kills a process during a session, and stops another one.
func TestDies(t *testing.T) {
	dir := t.TempDir()
	cmd := play(t, "serve", func(c *exec.Cmd) { c.Env = append(c.Env, "TMPDIR="+dir) })
	c, err := Find(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !isStopped(cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	_, err = c.Info(soon(t, 20*time.Millisecond))
	if !errors.Is(err, ErrSilent) || !strings.Contains(err.Error(), fmt.Sprintf("the process is stopped: kill -CONT %d", cmd.Process.Pid)) {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	x, err := c.Start(soon(t, time.Minute), wanted)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(x, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, x); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
	if !c.Ended() {
		t.Error("it has not ended")
	}
	if err := x.Stop(soon(t, time.Minute), time.Minute); err != nil {
		t.Error(err)
	}
	if _, err := c.Info(soon(t, time.Minute)); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("DOTNET_IPC_V1\x00\x18\x00\xff\xff\x00\x00\x85\x13\x13\x80"))
	f.Add([]byte("DOTNET_IPC_V1\x00\x14\x00\xff\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readMessage(strings.NewReader(string(b)))
		if err == nil {
			d := decoder{b: p}
			d.readUint32()
			d.skip(16)
			for range 4 {
				d.readText()
			}
		}
	})
}
