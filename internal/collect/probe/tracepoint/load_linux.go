package tracepoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// Program is a program that runs at a tracepoint.
type Program struct {
	program int
	link    int // -1: it is off
}

// Load loads a program for a tracepoint. It does not run yet.
func Load(name, at string, t *KernelTypes, p asm.Instructions) (*Program, error) {
	id, ok := t.ID(Tracepoint(at))
	if !ok {
		return nil, t.RequireTracepoint(at)
	}
	fd, err := LoadCode(name, unix.BPF_PROG_TYPE_TRACING, unix.BPF_TRACE_RAW_TP, id, 0, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return &Program{fd, -1}, nil
}

// On switches the program on.
func (t *Program) On() error {
	attr := struct {
		name    uint64
		program uint32
		_       uint32
		cookie  uint64
	}{program: uint32(t.program)}
	fd, err := Call(unix.BPF_RAW_TRACEPOINT_OPEN, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	if err != nil {
		return err
	}
	t.link = fd
	return nil
}

// Off switches the program off; it can be switched on again.
func (t *Program) Off() {
	if t.link >= 0 {
		_ = unix.Close(t.link)
		t.link = -1
	}
}

// Close switches the program off for good.
func (t *Program) Close() {
	if t == nil {
		return
	}
	t.Off()
	_ = unix.Close(t.program)
}

// LoadCode is BPF_PROG_LOAD of bpf(2). The tracepoint's number is known already, so it need not be searched by name.
func LoadCode(name string, typ, attach, id, flags uint32, p asm.Instructions) (int, error) {
	var code bytes.Buffer
	if err := p.Marshal(&code, binary.LittleEndian); err != nil { // of the machines whose registers are known
		return -1, err
	}
	attr := struct {
		typ, count            uint32
		code, license         uint64
		level, size           uint32
		log                   uint64
		version, flags        uint32
		name                  [16]byte
		device, attach        uint32
		types, functionSize   uint32
		functions             uint64
		functionCount, lineOf uint32
		lines                 uint64
		lineCount, id         uint32
		object, _             uint32
	}{typ: typ, count: uint32(code.Len() / asm.InstructionSize), attach: attach, id: id, flags: flags}
	license := []byte("GPL\x00")
	text := code.Bytes()
	attr.code, attr.license = uint64(uintptr(unsafe.Pointer(&text[0]))), uint64(uintptr(unsafe.Pointer(&license[0])))
	copy(attr.name[:15], name)
	fd, err := Call(unix.BPF_PROG_LOAD, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EACCES) { // the verifier's errors
		log := make([]byte, 64<<10)
		attr.level, attr.size, attr.log = 1, uint32(len(log)), uint64(uintptr(unsafe.Pointer(&log[0])))
		if fd, err = Call(unix.BPF_PROG_LOAD, unsafe.Pointer(&attr), unsafe.Sizeof(attr)); err != nil {
			err = fmt.Errorf("%w: %s", err, lastLine(log))
		}
		runtime.KeepAlive(log)
	}
	runtime.KeepAlive(text)
	runtime.KeepAlive(license)
	return fd, err
}

// Call is bpf(2), repeated where a signal interrupted it.
func Call(command int, attr unsafe.Pointer, size uintptr) (int, error) {
	for {
		r, _, errno := unix.Syscall(unix.SYS_BPF, uintptr(command), uintptr(attr), size)
		switch errno {
		case 0:
			return int(r), nil
		case unix.EAGAIN, unix.EINTR:
			continue
		}
		return -1, os.NewSyscallError("bpf", errno)
	}
}

// lastLine returns the verifier's last line that is not its statistics.
func lastLine(log []byte) string {
	text, _, _ := bytes.Cut(log, []byte{0})
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if len(lines[i]) > 0 && !bytes.HasPrefix(lines[i], []byte("processed ")) {
			return string(lines[i])
		}
	}
	return ""
}
