package symbol

// Registers are the registers of a thread, by DWARF's numbers, as far as they are known.
type Registers struct {
	values [registersKept]uint64
	known  [registersKept]bool
}

// Numbers of registers (System V ABI, AMD64 supplement, figure 3.36).
const (
	FramePointer = regBase
	StackPointer = regStack
	Kept         = regReturn // registers before the return address
)

// Set sets a register.
func (r *Registers) Set(number int, value uint64) { r.values[number], r.known[number] = value, true }

// Get returns a register; 0 if its value is not known.
func (r *Registers) Get(number int) uint64 {
	if !r.known[number] {
		return 0
	}
	return r.values[number]
}

// ForgetAllBut makes all registers unknown but two, which code that is made at run time keeps as usual.
func (r *Registers) ForgetAllBut(a, b int) {
	for i := range r.known {
		r.known[i] = r.known[i] && (i == a || i == b)
	}
}

// Leave goes from the frame of compiled code to its caller's by the rules of its file. stack is a copy of the stack from sp on. caller says that pc
// is an address after a call. It returns false if there are no such rules, which is so for code made at run time, or if they need what is not
// known; the registers are then of no use.
func (p *Process) Leave(pc uint64, caller bool, r *Registers, sp uint64, stack []byte) (next uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stack.use(sp, stack)
	return p.unwindFrame(pc, caller, &r.values, &r.known)
}

// HasRules says whether the frame of code at an address can be left by the rules of a file.
func (p *Process) HasRules(pc uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rowAt(pc) != nil
}

// Maps says whether code is mapped at an address.
func (p *Process) Maps(addr uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mappingAt(addr) != nil
}

// FollowsCall says whether code is mapped before an address and is a call.
func (p *Process) FollowsCall(addr uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.callBefore(addr).is
}
