// Package gctrace reads what a Go program prints to standard error under
// GODEBUG=gctrace=1: one line per garbage collection, anywhere among other logs.
//
// The source of truth is the print at the end of gcMarkTermination in
// https://go.googlesource.com/go/+/refs/heads/master/src/runtime/mgc.go and the
// gctrace paragraph of runtime/extern.go, as they were from Go 1.5 to 1.27:
//
//	gc 50 @4.482s 0%: 0.060+5.8+0.017+0.33+0.50 ms clock, 0.24+5.8+0+0/0.11/13+2.0 ms cpu, 86->86->29 MB, 87 MB goal, 32 P         1.5
//	gc 15 @121.3s 0%: 0.058+1.2+0.015 ms clock, 0.46+0/2.0/4.1+0.12 ms cpu, 1->1->1 MB, 4 MB goal, 8 P                             1.6 to 1.18
//	gc 4 @0.184s 19%: 4.2+80+0.099 ms clock, 8.4+2.3/31/0+0.19 ms cpu, 25->28->21 MB, 30 MB goal, 0 MB stacks, 0 MB globals, 2 P    1.19 on
//	gc 5 @0.3s 1% (checking for goroutine leaks): …                                                                                 1.26 on
//
// The older "gc76(1): 2+1+1390+1 us, 1 -> 3 MB, …" (up to 1.4) carries no time:
// its pauses are summed, and placed only where a log collector stamped them.
//
// Where the lines mislead, or are coarser than they look:
//   - "MB" is MiB, rounded down: 0 MB is less than 1 MiB.
//   - @ is when the cycle asked for its first stop, in ms since the runtime
//     started. The phases follow without a gap: stopping is part of a pause.
//   - Phases show two digits, and from 10 ms on whole milliseconds, all rounded
//     down. A cycle's end may lie 1 ms per such phase later.
//   - "cpu" is time on a P, not CPU time: on a starved host the threads behind
//     the Ps do not run (https://go.dev/issue/19497).
//   - A stop that found work left and went back to marking (issue 27993), and
//     the one that looks for leaked goroutines, are hidden in the mark time.
//   - A fully stopped cycle of 1.5 repeats the assist, background and idle time
//     of the cycle before.
//   - With GOGC=off and no memory limit the goal is an absurd number: then there
//     is none, and HeapGoal is left out.
//   - "(forced)" is runtime.GC. What the runtime starts after two minutes without
//     a cycle is announced by a line "GC forced" instead. Both are Forced here.
//   - The line is written in pieces, so other threads' output may land within it.
//     Such a line is counted as not understood; its figures are not guessed.
//
// The package's opinion: a log may be of several processes, as
// they restart and as collectors mix them. The order of lines and the stamps
// beside them place a cycle on the wall clock; the file's date does not.
package gctrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads Go's gctrace output. Match sees the first 256 KiB of a log: it misses a log
// whose first gc line comes later.
var Format = format.Format{
	Name:  "gctrace",
	About: "Go GODEBUG=gctrace=1 output, Go 1.5 to 1.27 (pauses also before), within other logs",
	Match: matchHead,
	Parse: parseArtifact,
}

func matchHead(head []byte) format.Confidence {
	for i := 0; ; {
		h := findHead(head, i)
		if h.at < 0 {
			break
		}
		if _, _, ok := parseCycle(head, h); ok {
			return format.Sure
		}
		i = h.at + 1
	}
	for rest := head; ; {
		i := bytes.Index(rest, []byte("gc"))
		if i < 0 {
			return format.No
		}
		if _, ok := parseOld(rest[i:]); ok {
			return format.Sure
		}
		rest = rest[i+2:]
	}
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b}
	look := func(l format.Line, s *seen) { s.findCycle(l.Text, 0) }
	err := format.Spread(a, func() func(format.Line, *seen) { return look }, func(l format.Line, s *seen) bool {
		p.readLine(l, s)
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, format.ErrCut) {
		return err
	}
	if err != nil || p.tail {
		b.Cut()
	}
	if p.tail && p.damagedLast {
		p.damaged--
	}
	if p.cycles.n == 0 && p.old.cycles == 0 {
		if p.damaged == 0 && !p.tail {
			return errors.New("gctrace: it holds no gc line: record the standard error of a Go program run with GODEBUG=gctrace=1")
		}
		return fmt.Errorf("gctrace: none of its %d gc lines is complete: write standard error to its own file", p.damaged+p.countCut())
	}
	p.finish()
	b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactLinesIgnored, Number: float64(p.ignored), Origin: b.Origin(0)})
	b.Fact(evidence.Fact{Subject: p.subject, Key: evidence.FactLinesUnexplained, Number: float64(p.damaged), Origin: b.Origin(0)})
	if err != nil {
		b.Warnf(p.lines, "the log is incomplete after this line: %v", err)
	}
	return nil
}

