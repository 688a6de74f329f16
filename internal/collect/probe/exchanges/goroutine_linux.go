package exchanges

import "github.com/cilium/ebpf/asm"

// storeGoroutine stores the goroutine that made the system call, if it is known.
func (p *program) storeGoroutine(at int16) {
	if p.l.goroutine < 0 {
		return
	}
	p.add(
		asm.FnGetCurrentTaskBtf.Call(),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.FnTaskPtRegs.Call(),
		asm.LoadMem(asm.R1, asm.R0, p.l.goroutine, asm.DWord),
		asm.StoreMem(asm.R6, at, asm.R1, asm.DWord),
	)
}
