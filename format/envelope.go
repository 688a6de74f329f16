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
//	timestamps 2026-11-20T22:49:44.123456789Z …                                   kubectl logs --timestamps, docker logs -t
type envelope struct {
	name string
	// line takes the envelope off. A line that does not wear it comes back as it is.
	line func([]byte) (text []byte, stamp int64)
}

var envelopes = []envelope{
	{"docker", dockerLine},
	{"journald", journaldJSON},
	{"cri", criLine},
	{"journald", syslogLine},
	{"timestamps", stampedLine},
}

// findEnvelope judges the first lines: most of them must wear it.
func findEnvelope(head []byte) *envelope {
	lines := bytes.Split(head[:min(len(head), 16<<10)], []byte("\n"))
	if len(lines) > 1 {
		lines = lines[:len(lines)-1] // the last may be cut
	}
	lines = lines[:min(len(lines), 20)]
	for i := range envelopes {
		worn, seen := 0, 0
		for _, l := range lines {
			l = bytes.TrimSuffix(l, []byte("\r"))
			if len(l) == 0 {
				continue
			}
			seen++
			if _, stamp := envelopes[i].line(l); stamp != 0 {
				worn++
			}
		}
		if worn > 0 && worn*2 > seen {
			return &envelopes[i]
		}
	}
	return nil
}

// strip takes the envelope off a whole head.
func (e *envelope) strip(head []byte) []byte {
	var out []byte
	for l := range bytes.Lines(head) {
		text, _ := e.line(bytes.TrimRight(l, "\r\n"))
		out = append(append(out, text...), '\n')
	}
	return out
}

func dockerLine(l []byte) ([]byte, int64) {
	if !bytes.HasPrefix(l, []byte(`{"log":"`)) {
		return l, 0
	}
	var v struct {
		Log  string    `json:"log"`
		Time time.Time `json:"time"`
	}
	if json.Unmarshal(l, &v) != nil || v.Time.IsZero() {
		return l, 0
	}
	return bytes.TrimRight([]byte(v.Log), "\r\n"), v.Time.UnixNano()
}

func journaldJSON(l []byte) ([]byte, int64) {
	if len(l) == 0 || l[0] != '{' || !bytes.Contains(l, []byte(`"__REALTIME_TIMESTAMP"`)) {
		return l, 0
	}
	var v struct {
		Message json.RawMessage `json:"MESSAGE"`
		Time    string          `json:"__REALTIME_TIMESTAMP"` // µs
	}
	if json.Unmarshal(l, &v) != nil {
		return l, 0
	}
	us, err := strconv.ParseInt(v.Time, 10, 64)
	if err != nil || us <= 0 || us > maxUnixNano/1000 {
		return l, 0
	}
	var text string
	if json.Unmarshal(v.Message, &text) != nil {
		// journald writes bytes that are not UTF-8 as an array of numbers.
		var raw []int
		if json.Unmarshal(v.Message, &raw) != nil {
			return l, 0
		}
		for _, c := range raw {
			text += string(rune(c & 0xff))
		}
	}
	return []byte(text), us * 1000
}

const maxUnixNano = 1<<63 - 1

func criLine(l []byte) ([]byte, int64) {
	rest, stamp := stampedLine(l)
	if stamp == 0 {
		return l, 0
	}
	for _, s := range []string{"stdout ", "stderr "} {
		if after, ok := bytes.CutPrefix(rest, []byte(s)); ok && len(after) >= 2 && (after[0] == 'F' || after[0] == 'P') && after[1] == ' ' {
			return after[2:], stamp
		}
	}
	return l, 0
}

// stampedLine reads an RFC 3339 time and a space.
func stampedLine(l []byte) ([]byte, int64) {
	if len(l) < 21 || l[0] < '0' || l[0] > '9' || l[4] != '-' || l[10] != 'T' {
		return l, 0
	}
	i := bytes.IndexByte(l[:min(len(l), 40)], ' ')
	if i < 0 {
		return l, 0
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700"} {
		if t, err := time.Parse(layout, string(l[:i])); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			return l[i+1:], t.UnixNano()
		}
	}
	return l, 0
}

// syslogLine reads "Nov 20 22:49:44 host unit[123]: " and its ISO forms. The
// short form has no year and no zone: the year is the newest that is not in the
// future, the zone is taken to be UTC.
func syslogLine(l []byte) ([]byte, int64) {
	rest, stamp := stampedLine(l)
	if stamp == 0 {
		if len(l) < 16 || l[3] != ' ' || l[15] != ' ' {
			return l, 0
		}
		t, err := time.Parse(time.Stamp, string(l[:15]))
		if err != nil {
			return l, 0
		}
		now := time.Now().UTC()
		t = t.AddDate(now.Year(), 0, 0)
		if t.After(now.Add(24 * time.Hour)) {
			t = t.AddDate(-1, 0, 0)
		}
		rest, stamp = l[16:], t.UnixNano()
	}
	// host, then unit[pid]: or unit:
	i := bytes.IndexByte(rest, ' ')
	if i <= 0 {
		return l, 0
	}
	unit := rest[i+1:]
	j := bytes.Index(unit, []byte(": "))
	if j <= 0 || j > 128 || bytes.ContainsAny(unit[:j], " \"") {
		return l, 0
	}
	return unit[j+2:], stamp
}
