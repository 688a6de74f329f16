package exchanges

import "github.com/cilium/ebpf/asm"

// registers are those of arch/arm64/include/asm/ptrace.h, calls those of the generic table. The second argument is in
// the second of the registers, which lie at the beginning, and so on; the goroutine in the 29th.
var registers = callRegisters{call: "syscallno", callSize: asm.Word, bufferAt: 8, goroutineAt: 28 * 8,
	plain: []int32{63, 64, 206, 207}, vector: []int32{65, 66}, message: []int32{211, 212}, many: []int32{243, 269},
	sendTo: 206, countAt: 16, targetAt: 32}
