package syscalls

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// parseCall reads a thread's syscall file.
func (p *parser) parseCall(kernel string, text []byte) (t evidence.ThreadInfo, ok bool) {
	if string(text) == evidence.CallRunning {
		return evidence.ThreadInfo{Call: evidence.CallRunning}, true
	}
	f := strings.Fields(string(text))
	if len(f) != 3 && len(f) != 9 {
		return t, false
	}
	if kernel != "-" {
		t.Kernel = kernel
	}
	nr, err := strconv.ParseInt(f[0], 10, 32)
	switch {
	case err != nil || nr < -1:
		return t, false
	case nr == -1 && len(f) == 3: // sp pc
		t.Call, t.SP = evidence.CallPageFault, parseHex(f[1])
		return t, true
	case len(f) != 9:
		return t, false
	}
	var args [7]uint64 // six, and the stack pointer
	for i := range args {
		if args[i], err = strconv.ParseUint(strings.TrimPrefix(f[i+1], "0x"), 16, 64); err != nil {
			return t, false
		}
	}
	t.SP = args[6]
	if t.Call, ok = p.calls[nr]; !ok {
		t.Call = fmt.Sprintf("system call %d", nr)
	}
	object := ""
	switch {
	case t.Call == evidence.CallFutex:
		t.Call, object = classifyFutex(args)
		if called := p.words[f[1]]; called != "" {
			object = called
		}
	case t.Call == "poll" || t.Call == "ppoll" || t.Call == "msync":
		object = p.words[f[1]]
	case descriptors[t.Call]:
		object = p.fds[int64(args[0]&(1<<62-1))]
	}
	t.On = evidence.ObjectOf(object)
	return t, true
}

// parseHex reads a hexadecimal number, 0 if it is none.
func parseHex(text string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return n
}

// classifyFutex returns the kind of a futex wait: for a mutex, or for a wake-up.
func classifyFutex(args [7]uint64) (name, object string) {
	address, op, val, timeout := args[0], args[1], uint32(args[2]), args[3]
	object = fmt.Sprintf("%#x", address)
	switch op & futexCommand {
	case futexLockPI, futexLockPI2:
		return evidence.CallFutexMutex, object
	case futexWait, futexWaitBitset:
		if timeout == 0 && (val == takenAwaited || val&takenAwaitedMusl != 0 && val != parked) {
			return evidence.CallFutexMutex, object
		}
		if timeout != 0 {
			return evidence.CallFutexTimed, object
		}
	}
	return evidence.CallFutex, object
}
