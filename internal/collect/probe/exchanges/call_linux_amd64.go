package exchanges

import "github.com/cilium/ebpf/asm"

// registers have the names in arch/x86/include/asm/ptrace.h, calls the numbers in that architecture's table.
var registers = callRegisters{call: "orig_ax", callSize: asm.DWord, buffer: "si", goroutine: "r14",
	plain: []int32{0, 1, 44, 45}, vector: []int32{19, 20}, message: []int32{46, 47}, many: []int32{299, 307},
	sendTo: 44, count: "dx", target: "r8"}
