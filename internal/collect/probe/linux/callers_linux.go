package linux

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/unstall/unstall/internal/collect/probe/kernel/symbol"
)

// callers writes the functions of the program that led a thread to its wait, and the names of the futexes at which threads wait. It is
// not used for runtimes whose own stacks are recorded.
type callers struct {
	process   *symbol.Process
	addresses map[uint64]int // numbers of functions
	functions *functions
	words     map[string]bool // addresses that were already searched
	line      []byte
}

// functions numbers the functions of a process and its workers.
type functions struct {
	numbers map[string]int
	last    int // last assigned number
}

// mostAddresses bounds the remembered addresses; beyond it all are written anew.
const mostAddresses = 1 << 15

func newCallers(pid int, of *functions) *callers {
	return &callers{process: symbol.NewProcess(pid), functions: of, addresses: make(map[uint64]int), words: make(map[string]bool)}
}

func (c *callers) forgetKnown() {
	c.addresses, c.words, c.functions.numbers = make(map[uint64]int), make(map[string]bool), make(map[string]int)
}

// describeCallers returns the line with the numbers of a waiting thread's callers, innermost first: "in 4712 3 4 5". call is the text of
// the thread's file syscall. To out it appends lines for what is new: "f 3 libc.so.6 fsync", "word 0x55d0 journal_lock".
func (c *callers) describeCallers(out []byte, tid int, call []byte) (introduced, line []byte) {
	f := bytes.Fields(call)
	if len(f) != 3 && len(f) != 9 {
		return out, nil
	}
	pc, ok := parseAddress(f[len(f)-1])
	sp, ok2 := parseAddress(f[len(f)-2])
	if !ok || !ok2 || pc == 0 {
		return out, nil
	}
	if len(c.addresses) > mostAddresses || len(c.words) > mostAddresses {
		c.forgetKnown()
	}
	line = strconv.AppendInt(append(c.line[:0], "in "...), int64(tid), 10)
	for i, a := range c.process.Waiting(pc, sp) {
		if i > 0 {
			a-- // a return address: the call before it may be the last instruction of its function
		}
		n, known := c.addresses[a]
		if !known {
			n, out = c.functionNumber(out, a)
			c.addresses[a] = n
		}
		line = strconv.AppendInt(append(line, ' '), int64(n), 10)
	}
	if len(f) == 9 && string(f[0]) == futexNumber && !c.words[string(f[1])] {
		c.words[string(f[1])] = true
		if a, ok := parseAddress(f[1]); ok {
			if name := c.process.Variable(a); name != "" {
				out = fmt.Appendf(out, "word %s %s\n", f[1], oneLine(name))
			}
		}
	}
	c.line = append(line, '\n')
	return out, c.line
}

var futexNumber = strconv.Itoa(syscall.SYS_FUTEX)

func (c *callers) functionNumber(out []byte, at uint64) (int, []byte) {
	name, in := c.process.Name(at)
	text := oneLine(in) + "\t" + oneLine(name)
	n, known := c.functions.numbers[text]
	if !known {
		c.functions.last++
		n = c.functions.last
		c.functions.numbers[text] = n
		out = fmt.Appendf(out, "f %d %s\n", n, text)
	}
	return n, out
}

func parseAddress(text []byte) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(string(text), "0x"), 16, 64)
	return n, err == nil
}
