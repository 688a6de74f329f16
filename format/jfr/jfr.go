// Package jfr reads Java flight recordings: those of JDK 8u262 and 11 to 25, and what
// async-profiler writes in their format. Package [recording] decodes them; this one says what
// their events mean.
//
// Events are those of https://github.com/openjdk/jdk/blob/master/src/hotspot/share/jfr/metadata/metadata.xml and
// https://github.com/openjdk/jdk/tree/master/src/jdk.jfr/share/classes/jdk/jfr/events; which of them are in a
// recording, and from how many ms on waits are told, is up to its settings (default.jfc, profile.jfc).
package jfr

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format"
	"github.com/unstall/unstall/format/jfr/recording"
)

// Format is a Java flight recording.
var Format = format.Format{
	Name:  "jfr",
	About: "Java flight recordings (.jfr) of JDK 8u262 and 11 to 25, and of async-profiler",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		if bytes.HasPrefix(head, []byte(recording.Magic)) {
			return format.Sure
		}
		return format.No
	},
	Parse: parse,
}

// old says what to do about recordings that nobody but their vendor can read.
const old = "Java Mission Control shows its events; to record what unstall reads, log GC (-Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps) and take thread dumps (jstack -l PID)"

func parse(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	in, err := a.Reader()
	if err != nil {
		return err
	}
	defer in.Close()
	r := recording.NewReader(in)
	p := newParser(b)
	for err == nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var c *recording.Chunk
		if c, err = r.Next(); c == nil {
			break
		}
		if errors.Is(err, recording.ErrOld) {
			return fmt.Errorf("jfr: version %d.%d is %w: %s", c.Major, c.Minor, err, old)
		}
		p.chunk(c)
	}
	if p.chunks == 0 {
		return fmt.Errorf("jfr: %w", err)
	}
	p.bytes = r.Bytes()
	p.finish(err)
	return nil
}
