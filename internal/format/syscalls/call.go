package syscalls

import (
	"fmt"
	"strconv"
	"strings"
)

// does puts a thread's syscall file into words, a line for each frame.
func (p *parser) does(kernel string, text []byte) (string, bool) {
	if string(text) == "running" {
		return "running", true
	}
	f := strings.Fields(string(text))
	if len(f) != 3 && len(f) != 9 {
		return "", false
	}
	nr, err := strconv.ParseInt(f[0], 10, 32)
	switch {
	case err != nil || nr < -1:
		return "", false
	case nr == -1 && len(f) == 3: // sp pc
		return join("page fault", "", f[1], kernel), true
	case len(f) != 9:
		return "", false
	}
	var args [7]uint64 // six, and the stack pointer
	for i := range args {
		if args[i], err = strconv.ParseUint(strings.TrimPrefix(f[i+1], "0x"), 16, 64); err != nil {
			return "", false
		}
	}
	name, ok := p.calls[nr]
	if !ok {
		name = fmt.Sprintf("system call %d", nr)
	}
	object := ""
	switch {
	case name == "futex":
		name, object = futex(args)
		if called := p.words[f[1]]; called != "" {
			object = called
		}
	case name == "poll" || name == "ppoll" || name == "msync":
		object = p.words[f[1]]
	case descriptors[name]:
		object = p.fds[int64(args[0]&(1<<62-1))]
	}
	return join(name, object, f[7], kernel), true
}

// join puts a line for each frame together; kernel is its function in which the thread waits, "-"
// where none is told.
func join(name, object, sp, kernel string) string {
	if object != "" {
		name += "\n- of " + object
	}
	name += "\n- sp " + sp
	if kernel != "-" {
		name += "\n- kernel " + kernel
	}
	return name
}

// futex says what kind of wait it is: for a mutex, or for being woken.
func futex(args [7]uint64) (name, object string) {
	address, op, val, timeout := args[0], args[1], uint32(args[2]), args[3]
	object = fmt.Sprintf("%#x", address)
	switch op & futexCommand {
	case futexLockPI, futexLockPI2:
		return "futex mutex", object
	case futexWait, futexWaitBitset:
		if timeout == 0 && (val == takenAwaited || val&takenAwaitedMusl != 0 && val != parked) {
			return "futex mutex", object
		}
		if timeout != 0 {
			return "futex with a timeout", object
		}
	}
	return "futex", object
}