// Rows an artifact may give: four intervals a cycle, about half a GB at most.
const (
	maxCycles = 1 << 20
	maxRuns   = 1000
)

type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID // the first process; known after finish
	cycles  cycles
	runs    []*run
	open    []*run // the ones that may go on, the latest used last
	old     oldForm

	lines   int64 // in the artifact
	ignored int64 // known, and useless here
	damaged int64 // begin like a gc line and break off
	dropped int64 // cycles beyond maxCycles or maxRuns
	twice   int64 // cycles printed twice in a row

	firstDamage, firstDrop, firstTwice int64

	tail        bool   // the last line ended within a gc line
	damagedLast bool   // and was counted as damaged
	gcForced    bool   // "GC forced" was printed since the last cycle
	prefix      int    // length of the text before the last gc line
	from        []byte // the same after the name in the envelope, reused

	stamps stampFinder
	gap    gap   // stamped lines since the last gc line
	latest int64 // latest stamp in any envelope

	zonelessLines bool // some gc line has a stamp of its own without a zone
}

// seen is the next gc line within a line of the log.
type seen struct {
	head  head
	cycle cycle
	end   int
	ok    bool
}

func (s *seen) findCycle(b []byte, from int) {
	if s.head = findHead(b, from); s.head.at >= 0 {
		s.cycle, s.end, s.ok = parseCycle(b, s.head)
	}
}

// readLine reads a line with a gc line in it.
func (p *parser) readLine(l format.Line, s *seen) {
	p.lines = l.Number
	p.tail, p.damagedLast = false, false
	b := l.Text
	if l.Stamp != 0 {
		p.latest = max(p.latest, l.Stamp)
	}
	found := false
	for i := 0; s.head.at >= 0; s.findCycle(b, i) {
		found = true
		h, c := s.head, &s.cycle
		if !s.ok {
			p.countDamaged(l.Number)
			// The rest of a damaged line may still hold a complete gc line.
			i = h.at + 1
			continue
		}
		c.line = l.Number
		p.noteStamp(c, b[i:h.start], l.Stamp)
		if i == 0 {
			p.prefix = h.start
		}
		prefix := b[i:h.start]
		if len(l.From) > 0 {
			p.from = append(append(append(p.from[:0], l.From...), ' '), prefix...)
			prefix = p.from
		}
		p.addCycle(c, prefix)
		p.tail, p.damagedLast = false, false
		i = s.end
	}
	if found {
		return
	}
	if p.cycles.n == 0 && p.oldLine(l) {
		return
	}
	p.tail = beginsHead(b, p.prefix)
	if k := knownLine(b, p.prefix); k != notKnown {
		p.ignored++
		p.gcForced = p.gcForced || k == gcForcedLine
		return
	}
	if l.Stamp == 0 {
		if s, ok := p.stamps.findStamp(b); ok {
			p.gap.addStamp(s)
		}
	}
}

func (p *parser) countDamaged(line int64) {
	p.damaged++
	if p.firstDamage == 0 {
		p.firstDamage = line
	}
	p.tail, p.damagedLast = true, true
}

// countCut returns 1 if the last line was cut, else 0.
func (p *parser) countCut() int64 {
	if p.tail {
		return 1
	}
	return 0
}

// noteStamp records when the line was written: by the collector's stamp, else by a stamp before
// the gc text on its own line.
func (p *parser) noteStamp(c *cycle, prefix []byte, stamp int64) {
	if stamp != 0 {
		c.stamp = stamp
		return
	}
	if len(prefix) < 10 || isGlued(prefix) {
		return
	}
	if s, ok := p.stamps.findStamp(prefix); ok {
		c.stamp, c.stampInLine = s.at, true
		p.zonelessLines = p.zonelessLines || s.zoneless
	}
}

func (p *parser) addCycle(c *cycle, prefix []byte) {
	if p.cycles.n >= maxCycles {
		p.countDropped(c.line)
		return
	}
	r, fresh := p.runOf(c, prefix)
	if r == nil {
		return
	}
	c.timer = p.gcForced && !c.forced && (fresh || c.start-r.lastEnd >= 119e9)
	p.gcForced = false
	p.gap.recordBounds(&p.cycles, p.runs, r, c)
	r.addCycle(p.cycles.add(c))
}

func (p *parser) countDropped(line int64) {
	p.dropped++
	if p.firstDrop == 0 {
		p.firstDrop = line
	}
}
