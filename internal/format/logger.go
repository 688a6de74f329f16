package format

import (
	"bytes"
	"encoding/json"
	"time"
)

// loggerLine removes a logger's prefix from another program's line: the time, the
// level, the logger's name. Only lines whose rest begins in a known way have this envelope.
//
//	2024-02-11 08:12:01,120 INFO  [gc] c.a.l.LogTail - [1201.330s][info][gc] GC(91) …     logback, log4j
//	2024-05-01T10:00:00.101Z	INFO	runner/exec.go:55	gc 801 @41.220s 24%: …               zap, console
//	[10:00:00 INF] 1121:M 05 Mar 2024 03:10:01.002 * …                                     serilog
//	{"level":"info","ts":1714557600.1,"msg":"gc 801 @41.220s 24%: …"}                      zap, slog, serilog (@m), bunyan
func loggerLine(u *unwrapper, l []byte) piece {
	if len(l) > 2 && l[0] == '{' && l[1] == '"' {
		return jsonLog(l)
	}
	begin := l[:min(len(l), mostLogger)]
	level := levelIn(begin)
	if level < 0 {
		return piece{text: l}
	}
	at := innerAt(begin, level)
	if at < 0 {
		return piece{text: l}
	}
	return piece{text: l[at:], stamp: loggerStamp(begin[:at]), worn: true}
}

// mostLogger bounds the length of a logger's prefix, bytes.
const mostLogger = 256

// levels are the words of loggers for severity.
var levels = [][]byte{[]byte("INFO"), []byte("WARN"), []byte("DEBUG"), []byte("ERROR"), []byte("TRACE"), []byte("INF]"), []byte("WRN]"), []byte("DBG]"), []byte("ERR]"), []byte("info"), []byte("warn"), []byte("debug")}

// levelIn returns the end of the word, -1 if there is none.
func levelIn(l []byte) int {
	for _, w := range levels {
		if i := bytes.Index(l, w); i >= 0 {
			return i + len(w)
		}
	}
	return -1
}

// innerAt returns where another program's line begins, -1 if none begins behind from.
func innerAt(l []byte, from int) int {
	for i := from; i < len(l); i++ {
		if i > 0 && l[i-1] != ' ' && l[i-1] != '\t' && l[i-1] != '"' && l[i-1] != '>' {
			continue
		}
		if isInner(l[i:]) {
			return i
		}
	}
	return -1
}

// isInner says whether a line begins like one of a Go program's, a JVM's or Redis' own log.
func isInner(l []byte) bool {
	digits := func(b []byte) int {
		n := 0
		for n < len(b) && isDigit(b[n]) {
			n++
		}
		return n
	}
	switch {
	case bytes.HasPrefix(l, []byte("gc ")):
		n := digits(l[3:])
		return n > 0 && bytes.HasPrefix(l[3+n:], []byte(" @"))
	case bytes.HasPrefix(l, []byte("[GC ")), bytes.HasPrefix(l, []byte("[Full GC ")), bytes.HasPrefix(l, []byte("SCHED ")):
		return true
	case len(l) > 4 && l[0] == '[': // [1201.330s][info][gc], [2024-02-11T08:12:01.120+0000][info ][gc]
		end := bytes.IndexByte(l, ']')
		if end < 3 || end > 40 || !isDigit(l[1]) || end+1 >= len(l) || l[end+1] != '[' {
			return false
		}
		return bytes.HasSuffix(l[:end], []byte("s")) || bytes.IndexByte(l[:end], 'T') > 0
	}
	n := digits(l)
	return n > 0 && n < 9 && n+3 < len(l) && l[n] == ':' && bytes.IndexByte([]byte("MSCX"), l[n+1]) >= 0 && l[n+2] == ' ' && isDigit(l[n+3]) // 1121:M 05 Mar
}

// loggerStamp reads the time that a logger wrote first, ns since the epoch; 0 without a known date or
// zone: then the line inside has its own time, or the time is unknown.
func loggerStamp(l []byte) int64 {
	l = bytes.TrimLeft(l, "[ ")
	if ns, _ := parseRFC3339(l); ns != 0 {
		return ns
	}
	const layout = "2006-01-02 15:04:05"
	if len(l) < len(layout) {
		return 0
	}
	t, err := time.Parse(layout, string(l[:len(layout)]))
	if err != nil || t.Year() < 1971 || t.Year() > 2199 {
		return 0
	}
	return t.UnixNano()
}

// jsonLog returns the message of a line of JSON.
func jsonLog(l []byte) piece {
	if len(l) > 64<<10 || !bytes.HasSuffix(bytes.TrimRight(l, " \r"), []byte("}")) {
		return piece{text: l}
	}
	var v struct {
		Msg     string          `json:"msg"`
		Message string          `json:"message"`
		At      string          `json:"@m"`
		Log     string          `json:"log"`
		Ts      json.RawMessage `json:"ts"`
		Time    json.RawMessage `json:"time"`
		Stamp   json.RawMessage `json:"@timestamp"`
		Short   json.RawMessage `json:"@t"`
		Long    json.RawMessage `json:"timestamp"`
	}
	if json.Unmarshal(l, &v) != nil {
		return piece{text: l}
	}
	for _, text := range []string{v.Msg, v.Message, v.At, v.Log} {
		if !isInner([]byte(text)) {
			continue
		}
		p := piece{text: bytes.TrimRight([]byte(text), "\r\n"), worn: true}
		for _, raw := range []json.RawMessage{v.Ts, v.Time, v.Stamp, v.Short, v.Long} {
			var s string
			var n float64
			if json.Unmarshal(raw, &s) == nil {
				p.stamp, _ = parseRFC3339([]byte(s))
			} else if json.Unmarshal(raw, &n) == nil && n > 3e7 && n < 1e10 {
				p.stamp = int64(n * 1e9)
			}
			if p.stamp != 0 {
				break
			}
		}
		return p
	}
	return piece{text: l}
}
