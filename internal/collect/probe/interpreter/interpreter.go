// Package interpreter reads from the memory of a process which functions of its language each thread is in, where the kernel sees only the
// interpreter's own: of a Python program it sees _PyEval_EvalFrameDefault. It stops nothing and switches nothing on, and needs the right to read
// the process's memory (process_vm_readv(2)).
//
// Its artifact, interpreter.txt, is read by internal/format/interpreterstacks:
//
//	# interpreter stacks of pid 4711, python 3.11.2 in python3.11
//	from 1763689985000000000
//	f 1 31 /srv/shop/views.py	month_sums
//	f 2 204 /usr/lib/python3.11/queue.py	get
//	s 1 1 2
//	l 1763689985100000000 1763689985180000000 5 4712 r 1
//	torn 3
//	until 1763689986000000000
//
// A language is a file of this package, a line in [languages], and the folders of its libraries in internal/base/codepath. It passes a test against each
// release that it claims.
//
// The package's opinion: a pointer is believed when what it points to is of the type that must be there. What changes while it is read is thrown
// away and counted; it is never guessed. Of a program's data nothing is read but names of functions and files, and numbers of lines.
package interpreter

import (
	"context"

	"github.com/unstall/unstall/internal/collect/probe"
)

const name = "interpreter"

// Probe records the stacks of languages in the processes that it knows the languages of.
var Probe = probe.Probe{
	Name:    name,
	About:   "which functions of its language each thread is in, from the process's memory",
	General: true,
	Find:    findAccess,
}

// State is whether a thread runs code of its language. The interpreter keeps it.
type State byte

// States, by the letters that recordings have for them.
const (
	Unknown State = '?'
	Running State = 'r' // it runs code of the language, or native code that keeps others from running such code
	Outside State = 'w' // it waits, or runs native code beside other threads
)

// Frame is a function of the program on a stack.
type Frame struct {
	Function string
	File     string // as the language knows it: "/srv/shop/views.py", "<frozen importlib._bootstrap>"; "" unknown
	Line     int    // that runs, 0 unknown
}

// Thread is a thread at one moment. A reader returns the same pointer for the same frame, as long as it can: so functions are named once.
type Thread struct {
	ID     int // as the kernel numbers it, 0 unknown
	State  State
	Frames []*Frame // innermost first; valid until the next look
}

// Stacks reads the stacks of one process. It is not safe for concurrent use.
type Stacks interface {
	// Title is the language and its release, and the file that has the interpreter's own functions: "python 3.11.2 in libpython3.11.so.1.0".
	Title() string

	// Look calls each with the threads that are in functions of the language now. It returns how many it could not follow, because they went on
	// meanwhile. An error means that there is nothing to be read any more: the process has ended, or is another program now.
	Look(each func(Thread)) (torn int, err error)
}

// Sampler reads stacks that cannot be looked at while a thread runs: the kernel's clock of CPU time samples them.
type Sampler interface {
	Stacks

	// SwitchesOn says what that switches on in the kernel, "" nothing; Lacks why running threads cannot be sampled.
	SwitchesOn() string
	Lacks() error

	// Sample calls each, in one goroutine, with a thread at a moment (ns since the epoch), until the context ends. Looks go on beside it.
	Sample(ctx context.Context, each func(at int64, t Thread))
}
