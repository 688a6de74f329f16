package threaddump

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/java"
)

// isJSON knows what Thread.dump_to_file -format=json writes
// (https://github.com/openjdk/jdk/blob/master/src/java.base/share/classes/jdk/internal/vm/ThreadDumper.java).
func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t\r\n"), []byte(`"threadDump"`))
}

// jsonThread is an element of a container's threads. JDK 21 has the first three.
type jsonThread struct {
	TID     json.RawMessage `json:"tid"` // a string; a number is announced
	Name    string          `json:"name"`
	Stack   []string        `json:"stack"`
	Virtual bool            `json:"virtual"`
	State   string          `json:"state"`
	Blocked string          `json:"blockedOn"`
	Waiting string          `json:"waitingOn"`
	Parked  struct {
		Object string `json:"object"`
	} `json:"parkBlocker"`
	Owned []struct {
		Locks []*string `json:"locks"` // null where escape analysis took the lock away
	} `json:"monitorsOwned"`
}

// readJSON reads an artifact in JSON, thread by thread; false if it is none.
func (p *parser) readJSON(ctx context.Context, a *format.Artifact) (is bool, err error) {
	f, err := a.Reader()
	if err != nil {
		return false, nil // reading lines says what is wrong
	}
	defer f.Close()
	head := make([]byte, format.HeadSize)
	n, _ := io.ReadFull(f, head)
	asked, tool := isActuator(head[:n]), isJSON(head[:n])
	if !asked && !tool && !isHealth(head[:n]) {
		return false, nil
	}
	d := json.NewDecoder(io.MultiReader(bytes.NewReader(head[:n]), f))
	if !asked && !tool {
		d = json.NewDecoder(io.LimitReader(io.MultiReader(bytes.NewReader(head[:n]), f), maxHealth))
		if err := p.readHealth(ctx, d); err != nil {
			return true, fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
		}
		return true, nil
	}
	if asked {
		if err := p.readActuator(ctx, d); err != nil {
			return true, fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
		}
		return true, nil
	}
	p.section, p.dumps = toFile, 1
	var key, container string
	for ctx.Err() == nil {
		t, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return true, fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
		}
		switch v := t.(type) {
		case string:
			if key == "" {
				key = v
				if key == "threads" {
					if err := p.jsonThreads(ctx, d, container == perTask); err != nil {
						return true, fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
					}
					key = ""
				}
				continue
			}
			if p.jsonField(key, v); key == "container" {
				container, _, _ = strings.Cut(v, "@")
			}
		}
		key = ""
	}
	return true, nil
}

func (p *parser) jsonField(key, value string) {
	switch key {
	case "processId":
		p.about.PID = int(parseNumber(value))
	case "time":
		p.at, p.zoned = 0, true
		if at, ok := parseUTC(value); ok {
			p.at = at
		}
	case "runtimeVersion":
		p.about.Version = java.Version(value)
	}
}

// perTask is a container of threads each of which does one task; JDK 21 does not say that
// they are virtual, and those of the system have a frame from their beginning.
const perTask = "java.util.concurrent.ThreadPerTaskExecutor"

func (p *parser) jsonThreads(ctx context.Context, d *json.Decoder, each bool) error {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errOr(err, "threads are no array")
	}
	for d.More() && ctx.Err() == nil {
		var t jsonThread
		if err := d.Decode(&t); err != nil {
			return err
		}
		p.line++ // the thread's number stands for it
		t.Virtual = t.Virtual || each && len(t.Stack) == 0
		p.jsonThread(&t)
	}
	_, err := d.Token()
	return errOr(err, "")
}

func errOr(err error, text string) error {
	if err == nil && text != "" {
		return errors.New(text)
	}
	return err
}

// isVirtualStack says whether a stack is one of a virtual thread.
func isVirtualStack(stack []string) bool {
	return len(stack) > 0 && strings.Contains(stack[len(stack)-1], firstOfVirtual+"(")
}

func (p *parser) jsonThread(t *jsonThread) {
	h := header{name: t.Name, java: parseNumber(strings.Trim(string(t.TID), `"`)), cpu: -1, stateless: t.State == "", virtual: t.Virtual}
	if h.name == "" && (t.Virtual || len(t.Stack) == 0 || isVirtualStack(t.Stack)) { // a native thread that has no name of its own gets one from the JVM
		h.name, h.virtual = virtual, true
	}
	p.startThread(h)
	p.now.state = t.State
	for _, f := range t.Stack {
		if !p.addFrame(f) {
			p.countUnparsed()
		}
	}
	for _, w := range []struct {
		use    evidence.LockUse
		object string
	}{{evidence.ToLock, t.Blocked}, {evidence.WaitsOn, t.Waiting}, {evidence.ToPark, t.Parked.Object}} {
		if class, _, ok := strings.Cut(w.object, "@"); ok {
			p.now.wait = lock{use: w.use, object: w.object, class: class}
		}
	}
	for _, m := range t.Owned {
		for _, o := range m.Locks {
			if o != nil && len(p.now.held) < maxHeld {
				p.now.held = append(p.now.held, *o)
			}
		}
	}
	p.endThread()
}
