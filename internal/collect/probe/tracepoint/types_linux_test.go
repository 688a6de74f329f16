package tracepoint

import (
	"testing"

	"github.com/cilium/ebpf/btf"
)

const switching = "sched_switch"

// asked are types of different kinds.
func asked() []Type {
	return []Type{Struct("task_struct"), Struct("pt_regs"), Struct("address_space"), Struct("inode"), Function("bpf_iter_num_new"), Tracepoint(switching)}
}

// What is read of the kernel's types is what a library that reads all of them says.
func TestTypes(t *testing.T) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Skipf("this kernel does not describe its types: %v", err)
	}
	types, err := ReadTypes(asked())
	if err != nil {
		t.Fatal(err)
	}
	defer types.Close()
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
			if at, size, err := types.Member(c.of, "never", c.name); err != nil || uint32(at) != m.Offset.Bytes() || size != 0 && int(size) != want {
				t.Errorf("%s.%s: at %d of %d bytes, want %d of %d, %v", c.of, c.name, at, size, m.Offset.Bytes(), want, err)
			}
		}
	}
	var trace *btf.Typedef
	if err := spec.TypeByName("btf_trace_"+switching, &trace); err != nil {
		t.Fatal(err)
	}
	want, err := spec.TypeID(trace)
	if id, ok := types.ID(Tracepoint(switching)); err != nil || !ok || id != uint32(want) {
		t.Errorf("%s is type %d, want %d, %v", switching, id, want, err)
	}
	var loop *btf.Func
	if err := spec.TypeByName("bpf_iter_num_new", &loop); err == nil {
		want, err := spec.TypeID(loop)
		if id, ok := types.ID(Function("bpf_iter_num_new")); err != nil || !ok || id != uint32(want) {
			t.Errorf("bpf_iter_num_new is function %d, want %d, %v", id, want, err)
		}
	}
	if types.RequireTracepoint("no_such_tracepoint") == nil {
		t.Error("a tracepoint that does not exist is known")
	}
	if _, _, err := types.Member("task_struct", "never"); err == nil {
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
			_, _, _ = types.Member("inode", "pid")
		}
	})
}
