package accesslog

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Format reads access logs.
var Format = format.Format{
	Name:  "accesslog",
	About: "HTTP access logs: nginx, Apache, Tomcat, Envoy, Traefik, Caddy, HAProxy, uWSGI, AWS load balancers, CloudFront, IIS, and JSON or logfmt lines with a time and a duration",
	Match: matchHead,
	Parse: parseArtifact,
}

const (
	sampleLines = 5000
	sampleBytes = 1 << 20
	sampleLine  = 64 << 10 // longer lines tell nothing about a layout
)

// isConnection says whether a JSON line of Envoy is about a TCP connection and not a request: it has neither a method nor a status.
func isConnection(l []byte) bool {
	if !bytes.Contains(l, []byte(`"response_flags"`)) || !bytes.Contains(l, []byte(`"response_code":0`)) && !bytes.Contains(l, []byte(`"response_code":"0"`)) {
		return false
	}
	return bytes.Contains(l, []byte(`"method":null`)) || bytes.Contains(l, []byte(`"method":"-"`)) || !bytes.Contains(l, []byte(`"method":`))
}

// matchHead is Sure if three lines, or half of them, are access lines: kubectl logs mixes
// them with others. JSON and logfmt lines that have a time and a duration but
// no other part of a request are a Maybe.
func matchHead(head []byte) format.Confidence {
	var sample []sampled
	whole := bytes.LastIndexByte(head, '\n') + 1
	if whole == 0 {
		whole = len(head)
	}
	lines := 0
	for l := range bytes.Lines(head[:whole]) {
		l = bytes.TrimRight(l, "\r\n")
		if len(l) == 0 {
			continue
		}
		lines++
		if len(l) <= sampleLine && len(sample) < sampleLines {
			sample = append(sample, sampled{text: l})
		}
	}
	if len(sample) > 0 && !slices.ContainsFunc(sample, func(s sampled) bool { return !isConnection(s.text) }) {
		return format.No
	}
	l := chooseLayout(sample)
	switch {
	case l == nil:
	case l.stampless && (!l.timed || lines < 3): // a document about requests, rather than a log
		return format.Maybe
	case l.http && (l.hits >= 3 || l.hits*2 >= lines):
		return format.Sure
	case l.timed && l.hits >= 3 && l.hits*10 >= lines:
		return format.Maybe
	}
	return format.No
}

// readSample copies the beginning of an artifact, without lines that are too long to tell a
// layout.
func readSample(a *format.Artifact) ([]sampled, error) {
	var out []sampled
	size := 0
	err := a.Lines(func(l format.Line) bool {
		if len(l.Text) > 0 && len(l.Text) <= sampleLine {
			out = append(out, sampled{bytes.Clone(l.Text), l.Number, l.Stamp})
			size += len(l.Text)
		}
		return size < sampleBytes && len(out) < sampleLines && l.Number < 20*sampleLines
	})
	return out, err
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	head, err := readSample(a)
	if err != nil && len(head) == 0 {
		return err
	}
	l := chooseLayout(head)
	if l == nil {
		return errors.New("access log: no line has a time together with a request or a duration: nothing was read")
	}
	collected := l.collectorStamps(head)
	if collected {
		l.resolution = 1e6
		l.fields = append(l.fields, "time: the log collector's stamps, within 1 s of the line's own")
	}
	if l.stampless && !slices.ContainsFunc(head, func(s sampled) bool { return s.stamp != 0 }) {
		b.Warnf(0, "its access lines have no time: get them with docker logs -t or kubectl logs --timestamps, or add the time to the log format")
		return nil
	}
	t := newTally(b, l)
	take := func(line format.Line, x *seen) bool {
		if line.Number%8192 == 0 && ctx.Err() != nil {
			return false
		}
		t.lines++
		t.last = x.verdict
		switch x.verdict {
		case understood:
			if collected && line.Stamp >= x.time && line.Stamp < x.time+2e9 {
				x.time = line.Stamp
			}
			t.addRequest(x, line.Number)
		case garbled:
			t.countGarbled(line)
		default:
			t.others++
		}
		return true
	}
	if l.forkReader() != nil {
		err = format.Spread(a, func() func(format.Line, *seen) { return t.newLineReader(l.forkReader()) }, take)
	} else {
		look, x := t.newLineReader(l.reader), new(seen)
		err = a.Lines(func(line format.Line) bool {
			look(line, x)
			return take(line, x)
		})
	}
	switch {
	case ctx.Err() != nil:
		b.Warnf(t.lines, "reading stopped after line %d", t.lines)
		b.Cut()
	case errors.Is(err, format.ErrCut):
		b.Warnf(t.lines, "the file is incomplete after line %d: %v", t.lines, err)
		b.Cut()
	case err != nil:
		return err
	}
	t.finish()
	return nil
}

// collectorStamps says whether the log collector's stamps before the lines
// can replace the lines' own: both mark the request's completion, the line's
// own are truncated to 1 s, and the collector's follow within that second. It is false for
// a server that buffers its log.
func (l *layout) collectorStamps(head []sampled) bool {
	if l.stamp != evidence.StampCompletion || l.resolution < 1e9 {
		return false
	}
	var e entry
	near, all, fine := 0, 0, false
	for _, s := range head {
		if s.stamp == 0 || l.parseLine(s.text, &e) != understood {
			continue
		}
		all++
		fine = fine || s.stamp%1e9 != 0
		if d := s.stamp - e.time; d >= 0 && d < 1.1e9 {
			near++
		}
	}
	return fine && near*100 >= all*99
}
