// Package syscalls reads what the threads of a Linux process were doing in the kernel,
// looked at now and then: of each thread whether it ran, or in which system call it waited, on
// which file or socket or at which address. It is what /proc/PID/task/TID/syscall and wchan
// say (proc(5), Linux 2.6.27 and later, CONFIG_HAVE_ARCH_TRACEHOOK), with what
// /proc/PID/fd says of descriptors:
//
//	# system calls of pid 4711 on amd64
//	@ 1763689985000000000
//	name 4711 journal
//	4711 ep_poll 232 0x5 0x7ffc0 0x40 0xffffffff 0x0 0x0 0x7ffc8 0x7f12
//	name 4712 writer
//	fd 7 /var/lib/journal
//	f 1 libc.so.6	fsync
//	f 2 journal	append
//	in 4712 1 2
//	4712 folio_wait_bit_common 74 0x7 0x0 0x0 0x0 0x0 0x0 0x7f1200 0x7f10
//	@ 1763689985024000000
//	4712 - running
//	ended 4711
//
// @ begins a look, in ns since the epoch. A line for a thread is its id, the function of the
// kernel in which it waits ("-": none is told) and what its syscall file holds. Only what changed is
// written: what is not named in a look does what it did. A descriptor is told before the first
// call with it: a path, "listener", "client" (accepted there), "peer" with the address that was
// asked, or the kind that the kernel calls it by. in are the functions (f, with the file they are in)
// by which a thread came to the wait that its next line tells, innermost first; word is what the
// program calls the word of memory that a futex is: a variable, with an offset in a large one; of poll it is the one
// descriptor that is asked for, of msync the file that is mapped there. The threads may be the workers of a process, each the first thread of one.
//
// Limits: a thread that "runs" may wait for a CPU; one that is in no system call
// and waits (number -1) waits for a page. The arguments of poll and epoll do not show what they wait
// for. The kernel knows only the address of a futex: it is a mutex if
// its word had the value "taken, and some thread waits", by the conventions of glibc, musl, Rust
// and Go.
//
// A look at a thread is a sample of type "syscall" ([evidence.SampleSyscall]), on its thread's
// lane. Its frames are, innermost first, the functions of the program, those of libraries with the
// file they are in ("fsync (libc.so.6)"); the call, what it is on and the rest are with the stack
// ([evidence.ThreadInfo]). The package's opinion: what all this means for requests
// is for who knows them; here is only what the kernel said.
package syscalls

import (
	"bytes"
	"context"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/recording"
)

// Format reads samples of the system calls of a process's threads.
var Format = format.Format{
	Name:  "syscalls",
	About: "what the threads of a Linux process do in the kernel, looked at now and then: calls, files, locks",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

const heading = "# system calls of pid "

func matchHead(head []byte) format.Confidence {
	return format.SureIf(bytes.HasPrefix(head, []byte(heading)))
}

// Limits of what is kept: about 200 MB.
const (
	mostLooks   = 2 << 20
	mostThreads = 1 << 16
	mostFDs     = 1 << 16
	mostFrames  = 1 << 18
	mostDepth   = 128
	longestName = 256
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, threads: make(map[int64]*thread), fds: make(map[int64]string), words: make(map[string]string), frame: make(map[int64]evidence.Frame)}
	if err := p.Scan(ctx, a, p.parseLine); err != nil {
		return err
	}
	p.endLook(p.now)
	if p.looks == 0 {
		return errors.New("syscalls: it has no thread samples: record again while the process runs")
	}
	p.Warn(b)
	p.emitSummary()
	return nil
}

// thread is a recorded thread.
type thread struct {
	id    int64
	name  string
	does  evidence.ThreadInfo // as in its line
	in    []evidence.Frame
	next  []evidence.Frame // of the following line
	line  int64
	stack evidence.StackID // 0: nothing known
	named bool             // stack is of its present name
}

type parser struct {
	recording.Scanner
	b       *evidence.Builder
	pid     int64
	calls   map[int64]string // names by number, of the architecture
	threads map[int64]*thread
	order   []*thread // as they came
	fds     map[int64]string
	words   map[string]string // names of words of memory, by address
	frame   map[int64]evidence.Frame

	subject evidence.SubjectID
	typ     evidence.NameID
	unit    evidence.NameID

	now           int64 // the look that is being read, 0 none, or one that is left out
	latest        int64
	from, until   int64
	looks         int64
	moments       int64
	dropped       int64
	backwards     int64
	backwardsLine int64
}

