package symbol

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestKernel(t *testing.T) {
	k, err := readKernel(strings.NewReader("ffffffff81000000 T _text\nffffffff81000040 t start_it\nffffffff81000040 t also\nffffffff82000000 D data\nffffffffc0000000 t ext4_sync_file\t[ext4]\nnonsense\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   uint64
		want string
	}{{0xffffffff81000000, "_text"}, {0xffffffff8100003f, "_text"}, {0xffffffff81000040, "start_it"}, {0xffffffff81fffff0, "start_it"},
		{0xffffffff80ffffff, ""}, {0xffffffffc0000001, ""}} { // of the last the end is not known
		if got := k.Name(c.at); got != c.want {
			t.Errorf("%#x: %q, want %q", c.at, got, c.want)
		}
	}
	if _, err := readKernel(strings.NewReader("0000000000000000 T _text\n")); err == nil {
		t.Error("hidden addresses were taken for addresses")
	}
	var none *Kernel
	if none.Name(1) != "" {
		t.Error("a kernel that was not read names functions")
	}
}

func TestMaps(t *testing.T) {
	got := readMaps(strings.NewReader(`55d0a000-55d0b000 r--p 00000000 fe:00 77 /usr/bin/a b
55d0b000-55d0c000 r-xp 00001000 fe:00 77                         /usr/bin/a b
7f000000-7f001000 rwxp 00000000 00:00 0
7f001000-7f002000 r-xp 00002000 fe:00 78 /usr/lib/old.so (deleted)
7ffe0000-7ffe1000 r-xp 00000000 00:00 0                          [vdso]
nonsense
`))
	want := []mapping{
		{0x55d0b000, 0x55d0c000, 0x1000, fileID{"fe:00", "77"}, "/usr/bin/a b"},
		{0x7f000000, 0x7f001000, 0, fileID{"00:00", "0"}, ""},
		{0x7f001000, 0x7f002000, 0x2000, fileID{"fe:00", "78"}, "/usr/lib/old.so"},
		{0x7ffe0000, 0x7ffe1000, 0, fileID{"00:00", "0"}, "[vdso]"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestPerfMap(t *testing.T) {
	p := readPerfMap(strings.NewReader("7f10 20 first method\n0x7f40 10 other\nx\n7f10 20 second method\n"))
	for at, want := range map[uint64]string{0x7f10: "second method", 0x7f2f: "second method", 0x7f30: "", 0x7f4f: "other", 0x7f50: ""} {
		if got := p.functionAt(at); got != want {
			t.Errorf("%#x: %q, want %q", at, got, want)
		}
	}
}

//go:noinline
func here() uintptr { pc, _, _, _ := runtime.Caller(0); return pc }

// The test program names its own functions, and a stripped Go program those of its runtime.
func TestProcess(t *testing.T) {
	name, in := NewProcess(os.Getpid()).Name(uint64(here()))
	if name != "github.com/unstall/unstall/internal/collect/probe/kernel/symbol.here" || in != filepath.Base(os.Args[0]) {
		t.Errorf("%q in %q", name, in)
	}
	if name, in := NewProcess(os.Getpid()).Name(1); name != "" || in != "" {
		t.Errorf("nothing is mapped there: %q in %q", name, in)
	}
}

func TestStripped(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\n//go:noinline\nfunc fill(n int) int { return n + 1 }\n\nfunc main() { println(fill(1)) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	c := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, source)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x := readFile(f)
	for _, at := range x.starts {
		if x.table.functionAt(at) == "main.fill" {
			return
		}
	}
	t.Errorf("of %d functions none is main.fill", len(x.starts))
}

// waiter waits in a function that keeps no frame pointer, and in one that does.
const waiter = `#include <stdio.h>
#include <unistd.h>
static int ends[2];
__attribute__((noinline)) static long inner(int n) { char room[200]; long sum = 0; for (int i = 0; i < n; i++) sum += read(ends[0], room, sizeof room); return sum; }
__attribute__((noinline)) static long outer(int n) { volatile char room[6000]; room[n] = 1; return inner(n) + room[n]; }
int main(void) { if (pipe(ends)) return 1; puts("ready"); fflush(stdout); return outer(7) == 1; }
`

// Who called what waits is found without frame pointers, and with those whose value is not told.
func TestWaiting(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil || !Unwinds {
		t.Skip("it needs a C compiler (cc), on amd64")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "waiter.c")
	if err := os.WriteFile(source, []byte(waiter), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-fno-omit-frame-pointer"}, {"-O0"}} {
		program := filepath.Join(dir, "waiter")
		if out, err := exec.Command(cc, append(flags, "-o", program, source)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		c := exec.Command(program)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 8))
		p := NewProcess(c.Process.Pid)
		var got []string
		for len(got) == 0 || got[0] == "" { // until it waits
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", c.Process.Pid))
			if err != nil {
				_ = c.Process.Kill()
				t.Skipf("its system call may not be read: %v", err)
			}
			var pc, sp uint64
			if f := strings.Fields(string(text)); len(f) == 9 && f[0] == "0" {
				_, _ = fmt.Sscanf(f[7]+" "+f[8], "0x%x 0x%x", &sp, &pc)
				for i, a := range p.Waiting(pc, sp) {
					name, _ := p.Name(a - uint64(min(i, 1)))
					got = append(got, name)
				}
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		if all := strings.ReplaceAll(strings.Join(got, " "), ".constprop.0", ""); !strings.Contains(all, " inner outer main") {
			t.Errorf("%v: %s", flags, all)
		}
	}
}

// Rules of frames may be anything.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00\x10\x00\x00\x00\x1c\x00\x00\x00\x00\x10\x00\x00\x20\x00\x00\x00\x00\x41\x0e\x10"), uint64(0x1020))
	f.Fuzz(func(t *testing.T, b []byte, at uint64) {
		x := &frames{data: b, order: binary.LittleEndian}
		x.indexFunctions()
		x.rowAt(at)
		if len(x.all) > 0 {
			x.rowAt(x.all[0].start)
		}
	})
}

func FuzzMaps(f *testing.F) {
	f.Add([]byte("55d0b000-55d0c000 r-xp 00001000 fe:00 77 /usr/bin/a b\n7f10 20 first method\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		readMaps(strings.NewReader(string(b)))
		p := readPerfMap(strings.NewReader(string(b)))
		p.functionAt(0x7f10)
		p.functionAt(^uint64(0))
	})
}
