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

	"github.com/unstall/unstall/internal/collect/probe/goroutine"
	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

// mostSites is the number of stacks a second that are taken of calls at most, about.
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

// sites names the code that sends calls, and that in which goroutines of requests wait.
type sites struct {
	pid     int
	symbols *symbol.Process
	sent    *ebpf.Map       // stacks of calls, by the kernel's number
	own     map[uint32]bool // threads: is it one of the process itself, or of a child?
	known   map[int32]int   // by the kernel's number: the artifact's, 0 none
	stacks  map[string]int  // by addresses: the artifact's number, 0 none
	texts   map[string]int
	frames  []uint64
	key     []byte
}

func newSites(pid int, sent *ebpf.Map) *sites {
	return &sites{pid: pid, symbols: symbol.NewProcess(pid), sent: sent, own: make(map[uint32]bool), known: make(map[int32]int), stacks: make(map[string]int), texts: make(map[string]int)}
}

// appendSite returns the number of the stack that sent a call, by the kernel's number, 0 if it is not known, and appends its line if it is new.
func (s *sites) appendSite(out []byte, thread uint32, sent int32) ([]byte, int) {
	if s == nil || sent < 0 || !s.isOwn(thread) {
		return out, 0
	}
	n, known := s.known[sent]
	if known {
		return out, n
	}
	var kept [8 * deepestStack]byte
	if s.sent.Lookup(uint32(sent), &kept) == nil {
		s.frames = s.frames[:0]
		for at := 0; at < len(kept); at += 8 {
			address := binary.NativeEndian.Uint64(kept[at:])
			if address == 0 {
				break
			}
			s.frames = append(s.frames, address)
		}
		out, n = s.appendStack(out, s.frames)
	}
	s.known[sent] = n
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

// mostStackKeys bounds the stacks that are known by their addresses.
const mostStackKeys = 1 << 15

// appendStack returns the number of a stack, 0 if its functions are not known, and appends its line if it is new. Addresses are innermost first; all
// but the first are those after a call, which may be the last instruction of their function.
func (s *sites) appendStack(out []byte, frames []uint64) ([]byte, int) {
	s.key = s.key[:0]
	for _, a := range frames {
		s.key = binary.NativeEndian.AppendUint64(s.key, a)
	}
	if n, known := s.stacks[string(s.key)]; known {
		return out, n
	}
	if len(s.stacks) >= mostStackKeys {
		clear(s.stacks)
	}
	functions := goroutine.FunctionsOf(s.symbols, frames)
	for i, f := range functions {
		functions[i] = string(oneLine([]byte(f)))
	}
	text := strings.Join(functions, "\t")
	n := 0
	if text != "" {
		var known bool
		if n, known = s.texts[text]; !known && len(s.texts) < mostStacks {
			n = len(s.texts) + 1
			s.texts[text] = n
			out = append(append(strconv.AppendInt(append(out, "s "...), int64(n), 10), ' '), text...)
			out = append(out, '\n')
		}
	}
	s.stacks[string(s.key)] = n
	return out, n
}
