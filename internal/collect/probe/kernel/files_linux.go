package kernel

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/cilium/ebpf/asm"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/tracepoint"
)

// filling is the tracepoint at which the thread that needs a page of a file puts it into memory, before the page is read from the disk. For a
// waiting page fault only this shows the file.
const filling = "mm_filemap_add_to_page_cache"

// mappedFiles is the number from which on a descriptor stands for a mapped file.
const mappedFiles = 1 << 24

// fileLayout is where the kernel keeps the file of a page.
type fileLayout struct{ mapping, host, inode int16 }

func fileOffsets(t *tracepoint.KernelTypes) (l fileLayout, err error) {
	if err := t.RequireTracepoint(filling); err != nil {
		return l, err
	}
	for _, m := range []struct {
		of, name string
		to       *int16
	}{{"folio", "mapping", &l.mapping}, {"address_space", "host", &l.host}, {"inode", "i_ino", &l.inode}} {
		if *m.to, _, err = t.Member(m.of, m.name); err != nil {
			return l, err // before 5.16 there are no folios
		}
	}
	return l, nil
}

// buildFilledProgram builds the program that runs when a page is filled. It notes the file of the thread's last page.
func (w *waiting) buildFilledProgram(l fileLayout) asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.FnGetCurrentPidTgid.Call(),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.RSh.Imm(asm.R0, 32),
		asm.JNE.Imm(asm.R0, int32(w.of.lead), "exit"),
		asm.LSh.Imm(asm.R7, 32),
		asm.RSh.Imm(asm.R7, 32), // the thread
		asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord),
		asm.LoadMem(asm.R1, asm.R1, l.mapping, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "exit"),
		asm.LoadMem(asm.R1, asm.R1, l.host, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "exit"),
		asm.LoadMem(asm.R8, asm.R1, l.inode, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R7),
	}
	p = append(p, w.slotOf(asm.R3)...)
	return append(p,
		asm.LoadMem(asm.R4, asm.R3, slotThread, asm.Word),
		asm.JNE.Reg(asm.R4, asm.R7, "exit"),
		asm.StoreMem(asm.R3, slotInode, asm.R8, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
		asm.Return(),
	)
}

// mappedFileNumber returns the number of the mapped file that a thread waited for in a page fault, -1 if it is unknown. It first writes which
// file has the number. Inode numbers belong to one file system; of two files with the same number the first is taken.
func (w *waiting) mappedFileNumber(s *stacks, pid int, call int64, inode uint64) int {
	if inode == 0 || int32(call) != -1 { // a system call has a descriptor instead
		return -1
	}
	n, known := w.inodes[inode]
	if known {
		return n
	}
	n = -1
	if path := mappedPath(pid, inode); path != "" {
		n = mappedFiles + len(w.inodes)
		s.buf = fmt.Appendf(s.buf, "fd %d %s\n", n, redact.Value([]byte(probe.OneLine(path))))
	}
	w.inodes[inode] = n
	return n
}

func mappedPath(pid int, inode uint64) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return ""
	}
	defer f.Close()
	want := fmt.Sprint(inode)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if f := strings.SplitN(lines.Text(), " ", 6); len(f) == 6 && f[4] == want {
			return strings.TrimSuffix(strings.TrimLeft(f[5], " "), " (deleted)")
		}
	}
	return ""
}
