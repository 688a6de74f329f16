package kernellog

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/kernelclass"
)

// tasks are stacks of tasks in the kernel, as /proc/PID/stack gives them at a look:
//
//	[<0>] rpc_wait_bit_killable+0x24/0xa0 [sunrpc]
//	[<0>] nfs4_call_sync_sequence+0x64/0xa0 [nfsv4]
type tasks struct {
	seen, away int // stacks, and those that wait for a file server
	frames     int
	counted    bool // this one waits for a file server
	call       string
	line       int64
}

// frameOf returns the function of a frame, "" if text is none.
func frameOf(text string) string {
	if !strings.HasPrefix(text, "[<") {
		return ""
	}
	_, rest, ok := strings.Cut(text, ">] ")
	name, _, ok2 := strings.Cut(rest, "+0x")
	if !ok || !ok2 || name == "" || len(name) > 100 || strings.ContainsAny(name, " \t?") {
		return ""
	}
	return name
}

// addLine adds a line of a stack. It returns false for other lines, which end a stack.
func (x *tasks) addLine(text string, line int64) bool {
	name := frameOf(text)
	if name == "" {
		x.frames = 0
		return false
	}
	if x.frames++; x.frames == 1 {
		x.seen++
		x.counted = false
	}
	if x.frames > mostFrames {
		return true
	}
	if !x.counted && kernelclass.AwaitsFileServer(name) {
		x.counted = true
		if x.away++; x.line == 0 {
			x.line = line
		}
	}
	if x.counted && x.call == "" {
		if rest, ok := strings.CutPrefix(name, "nfs_"); ok && !strings.HasPrefix(rest, "wait_") {
			x.call = "nfs_" + rest
		}
	}
	return true
}

func (x *tasks) emitWaits(b *evidence.Builder, host evidence.SubjectID) {
	if x.away > 0 && 2*x.away >= x.seen {
		b.FactAt(host, evidence.FactTasksAwaitFiles, x.call, float64(x.away), x.line)
	}
}
