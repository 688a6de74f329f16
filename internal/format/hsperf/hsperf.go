// Package hsperf reads the performance counters that a HotSpot JVM, JDK 5 to 25, always publishes
// about itself:
//
//   - snapshots over time as internal/collect/probe/hotspot records them: a line with the time and the
//     process's id, and below it the counters that have changed;
//   - what `jcmd PID PerfCounter.print` and `jstat -J-Djstat.showUnsupported=true -snap
//     PID` print: one snapshot;
//   - the file <tmp>/hsperfdata_USER/PID itself: one snapshot.
//
// A snapshot looks like this:
//
//	== 1795268461318000000 hsperfdata of 4711 ==
//	sun.gc.collector.0.name="G1 young collection pauses"
//	sun.gc.collector.0.invocations=32
//
// Counters only show the number of collections between two snapshots and their total
// time: there are no pauses, and no time to charge to a
// request. They do show that there was no collection. Meanings of the counters:
// https://github.com/openjdk/jdk/blob/master/src/hotspot/share/gc/shared/collectorCounters.cpp
// and the other users of perfData.hpp.
package hsperf

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/hsperf"
	"github.com/unstall/unstall/internal/format"
)

// Format reads a JVM's performance counters.
var Format = format.Format{
	Name:  "hsperf",
	About: "performance counters of HotSpot JVMs (hsperfdata, PerfCounter.print), JDK 5 to 25",
	Whole: true,
	Match: matchHead,
	Parse: parseArtifact,
}

// magic is the beginning of the file.
const magic = "\xca\xfe\xc0\xc0"

func matchHead(head []byte) format.Confidence {
	if bytes.HasPrefix(head, []byte(magic)) {
		return format.Sure
	}
	const most = 5 // lines before the first counter: the process's id
	for range most {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		head = rest
		if _, _, ok := parseHeader(line); ok {
			return format.Sure
		}
		if name, _, ok := parseCounter(line); ok && (bytes.HasPrefix(name, []byte("sun.")) || bytes.HasPrefix(name, []byte("java."))) {
			return format.Sure
		}
	}
	return format.No
}

// parseHeader reads the line above a snapshot.
func parseHeader(line []byte) (at int64, pid int, ok bool) { return format.Stamp(line, "hsperfdata") }

// parseCounter reads name=value.
func parseCounter(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(bytes.TrimRight(line, "\r"), []byte("="))
	return name, value, ok && len(value) > 0 && bytes.IndexByte(name, '.') > 0 && bytes.IndexByte(name, ' ') < 0
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	p := &parser{b: b, now: map[string]value{}, tracks: map[string]*track{}}
	r, err := a.Reader()
	if err != nil {
		return err
	}
	head := make([]byte, len(magic))
	n, _ := r.Read(head)
	_ = r.Close()
	if n == len(magic) && string(head) == magic {
		err = p.readBinary(a)
	} else {
		err = p.readText(ctx, a)
	}
	if err != nil {
		return err
	}
	return p.emitTracks()
}

// readBinary reads the JVM's own file.
func (p *parser) readBinary(a *format.Artifact) error {
	r, err := a.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	d, err := hsperf.Parse(r)
	if len(d.Counters) == 0 && err != nil {
		return err
	}
	if err != nil {
		p.b.Warnf(0, "%v", err)
		p.b.Cut()
	}
	for i := range d.Counters {
		c := &d.Counters[i]
		p.setCounter(c.Name, value{c.Value, c.Text, c.Unit == hsperf.String})
	}
	p.endSnapshot()
	return nil
}

// readText reads snapshots, or one without its time.
func (p *parser) readText(ctx context.Context, a *format.Artifact) error {
	err := a.Lines(func(l format.Line) bool {
		p.number = l.Number
		if at, pid, ok := parseHeader(l.Text); ok {
			p.endSnapshot()
			p.at, p.pid, p.line = at, pid, l.Number
		} else if name, v, ok := parseCounter(l.Text); ok {
			p.setCounter(string(name), parseValue(v))
		} else if len(bytes.TrimSpace(l.Text)) > 0 && l.Number > 1 { // the first may be jcmd's "4711:"
			p.strange++
			if p.first == 0 {
				p.first = l.Number
			}
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, format.ErrCut) {
		return err
	}
	if err != nil {
		p.b.Warnf(p.number, "the recording is incomplete after this line: %v", err)
		p.b.Cut()
	}
	p.endSnapshot()
	return nil
}

// value is the value of a counter: a number, or a text.
type value struct {
	number int64
	text   string
	isText bool
}

func parseValue(v []byte) value {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return value{number: n}
	}
	s := string(v)
	if u, err := strconv.Unquote(s); err == nil {
		s = u
	}
	return value{text: strings.Trim(s, `"`), isText: true}
}
