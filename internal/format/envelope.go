package format

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// envelope is what a log collector wraps around each line.
//
//	docker    {"log":"…\n","stream":"stderr","time":"2026-11-20T22:49:44.123Z"}   json-file driver
//	cri       2026-11-20T22:49:44.123456789Z stderr F …                           containerd, cri-o
//	journald  Nov 20 22:49:44 host unit[123]: …                                   journalctl -o short, and syslog files
//	journald  2026-11-20T22:49:44+0000 host unit[123]: …                          -o short-iso, -precise, RFC 5424 files
//	journald  {"MESSAGE":"…","__REALTIME_TIMESTAMP":"…"}                          -o json
//	compose   web-1  | …                                                          docker compose logs, with and without -t
//	compose   web.1.76bikgr3bu48@node    | …                                      docker service logs
//	pods      [pod/web-7f9/app] …                                                 kubectl logs --prefix
//	logger    2026-11-20 22:49:44,123 INFO [main] c.a.Log - …                     a line of another program (logger.go)
//	timestamps 2026-11-20T22:49:44.123456789Z …                                   kubectl logs --timestamps, docker logs -t
//
// Docker and the CRI runtimes cut lines longer than 16 KiB into pieces, each in
// an envelope of its own; an [unwrapper] joins them again.
type envelope struct {
	name string
	// line removes the envelope. A line without it is returned unchanged,
	// without a stamp.
	line func(*unwrapper, []byte) piece
}

// piece is the content of one envelope.
type piece struct {
	text    []byte
	stamp   int64
	partial bool // the line goes on in the next piece of the same stream
	stream  int  // 0 stdout, 1 stderr
	worn    bool // the line has the envelope, even if it has no stamp
	from    []byte
}

var envelopes = []envelope{
	{"docker", dockerLine},
	{"journald", journaldJSON},
	{"cri", criLine},
	{"journald", syslogLine},
	{"compose", composeLine},
	{"pods", podLine},
	{"logger", loggerLine},
	{"timestamps", stampedPiece},
}

// judged is how many lines decide the envelope.
const judged = 20

// findEnvelope judges the first lines: most of them must have the envelope.
func findEnvelope(head []byte, newest int64) *envelope {
	lines := bytes.SplitN(head[:min(len(head), 64<<10)], newLine, judged+1)
	if len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last may be cut, or is all that follows
	}
	u := newUnwrapper(nil, newest)
	for i := range envelopes {
		if envelopes[i].name == "compose" && bytes.Contains(head[:min(len(head), 4096)], []byte("-[ RECORD ")) {
			continue // psql's rows, a column a line
		}
		worn, seen := 0, 0
		for _, l := range lines {
			l = bytes.TrimSuffix(l, []byte("\r"))
			if len(l) == 0 {
				continue
			}
			seen++
			if p := envelopes[i].line(u, l); p.stamp != 0 || p.worn {
				worn++
			}
		}
		if worn > 0 && worn*2 > seen {
			return &envelopes[i]
		}
	}
	return nil
}

// dockerLine reads the json-file driver's lines, whose encoder always
// writes these three keys in this order (attrs may come between). If the text has
// no line end, the line goes on in the next one.
func dockerLine(u *unwrapper, l []byte) piece {
	rest, ok := bytes.CutPrefix(l, []byte(`{"log":"`))
	if !ok {
		return piece{text: l}
	}
	end := quoteEnd(rest)
	if end < 0 {
		return piece{text: l}
	}
	text, rest := rest[:end], rest[end+1:]
	i := bytes.LastIndex(rest, []byte(`"time":"`))
	if i < 0 {
		return piece{text: l}
	}
	stamp, _ := parseRFC3339(rest[i+len(`"time":"`):])
	if stamp == 0 {
		return piece{text: l}
	}
	text, ok = u.unquoteJSON(text)
	if !ok {
		return piece{text: l}
	}
	p := piece{text: bytes.TrimRight(text, "\r\n"), stamp: stamp, partial: !bytes.HasSuffix(text, []byte("\n"))}
	if bytes.Contains(rest[:i], []byte(`"stream":"stderr"`)) {
		p.stream = 1
	}
	return p
}

// quoteEnd finds the quote that ends a JSON string, -1 if there is none.
func quoteEnd(s []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(s[from:], '"')
		if i < 0 {
			return -1
		}
		i += from
		slashes := 0
		for slashes < i && s[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
		from = i + 1
	}
}

func journaldJSON(_ *unwrapper, l []byte) piece {
	if len(l) == 0 || l[0] != '{' || !bytes.Contains(l, []byte(`"__REALTIME_TIMESTAMP"`)) {
		return piece{text: l}
	}
	var v struct {
		Message json.RawMessage `json:"MESSAGE"`
		Time    string          `json:"__REALTIME_TIMESTAMP"` // µs
	}
	if json.Unmarshal(l, &v) != nil {
		return piece{text: l}
	}
	us, err := strconv.ParseInt(v.Time, 10, 64)
	if err != nil || us <= 0 || us > maxUnixNano/1000 {
		return piece{text: l}
	}
	var text string
	if json.Unmarshal(v.Message, &text) == nil {
		return piece{text: []byte(text), stamp: us * 1000}
	}
	// journald writes bytes that are not UTF-8 as an array of numbers.
	var numbers []int
	if json.Unmarshal(v.Message, &numbers) != nil {
		return piece{text: l}
	}
	raw := make([]byte, len(numbers))
	for i, c := range numbers {
		raw[i] = byte(c)
	}
	return piece{text: raw, stamp: us * 1000}
}

