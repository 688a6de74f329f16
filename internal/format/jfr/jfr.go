// Package jfr reads Java flight recordings: those of JDK 8u262 and 11 to 25, and
// async-profiler's in the same format. Package [recording] decodes them; this package interprets
// their events.
//
// Events are those of https://github.com/openjdk/jdk/blob/master/src/hotspot/share/jfr/metadata/metadata.xml and
// https://github.com/openjdk/jdk/tree/master/src/jdk.jfr/share/classes/jdk/jfr/events. The settings (default.jfc, profile.jfc) decide which of them are in a
// recording, and from how many ms on it has waits.
package jfr

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// Format reads a Java flight recording.
var Format = format.Format{
	Name:  "jfr",
	About: "Java flight recordings (.jfr) of JDK 8u262 and 11 to 25, and of async-profiler",
	Whole: true,
	Match: func(head []byte) format.Confidence {
		return format.SureIf(bytes.HasPrefix(head, []byte(recording.Magic)))
	},
	Parse: parseArtifact,
}

// old is the advice for recordings that only their vendor can read.
const old = "Java Mission Control shows its events; to record what unstall reads, log GC (-Xloggc:gc.log -XX:+PrintGCDetails -XX:+PrintGCDateStamps) and take thread dumps (jstack -l PID)"

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	in, err := a.Reader()
	if err != nil {
		return err
	}
	defer in.Close()
	r := recording.NewReader(in)
	p := newParser(b)
	ended := make(chan struct{})
	chunks := readAhead(r, ended)
	defer func() { // the reading goroutine ends with this function
		close(ended)
		for range chunks {
			continue
		}
	}()
	for x := range chunks {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = x.err; x.chunk == nil {
			break
		}
		if errors.Is(err, recording.ErrOld) {
			return fmt.Errorf("jfr: version %d.%d is %w: %s", x.chunk.Major, x.chunk.Minor, err, old)
		}
		p.readChunk(x.chunk)
	}
	if p.chunks == 0 {
		return fmt.Errorf("jfr: %w", err)
	}
	p.bytes = r.Bytes()
	p.finish(err)
	return nil
}

// next is the result of [recording.Reader.Next].
type next struct {
	chunk *recording.Chunk
	err   error
}

// readAhead reads a chunk while the previous one is processed, until there is no more or ended
// is closed.
func readAhead(r *recording.Reader, ended <-chan struct{}) <-chan next {
	chunks := make(chan next) // without a buffer: a third chunk would be read into the first
	go func() {
		defer close(chunks)
		for {
			c, err := r.Next()
			select {
			case chunks <- next{c, err}:
			case <-ended:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return chunks
}
