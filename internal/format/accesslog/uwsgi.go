package accesslog

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// uwsgi reads the request lines of uWSGI, between which its workers and the program write
// other lines:
//
//	[pid: 15237|app: 0|req: 1/1] 127.0.0.1 () {40 vars in 714 bytes} [Wed Nov 11 11:04:12 2026] GET /ping => generated 4 bytes in 12 msecs (HTTP/1.1 200) 2 headers in 79 bytes (1 switches on core 0)
//
// The time is when the request began, in the host's zone; with --log-micros the duration is
// in micros.
type uwsgi struct{}

var (
	uwsgiBegin = []byte("[pid: ")
	uwsgiTime  = []byte("} [")
	uwsgiDone  = []byte(" => generated ")
)

func (uwsgi) forkReader() reader { return uwsgi{} }

func (uwsgi) parseLine(line []byte, e *entry) verdict {
	i := bytes.Index(line, uwsgiBegin) // --memory-report writes before it
	if i < 0 {
		return other
	}
	line = line[i:]
	j := bytes.Index(line, uwsgiTime)
	if j < 0 {
		return other
	}
	line = line[j+len(uwsgiTime):]
	end := bytes.IndexByte(line, ']')
	at, ok := parseCtime(line[:max(end, 0)])
	if !ok {
		return garbled
	}
	done := bytes.LastIndex(line, uwsgiDone)
	if done < end {
		return garbled
	}
	*e = entry{time: at, duration: -1, upstream: -1, queue: -1, status: -1}
	if e.method, e.target, ok = parseRequest(bytes.TrimSpace(line[end+1 : done])); !ok {
		e.method, e.target = nil, nil
	}
	// generated 4 bytes in 12 msecs (HTTP/1.1 200) …
	_, rest, ok := bytes.Cut(line[done+len(uwsgiDone):], []byte(" in "))
	d, n := parseDecimal(rest)
	if !ok || n == 0 {
		return garbled
	}
	unit := int64(1e6)
	switch rest = rest[n:]; {
	case bytes.HasPrefix(rest, []byte(" micros")):
		unit = 1e3
	case !bytes.HasPrefix(rest, []byte(" msecs")):
		return garbled
	}
	if ns, ok := d.toNanoseconds(unit); ok && ns >= 0 && ns < longest {
		e.duration = ns
	}
	if _, rest, ok = bytes.Cut(rest, []byte(" (")); ok {
		protocol, _, _ := bytes.Cut(rest, []byte(")"))
		e.status = statusOf(protocol[bytes.LastIndexByte(protocol, ' ')+1:])
	}
	return understood
}

// parseCtime reads "Wed Nov 11 11:04:12 2026", as ns since the epoch.
func parseCtime(b []byte) (int64, bool) {
	if len(b) != len("Wed Nov 11 11:04:12 2026") || b[3] != ' ' || b[7] != ' ' || b[10] != ' ' || b[19] != ' ' {
		return 0, false
	}
	day := parseDigits(bytes.TrimLeft(b[8:10], " "))
	m, ok := parseClock(b[11:19], parseDigits(b[20:]), monthOf(b[4], b[5], b[6]), day)
	return m.ns, ok && m.ns >= earliest && m.ns < latest
}

func compileUWSGI(sample []sampled) *layout {
	var e entry
	for _, s := range sample {
		if (uwsgi{}).parseLine(s.text, &e) == understood {
			l := &layout{name: "uWSGI", reader: uwsgi{}, resolution: 1e9, stamp: evidence.StampStart, timed: true, http: true,
				fields: []string{"time: 1 s, when the request began", "duration: msecs or micros, as written"}}
			return l
		}
	}
	return nil
}
