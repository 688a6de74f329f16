package capture

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// sample is a capture of several artifacts in several chunks.
func sample(t testing.TB) []byte {
	w, path := begin(t)
	log := create(t, w, Meta{Name: "a.log", About: gateway, Lines: true})
	raw := create(t, w, Meta{Name: "b.gz"})
	write(t, raw, []byte("\x1f\x8b"))
	for i := range 6 {
		write(t, log, fmt.Appendf(nil, "line %d\n", i))
		write(t, raw, noise(700))
		if i%2 == 1 {
			w.Warnf("at %d", i)
		}
		_ = w.Flush()
	}
	w.Lack(Lack{What: "x"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCutAnywhere(t *testing.T) {
	whole := sample(t)
	path := filepath.Join(t.TempDir(), "cut.unstall")
	r := rand.New(rand.NewPCG(1, 2))
	var cuts []int
	for n := 0; n < len(whole); n += 512 {
		cuts = append(cuts, n, n+1, n+r.IntN(512), n+511)
	}
	lines := 0
	for _, n := range cuts {
		for _, zeros := range []int{0, 700} { // zeros after the cut, as a file system leaves them after a crash
			if err := os.WriteFile(path, append(bytes.Clone(whole[:n]), make([]byte, zeros)...), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Open(path)
			if err != nil {
				if n >= 1024 || strings.Contains(err.Error(), "\n") {
					t.Fatalf("cut at %d: %v", n, err)
				}
				continue
			}
			if n < len(whole)-1536 && (c.Ended || !strings.Contains(strings.Join(c.Warnings, "\n"), "cut off")) {
				if !strings.Contains(strings.Join(c.Warnings, "\n"), "damaged") || zeros == 0 {
					t.Errorf("cut at %d of %d, %d zeros: ended %v, warnings %q", n, len(whole), zeros, c.Ended, c.Warnings)
				}
			}
			got := contents(t, c)["a.log"]
			seen := strings.Count(got, "\n")
			if want := "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n"; !strings.HasPrefix(want, got) || got != "" && got[len(got)-1] != '\n' || zeros == 0 && n > 0 && seen < lines-1 {
				t.Errorf("cut at %d: %q", n, got)
			}
			lines = max(lines, seen)
		}
	}
	if lines != 6 {
		t.Errorf("%d lines at most", lines)
	}
}

func TestDamage(t *testing.T) {
	whole := sample(t)
	path := filepath.Join(t.TempDir(), "damaged.unstall")
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		b := bytes.Clone(whole)
		b[1024+r.IntN(len(b)-1024)] ^= byte(1 << r.IntN(8))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range c.Artifacts() {
			got, err := read(a.Open)
			if a.Name != "b.gz" || err != nil {
				continue
			}
			want := append([]byte("\x1f\x8b"), bytes.Repeat(noise(700), 6)...)
			if !bytes.HasPrefix(want, got) {
				t.Fatalf("damaged data were read")
			}
		}
	}
}

// Damage in one place takes no more than the chunks there: other artifacts are read whole, and the warning comes first.
func TestReadsPastDamage(t *testing.T) {
	whole := sample(t)
	path := filepath.Join(t.TempDir(), "damaged.unstall")
	second := bytes.Index(whole, []byte("b.gz/000001")) // of the chunk's header, after its PAX record
	if second < 0 {
		t.Fatal("no b.gz in the sample")
	}
	b := bytes.Clone(whole)
	for i := second; i < second+400; i++ {
		b[i] ^= 0x55
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, c)["a.log"], "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n"; got != want {
		t.Errorf("a.log: %q, want %q", got, want)
	}
	if _, ok := contents(t, c)["b.gz"]; ok {
		t.Error("b.gz is read without its beginning")
	}
	if !c.Ended || c.Damage == "" || !strings.HasPrefix(c.Warnings[0], "the capture is damaged: what follows byte ") {
		t.Errorf("ended %v, damage %q, warnings %q", c.Ended, c.Damage, c.Warnings)
	}
}

// Of two damaged members in a row, both are left: the search does not stay at the second, whose first block is whole.
func TestReadsPastDamageInARow(t *testing.T) {
	b := sample(t)
	for at, damaged := 2*block, 0; damaged < 2; at += block { // past the manifest
		if at+block > len(b) {
			t.Fatal("the sample has too few members")
		}
		if isMemberHeader(b[at:at+block]) && b[at+156] == tar.TypeXHeader {
			b[at+2*block] ^= 0x55 // the header that its record of one block belongs to
			damaged++
		}
	}
	c, err := readIndex(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Ended || c.Damage == "" {
		t.Errorf("ended %v, damage %q", c.Ended, c.Damage)
	}
}

func TestDamageAllOver(t *testing.T) {
	whole := sample(t)
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		b := bytes.Clone(whole)
		for range 50 {
			b[1024+r.IntN(len(b)-1024)] ^= byte(1 << r.IntN(8))
		}
		if _, err := readIndex(bytes.NewReader(b), int64(len(b))); err != nil {
			t.Fatal(err)
		}
	}
}

func read(open func() (io.ReadCloser, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ content, want string }{
		{"", "is empty: nothing was recorded"},
		{"unst", "was cut off before anything was recorded"},
		{future(t)[:300], "was cut off before anything was recorded"},
		{"hello, world", "is not a capture: its first member is not unstall.json"},
		{strings.Repeat("x", 5000), "is not a capture: its first member is not unstall.json"},
		{future(t), `has the format "unstall.capture/v9", but this version of unstall reads unstall.capture/v1: use the version that recorded it ("unstall 9")`},
	} {
		path := filepath.Join(dir, "x.unstall")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || err.Error() != path+": "+c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(dir); err == nil || !strings.HasSuffix(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}

func future(t *testing.T) string {
	var b bytes.Buffer
	if err := writeMember(&b, manifestName, start, []byte(`{"schema":"unstall.capture/v9","tool":"unstall 9"}`), nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// disk is a file on a disk with room for size bytes.
type disk struct {
	b        []byte
	size     int
	stubborn bool // cannot be truncated
}

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	room := max(0, d.size-int(off))
	n := min(len(p), room)
	d.b = append(d.b[:min(len(d.b), int(off))], p[:n]...)
	if n < len(p) {
		return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error {
	if d.stubborn {
		return syscall.EIO
	}
	d.b = d.b[:size]
	return nil
}

func (d *disk) Close() error { return nil }

func TestDiskFull(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		d := &disk{size: 100_000, stubborn: stubborn}
		w, err := newWriter(d, "gw.unstall", info)
		if err != nil {
			t.Fatal(err)
		}
		log := create(t, w, Meta{Name: "a.log", Lines: true})
		write(t, log, []byte("kept\n"))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		raw := create(t, w, Meta{Name: "b.out"})
		told := 0
		random := noise(30 * 50_000)
		for i := range 30 {
			n, err := raw.Write(random[i*50_000:][:50_000])
			switch {
			case err != nil && told == 0:
				told++
				if want := "gw.unstall: no space left on device: the data recorded until now is kept, the rest is lost"; err.Error() != want || !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			case err != nil || n != 50_000:
				t.Errorf("told again: %d, %v", n, err)
			}
		}
		if told == 0 || !errors.Is(w.Err(), syscall.ENOSPC) {
			t.Errorf("told %d times, %v", told, w.Err())
		}
		if !stubborn && len(d.b)%512 != 0 {
			t.Errorf("half a member was left: %d bytes", len(d.b))
		}
		write(t, log, []byte("dropped\n"))
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
		path := filepath.Join(t.TempDir(), "gw.unstall")
		if err := os.WriteFile(path, d.b, 0o600); err != nil {
			t.Fatal(err)
		}
		c := open(t, path)
		// Part of the other artifact may be there if this took long.
		if got := contents(t, c); got["a.log"] != "kept\n" || !strings.HasPrefix(string(random), got["b.out"]) {
			t.Errorf("%.100q", got)
		}
		if !c.Ended || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "not everything could be stored: gw.unstall: no space left on device") {
			t.Errorf("ended %v, %q", c.Ended, c.Warnings)
		}
	}
	if _, err := newWriter(&disk{size: 100}, "x", info); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

// The killed writer is this test binary; it prints what it has flushed.
func TestKill(t *testing.T) {
	const variable = "CAPTURE_TEST_WRITE_TO"
	if path := os.Getenv(variable); path != "" {
		writeUntilKilled(t, path)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Skip("the test cannot find itself:", err)
	}
	for round := range 5 {
		path := filepath.Join(t.TempDir(), "killed.unstall")
		cmd := exec.Command(self, "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), variable+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		flushed := -1
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if n := 0; flushed < 20*(round+1) {
				if _, err := fmt.Sscanf(lines.Text(), "flushed %d", &n); err == nil {
					flushed = n
				}
				if flushed >= 20*(round+1) {
					_ = cmd.Process.Kill()
				}
			} else if _, err := fmt.Sscanf(lines.Text(), "flushed %d", &n); err == nil {
				flushed = n // printed before it was killed
			}
		}
		_ = cmd.Wait()
		if flushed < 0 {
			t.Fatal("the writer said nothing")
		}
		c := open(t, path)
		if c.Ended || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "was cut off at") {
			t.Errorf("ended %v, %q", c.Ended, c.Warnings)
		}
		got := contents(t, c)
		lines := strings.Split(strings.TrimSuffix(got["a.log"], "\n"), "\n")
		for i, l := range lines {
			if l != killedLine(i) {
				t.Fatalf("line %d is %.40q", i, l)
			}
		}
		if len(lines) <= flushed || len(got["b.out"]) <= flushed*10_000 {
			t.Errorf("%d lines and %d bytes are there, %d were flushed", len(lines), len(got["b.out"]), flushed)
		}
	}
}

func killedLine(i int) string { return fmt.Sprintf("line %d %x", i, noise(500)) }

func writeUntilKilled(t *testing.T, path string) {
	w, err := Create(path, info)
	if err != nil {
		t.Fatal(err)
	}
	log := create(t, w, Meta{Name: "a.log", Lines: true})
	raw := create(t, w, Meta{Name: "b.out"})
	for i := range 100_000 {
		write(t, log, []byte(killedLine(i)+"\n"))
		write(t, raw, noise(10_000))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		fmt.Println("flushed", i)
	}
}

func FuzzOpen(f *testing.F) {
	whole := sample(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(whole[:1024])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		Is(b)
		c, err := readIndex(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		var buf []byte
		for _, a := range c.artifacts {
			for _, k := range a.chunks {
				if read, err := k.read(bytes.NewReader(b), buf); err == nil {
					buf = read
				}
			}
		}
		c.Path = os.DevNull
		for _, a := range c.Artifacts() {
			if a.Name == "" || strings.ContainsAny(a.Name, "/\n") {
				t.Fatalf("an artifact named %q", a.Name)
			}
		}
	})
}
