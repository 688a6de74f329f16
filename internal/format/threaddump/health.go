package threaddump

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
)

// isHealth knows a page in JSON with threads somewhere within, in the words of java.lang.management.ThreadInfo: the health of a service that found
// deadlocked threads, for example Micronaut's (/health), or the answer of an endpoint of its own:
//
//	{"details":{"deadlockedThreads":{"status":"DOWN","details":[{"threadName":"transfer-1","threadState":"BLOCKED","lockName":"java.lang.Object@7e10b1cb",
//	"lockOwnerName":"transfer-2","stackTrace":"org.example.Ledger.book(Ledger.java:27)\n-  blocked on java.lang.Object@7e10b1cb\n"}, …
//
// https://github.com/micronaut-projects/micronaut-core/blob/4.8.x/management/src/main/java/io/micronaut/management/health/indicator/threads/DeadlockedThreadsHealthIndicator.java
//
// A log in JSON has the name of its thread in each line, and neither its state nor a lock.
func isHealth(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' || !bytes.Contains(head, []byte("State")) && !bytes.Contains(head, []byte("state")) {
		return false
	}
	keys := plainKey(string(head))
	return strings.Contains(keys, `"threadname"`) && strings.Contains(keys, `"threadstate"`) &&
		(strings.Contains(keys, `"lockname"`) || strings.Contains(keys, `"lockownerid"`) || strings.Contains(keys, `"lockinfo"`) || strings.Contains(keys, `"stacktrace"`))
}

// Bounds of such a page.
const (
	maxHealth = 16 << 20 // bytes
	maxNested = 16       // objects and arrays within each other
)

// readHealth reads such a page.
func (p *parser) readHealth(ctx context.Context, d *json.Decoder) error {
	var page json.RawMessage
	if err := d.Decode(&page); err != nil {
		return err
	}
	p.section, p.dumps, p.begun = toFile, 1, 1
	p.addOwned(p.threadsWithin(ctx, page, 0, nil))
	return nil
}

// threadsWithin reads the threads within a value, and appends what they wait for.
func (p *parser) threadsWithin(ctx context.Context, raw json.RawMessage, depth int, waits []ownedLock) []ownedLock {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 || depth == maxNested || ctx.Err() != nil {
		return waits
	}
	switch raw[0] {
	case '[':
		var all []json.RawMessage
		_ = json.Unmarshal(raw, &all) // the whole page is valid
		for _, x := range all {
			waits = p.threadsWithin(ctx, x, depth+1, waits)
		}
	case '{':
		if f := fieldsOf(raw); f.stringOf("threadname") != "" && f.stringOf("threadstate") != "" {
			p.line++ // the thread's number stands for it
			if w, ok := p.actuatorThread(f); ok && len(waits) < maxThreads {
				waits = append(waits, w)
			}
			return waits
		}
		d := json.NewDecoder(bytes.NewReader(raw)) // in the order of the page
		if _, err := d.Token(); err != nil {
			return waits
		}
		for d.More() {
			var x json.RawMessage
			if _, err := d.Token(); err != nil || d.Decode(&x) != nil {
				break
			}
			waits = p.threadsWithin(ctx, x, depth+1, waits)
		}
	}
	return waits
}
