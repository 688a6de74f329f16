package format

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Log collectors and stores return text as one object of JSON per line: the text stands under a key, and other keys say where it came
// from. Text of several lines, such as a thread dump, is several such objects, or one with line ends in its text:
//
//	{"message":"goroutine 1 [select]:","kubernetes":{"pod_name":"web-7f9"},"@timestamp":"2026-11-20T22:49:44.123Z"}     Fluent Bit, Vector
//	{"textPayload":"…","timestamp":"2026-11-20T22:49:44.123Z","resource":{…}}                                          Google Cloud
//	{"log":"…","stream":"stderr","docker":{…}}                                                                         Fluentd
//
// Such text is read only if no format claims the objects themselves: a log of requests in JSON keeps its keys.

// messageKeys are the keys of the text, the most specific first.
var messageKeys = []string{`"log"`, `"textPayload"`, `"MESSAGE"`, `"message"`, `"msg"`, `"line"`, `"content"`, `"body"`}

// timeKeys are the keys of its time.
var timeKeys = []string{`"time"`, `"timestamp"`, `"@timestamp"`, `"ts"`, `"receiveTimestamp"`}

// Bounds of the text that unpackMessages returns.
const (
	mostMessageLines = 2 << 20
	mostMessageBytes = 64 << 20
)

// findJSONString returns the string behind a key, with its escapes; nil if there is none.
func findJSONString(l []byte, key string) []byte {
	for from := 0; ; {
		i := bytes.Index(l[from:], []byte(key))
		if i < 0 {
			return nil
		}
		from += i + len(key)
		rest := bytes.TrimLeft(l[from:], " ")
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		rest = bytes.TrimLeft(rest[1:], " ")
		if len(rest) == 0 || rest[0] != '"' {
			continue
		}
		if end := quoteEnd(rest[1:]); end >= 0 {
			return rest[1 : 1+end]
		}
		return nil
	}
}

// parseMessage returns the text of the message in a JSON object, and its time in ns
// since the epoch, 0 unknown.
func parseMessage(l []byte) (text []byte, stamp int64, ok bool) {
	l = bytes.TrimSpace(l)
	if len(l) < 2 || l[0] != '{' {
		return nil, 0, false
	}
	for _, k := range messageKeys {
		v := findJSONString(l, k)
		if v == nil {
			continue
		}
		for _, t := range timeKeys {
			if stamp, _ = parseRFC3339(findJSONString(l, t)); stamp != 0 {
				break
			}
		}
		if bytes.IndexByte(v, '\\') < 0 {
			return v, stamp, true
		}
		var s string
		if json.Unmarshal(append(append([]byte{'"'}, v...), '"'), &s) != nil {
			return nil, 0, false
		}
		return []byte(s), stamp, true
	}
	return nil, 0, false
}

// unpackMessages returns the lines of the text in objects, nil if most lines are no such objects.
func unpackMessages(each func(func(Line) bool) error) (out []Line, err error) {
	packed, all, size := 0, 0, 0
	err = each(func(l Line) bool {
		if len(bytes.TrimSpace(l.Text)) == 0 {
			return true
		}
		all++
		text, stamp, ok := parseMessage(l.Text)
		if !ok {
			return all < judged || packed*2 > all
		}
		packed++
		if stamp == 0 {
			stamp = l.Stamp
		}
		for part := range bytes.SplitSeq(bytes.TrimRight(text, "\r\n"), newLine) {
			size += len(part) + 1
			out = append(out, Line{Text: bytes.Clone(bytes.TrimRight(part, "\r")), Stamp: stamp, Number: l.Number})
		}
		return len(out) < mostMessageLines && size < mostMessageBytes
	})
	if packed == 0 || packed*2 <= all {
		return nil, err
	}
	return out, err
}

// isPacked says whether text may be such objects, by its first line.
func isPacked(head []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \r\n\t"), newLine)
	_, _, ok := parseMessage(first)
	return ok
}

// readPacked reads the text within objects with the formats that claim it; false if none does.
func readPacked(ctx context.Context, formats []Format, a *Artifact, bundle *evidence.Bundle) (bool, error) {
	lines, err := unpackMessages(a.Lines)
	if lines == nil || err != nil && !errors.Is(err, ErrCut) {
		return false, nil
	}
	p := &paste{name: a.Name}
	text := p.joinLines(lines)
	inner := &Artifact{Name: a.Name, Size: int64(len(text)), Modified: a.Modified, About: a.About, Series: a.Series, start: text[:min(len(text), HeadSize)],
		lines: lines, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	chosen := chooseFormats(formats, inner.start)
	if len(chosen) == 0 {
		return false, nil
	}
	id := bundle.AddArtifact(evidence.Artifact{Name: a.Name, Envelopes: append(a.Envelopes(), "json"), Bytes: a.Size, Modified: a.Modified, About: a.About, Series: a.Series})
	var errs []error
	for _, f := range chosen {
		bundle.Artifacts[id].Formats = append(bundle.Artifacts[id].Formats, f.Name)
		b := bundle.Builder(id, f.Name)
		b.Moments = f.Moments
		if err != nil {
			b.Cut()
		}
		if err := f.Parse(ctx, inner, b); err != nil {
			errs = append(errs, err)
		}
		b.Close()
	}
	if len(errs) == len(chosen) {
		return true, errs[0]
	}
	return true, nil
}
