package hotspotgc

import "bytes"

// unified reads the logs of -Xlog (JDK 9 to 25): "[decorator]… GC(17) message", with
// decorators in the order of
// https://github.com/openjdk/jdk/blob/master/src/hotspot/share/logging/logDecorators.hpp,
// any subset of them, or none.
type unified struct {
	o      *output
	mark   decorators
	seen   bool // a line that only a unified log has was read
	open   [maxOpen]collection
	recent int // index in open of the one used last

	heads  map[string]*head
	region int64 // bytes of a G1 region, 0 not known yet
	guess  bool  // region was inferred
	lanes  map[string]int64

	operation string // of the safepoint being read, JDK 9 to 12
	cancel    string // the reason why Shenandoah cancelled its concurrent cycle

	inner      int64 // the number of the last full collection, which may lie within a young one
	innerTook  int64 // ns, with those directly before it
	innerStart int64

	lastYoung   int64 // the number of the last young collection
	lastProcess int   // its process
}

func newUnified(o *output) *unified {
	return &unified{o: o, heads: make(map[string]*head), lanes: make(map[string]int64), inner: unknown, lastYoung: unknown}
}

// decorators are the relevant decorators of one line.
type decorators struct {
	date, uptime []byte // as text, empty without
	uptimeUnit   int64  // ns
	millis       []byte // since the epoch
	pid          int64
	tags         []byte
	levelled     bool
	debug        bool // level debug or trace
}

// parseLine reads one line. It returns false for a line without decorators and without text of
// a unified log, which may be of another kind. A banner suffices among the first lines.
func (u *unified) parseLine(b []byte, s *looked, number int64, first bool) bool {
	if u.mark = s.mark; s.below && u.seen {
		u.o.countIgnored(s.kind)
		return true
	}
	text, decorated := b[s.at:], s.decorated
	if len(text) == 0 {
		u.o.countIgnored(emptyLine)
		return true
	}
	if !u.seen {
		if k, ok := knownMessage(text); !decorated && !bytes.HasPrefix(text, gcPrefix) && !isUndecorated(text) && !(first && ok && k == bannerLine) {
			return false
		}
		u.seen = true
	}
	u.parseMessage(text, number, decorated)
	return true
}

var gcPrefix = []byte("GC(")

// isUndecorated says whether a line without decorators begins a log of -Xlog:…:none.
func isUndecorated(b []byte) bool {
	if words, ok := bytes.CutPrefix(b, []byte("Using ")); ok {
		for _, x := range usings {
			if string(words) == x.text {
				return true
			}
		}
		return false
	}
	if isBarePause(b) {
		return true
	}
	return bytes.HasPrefix(b, []byte("Heap region size: ")) || bytes.HasPrefix(b, []byte("Heap Region Size: ")) || bytes.HasPrefix(b, []byte("Safepoint \""))
}

// isBarePause says whether a line is a pause with sizes of the heap of which only the words were copied, without the number of its collection:
// "Pause Full (Allocation Failure) 240M->171M(247M) 226.9ms".
func isBarePause(b []byte) bool {
	if !bytes.HasPrefix(b, []byte("Pause ")) || !bytes.HasSuffix(bytes.TrimRight(b, " \t"), []byte("ms")) || !bytes.Contains(b, []byte("->")) {
		return false
	}
	for i := range pauses {
		if hasPrefix(b, pauses[i].words) {
			return true
		}
	}
	return false
}

// cutDecorators removes the decorators. A line is decorated if one of them is a stamp, a level,
// or tags of the collector.
func (d *decorators) cutDecorators(b []byte) (text []byte, ok bool) {
	*d = decorators{}
	at := 0
	for at < len(b) && b[at] == '[' {
		end := bytes.IndexByte(b[at:], ']')
		if end < 2 {
			break
		}
		if !d.parseDecorator(b[at+1:at+end], ok) {
			break
		}
		ok = ok || d.isDecorated()
		at += end + 1
	}
	if !ok {
		return b, false
	}
	if at < len(b) && b[at] == ' ' {
		at++
	}
	return b[at:], true
}

