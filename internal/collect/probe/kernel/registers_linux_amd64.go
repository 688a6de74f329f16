package kernel

import "github.com/cilium/ebpf/asm"

// registers are those of arch/x86/include/asm/ptrace.h.
var registers = callRegisters{"orig_ax", "di", "ip", asm.DWord, map[int64]bool{
	0: true, 1: true, 17: true, 18: true, 19: true, 20: true, 44: true, 45: true, 46: true, 47: true, // read, write and their like
	43: true, 288: true, 42: true, // accept, connect
	72: true, 73: true, 74: true, 75: true, 277: true, 285: true, 306: true, // fcntl, flock, fsync, fdatasync, sync_file_range, fallocate, syncfs
	295: true, 296: true, 327: true, 328: true, // preadv, pwritev
}}
