// Package uwsgi reads the lines of uWSGI's log about its accept queue: one for each second in which it is full.
//
//	Tue May 31 13:51:28 2022 - *** uWSGI listen queue of socket ":3030" (fd: 4) full !!! (101/100) ***
//
// Source: https://github.com/unbit/uwsgi/blob/master/core/master.c (get_tcp_info), 1.9 to 2.0. The numbers are the connections that wait
// and their limit. The time is the host's, without a zone, and is read as UTC. The lines are converted to what ss prints of the socket,
// which package socketstat reads. The log says nothing about times at which the queue was not full.
package uwsgi

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/socketstat"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "uwsgi-log",
	About: "what the log of uWSGI says of its listen queue",
	Match: func(head []byte) format.Confidence {
		for len(head) > 0 {
			i := bytes.Index(head, words)
			if i < 0 {
				return format.No
			}
			line, _, _ := bytes.Cut(head[i:], []byte("\n"))
			if _, ok := parseQueueFull(line); ok {
				return format.Sure
			}
			head = head[i+len(words):]
		}
		return format.No
	},
	Parse: parseArtifact,
}

var words = []byte("*** uWSGI listen queue of socket ")

const mostLine = 512

// full is a line about the queue.
type full struct {
	socket         string
	waiting, limit int64
}

// parseQueueFull reads a line from "*** uWSGI" on.
func parseQueueFull(l []byte) (f full, ok bool) {
	rest, ok := bytes.CutPrefix(l[:min(len(l), mostLine)], words)
	if !ok {
		return f, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`"`))
	socket, rest, ok2 := bytes.Cut(rest, []byte(`"`))
	_, rest, ok3 := bytes.Cut(rest, []byte("full !!! ("))
	waiting, rest, ok4 := bytes.Cut(rest, []byte("/"))
	limit, _, ok5 := bytes.Cut(rest, []byte(")"))
	if !ok || !ok2 || !ok3 || !ok4 || !ok5 || len(socket) == 0 || bytes.IndexByte(socket, ' ') >= 0 {
		return f, false
	}
	f.socket = string(socket)
	var err, err2 error
	f.waiting, err = strconv.ParseInt(string(waiting), 10, 32)
	f.limit, err2 = strconv.ParseInt(string(limit), 10, 32)
	return f, err == nil && err2 == nil && f.waiting >= 0 && f.limit > 0
}

// lineTime returns when a line was written, s since the epoch, 0 unknown.
func lineTime(l format.Line) int64 {
	const layout = "Mon Jan _2 15:04:05 2006"
	if len(l.Text) > len(layout) {
		if t, err := time.Parse(layout, string(l.Text[:len(layout)])); err == nil && t.Year() > 2000 && t.Year() < 2100 {
			return t.Unix()
		}
	}
	return l.Stamp / 1e9
}

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	var lines []format.Line
	put := func(l format.Line, text string) {
		lines = append(lines, format.Line{Number: l.Number, Text: []byte(text)})
	}
	last, told := int64(0), 0
	err := a.Lines(func(l format.Line) bool {
		i := bytes.Index(l.Text, words)
		if i < 0 {
			return l.Number&0xfff != 0 || ctx.Err() == nil
		}
		f, ok := parseQueueFull(l.Text[i:])
		if !ok || told == mostTold {
			return ctx.Err() == nil
		}
		told++
		if t := lineTime(l); t > last {
			put(l, strconv.FormatInt(t, 10))
			put(l, "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process")
			last = t
		} else if last == 0 {
			put(l, "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process")
		}
		address := f.socket
		if address[0] == ':' {
			address = "*" + address
		}
		put(l, fmt.Sprintf("LISTEN %d %d %s *:* users:((\"uwsgi\",pid=0,fd=0))", f.waiting, f.limit, address))
		return ctx.Err() == nil
	})
	if err := format.EndReading(ctx, b, err, told > 0, "the text", "uwsgi: no line about its listen queue in it"); err != nil {
		return err
	}
	if last != 0 {
		b.Warnf(0, "its times have no time zone and were read as UTC: check them against the other files")
	}
	return socketstat.Format.Parse(ctx, format.Rewritten(a, lines), b)
}

// mostTold bounds the lines that are kept: one a second for each socket.
const mostTold = 50_000
