// Package hotspotgc reads the garbage collection logs of HotSpot JVMs, JDK 1.4 to 25: what
// -verbose:gc and the Print… flags wrote up to JDK 8 ([legacy]), and what -Xlog writes
// since 9 ([unified]), of every collector, at any level and with any decorators.
//
// There is no specification; the source of truth is what prints the lines:
// https://github.com/openjdk/jdk/tree/master/src/hotspot/share/gc and
// https://github.com/openjdk/jdk8u/tree/master/hotspot/src/share/vm.
//
// Where the lines mislead:
//   - Stamps are milliseconds; durations have microseconds or more. A unified pause is
//     stamped at its end, a legacy one at its beginning.
//   - Times of threads are no pauses: ZGC's Allocation Stall and Relocation Stall stop one
//     thread each.
//   - Concurrent phases are no pauses. A line that says Pause is one, even within them.
//   - Serial and CMS print a full collection within the young one that turned into it, and
//     the young one's time includes it: here the young pause ends where the full one begins, so
//     that pauses can be added up.
//   - Heap sizes are rounded to the unit in the line; G1's generations are regions.
//   - A log that begins late does not show the size of G1's regions, which is then
//     computed from the heap in use.
//
// The package's opinion: lines that are not a collector's are only counted;
// a line that is not understood is shown, and never guessed at.
package hotspotgc

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a GC log of a HotSpot JVM.
var Format = format.Format{
	Name:  "hotspotgc",
	About: "GC and safepoint logs of HotSpot JVMs, JDK 1.4 to 25, all collectors, -Xlog or the Print flags before it",
	Match: matchHead,
	Parse: parseArtifact,
}

func matchHead(head []byte) format.Confidence {
	for rest := head; len(rest) > 0; {
		line, more, whole := bytes.Cut(rest, []byte("\n"))
		rest = more
		line = bytes.TrimSuffix(line, []byte("\r"))
		if !whole && len(head) >= format.HeadSize {
			break // cut
		}
		if len(line) > 0 && (isUnifiedLine(line) || legacyMatch(line)) {
			return format.Sure
		}
	}
	return format.No
}

// isUnifiedLine says whether a line is surely of a unified log about collections or safepoints.
func isUnifiedLine(b []byte) bool {
	var d decorators
	text, decorated := d.cutDecorators(b)
	if bytes.HasPrefix(text, gcPrefix) {
		_, n := parseInteger(text[len(gcPrefix):])
		return n > 0 && len(text) > len(gcPrefix)+n && text[len(gcPrefix)+n] == ')'
	}
	if !decorated {
		return isUndecorated(text)
	}
	if bytes.HasPrefix(text, []byte("duration [")) || bytes.HasPrefix(text, []byte("overhead, spent [")) {
		return false // "[gc][old][171668][1084] duration [49.1s]": Elasticsearch's monitor, package gcmonitor
	}
	tags := d.tags
	return bytes.HasPrefix(tags, []byte("gc")) && (len(tags) == 2 || tags[2] == ',') || bytes.HasPrefix(tags, []byte("safepoint")) ||
		isUndecorated(text) || stallLine(text)
}

// stallLine marks a line without tags about a thread that waited for memory.
func stallLine(b []byte) bool {
	return bytes.HasPrefix(b, []byte("Allocation Stall (")) || bytes.HasPrefix(b, []byte("Total time for which application threads were stopped"))
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	o := newOutput(b)
	r := reader{o: o, unified: newUnified(o), legacy: newLegacy(o)}
	if len(a.Envelopes()) == 0 {
		o.rows.size = a.Size
	}
	err := func() error {
		defer o.rows.close()
		err := format.Spread(a, newLook, func(l format.Line, s *looked) bool {
			r.parseLine(l, s)
			return l.Number&0xfff != 0 || ctx.Err() == nil
		})
		if ctx.Err() == nil && (err == nil || errors.Is(err, format.ErrCut)) {
			r.unified.close()
			r.legacy.close()
		}
		return err
	}()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, format.ErrCut) {
		return err
	}
	if err != nil {
		b.Cut()
		b.Warnf(r.number, "the log is incomplete after this line: %v", err)
	}
	if o.events == 0 && o.countUnderstood() == 0 {
		return fmt.Errorf("hotspotgc: none of its %d lines is a GC line: log with -Xlog:gc*,safepoint:file=gc.log (JDK 8: -Xloggc:gc.log -XX:+PrintGCDetails)", r.number)
	}
	o.emitSummary(r.number)
	return nil
}

// reader passes each line to the reader of its dialect.
type reader struct {
	o       *output
	unified *unified
	legacy  *legacy
	old     bool // the legacy reader took the last line
	number  int64
}

func (r *reader) parseLine(l format.Line, s *looked) {
	r.number = l.Number
	r.o.rows.read += int64(len(l.Text)) + 1
	r.o.clock.envelope = l.Stamp
	if len(l.Text) == 0 {
		r.o.countIgnored(emptyLine)
		return
	}
	if r.old && (isDigit(l.Text[0]) || legacyMatch(l.Text)) || !r.unified.parseLine(l.Text, s, l.Number, !r.old) {
		r.old = true
		r.legacy.parseLine(l.Text, s, l.Number)
	}
}
