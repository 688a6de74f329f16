package threaddump

import (
	"bytes"
	"time"

	"github.com/unstall/unstall/internal/format/java"
)

// isToFile knows the text that Thread.dump_to_file writes by its first lines:
//
//	17876                                                      the process
//	2026-11-21T13:40:13.154452871Z
//	25.0.3+9-LTS
//
//	#3 "main" TIMED_WAITING 2026-11-21T13:40:13.169572211Z     JDK 21: #3 "main"
//	    at java.base/java.lang.Thread.sleep(Thread.java:540)   JDK 21: no "at"
func isToFile(head []byte) bool {
	lines := bytes.SplitN(head, []byte("\n"), 6)
	if len(lines) < 5 {
		return false
	}
	_, ok := parseUTC(string(bytes.TrimSpace(lines[1])))
	_, thread := parseNumbered(bytes.TrimSpace(lines[4]))
	return ok && thread && parseNumber(string(bytes.TrimSpace(lines[0]))) > 0
}

// isVirtual says whether a line begins a virtual thread of such a file: parts of it are copied alone.
func isVirtual(l []byte) bool {
	h, ok := parseNumbered(l)
	return ok && h.virtual
}

func parseUTC(s string) (int64, bool) {
	if len(s) < len("2026-11-21T13:40:13Z") || s[len(s)-1] != 'Z' {
		return 0, false
	}
	at, err := parseTime(time.RFC3339Nano, s)
	return at, err == nil
}

// parseNumbered reads #57 "" virtual RUNNABLE 2026-11-21T13:40:13.193255945Z.
func parseNumbered(l []byte) (h header, ok bool) {
	if len(l) < len(`#1 ""`) || l[0] != '#' {
		return h, false
	}
	id, rest, ok := bytes.Cut(l[1:], []byte(` "`))
	end := bytes.LastIndexByte(rest, '"')
	if !ok || end < 0 {
		return h, false
	}
	h.java, h.cpu, h.name = parseNumber(string(id)), -1, string(rest[:end])
	h.stateless = true
	for f := range bytes.FieldsSeq(rest[end+1:]) {
		switch {
		case string(f) != virtual:
			h.stateless = false
		default:
			h.virtual = true
		}
	}
	if h.virtual && h.name == "" {
		h.name = virtual
	}
	return h, h.java > 0
}

// toFile reads a line of such a file; false if it is none.
func (p *parser) toFile(text []byte) bool {
	if p.section != toFile {
		if p.dumps > 0 {
			return false
		}
		switch at, ok := parseUTC(string(bytes.TrimSpace(text))); {
		case ok:
			p.at = at
		case p.line == 1 && parseNumber(string(text)) > 0:
			p.about.PID = int(parseNumber(string(text)))
		case p.at != 0 && p.about.Version == "" && p.line <= 4:
			p.about.Version = java.Version(string(bytes.TrimSpace(text)))
		default:
			h, ok := parseNumbered(text)
			if !ok || p.at == 0 && !h.virtual { // a part alone, which somebody copied, has no time
				return false
			}
			p.section, p.dumps, p.begun, p.zoned = toFile, 1, p.line, p.at != 0
			p.startThread(h)
		}
		return true
	}
	trimmed := bytes.TrimLeft(text, " \t")
	if h, ok := parseNumbered(text); ok {
		p.endThread()
		p.startThread(h)
		return true
	}
	if at := bytes.TrimPrefix(trimmed, []byte("at ")); len(at) < len(trimmed) || trimmed[0] != '-' {
		if !p.addFrame(string(at[:min(len(at), maxFrame)])) {
			p.countUnparsed()
		}
		return true
	}
	if k, ok := readLock(string(trimmed[:min(len(trimmed), maxFrame)])); ok {
		p.addLock(k)
	} else {
		p.countUnparsed()
	}
	return true
}
