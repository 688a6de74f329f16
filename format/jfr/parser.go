package jfr

import (
	"errors"
	"io"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/jfr/recording"
)

// parser reads chunk after chunk.
type parser struct {
	b       *evidence.Builder
	subject evidence.SubjectID

	chunks       int
	major, minor uint16
	bytes        int64
	from, until  int64 // ns since the epoch
	events       int64
	counts       map[string]int64 // events by the name of their type
	nameless     map[int64]int64  // events whose type the metadata lacks, by its number
	bare         int              // chunks without metadata
	unread       int64
	damaged      int64 // bytes
}

func newParser(b *evidence.Builder) *parser {
	*b.Clock() = evidence.Clock{Name: "unix", Error: 1e6, Resolution: 1} // a chunk's start is told in ns, by a clock of µs or better
	return &parser{b: b, subject: b.Subject(evidence.Subject{Runtime: "jvm"}), counts: make(map[string]int64), nameless: make(map[int64]int64)}
}

// chunk reads one.
func (p *parser) chunk(c *recording.Chunk) {
	p.chunks++
	p.major, p.minor = c.Major, c.Minor
	if c.Start > 0 && c.Duration >= 0 {
		if p.from == 0 || c.Start < p.from {
			p.from = c.Start
		}
		p.until = max(p.until, c.Start+c.Duration)
	}
	if c.Classes == nil && c.Events > 0 {
		p.bare++
	}
	for id, n := range c.Counts() {
		switch x := c.Classes[id]; {
		case id == 0:
			p.counts["jdk.Metadata"] += n
		case id == 1:
			p.counts["jdk.CheckPoint"] += n
		case x != nil && x.Event():
			p.counts[x.Name] += n
		default:
			p.nameless[id] += n
		}
	}
	p.events += c.Events
	p.unread += c.Unread
	p.damaged += c.Damaged
}

// finish writes what all chunks hold. The last one may have broken off.
func (p *parser) finish(name string, err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		p.b.Warnf(0, "the flight recording is incomplete (%v): what there is of it is used", err)
		p.b.Cut()
	}
	if p.bare > 0 {
		p.b.Warnf(0, "chunks of the flight recording without metadata: %d; what their events hold is not known. A JVM before JDK 14 writes it when a chunk ends: end the recording with JFR.stop or JFR.dump", p.bare)
	}
	if p.damaged > 0 {
		p.b.Warnf(0, "bytes of the flight recording that are not events: %d", p.damaged)
	}
	if p.unread > 0 {
		p.b.Warnf(0, "events and constants of the flight recording that are not what its metadata says: %d", p.unread)
	}
	p.tables()
}
