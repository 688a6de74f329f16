// Package safepointtimeout reads what HotSpot prints with -XX:+SafepointTimeout of threads that did not stop in time, JDK 6 to 25:
//
//	# SafepointSynchronize::begin: Timeout detected:
//	# SafepointSynchronize::begin: Timed out while spinning to reach a safepoint.
//	# SafepointSynchronize::begin: Threads which did not reach the safepoint:
//	# "index-builder-2" #41 prio=5 os_prio=0 tid=0x00007f6b0c2f1000 nid=0x5d21 runnable [0x0000000000000000]
//	   java.lang.Thread.State: RUNNABLE
//	# SafepointSynchronize::begin: (End of list)
//
// Source: SafepointSynchronize::print_safepoint_timeout
// (https://github.com/openjdk/jdk/blob/master/src/hotspot/share/runtime/safepoint.cpp). The final duration is not printed: it is more than
// SafepointTimeoutDelay, 10 s by default.
package safepointtimeout

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/redact"
	"github.com/unstall/unstall/internal/format"
)

// Format reads such output, among any other text.
var Format = format.Format{
	Name:  "safepointtimeout",
	About: "threads of a JVM that did not stop in time (-XX:+SafepointTimeout)",
	Match: func(head []byte) format.Confidence {
		return format.SureIf(bytes.Contains(head, began))
	},
	Parse: parseArtifact,
}

var (
	began = []byte("SafepointSynchronize::begin: Threads which did not reach the safepoint")
	ended = []byte("SafepointSynchronize::begin: (End of list)")
)

// Bounds of what is kept.
const (
	maxThreads = 64
	maxName    = 120
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
	*b.Clock() = evidence.Clock{Name: "no times", Error: evidence.Unanchored}
	inside, lists, dropped := false, 0, 0
	var order []string
	times := make(map[string]int)
	lines := make(map[string]int64)
	err := a.Lines(func(l format.Line) bool {
		switch {
		case bytes.Contains(l.Text, began):
			inside = true
			lists++
		case bytes.Contains(l.Text, ended):
			inside = false
		case inside:
			i := bytes.IndexByte(l.Text, '"')
			if i < 0 || !bytes.Contains(l.Text[i:], []byte("nid=")) && !bytes.Contains(l.Text[i:], []byte("tid=")) {
				return true
			}
			name, _, ok := bytes.Cut(l.Text[i+1:], []byte(`"`))
			if !ok || len(name) == 0 || len(name) > maxName {
				return true
			}
			n := strings.ToValidUTF8(string(redact.Value(bytes.Clone(name))), "?")
			if times[n] == 0 {
				if len(order) == maxThreads {
					dropped++
					return true
				}
				order = append(order, n)
				lines[n] = l.Number
			}
			times[n]++
		}
		return l.Number&0xfff != 0 || ctx.Err() == nil
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case lists == 0 && err != nil:
		return err
	case lists == 0:
		return errors.New("safepointtimeout: no list of threads")
	case err != nil:
		b.Warnf(0, "the output is incomplete: %v", err)
	}
	if err != nil || inside {
		b.Cut()
	}
	for _, n := range order {
		b.FactAt(subject, evidence.FactSafepointLate+": "+n, n, float64(times[n]), lines[n])
	}
	if len(order) == 0 {
		b.Warnf(0, "the threads that did not stop in time are not in the text: copy the lines behind it, too")
	}
	if dropped > 0 {
		b.Warnf(0, "threads beyond the first %d: %d", maxThreads, dropped)
	}
	return nil
}
