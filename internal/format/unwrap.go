package format

import (
	"bytes"
	"encoding/json"
	"time"
)

// unwrapper removes envelopes from the lines of one artifact and joins lines that the
// collector had cut.
type unwrapper struct {
	envelope *envelope
	newest   time.Time // when the artifact was last written: no line is newer
	pending  [2]joined // by stream: the pieces of a line may be mixed with the other stream's

	text       []byte // dockerLine's, reused
	shortText  string
	shortStamp int64
}

type joined struct {
	text   []byte
	stamp  int64
	number int64
	open   bool
	long   bool
}

func newUnwrapper(e *envelope, newest int64) *unwrapper {
	u := &unwrapper{envelope: e, newest: time.Now().UTC()}
	if newest != 0 {
		u.newest = time.Unix(0, newest).UTC()
	}
	return u
}

// unwrapLine unwraps a line. It returns false if the line goes on in another one. The text is
// valid until the next call.
func (u *unwrapper) unwrapLine(l Line) (Line, bool) {
	p := u.envelope.line(u, l.Text)
	j := &u.pending[p.stream]
	l.Text, l.Stamp, l.From = p.text, p.stamp, p.from
	if p.stamp == 0 || !p.partial && !j.open {
		return l, true
	}
	if !j.open {
		*j = joined{text: j.text[:0], stamp: l.Stamp, number: l.Number, open: true}
	}
	room := MaxLine - len(j.text)
	j.long = j.long || l.Long || len(p.text) > room
	j.text = append(j.text, p.text[:min(len(p.text), room)]...)
	if p.partial {
		return Line{}, false
	}
	return j.finishLine(), true
}

// flushPending yields the lines whose last piece is missing.
func (u *unwrapper) flushPending(f func(Line) bool) {
	for i := range u.pending {
		if j := &u.pending[i]; j.open && !f(j.finishLine()) {
			return
		}
	}
}

func (j *joined) finishLine() Line {
	j.open = false
	return Line{Text: j.text, Stamp: j.stamp, Number: j.number, Long: j.long}
}

// unwrapHead removes the envelopes from the lines of a whole head.
func (u *unwrapper) unwrapHead(head []byte) []byte {
	var out []byte
	add := func(l Line) bool {
		out = append(append(out, l.Text...), '\n')
		return true
	}
	for l := range bytes.Lines(head) {
		if l, whole := u.unwrapLine(Line{Text: bytes.TrimRight(l, "\r\n")}); whole {
			add(l)
		}
	}
	u.flushPending(add)
	return out
}

// unquoteJSON decodes the inside of a JSON string. The result is valid until the
// next call.
func (u *unwrapper) unquoteJSON(s []byte) ([]byte, bool) {
	if bytes.IndexByte(s, '\\') < 0 {
		return s, true
	}
	out := u.text[:0]
	for i := 0; i < len(s); {
		j := bytes.IndexByte(s[i:], '\\')
		if j < 0 {
			out = append(out, s[i:]...)
			break
		}
		out = append(out, s[i:i+j]...)
		i += j + 1
		if i >= len(s) {
			return nil, false
		}
		switch c := s[i]; c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case '"', '\\', '/':
			out = append(out, c)
		default: // \u and the rare ones
			var text string
			if json.Unmarshal(append(append([]byte{'"'}, s...), '"'), &text) != nil {
				return nil, false
			}
			return []byte(text), true
		}
		i++
	}
	u.text = out
	return out, true
}

// parseRFC3339 reads the time at the beginning of s, with a zone of Z, +hh:mm or
// +hhmm, and returns it in ns since the epoch and how long it was; 0, 0 if there
// is none, or none between 1971 and 2199.
func parseRFC3339(s []byte) (ns int64, n int) {
	const shape = "0000-00-00T00:00:00"
	if len(s) <= len(shape) || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, 0
	}
	year := parseUint(s[0:4])
	month, day := parseUint(s[5:7]), parseUint(s[8:10])
	hour, minute, second := parseUint(s[11:13]), parseUint(s[14:16]), parseUint(s[17:19])
	if year < 1971 || year > 2199 || month < 1 || month > 12 || day < 1 || day > 31 ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 {
		return 0, 0
	}
	n = len(shape)
	var fraction int64
	if s[n] == '.' || s[n] == ',' {
		unit := int64(1e8)
		for n++; n < len(s) && s[n] >= '0' && s[n] <= '9'; n++ {
			fraction += int64(s[n]-'0') * unit
			unit /= 10
		}
	}
	zone, m := zoneSeconds(s[n:])
	if m == 0 {
		return 0, 0
	}
	sec := DaysSinceEpoch(year, month, day)*86400 + hour*3600 + minute*60 + second - zone
	return sec*1e9 + fraction, n + m
}

func zoneSeconds(s []byte) (seconds int64, n int) {
	switch {
	case len(s) > 0 && s[0] == 'Z':
		return 0, 1
	case len(s) >= 5 && (s[0] == '+' || s[0] == '-'):
		n = 5
		m := s[3:5]
		if s[3] == ':' {
			if len(s) < 6 {
				return 0, 0
			}
			n, m = 6, s[4:6]
		}
		hours, minutes := parseUint(s[1:3]), parseUint(m)
		if hours < 0 || hours > 15 || minutes < 0 || minutes > 59 {
			return 0, 0
		}
		seconds = hours*3600 + minutes*60
		if s[0] == '-' {
			seconds = -seconds
		}
		return seconds, n
	}
	return 0, 0
}

// parseUint reads digits, -1 if there is anything else.
func parseUint(s []byte) (v int64) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		v = v*10 + int64(c-'0')
	}
	return v
}

// DaysSinceEpoch counts days from 1970-01-01 in the Gregorian calendar. It takes years to begin in
// March, so that the leap day is their last.
func DaysSinceEpoch(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}