const maxUnixNano = 1<<63 - 1

// criLine reads "time stream tags text"; tags are colon-separated and the
// first is F (full) or P (partial).
// https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
func criLine(_ *unwrapper, l []byte) piece {
	rest, stamp := stampedLine(l)
	if stamp == 0 || len(rest) < len("stdout F") {
		return piece{text: l}
	}
	p := piece{stamp: stamp}
	switch string(rest[:7]) {
	case "stdout ":
	case "stderr ":
		p.stream = 1
	default:
		return piece{text: l}
	}
	tags, text, _ := bytes.Cut(rest[7:], []byte(" ")) // an empty line may lack the last space
	switch {
	case len(tags) == 0 || len(tags) > 1 && tags[1] != ':':
		return piece{text: l}
	case tags[0] == 'P':
		p.partial = true
	case tags[0] != 'F':
		return piece{text: l}
	}
	p.text = text
	return p
}

// mostName bounds the names of a compose project's containers.
const mostName = 128

// composeLine reads "web-1  | text": a container's name, or a task's and its node's, padded to
// the longest and two more, a bar, and with --timestamps the time. Lines of several containers are mixed.
// https://docs.docker.com/reference/cli/docker/compose/logs/
func composeLine(_ *unwrapper, l []byte) piece {
	bar := bytes.IndexByte(l[:min(len(l), mostName)], '|')
	if bar < 3 || l[bar-1] != ' ' || l[bar-2] != ' ' || bar+1 < len(l) && l[bar+1] != ' ' {
		return piece{text: l}
	}
	name := bytes.TrimRight(l[:bar], " ")
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' || c == '@') {
			return piece{text: l}
		}
	}
	if l[0] == ' ' {
		return piece{text: l}
	}
	text, stamp := stampedLine(l[min(bar+2, len(l)):])
	return piece{text: text, stamp: stamp, worn: true, from: name}
}

// podLine reads "[pod/web-7f9/app] text", with --timestamps the time behind it.
func podLine(_ *unwrapper, l []byte) piece {
	rest, ok := bytes.CutPrefix(l, []byte("[pod/"))
	end := bytes.IndexByte(rest[:min(len(rest), 2*mostName)], ']')
	if !ok || end <= 0 || bytes.IndexByte(rest[:end], ' ') >= 0 {
		return piece{text: l}
	}
	text, stamp := stampedLine(bytes.TrimPrefix(rest[end+1:], []byte(" ")))
	return piece{text: text, stamp: stamp, worn: true, from: rest[:end]}
}

func stampedPiece(_ *unwrapper, l []byte) piece {
	text, stamp := stampedLine(l)
	return piece{text: text, stamp: stamp}
}

// stampedLine reads an RFC 3339 time and a space.
func stampedLine(l []byte) ([]byte, int64) {
	stamp, n := parseRFC3339(l)
	if stamp == 0 || n >= len(l) || l[n] != ' ' {
		return l, 0
	}
	return l[n+1:], stamp
}

// syslogLine reads "Nov 20 22:49:44 host unit[123]: " and its ISO forms. The
// short form has no year and no zone: it uses the latest year that is not after
// the file was written, and UTC. The ISO forms carry a
// numeric zone. A Z is left alone, as only container runtimes write it, whose lines would
// otherwise lose a level and a logger's name ("… ERROR database: …").
func syslogLine(u *unwrapper, l []byte) piece {
	var rest []byte
	stamp, n := parseRFC3339(l)
	switch {
	case stamp != 0:
		if n >= len(l) || l[n] != ' ' || l[n-1] == 'Z' {
			return piece{text: l}
		}
		rest = l[n+1:]
	case len(l) < 16 || l[3] != ' ' || l[6] != ' ' || l[15] != ' ':
		return piece{text: l}
	default:
		if stamp = u.parseShortStamp(l[:15]); stamp == 0 {
			return piece{text: l}
		}
		rest = l[16:]
	}
	// host, then unit[pid]: or unit:
	i := bytes.IndexByte(rest, ' ')
	if i <= 0 {
		return piece{text: l}
	}
	unit := rest[i+1:]
	j := bytes.IndexByte(unit, ':')
	if j <= 0 || j > 128 || bytes.ContainsAny(unit[:j], " \"") {
		return piece{text: l}
	}
	switch text := unit[j+1:]; {
	case len(text) == 0:
		return piece{text: text, stamp: stamp}
	case text[0] == ' ':
		return piece{text: text[1:], stamp: stamp}
	}
	return piece{text: l}
}

// parseShortStamp reads "Nov 20 22:49:44" as ns since the epoch, 0 if it is no time. The year is
// the latest one that does not put it after the artifact's last write.
func (u *unwrapper) parseShortStamp(s []byte) int64 {
	if string(s) == u.shortText {
		return u.shortStamp
	}
	t, err := time.Parse(time.Stamp, string(s))
	if err != nil {
		return 0
	}
	t = t.AddDate(u.newest.Year(), 0, 0)
	if t.After(u.newest.Add(24 * time.Hour)) {
		t = t.AddDate(-1, 0, 0)
	}
	u.shortText, u.shortStamp = string(s), t.UnixNano()
	return u.shortStamp
}