// parseLine reads one line, and says whether it was understood.
func (p *parser) parseLine(text []byte) bool {
	word, rest, _ := bytes.Cut(text, []byte(" "))
	switch {
	case len(text) == 0:
		return true
	case text[0] == '#':
		return p.parseHeading(text)
	case string(word) == "@":
		at, ok := format.ParseDigits(rest)
		if !ok || !recording.IsDate(at) {
			return false
		}
		p.endLook(p.now)
		if p.now = at; at <= p.latest {
			p.backwards++
			p.backwardsLine = p.Number
			p.now = 0
		}
		p.latest = max(p.latest, at)
		return true
	case p.calls == nil:
		return false
	case string(word) == "name":
		return p.parseName(rest)
	case string(word) == "fd":
		return p.parseDescriptor(rest)
	case string(word) == "f":
		return p.parseFunction(rest)
	case string(word) == "in":
		return p.parseCallers(rest)
	case string(word) == "word":
		return p.parseVariable(rest)
	case string(word) == "ended":
		return p.endThread(rest)
	}
	return p.parseThread(word, rest)
}

func (p *parser) parseHeading(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte(heading))
	digits, arch, on := bytes.Cut(rest, []byte(" on "))
	pid, is := format.ParseDigits(digits)
	if !ok || !on || !is || pid == 0 || pid > 1<<30 || p.calls != nil {
		return !ok && p.calls != nil // a comment
	}
	if p.calls = numbers[string(arch)]; p.calls == nil {
		p.calls = map[int64]string{}
	}
	p.pid = pid
	p.subject = p.b.Subject(evidence.Subject{PID: int(pid)})
	p.typ, p.unit = p.b.Name(evidence.SampleSyscall), p.b.Name("count")
	return true
}

func (p *parser) parseName(rest []byte) bool {
	digits, name, ok := bytes.Cut(rest, []byte(" "))
	tid, is := format.ParseDigits(digits)
	if !ok || !is || tid == 0 {
		return false
	}
	if t := p.ensureThread(tid); t != nil {
		t.name, t.named = recording.Clean(name, longestName), false
	}
	return true
}

func (p *parser) parseDescriptor(rest []byte) bool {
	digits, target, ok := bytes.Cut(rest, []byte(" "))
	fd, is := format.ParseDigits(digits)
	if !ok || !is {
		return false
	}
	if _, known := p.fds[fd]; known || len(p.fds) < mostFDs {
		p.fds[fd] = recording.Clean(target, longestName)
	}
	return true
}

func (p *parser) endThread(rest []byte) bool {
	tid, ok := format.ParseDigits(rest)
	if t := p.threads[tid]; t != nil {
		delete(p.threads, tid)
		t.stack, t.does = 0, evidence.ThreadInfo{}
		for i, x := range p.order {
			if x == t {
				p.order = append(p.order[:i], p.order[i+1:]...)
				break
			}
		}
	}
	return ok
}

func (p *parser) ensureThread(tid int64) *thread {
	t := p.threads[tid]
	if t == nil {
		if len(p.threads) >= mostThreads {
			p.dropped++
			return nil
		}
		t = &thread{id: tid}
		p.threads[tid] = t
		p.order = append(p.order, t)
	}
	return t
}

// parseThread reads a thread's current state.
func (p *parser) parseThread(word, rest []byte) bool {
	tid, ok := format.ParseDigits(word)
	kernel, call, two := bytes.Cut(rest, []byte(" "))
	if !ok || tid == 0 || !two || len(kernel) == 0 {
		return false
	}
	does, ok := p.parseCall(string(kernel), call)
	if !ok {
		return false
	}
	if t := p.ensureThread(tid); t != nil {
		t.does, t.line, t.named = does, p.Number, false
		t.in, t.next = t.next, t.in[:0]
	}
	return true
}

// endLook ends a sample: each thread has the state of its last line.
func (p *parser) endLook(at int64) {
	switch {
	case at == 0:
		return
	case p.looks >= mostLooks:
		p.dropped += int64(len(p.order))
		return
	}
	any := false
	for _, t := range p.order {
		if t.does.Call == "" {
			continue
		}
		if !t.named {
			p.setStack(t)
		}
		any = true
		p.looks++
		p.b.Sample(evidence.Sample{Subject: p.subject, Time: at, Lane: evidence.LaneID(t.id), Stack: t.stack, Type: p.typ, Unit: p.unit, Value: 1, Origin: p.b.Origin(t.line)})
	}
	if any {
		if p.from == 0 {
			p.from = at
		}
		p.until = at
		p.moments++
	}
}

// setStack sets the stack of a thread to that of what it does.
func (p *parser) setStack(t *thread) {
	t.does.Name = t.name
	t.stack, t.named = p.b.ThreadStack(t.in, t.does), true
}

func (p *parser) emitSummary() {
	b := p.b
	b.Cover(evidence.Coverage{Subject: p.subject, Kind: evidence.CoverSyscalls, From: p.from, Until: p.until, Sampled: max(1, (p.until-p.from)/max(1, p.moments-1)), Origin: b.Origin(1)})
	if p.backwards > 0 {
		b.Warnf(p.backwardsLine, "looks that are older than the one before: %d; they were left out", p.backwards)
	}
	if p.dropped > 0 {
		b.Warnf(0, "there are more than %d looks or %d threads: %d were left out", mostLooks, mostThreads, p.dropped)
	}
}
