package kernel

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/collect/probe"
)

// stacks writes an artifact. Functions, stacks and threads' names come once each, before the lines that refer to them by number.
type stacks struct {
	of     *family
	out    io.Writer
	buf    []byte
	kernel *names

	addresses map[address]int
	frames    map[string]int
	known     map[string]int
	names     map[int]string
	frame     int // the last assigned number
	stack     int
	key       []byte
	one       []int
}

// address is an address of the kernel or of a process's program. A caller's address is that after its call, which may be the last instruction of its function.
type address struct {
	at     uint64
	pid    int // 0: of the kernel
	caller bool
}

// mostKnown bounds the numbered entries; beyond it all of them are written anew.
const mostKnown = 1 << 15

// deepest is the largest number of frames of a stack, the same as the kernel's.
const deepest = 127

func newStacks(of *family, out io.Writer, k *names) *stacks {
	s := &stacks{of: of, out: out, kernel: k}
	s.forgetKnown()
	s.names = make(map[int]string)
	return s
}

func (s *stacks) forgetKnown() {
	s.addresses, s.frames, s.known = make(map[address]int), make(map[string]int), make(map[string]int)
}

// stackNumber returns the number of a stack: the kernel's and then the addresses of a process's program, each innermost first. It writes the stack if it is new.
func (s *stacks) stackNumber(kernel []uint64, pid int, user []uint64) int {
	if len(s.addresses) > mostKnown || len(s.known) > mostKnown {
		s.forgetKnown()
	}
	s.one = s.one[:0]
	for i, a := range kernel {
		s.one = append(s.one, s.functionNumber(address{a, 0, i > 0}))
	}
	for i, a := range user {
		s.one = append(s.one, s.functionNumber(address{a, pid, i > 0}))
	}
	s.key = s.key[:0]
	for _, f := range s.one[:min(len(s.one), deepest)] {
		s.key = strconv.AppendInt(append(s.key, ' '), int64(f), 10)
	}
	id, ok := s.known[string(s.key)]
	if !ok {
		s.stack++
		id = s.stack
		s.known[string(s.key)] = id
		s.buf = append(strconv.AppendInt(append(s.buf, "s "...), int64(id), 10), s.key...)
		s.buf = append(s.buf, '\n')
	}
	return id
}

// functionNumber returns the number of an address's function, and writes the function if it is new.
func (s *stacks) functionNumber(a address) int {
	if f, ok := s.addresses[a]; ok {
		return f
	}
	at := a.at
	if a.caller {
		at--
	}
	var line string
	if a.pid == 0 {
		line = "k " + s.kernel.Name(at)
	} else {
		process := s.of.symbolsOf(a.pid)
		function, in := process.Name(at)
		if line = "u " + probe.OneLine(in) + "\t" + probe.OneLine(function); process.Made(at) {
			line = fmt.Sprintf("a %x %s", at, probe.OneLine(in))
		}
	}
	f, ok := s.frames[line]
	if !ok {
		s.frame++
		f = s.frame
		s.frames[line] = f
		s.buf = fmt.Appendf(s.buf, "f %d %s\n", f, line)
	}
	s.addresses[a] = f
	return f
}

// writeThreadName writes the name of a thread of a process, once.
func (s *stacks) writeThreadName(pid, tid int) {
	old, told := s.names[tid]
	if told && old != "" {
		return
	}
	if len(s.names) > mostKnown {
		clear(s.names)
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
	if err != nil {
		s.names[tid] = ""
		return
	}
	n := string(redact.Value([]byte(probe.OneLine(string(b)))))
	s.names[tid] = n
	s.buf = fmt.Appendf(s.buf, "name %d %s\n", tid, n)
}

// forgetNames makes threads' names be read again, because a new thread has the name of its parent.
func (s *stacks) forgetNames() { clear(s.names) }

func (s *stacks) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	_, err := s.out.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}
