package exchanges

import (
	"debug/buildinfo"
	"fmt"
	"go/version"
	"strings"

	"github.com/cilium/ebpf/asm"
)

// firstWithRegister is the release from which on Go keeps the running goroutine in a register, also while the thread is in a system call
// (the internal ABI: https://go.dev/s/regabi).
const firstWithRegister = "go1.17"

// keepsGoroutine says whether a process is a Go program that keeps its goroutine in a register.
func keepsGoroutine(pid int) bool {
	info, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	release, _, _ := strings.Cut(info.GoVersion, " ")
	return version.Compare(release, firstWithRegister) >= 0
}

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
