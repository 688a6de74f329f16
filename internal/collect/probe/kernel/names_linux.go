package kernel

import (
	"bytes"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// names are the names of the kernel's functions. If possible the kernel itself is asked about each address on a stack (bpf_snprintf with %ps, Linux
// 5.14): of 100,000 functions some hundred occur, and writing all of /proc/kallsyms takes the kernel 50 ms of CPU time. Otherwise /proc/kallsyms is
// read.
type names struct {
	mu    sync.Mutex
	known map[uint64]string
	ask   *asking
	all   *symbol.Kernel // read if the kernel cannot be asked
	tried bool
	fail  func(error) // is called with the reason if kernel functions have no names
}

func newNames(fail func(error)) *names {
	n := &names{known: make(map[uint64]string), fail: fail}
	n.ask, _ = openAsking()
	return n
}

// Name returns the function that an address lies in, "" if none is known.
func (n *names) Name(addr uint64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.known[addr]
	if ok {
		return name
	}
	if len(n.known) > mostKnown {
		clear(n.known)
	}
	if name, ok = n.ask.askName(addr); !ok {
		if !n.tried {
			n.tried = true
			var err error
			if n.all, err = symbol.ReadKernel(); err != nil {
				n.fail(err)
			}
		}
		name = n.all.Name(addr)
	}
	n.known[addr] = name
	return name
}

func (n *names) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ask.close()
}

// asking is a program that runs for one address at a time.
type asking struct {
	program int
	io      *ebpf.Map // the address, then its function's name
	format  *ebpf.Map
	room    []byte
}

const (
	askedName = 8
	askedSize = askedName + 256
)

func openAsking() (a *asking, err error) {
	a = &asking{program: -1, room: make([]byte, askedSize)}
	defer func() {
		if err != nil {
			a.close()
			a = nil
		}
	}()
	if a.io, err = ebpf.NewMap(&ebpf.MapSpec{Name: "unstall_name", Type: ebpf.Array, KeySize: 4, ValueSize: askedSize, MaxEntries: 1}); err != nil {
		return a, err
	}
	// The verifier must know the format, so it is in a read-only map.
	a.format, err = ebpf.NewMap(&ebpf.MapSpec{Name: "unstall_format", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1, Flags: unix.BPF_F_RDONLY_PROG, Contents: []ebpf.MapKV{{Key: uint32(0), Value: []byte("%ps\x00\x00\x00\x00\x00")}}})
	if err != nil {
		return a, err
	}
	if err = a.format.Freeze(); err != nil {
		return a, err
	}
	a.program, err = tracepoint.LoadCode("unstall_name", unix.BPF_PROG_TYPE_SYSCALL, 0, 0, unix.BPF_F_SLEEPABLE, asm.Instructions{
		asm.LoadMapValue(asm.R1, a.io.FD(), askedName),
		asm.Mov.Imm(asm.R2, askedSize-askedName),
		asm.LoadMapValue(asm.R3, a.format.FD(), 0),
		asm.LoadMapValue(asm.R4, a.io.FD(), 0),
		asm.Mov.Imm(asm.R5, 8),
		asm.FnSnprintf.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	})
	return a, err
}

// askName asks the kernel for the name of the function an address lies in; false if the kernel
// cannot be asked.
func (a *asking) askName(addr uint64) (string, bool) {
	if a == nil {
		return "", false
	}
	clear(a.room)
	*(*uint64)(unsafe.Pointer(&a.room[0])) = addr
	if a.io.Put(uint32(0), a.room) != nil {
		return "", false
	}
	attr := struct {
		program, returned           uint32
		sizeIn, sizeOut             uint32
		dataIn, dataOut             uint64
		repeat, took                uint32
		contextSizeIn, contextSizeO uint32
		contextIn, contextOut       uint64
		flags, cpu                  uint32
	}{program: uint32(a.program)}
	if _, err := tracepoint.Call(unix.BPF_PROG_TEST_RUN, unsafe.Pointer(&attr), unsafe.Sizeof(attr)); err != nil {
		return "", false
	}
	if a.io.Lookup(uint32(0), &a.room) != nil {
		return "", false
	}
	text, _, _ := bytes.Cut(a.room[askedName:], []byte{0})
	text, _, _ = bytes.Cut(text, []byte(" ")) // of a module: "ext4_sync_file [ext4]"
	if bytes.HasPrefix(text, []byte("0x")) {
		return "", true
	}
	return string(text), true
}

func (a *asking) close() {
	if a == nil {
		return
	}
	if a.program >= 0 {
		_ = unix.Close(a.program)
		a.program = -1
	}
	for _, m := range []*ebpf.Map{a.io, a.format} {
		if m != nil {
			_ = m.Close()
		}
	}
}
