// Package jfr recognises Java flight recordings, of JDK 8u262 and 11 to 25, and reads of
// each chunk's header from when to when it was recorded. Their events are not
// decoded: jfr print of any JDK shows them.
//
// A recording is one chunk after the other, each with a header of 68 bytes, all numbers
// big-endian: "FLR\0", u2 major and minor version, i8 size of the chunk, i8 and i8 where
// its constants and its metadata are, i8 start in ns since the epoch, i8 duration in ns,
// i8 ticks at the start, i8 ticks per second, u1 state, and flags:
// https://github.com/openjdk/jdk/blob/master/src/hotspot/share/jfr/recorder/repository/jfrChunkWriter.cpp
package jfr

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
)

// Format is a Java flight recording.
var Format = format.Format{
	Name:  "jfr",
	About: "Java flight recordings: start and end only; their events are kept but not read",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		if bytes.HasPrefix(head, []byte(magic)) {
			return format.Sure
		}
		return format.No
	},
	Parse: parse,
}

const (
	magic      = "FLR\x00"
	headerSize = 68
)

// chunk is what a header says.
type chunk struct {
	major, minor    uint16
	size            int64
	start, duration int64 // ns
}

// recording is what all headers say.
type recording struct {
	chunks      int
	major       uint16
	minor       uint16
	bytes       int64
	from, until int64 // ns
}

func parse(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	in, err := a.Reader()
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := read(ctx, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.chunks == 0 {
		return fmt.Errorf("jfr: %w", err)
	}
	if errors.Is(err, errOld) {
		return fmt.Errorf("jfr: version %d.%d is %w", r.major, r.minor, err)
	}
	if err != nil {
		b.Warnf(0, "the flight recording is incomplete (%v): jfr summary may still read part of it", err)
		b.Cut()
	}
	b.Subject(evidence.Subject{Runtime: "jvm"})
	b.Table(evidence.Table{Title: "Flight recording", Columns: []string{"version", "chunks", "bytes", "from", "until"}, Rows: [][]string{{
		fmt.Sprintf("%d.%d", r.major, r.minor), strconv.Itoa(r.chunks), strconv.FormatInt(r.bytes, 10), clock(r.from), clock(r.until)}}})
	b.Warnf(0, "unstall does not read the events of flight recordings; to see those of one kind: jfr print --events GarbageCollection %s", a.Name)
	return nil
}

func clock(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z") }

var (
	errCut   = errors.New("it ends within a chunk")
	errOpen  = errors.New("a chunk was never finished")
	errOld   = errors.New("that of Oracle's JDK 7 and 8, whose format was never published: Java Mission Control shows its events; to record what unstall reads, log GC (-Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps) and take thread dumps (jstack -l PID)")
	errChunk = errors.New("what follows a chunk is not a chunk")
)

// read reads header after header. What came before an error is returned with it.
func read(ctx context.Context, in io.Reader) (r recording, err error) {
	for ctx.Err() == nil {
		var h [headerSize]byte
		switch n, err := io.ReadFull(in, h[:]); {
		case err == io.EOF && r.chunks > 0:
			return r, nil
		case n >= len(magic) && string(h[:len(magic)]) != magic:
			return r, errChunk
		case err != nil:
			return r, errCut
		}
		c := chunk{
			major: binary.BigEndian.Uint16(h[4:]), minor: binary.BigEndian.Uint16(h[6:]),
			size:  int64(binary.BigEndian.Uint64(h[8:])),
			start: int64(binary.BigEndian.Uint64(h[32:])), duration: int64(binary.BigEndian.Uint64(h[40:])),
		}
		r.add(c)
		if c.major == 0 {
			return r, errOld
		}
		if c.size < headerSize {
			return r, errOpen
		}
		n, err := io.CopyN(io.Discard, in, c.size-headerSize)
		r.bytes += headerSize + n
		if err != nil {
			return r, errCut
		}
	}
	return r, ctx.Err()
}

func (r *recording) add(c chunk) {
	r.chunks++
	r.major, r.minor = c.major, c.minor
	if c.start <= 0 || c.duration < 0 {
		return
	}
	if r.from == 0 || c.start < r.from {
		r.from = c.start
	}
	r.until = max(r.until, c.start+c.duration)
}
