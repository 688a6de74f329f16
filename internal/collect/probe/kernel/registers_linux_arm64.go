package kernel

import "github.com/cilium/ebpf/asm"

// registers are those of arch/arm64/include/asm/ptrace.h.
var registers = callRegisters{"syscallno", "orig_x0", "pc", asm.Word, map[int64]bool{
	63: true, 64: true, 65: true, 66: true, 67: true, 68: true, 69: true, 70: true, 206: true, 207: true, 211: true, 212: true, // read, write and their like
	202: true, 203: true, 242: true, // accept, connect
	25: true, 32: true, 47: true, 82: true, 83: true, 84: true, 267: true, // fcntl, flock, fallocate, fsync, fdatasync, sync_file_range, syncfs
}}
