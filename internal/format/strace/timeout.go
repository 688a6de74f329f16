package strace

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A trace without -T tells how long one kind of call took: a poll that waited until its own time was over.
//
//	Jul 03 18:20:41 connect(3, {sa_family=AF_INET, sin_port=htons(53), …}, 16) = 0
//	Jul 03 18:20:46 poll([{fd=3, events=POLLIN}], 1, 4983)  = 0 (Timeout)
//
// At a socket that is connected to a name server it is an answer that did not come: a resolver then asks again. At others it may be a program that waits for work.

// expired is a poll that waited until its time was over.
type expired struct {
	fd   string
	took float64 // s
}

// bareCall returns a call's text without what stands before it: a process, a time of day, a date.
func bareCall(line string) (text string, ok bool) {
	text = strings.TrimSpace(line)
	for range 5 {
		name, _, found := strings.Cut(text, "(")
		if !found {
			return "", false
		}
		if isName(name) {
			return text, strings.Contains(text, ") ")
		}
		var more bool
		if rest, is := strings.CutPrefix(text, "[pid "); is {
			_, text, more = strings.Cut(rest, "]")
		} else if word, rest, _ := strings.Cut(text, " "); len(word) <= 20 {
			text, more = rest, true
		}
		if !more {
			return "", false
		}
		text = strings.TrimLeft(text, " ")
	}
	return "", false
}

// expiredPoll reads "poll([{fd=3, events=POLLIN}], 1, 4983)  = 0 (Timeout)" of one descriptor.
func expiredPoll(text string) (x expired, ok bool) {
	args, ok := strings.CutPrefix(text, "poll([{fd=")
	if !ok || strings.Contains(args, "{fd=") {
		return x, false
	}
	args, result, ok := strings.Cut(args, ")")
	if !ok || !strings.HasPrefix(strings.TrimLeft(result, " "), "= 0 (Timeout)") {
		return x, false
	}
	x.fd, _, _ = strings.Cut(args, ",")
	if at := strings.IndexByte(x.fd, '<'); at > 0 { // -y
		x.fd = x.fd[:at]
	}
	ms, err := strconv.ParseUint(strings.TrimSpace(args[strings.LastIndexByte(args, ',')+1:]), 10, 31)
	x.took = float64(ms) / 1e3
	return x, err == nil && ms > 0
}

// nameServerPort stands in the address of a connection to a name server.
const nameServerPort = "_port=htons(53)"

// parseUntimed follows which descriptors are connected to a name server, and notes polls that waited until their time was over. It returns such a poll of a
// trace without durations.
func (p *parser) parseUntimed(line string, number int64) (x expired, ok bool) {
	text, ok := bareCall(line)
	if !ok {
		return x, false
	}
	if args, is := strings.CutPrefix(text, "connect("); is {
		fd, _, _ := strings.Cut(args, ",")
		fd, _, _ = strings.Cut(fd, "<")
		if !strings.Contains(args, nameServerPort) {
			delete(p.lookups, fd)
		} else if len(p.lookups) < mostThreads {
			p.lookups[fd] = true
		}
		return x, false
	}
	if args, is := strings.CutPrefix(text, "close("); is {
		fd, _, _ := strings.Cut(args, ")")
		delete(p.lookups, fd)
		return x, false
	}
	if x, ok = expiredPoll(text); !ok {
		return x, false
	}
	if p.lookups[x.fd] {
		p.unanswered++
		if x.took > p.unansweredMost {
			p.unansweredMost, p.unansweredAt = x.took, number
		}
	}
	return x, true
}

// emitUnanswered writes how long a resolver waited for a name server in vain.
func (p *parser) emitUnanswered(b *evidence.Builder, subject evidence.SubjectID) {
	if p.unanswered == 0 {
		return
	}
	b.FactAt(subject, evidence.FactLookupsUnanswered, "", p.unanswered, p.unansweredAt)
	b.FactAt(subject, evidence.FactLookupUnansweredMost, "", p.unansweredMost*1e9, p.unansweredAt)
}
