package exchanges

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

// mostSites is the number of stacks a second that are taken of calls at most, about. One costs the process some 3 µs.
const mostSites = 2_000

// storeStack stores in the state of R6, of a call that begins, the number of the stack that sends it. Only Go programs are asked: their functions keep frame pointers
// (https://pkg.go.dev/internal/abi), by which the kernel follows their stacks.
func (p *program) storeStack() {
	p.storeConstant(atStack, -1, asm.Word)
	if p.l.goroutine < 0 {
		return
	}
	none := p.newLabel("siteless")
	p.add(
		asm.LoadMem(asm.R1, asm.R6, atBegun, asm.DWord),
		asm.RSh.Imm(asm.R1, 6),
		asm.Mul.Imm(asm.R1, 0x2545f491), // odd: spreads them, as calls may come at even distances
		asm.RSh.Imm(asm.R1, 12),
		asm.LoadMapValue(asm.R2, p.k.tuning.FD(), 0),
		asm.LoadMem(asm.R2, asm.R2, tuneStacks, asm.Word),
		asm.And.Reg(asm.R1, asm.R2),
		asm.JNE.Imm(asm.R1, 0, none),
		asm.LoadMem(asm.R1, asm.RFP, onStackRun, asm.DWord),
		asm.LoadMapPtr(asm.R2, p.k.stacks.FD()),
		asm.Mov.Imm(asm.R3, unix.BPF_F_USER_STACK),
		asm.FnGetStackid.Call(),
		asm.StoreMem(asm.R6, atStack, asm.R0, asm.Word),
	)
	p.placeLabel(none)
}

// sites names the code that sent calls: the stacks that the programs took of a process.
type sites struct {
	pid     int
	symbols *symbol.Process
	stacks  *ebpf.Map
	own     map[uint32]bool // threads: is it one of the process itself, or of a child?
	known   map[int32]int   // by number of the kernel's: number of the artifact's, 0 none
	texts   map[string]int
}

func newSites(pid int, inGo bool, stacks *ebpf.Map) *sites {
	if !inGo {
		return nil
	}
	return &sites{pid: pid, symbols: symbol.NewProcess(pid), stacks: stacks, own: make(map[uint32]bool), known: make(map[int32]int), texts: make(map[string]int)}
}

// appendSite returns the number of a stack, 0 if it is not known, and appends its line if it is new.
func (s *sites) appendSite(out []byte, thread uint32, stack int32) ([]byte, int) {
	if s == nil || stack < 0 || !s.isOwn(thread) {
		return out, 0
	}
	n, known := s.known[stack]
	if known {
		return out, n
	}
	text := s.describeStack(stack)
	if text != "" {
		if n, known = s.texts[text]; !known {
			n = len(s.texts) + 1
			s.texts[text] = n
			out = append(strconv.AppendInt(append(out, "s "...), int64(n), 10), text...)
			out = append(out, '\n')
		}
	}
	s.known[stack] = n
	return out, n
}

// isOwn says whether a thread is one of the process itself.
func (s *sites) isOwn(thread uint32) bool {
	own, known := s.own[thread]
	if !known && len(s.own) < mostNamed {
		_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", s.pid, thread))
		own = err == nil
		s.own[thread] = own
	}
	return own
}

// describeStack returns the functions of a stack, innermost first, each after a separator; "" if they are not known.
func (s *sites) describeStack(stack int32) string {
	var frames [8 * deepestStack]byte
	if s.stacks.Lookup(uint32(stack), &frames) != nil {
		return ""
	}
	var text strings.Builder
	for at := 0; at < len(frames); at += 8 {
		address := binary.NativeEndian.Uint64(frames[at:])
		if address == 0 {
			break
		}
		if at > 0 { // it is that after the call, which may be the last instruction of its function
			address--
		}
		function, _ := s.symbols.Name(address)
		if function == "" {
			break
		}
		if at == 0 {
			text.WriteByte(' ')
		} else {
			text.WriteByte('\t')
		}
		text.Write(oneLine([]byte(function)))
	}
	return text.String()
}
