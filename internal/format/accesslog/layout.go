package accesslog

import "github.com/unstall/unstall/internal/base/evidence"

// entry is the content of one line about one request.
type entry struct {
	time                      int64 // as logged, ns since the epoch
	duration, upstream, queue int64 // ns, -1 unknown
	proxied
	status         int32 // 0: the client went away before there was one; -1 unknown
	rpcCode        []byte
	method, target []byte // both empty: no HTTP request
	peer           []byte // the upstream's address or name
	key            []byte // the id of the request or of its trace
	overdue        bool   // it waited for a place until its time was up, or was refused for want of one
	limit          string // what limits these places
	unanswered     bool   // the proxy's time for the upstream's answer was up
}

// proxied is a proxy's own knowledge of a request beside the upstream's answer: ns, 0 for unknown or none.
type proxied struct {
	reading int64 // until its client had sent it, before the queue
	before  int64 // in the proxy, before it asked the upstream; a load balancer logs no finer part
	connect int64 // until connected with the upstream; the beginning of its part
	sending int64 // after the upstream answered, until its client had received all
	ordered bool  // the parts follow each other and add up to the whole
}

type verdict uint8

const (
	understood verdict = iota
	other              // a line of another kind: blank, comment, the program's own log
	garbled            // of this layout, but damaged
)

// layout is how the lines of one file are read: found once, applied to all.
type layout struct {
	name       string   // "nginx", "Apache or Tomcat": what the lines look like
	fields     []string // the sources of the figures, for the table
	notes      []string // assumptions, as warnings
	resolution int64    // of the time, ns
	stamp      evidence.Stamp
	zoned      bool
	timed      bool // lines carry a duration
	proxy      bool // lines name upstreams: a proxy wrote them
	http       bool // the lines are about requests; else that is a guess
	whole      bool // durations are whole seconds
	stampless  bool // lines have no time of their own: the log collector's stamp is used
	hits       int  // sample lines that were understood
	reader
}

type reader interface {
	parseLine(line []byte, e *entry) verdict
	// forkReader returns a reader that may read lines of the same layout concurrently; nil if lines depend on earlier ones.
	forkReader() reader
}

// sampled is a line from the beginning of the file.
type sampled struct {
	text   []byte
	number int64
	stamp  int64 // of the envelope, 0 none
}

// chooseLayout returns the layout that reads most lines of the sample; nil if none reads any.
func chooseLayout(sample []sampled) *layout {
	var best *layout
	for _, family := range []func([]sampled) *layout{compileHAProxy, compileELB, compileW3C, compileUWSGI, compileText, compileJSON, compilePairs} {
		l := family(sample)
		if l == nil {
			continue
		}
		var e entry
		for _, s := range sample {
			if l.parseLine(s.text, &e) == understood {
				l.hits++
			}
		}
		if l.hits > 0 && (best == nil || l.hits > best.hits || l.http && !best.http) {
			best = l
		}
	}
	return best
}

func stampName(s evidence.Stamp) string {
	switch s {
	case evidence.StampStart:
		return "when the request began"
	case evidence.StampCompletion:
		return "when the request ended"
	}
	return "unknown moment"
}

func unitName(unit int64) string {
	switch unit {
	case 0:
		return "as written"
	case 1:
		return "nanoseconds"
	case 1e3:
		return "microseconds"
	case 1e6:
		return "milliseconds"
	case 1e9:
		return "seconds"
	}
	return "?"
}

// useCollectorStamps makes the log collector's stamps the times of lines.
func (l *layout) useCollectorStamps(sample []sampled) {
	l.stampless, l.zoned, l.stamp = true, true, evidence.StampCompletion
	l.resolution = 1e9
	for _, s := range sample {
		if s.stamp%1e9 != 0 {
			l.resolution = 1e6
		}
	}
	l.fields = append([]string{"time: the stamp before each line"}, l.fields...)
}