func (d *decorators) isDecorated() bool {
	return len(d.date) > 0 || len(d.uptime) > 0 || len(d.millis) > 0 || d.levelled || len(d.tags) > 0
}

// parseDecorator reads one decorator; false if it is none.
func (d *decorators) parseDecorator(g []byte, decorated bool) bool {
	n := len(g)
	if c := g[0]; c >= '0' && c <= '9' {
		switch {
		case g[n-1] == 's' && n > 2:
			number, unit := g[:n-1], int64(1e9)
			switch g[n-2] {
			case 'm':
				number, unit = g[:n-2], 1e6
			case 'n':
				number, unit = g[:n-2], 1
			}
			for _, c := range number {
				if (c < '0' || c > '9') && c != '.' && c != ',' {
					return decorated // a host's name
				}
			}
			if unit == 1e6 && len(number) >= 12 {
				d.millis = number
				return true
			}
			d.uptime, d.uptimeUnit = number, unit
			return true
		case n >= len(dateShape) && g[4] == '-' && g[10] == 'T':
			if len(d.date) == 0 {
				d.date = g
			}
			return true
		}
		v, ok := parseDigits(g)
		if !ok {
			return decorated
		}
		if d.pid == 0 {
			d.pid = -v // may be a thread's number
		} else if d.pid < 0 {
			d.pid = -d.pid
		}
		return true
	}
	g = bytes.TrimRight(g, " ")
	switch string(g) {
	case "error", "warning", "info":
		d.levelled = true
		return true
	case "debug", "trace":
		d.levelled, d.debug = true, true
		return true
	}
	if isTagList(g) {
		d.tags = g
		return true
	}
	return decorated || isHostname(g)
}

// isTagList says whether a decorator lists tags, of which at least one matters here.
func isTagList(g []byte) bool {
	for i, c := range g {
		if (c < 'a' || c > 'z') && c != ',' && c != '+' && (c < '0' || c > '9' || i == 0) && c != '_' {
			return false
		}
	}
	return bytes.HasPrefix(g, []byte("gc")) || bytes.HasPrefix(g, []byte("safepoint")) || bytes.Contains(g, []byte(",")) || bareTags[string(g)]
}

// bareTags are tags that stand alone beside GC tags in logs of -Xlog:all
// or with safepoints.
var bareTags = map[string]bool{"metaspace": true, "arguments": true, "startuptime": true, "handshake": true, "vmthread": true, "vmoperation": true,
	"os": true, "logging": true, "pagesize": true, "cds": true, "nmt": true, "init": true, "stringdedup": true, "jni": true, "thread": true, "oopmap": true, "membername": true,
	"biasedlocking": true, "monitorinflation": true, "container": true, "perf": true, "jit": true, "codecache": true, "class": true, "module": true, "itables": true, "vtables": true, "ref": true}

// isHostname says whether a decorator may be a host's name.
func isHostname(g []byte) bool {
	for _, c := range g {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return len(g) > 0 && len(g) < 256
}

// lineTime returns the time of the line being read.
func (u *unified) lineTime() int64 {
	d := &u.mark
	at, up := int64(unknown), int64(unknown)
	if len(d.date) > 0 {
		if t, n := parseStamp(d.date); n > 0 {
			at = t
		}
	}
	if len(d.millis) > 0 && at == unknown {
		if ms, ok := parseDigits(d.millis); ok && ms < 1e13 {
			at = ms * 1e6
		}
	}
	if len(d.uptime) > 0 {
		if d.uptimeUnit == 1e9 {
			if v, n := parseDecimal(d.uptime); n > 0 {
				up = v
			}
		} else if v, ok := parseDigits(d.uptime); ok && len(d.uptime) < 19 && (d.uptimeUnit == 1 || v < 1e12) {
			up = v * d.uptimeUnit
		}
	}
	u.o.clock.pid = max(0, d.pid)
	return u.o.clock.timeAt(at, up)
}
