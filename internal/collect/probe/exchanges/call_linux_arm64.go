package exchanges

import "github.com/cilium/ebpf/asm"

// registers have the names in arch/arm64/include/asm/ptrace.h, calls the numbers in the generic table. The registers lie at the beginning. The
// second argument is in the second of them, and so on; the goroutine is in the 29th.
var registers = callRegisters{call: "syscallno", callSize: asm.Word, bufferAt: 8, goroutineAt: 28 * 8,
	plain: []int32{63, 64, 206, 207}, vector: []int32{65, 66}, message: []int32{211, 212}, many: []int32{243, 269},
	sendTo: 206, countAt: 16, targetAt: 32}
