package threaddump

import (
	"bytes"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// The debugger of OpenJ9 (jdmpview, info thread) and IBM's tools for core dumps print a thread like this:
//
//	Thread:     exec-1                            (or, among the host's threads: name:   exec-1)
//	  Thread object: java/lang/Thread @ 0xc1fe8d40
//	  Native info:  !j9vmthread 0x5727c800 !stack 0x5727c800
//	  Thread.State: BLOCKED
//	  JVMTI state:  ALIVE BLOCKED_ON_MONITOR_ENTER
//	   waiting to enter: shop/Catalog@0xc2fccd50 owner name: "exec-7" owner id: 0x2bb32000
//	Java stack frames:
//	  method: void shop/Catalog.load(String) source: Catalog.java:348
//
// https://github.com/eclipse-openj9/openj9/blob/master/jcl/src/openj9.dtfjview/share/classes/com/ibm/jvm/dtfjview/commands/infocommands/InfoThreadCommand.java
var (
	coreObject = []byte("Thread object: ")
	coreState  = []byte("Thread.State:")
	coreMethod = []byte("method: ")
)

// isCore says whether a line is one of those that a thread begins with there, below its name.
func isCore(l []byte) bool {
	return bytes.HasPrefix(l, coreObject) && bytes.Contains(l, []byte("@ 0x"))
}

// coreName returns the name in the first line of such a thread, "" of other lines.
func coreName(l []byte) string {
	for _, words := range []string{"Thread:", "name:"} {
		if name, ok := bytes.CutPrefix(l, []byte(words)); ok && len(name) > 1 && name[0] == ' ' || ok && len(name) > 1 && name[0] == '\t' {
			name = bytes.Trim(bytes.TrimSpace(name), `"`)
			return string(name[:min(len(name), maxName)])
		}
	}
	return ""
}

// coreWaits are the words before the object that a thread waits for.
var coreWaits = []struct {
	words string
	use   evidence.LockUse
}{{"waiting to enter: ", evidence.ToLock}, {"waiting to be notified on: ", evidence.WaitsOn}, {"parked on: ", evidence.ToPark}}

// readCore reads a line of such a dump; false of others.
func (p *parser) readCore(text []byte, l format.Line) bool {
	if isCore(text) {
		p.endThread()
		if p.section == outside {
			p.beginDump(l, nil)
		}
		p.section = core
		name := p.coreName
		if p.coreName = ""; name == "" {
			name = "thread"
		}
		p.startThread(header{name: name, cpu: -1})
		return true
	}
	if name := coreName(text); name != "" && (p.section == outside || p.section == core) {
		if p.section == core {
			p.endThread()
		}
		p.coreName = name
		return p.section == core
	}
	if p.section != core {
		return false
	}
	if !p.open {
		return true
	}
	if state, ok := bytes.CutPrefix(text, coreState); ok {
		p.now.state = stateOf(string(bytes.TrimSpace(state[:min(len(state), 40)])))
		return true
	}
	for _, w := range coreWaits {
		if on, ok := bytes.CutPrefix(text, []byte(w.words)); ok {
			if k, ok := coreLock(string(on[:min(len(on), maxFrame)])); ok {
				k.use = w.use
				p.now.wait = k
			}
			return true
		}
	}
	if i := bytes.Index(text, coreMethod); i >= 0 {
		if at := text[i+len(coreMethod):]; !p.addFrame(coreFrame(string(at[:min(len(at), maxFrame)]))) {
			p.countUnparsed()
		}
	}
	return true
}

// coreLock reads `shop/Catalog@0xc2fccd50 owner name: "exec-7" owner id: 0x2bb32000`.
func coreLock(s string) (k lock, ok bool) {
	object, rest, _ := strings.Cut(s, " ")
	class, address, ok := strings.Cut(object, "@")
	if !ok || class == "" || address == "" {
		return k, false
	}
	k.class = strings.ReplaceAll(class, "/", ".")
	k.object = k.class + "@" + address
	if _, owner, told := strings.Cut(rest, `owner name: "`); told {
		owner, _, _ = strings.Cut(owner, `"`)
		k.owner = owner[:min(len(owner), maxName)]
	}
	return k, true
}

// coreFrame writes "void shop/Catalog.load(String) source: Catalog.java:348" as HotSpot prints it.
func coreFrame(s string) string {
	call, rest, _ := strings.Cut(s, "(")
	call = strings.ReplaceAll(call[strings.LastIndexByte(call, ' ')+1:], "/", ".")
	where := "Unknown Source"
	if _, source, ok := strings.Cut(rest, "source: "); ok {
		source, _, _ = strings.Cut(source, " ")
		where = source
	} else if strings.HasSuffix(rest, "(Native Method)") {
		where = "Native Method"
	}
	return call + "(" + where + ")"
}
