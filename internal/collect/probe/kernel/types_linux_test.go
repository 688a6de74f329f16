package kernel

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// What is read of the kernel's types is what a library that reads all of them says.
func TestTypes(t *testing.T) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Skipf("this kernel does not describe its types: %v", err)
	}
	types, err := readTypes(asked())
	if err != nil {
		t.Fatal(err)
	}
	defer types.close()
	for _, c := range []struct{ of, name string }{{"task_struct", "pid"}, {"task_struct", "tgid"}, {"task_struct", "__state"}, {"pt_regs", "sp"}, {"address_space", "host"}, {"inode", "i_ino"}} {
		var s *btf.Struct
		if err := spec.TypeByName(c.of, &s); err != nil {
			t.Fatal(err)
		}
		for _, m := range s.Members {
			if m.Name != c.name {
				continue
			}
			want, _ := btf.Sizeof(m.Type)
			if at, size, err := types.member(c.of, "never", c.name); err != nil || uint32(at) != m.Offset.Bytes() || size != 0 && int(size) != want {
				t.Errorf("%s.%s: at %d of %d bytes, want %d of %d, %v", c.of, c.name, at, size, m.Offset.Bytes(), want, err)
			}
		}
	}
	var trace *btf.Typedef
	if err := spec.TypeByName("btf_trace_"+switching, &trace); err != nil {
		t.Fatal(err)
	}
	want, err := spec.TypeID(trace)
	if id, ok := types.id(tracepoint(switching)); err != nil || !ok || id != uint32(want) {
		t.Errorf("%s is type %d, want %d, %v", switching, id, want, err)
	}
	if types.known("no_such_tracepoint") == nil {
		t.Error("a tracepoint that does not exist is known")
	}
	if _, _, err := types.member("task_struct", "never"); err == nil {
		t.Error("a member that does not exist was found")
	}
}

// Damaged types are an error, and no more.
func FuzzTypes(f *testing.F) {
	f.Add([]byte("\x9f\xeb\x01\x00\x18\x00\x00\x00\x00\x00\x00\x00\x18\x00\x00\x00\x18\x00\x00\x00\x0b\x00\x00\x00" +
		"\x01\x00\x00\x00\x01\x00\x00\x04\x08\x00\x00\x00\x07\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00" + "\x00inode\x00pid\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		types, err := parseTypes(b, asked())
		if err == nil {
			_, _, _ = types.member("inode", "pid")
		}
	})
}

// The kernel says what its functions are called, as /proc/kallsyms has them.
func TestNames(t *testing.T) {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	n := newNames(func(err error) { t.Skip(err) })
	defer n.close()
	checked := 0
	for lines := bufio.NewScanner(f); lines.Scan() && checked < 20; {
		w := strings.Fields(lines.Text())
		if len(w) != 3 || w[1] != "T" || !strings.HasPrefix(w[2], "vfs_") {
			continue
		}
		at, err := strconv.ParseUint(w[0], 16, 64)
		if err != nil || at == 0 {
			t.Skip("this user is not told where the kernel's functions are")
		}
		checked++
		if got := n.Name(at + 1); got != w[2] {
			t.Errorf("%s is called %q", w[2], got)
		}
	}
	if checked == 0 {
		t.Skip("no function was found to ask for")
	}
	if n.ask != nil && n.Name(1) != "" {
		t.Errorf("where no function is, there is %q", n.Name(1))
	}
}
