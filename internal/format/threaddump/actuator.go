package threaddump

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// isActuator knows the answer of Spring Boot's actuator: an array of threads (/dump of version
// 1), or an object with one (/actuator/threaddump of 2 and later). An application may write its
// JSON in snake case.
// https://docs.spring.io/spring-boot/api/rest/actuator/threaddump.html. The threads of Spark's executors
// (/api/v1/applications/ID/executors/ID/threads, 2.3 and later) have each stack in one string.
func isActuator(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if rest, ok := bytes.CutPrefix(head, []byte("{")); ok {
		if rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"threads"`)); !ok {
			return false
		}
		if rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":")); !ok {
			return false
		}
		head = bytes.TrimLeft(rest, " \t\r\n")
	}
	rest, ok := bytes.CutPrefix(head, []byte("["))
	if !ok || !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("{")) {
		return false
	}
	first := plainKey(string(rest[:min(len(rest), mostHead)]))
	return strings.Contains(first, `"threadname"`) && (strings.Contains(first, `"blockedcount"`) || strings.Contains(first, `"blockedbylock"`))
}

// mostHead is how much of the beginning tells what an artifact in JSON is, bytes.
const mostHead = 4096

// plainKey is a key in lower case, without what stands between its words.
func plainKey(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// fields are the members of an object by their plain keys.
type fields map[string]json.RawMessage

func fieldsOf(raw json.RawMessage) fields {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	out := make(fields, len(all))
	for k, v := range all {
		out[plainKey(k)] = v
	}
	return out
}

// stringOf returns a member that is a string, else "".
func (f fields) stringOf(key string) (s string) {
	_ = json.Unmarshal(f[key], &s) // what is no string is unknown
	return s
}

// numberOf returns a member that is a number, or a string of digits, else 0.
func (f fields) numberOf(key string) (n int64) {
	if json.Unmarshal(f[key], &n) != nil { // what is neither is unknown
		n, _ = strconv.ParseInt(f.stringOf(key), 10, 64)
	}
	return n
}

// isTrue says whether a member is true.
func (f fields) isTrue(key string) (is bool) {
	_ = json.Unmarshal(f[key], &is) // what is neither is false
	return is
}

// listOf returns the members of an array of objects.
func (f fields) listOf(key string) (out []fields) {
	var all []json.RawMessage
	_ = json.Unmarshal(f[key], &all) // what is no array has none
	for _, raw := range all {
		out = append(out, fieldsOf(raw))
	}
	return out
}

// readActuator reads the threads of the actuator's answer one by one.
func (p *parser) readActuator(ctx context.Context, d *json.Decoder) error {
	p.section, p.dumps, p.begun = toFile, 1, 1
	for d.More() { // up to the array
		t, err := d.Token()
		if err != nil {
			return err
		}
		if t == json.Delim('[') {
			break
		}
	}
	var waits []ownedLock
	for d.More() && ctx.Err() == nil {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			p.endThread()
			p.addOwned(waits)
			return err
		}
		p.line++ // the thread's number stands for it
		f := fieldsOf(raw)
		if f.stringOf("threadname") == "" && f.stringOf("threadstate") == "" {
			p.countUnparsed()
			continue
		}
		if w, ok := p.actuatorThread(f); ok && len(waits) < maxThreads {
			waits = append(waits, w)
		}
	}
	p.addOwned(waits)
	return nil
}

// ownedLock is a lock that some thread waits for, and the number of the thread that owns it.
type ownedLock struct {
	object string
	owner  int64
}

// addOwned adds locks to the threads that own them, because threads list their monitors only if the actuator asked for monitors.
func (p *parser) addOwned(waits []ownedLock) {
	for _, w := range waits {
		for i := range p.dump {
			if t := &p.dump[i]; t.java == w.owner && len(t.held) < maxHeld {
				t.held = append(t.held, w.object)
			}
		}
	}
}

// actuatorThread reads a thread, and which lock it waits for that another owns.
func (p *parser) actuatorThread(f fields) (w ownedLock, ok bool) {
	p.startThread(header{name: f.stringOf("threadname"), java: f.numberOf("threadid"), cpu: -1})
	p.now.state = f.stringOf("threadstate")
	innermost := ""
	for i, x := range f.listOf("stacktrace") {
		text, method := frameText(x)
		if i == 0 {
			innermost = method
		}
		if !p.addFrame(text) {
			p.countUnparsed()
		}
	}
	for text := range strings.SplitSeq(f.stringOf("stacktrace"), "\n") {
		text = strings.TrimPrefix(strings.TrimSpace(text), "at ")
		if text == "" {
			continue
		}
		if strings.HasPrefix(text, "-") {
			if k, isLock := infoLock(text); isLock {
				p.addLock(k)
				continue
			}
		}
		if !p.addFrame(text) {
			p.countUnparsed()
		} else if innermost == "" {
			innermost = p.now.outermost[strings.LastIndexByte(p.now.outermost, '.')+1:]
		}
	}
	for _, x := range stringsOf(f["holdinglocks"]) {
		if object, _ := sparkLock(x); object != "" && len(p.now.held) < maxHeld {
			p.now.held = append(p.now.held, object)
		}
	}
	if object, class := sparkLock(f.stringOf("blockedbylock")); object != "" {
		use := evidence.ToPark
		if strings.HasPrefix(p.now.state, "BLOCKED") {
			use = evidence.ToLock
		}
		p.now.wait = lock{use: use, object: object, class: class}
		if owner := f.numberOf("blockedbythreadid"); owner > 0 {
			w, ok = ownedLock{object, owner}, true
		}
	}
	if object, class := lockOf(f); object != "" {
		use := evidence.ToPark
		switch {
		case strings.HasPrefix(p.now.state, "BLOCKED"):
			use = evidence.ToLock
		case innermost == "wait" || innermost == "wait0":
			use = evidence.WaitsOn
		}
		p.now.wait = lock{use: use, object: object, class: class}
		if owner := f.numberOf("lockownerid"); owner > 0 {
			w, ok = ownedLock{object, owner}, true
		}
	}
	for _, key := range []string{"lockedmonitors", "lockedsynchronizers"} {
		for _, x := range f.listOf(key) {
			if object, _ := lockInfo(x); object != "" && len(p.now.held) < maxHeld {
				p.now.held = append(p.now.held, object)
			}
		}
	}
	p.endThread()
	return w, ok
}

// frameText writes a frame as HotSpot prints it.
func frameText(f fields) (text, method string) {
	class, method := f.stringOf("classname"), f.stringOf("methodname")
	where := cmp.Or(f.stringOf("filename"), "Unknown Source")
	if f.isTrue("nativemethod") {
		where = "Native Method"
	} else if n := f.numberOf("linenumber"); n > 0 {
		where += ":" + strconv.FormatInt(n, 10)
	}
	return class + "." + method + "(" + where + ")", method
}

// lockOf is the lock a thread waits for, "" none.
func lockOf(f fields) (object, class string) {
	if object = f.stringOf("lockname"); object != "" {
		class, _, _ = strings.Cut(object, "@")
		return object, class
	}
	return lockInfo(fieldsOf(f["lockinfo"]))
}

// sparkLock reads "Lock(java.util.concurrent.ThreadPoolExecutor$Worker@1912117216})" and "Monitor(…)".
func sparkLock(s string) (object, class string) {
	_, s, ok := strings.Cut(s, "(")
	s = strings.TrimRight(s, "})")
	class, _, at := strings.Cut(s, "@")
	if !ok || !at {
		return "", ""
	}
	return s, class
}

// stringsOf returns the members of an array of strings.
func stringsOf(raw json.RawMessage) (all []string) {
	_ = json.Unmarshal(raw, &all) // what is no array has none
	return all
}

// lockInfo is a lock by its class and its hash, as its name has them.
func lockInfo(f fields) (object, class string) {
	if class = f.stringOf("classname"); class == "" {
		return "", ""
	}
	return class + "@" + strconv.FormatInt(f.numberOf("identityhashcode"), 16), class
}
