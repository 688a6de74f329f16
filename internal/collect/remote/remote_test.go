package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/capture"
)

// The test binary is also the program on the other host.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == GuestCommand {
		silence := Silence
		if os.Getenv("REMOTE_TEST_DEAF") != "" {
			silence = 100 * time.Millisecond
		}
		if err := Guest(os.Args[2], os.Stdin, os.Stdout, silence, errand); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	os.Exit(m.Run())
}

// asked is the work of the tests: it records a number of lines, then waits until it is told to end.
type asked struct {
	Lines   int
	Forever bool
}

func errand(ctx context.Context, request json.RawMessage, path string, say io.Writer, first func()) int {
	var a asked
	if json.Unmarshal(request, &a) != nil {
		return 2
	}
	if a.Lines == 0 {
		fmt.Fprintln(say, "there is no such \x1b[31mprocess")
		return 3
	}
	w, err := capture.Create(path, capture.Info{Target: "gateway", Start: time.Now()})
	if err != nil {
		return 3
	}
	defer w.Close()
	log, err := w.Create(capture.Meta{Name: "log.txt", Lines: true})
	if err != nil {
		return 3
	}
	for i := range a.Lines {
		fmt.Fprintf(log, "line %d\n", i)
	}
	_ = w.Flush()
	first()
	fmt.Fprintln(say, "recording")
	if a.Forever {
		<-ctx.Done()
		fmt.Fprintln(log, "the end")
	}
	return 0
}

// fake puts an ssh on PATH that runs its command here, as if on another host. It returns that host's folder for temporary files.
func fake(t *testing.T, script string) (there string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are recorded on Linux alone")
	}
	dir := t.TempDir()
	there = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", there)
	return there
}

const plain = `while [ "$1" != -- ]; do shift; done; echo "Welcome to $2"; exec sh -c "$3"` + "\n"

// desk is the receiver of output in tests.
type desk struct {
	mu    sync.Mutex
	said  bytes.Buffer
	path  string
	file  *os.File
	first chan struct{}
}

func newDesk(t *testing.T) *desk {
	return &desk{path: filepath.Join(t.TempDir(), "x.unstall"), first: make(chan struct{}, 1)}
}

func (d *desk) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.Write(b)
}

func (d *desk) taker() Taker {
	return Taker{Say: d, First: func() { d.first <- struct{}{} }, Begin: func(target string) (w io.WriterAt, err error) {
		if target != "gateway" {
			return nil, fmt.Errorf("it is called %q", target)
		}
		d.file, err = os.Create(d.path)
		return d.file, err
	}}
}

