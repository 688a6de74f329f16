package gopprof

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Users search a dump for what hangs, and show what grep left of it: stacks whose first line was not found, with two dashes between:
//
//	--
//	sync.(*RWMutex).RLock(0xc4203d1768)
//		/usr/local/go/src/sync/rwmutex.go:43 +0x5d
//	example.org/store.(*driver).Reader(0xc4203d1760, 0x1066100)
//		/go/src/example.org/store/driver.go:108 +0x7b
//
// A goroutine whose innermost function locks a mutex waits for it; what others do, only their first line tells.

// locksFirst says whether a line is the innermost frame of a goroutine that waits for a mutex.
func locksFirst(text []byte) bool {
	bare := bytes.TrimSpace(text)
	if !bytes.HasSuffix(bare, []byte(")")) || !bytes.Contains(bare, []byte("sync.")) {
		return false
	}
	i := findArguments(bare)
	if i <= 0 || !bytes.HasPrefix(bare[i:], []byte("(0x")) {
		return false
	}
	function := restoreStars(string(bare[:min(i, maxString)]))
	return evidence.LocksMutex(function) || bytes.HasPrefix(bare, []byte("sync.runtime_Semacquire")) || bytes.HasPrefix(bare, []byte("internal/sync.runtime_Semacquire"))
}

// isFramePosition says whether a line is the second of a frame, with the offset that only dumps have.
func isFramePosition(text []byte) bool {
	bare := bytes.TrimSpace(text)
	return bytes.Contains(bare, []byte(" +0x")) && isPosition(bare)
}

// isSearched says whether text has several stacks without their first lines.
func isSearched(head []byte) bool {
	const least = 2
	n, lone := 0, false
	for l := range bytes.Lines(head) {
		l = stripQuoteMark(bytes.TrimRight(l[:min(len(l), maxString)], "\r\n"))
		if lone && isFramePosition(l) {
			if n++; n == least {
				return true
			}
		}
		lone = locksFirst(l)
	}
	return false
}

// readHeadless reads a line of a stack without its head; false of other lines.
func (d *dumps) readHeadless(text []byte, number int64) bool {
	if call := d.lone; call != nil {
		d.lone = nil
		if isFramePosition(text) {
			if d.open != nil && !d.open.headless {
				d.endOpen()
			}
			d.beginGoroutine(goroutine{state: "semacquire", count: 1, unnamed: true}, number-1, 0)
			d.open.headless = true
			if !d.zero {
				d.frameLine(call, number-1)
				d.frameLine(text, number)
			}
			return true
		}
	}
	switch {
	case d.inside && (d.open == nil || !d.open.headless):
		return false
	case !d.inside && locksFirst(text):
		d.lone = bytes.Clone(text)
		return true
	case d.open != nil && d.open.headless && string(bytes.TrimSpace(text)) == "--":
		d.endGoroutine()
		return true
	}
	return false
}