// lines returns how many lines the capture has, and whether it ended properly.
func (d *desk) lines(t *testing.T) (n int, ended bool) {
	t.Helper()
	c, err := capture.Open(d.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.Artifacts() {
		r, err := a.Reader()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(text, []byte("\n"))
	}
	return n, c.Ended
}

func connect(t *testing.T) *Host {
	t.Helper()
	h, err := Connect(t.Context(), Address{Host: "shop-1"}, Options{Say: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// left waits until nothing is left on the other host.
func left(t *testing.T, there string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		files, err := os.ReadDir(there)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left there: %v", files)
		}
	}
}

func TestRecord(t *testing.T) {
	there := fake(t, plain)
	h, d := connect(t), newDesk(t)
	code, err := h.Record(t.Context(), asked{Lines: 200_000}, d.taker())
	if err != nil || code != 0 {
		t.Fatal(code, err)
	}
	if n, ended := d.lines(t); n != 200_000 || !ended {
		t.Errorf("%d lines, ended: %v", n, ended)
	}
	if got := d.said.String(); got != "recording\n" {
		t.Errorf("said: %q", got)
	}
	h.Close()
	left(t, there)
}

// A missing target is reported there, without control characters for a terminal.
func TestRecordNothing(t *testing.T) {
	there := fake(t, plain)
	h, d := connect(t), newDesk(t)
	code, err := h.Record(t.Context(), asked{}, d.taker())
	if err != nil || code != 3 || d.said.String() != "there is no such [31mprocess\n" || d.file != nil {
		t.Errorf("exit %d, %v, said %q", code, err, d.said.String())
	}
	h.Close()
	left(t, there)
}

// Ctrl-C ends the recording, and the rest of its data comes.
func TestInterrupt(t *testing.T) {
	there := fake(t, plain)
	h, d := connect(t), newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	to := d.taker()
	to.First = cancel
	code, err := h.Record(ctx, asked{Lines: 10, Forever: true}, to)
	if n, ended := d.lines(t); err != nil || code != 0 || n != 11 || !ended {
		t.Errorf("exit %d, %v, %d lines, ended: %v", code, err, n, ended)
	}
	h.Close()
	left(t, there)
}

// When the connection is lost, received data is kept here and nothing stays there, even if the waiting shell was killed as well.
func TestLost(t *testing.T) {
	there := fake(t, plain)
	h, d := connect(t), newDesk(t)
	to := d.taker()
	to.First = func() { _ = h.ssh.Process.Kill(); _ = h.in.Close() }
	_, err := h.Record(t.Context(), asked{Lines: 10, Forever: true}, to)
	if err == nil || !strings.Contains(err.Error(), "ssh://shop-1: the connection was lost") {
		t.Errorf("error: %v", err)
	}
	if n, ended := d.lines(t); n != 10 || ended {
		t.Errorf("%d lines, ended: %v", n, ended)
	}
	left(t, there)
}

// A broken network closes nothing, so the guest ends by itself.
func TestSilence(t *testing.T) {
	there := fake(t, "REMOTE_TEST_DEAF=1; export REMOTE_TEST_DEAF; "+plain)
	h, d := connect(t), newDesk(t)
	if _, err := h.Record(t.Context(), asked{Lines: 10, Forever: true}, d.taker()); err == nil {
		t.Error("no error")
	}
	left(t, there)
}

// Any reason that prevents recording is one line, and leaves nothing behind.
func TestConnectFails(t *testing.T) {
	elf := filepath.Join(t.TempDir(), "unstall-arm64")
	head := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	head[16], head[18], head[20], head[52], head[54], head[58] = 2, 183, 1, 64, 56, 64
	if err := os.WriteFile(elf, head, 0o600); err != nil {
		t.Fatal(err)
	}
	arm := strings.Replace(plain, "exec", `set -- a b "$(echo "$3" | sed 's/$(uname -sm)/Linux aarch64/')"; exec`, 1)
	for _, c := range []struct{ name, script, binary, want string }{
		{"refused", "echo 'ssh: connect to host shop-1 port 22: Connection refused' >&2; exit 255\n", "", "ssh://shop-1: no shell answers: ssh: connect to host shop-1 port 22: Connection refused"},
		{"silent", "exit 1\n", "", "no shell answers: the connection ended"},
		{"only prints", "exec yes\n", "", "no shell answers: its shell prints much and no answer"},
		{"not Linux", strings.Replace(plain, "exec", `set -- a b "$(echo "$3" | sed 's/$(uname -sm)/Darwin arm64/')"; exec`, 1), "", "it runs Darwin, and processes are recorded on Linux alone"},
		{"other architecture", arm, "", "--binary FILE (of the release's unstall-VERSION-linux-arm64.tar.gz, or by GOOS=linux GOARCH=arm64 go build ./cmd/unstall)"},
		{"other binary", plain, elf, "it is for AARCH64, and that host is amd64"},
		{"no binary", plain, os.Args[0] + ".none", "it is no program for Linux"},
		{"full", strings.Replace(plain, "exec", "ulimit -f 1; exec", 1), "", "the program could not be copied there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOARCH != "amd64" && c.name == "other binary" {
				t.Skip("the other one is for arm64")
			}
			there := fake(t, c.script)
			_, err := Connect(t.Context(), Address{Host: "shop-1"}, Options{Binary: c.binary, Say: func(string) {}})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error: %v\nwant: %s", err, c.want)
			}
			left(t, there)
		})
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		arg    string
		a      Address
		target string
		wrong  string
	}{
		{"ssh://shop/4711", Address{Host: "shop"}, "4711", ""},
		{"ssh://shop", Address{Host: "shop"}, "", ""},
		{"ssh://app@shop:2222/nginx|php-fpm", Address{"app", "shop", "2222"}, "nginx|php-fpm", ""},
		{"ssh://[::1]:22/docker://shop", Address{Host: "::1", Port: "22"}, "docker://shop", ""},
		{"ssh://app@[fe80::1]/x", Address{User: "app", Host: "fe80::1"}, "x", ""},
		{"ssh://-oProxyCommand=x/1", Address{}, "", "the address has no host"},
		{"ssh://-l@shop/1", Address{}, "", "the address has no host"},
		{"ssh:///1", Address{}, "", "the address has no host"},
		{"ssh://shop:0/1", Address{}, "", "invalid port 0"},
		{"ssh://me:secret@shop/1", Address{}, "", "a password does not belong"},
	} {
		a, target, is, err := Parse(c.arg)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", c.arg, err)
			}
			continue
		}
		if err != nil || !is || a != c.a || target != c.target {
			t.Errorf("%s: %+v %q %v %v", c.arg, a, target, is, err)
		}
	}
	if _, _, is, _ := Parse("shop"); is {
		t.Error("a name is an address")
	}
}

func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	_ = frame{said, []byte("text")}.write(&b)
	f.Add(b.Bytes())
	f.Add([]byte{data, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		for {
			if _, err := readFrame(r); err != nil {
				return
			}
		}
	})
}
