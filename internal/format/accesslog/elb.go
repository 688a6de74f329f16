package accesslog

import (
	"bytes"

	"github.com/unstall/unstall/internal/base/evidence"
)

// elb reads the access logs of AWS's load balancers. The classic one's:
//
//	2026-05-13T23:39:43.945958Z my-lb 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://example.com:80/ HTTP/1.1" …
//
// and the application load balancer's, with a type before and more behind:
//
//	https 2026-07-02T22:23:00.186641Z app/my-lb/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://… HTTP/1.1" …
//
// A classic balancer stamps when it received the request, an application load
// balancer when it answered. The three durations are seconds: until the request was sent to the
// target, until the target began to answer, and until the answer was sent; -1 for a step that
// was not reached. Connections without requests ("- - - ", tcp and tls) are lines of another
// kind. The time of a classic line may have been taken for a log collector's stamp; it then
// stands before the line.
type elb struct {
	toks    []token
	classic bool
	stamped bool // the line's time was removed as a stamp
}

// Columns from the balancer's name on.
const (
	elbClient = 1 + iota
	elbTarget
	elbSending
	elbAnswering
	elbReturning
	elbStatus
	_ // the target's status
	_ // bytes received
	_ // bytes sent
	elbRequest
	elbColumns
)

// elbTrace is the distance in columns from the request to its trace id: the agent, two of TLS and the target group are between.
const elbTrace = 5

// elbCreation is the distance in columns from the request to the time at which the balancer received it; the domain, the certificate and the
// priority of a rule are between.
const elbCreation = 9

func (r *elb) forkReader() reader { return &elb{classic: r.classic, stamped: r.stamped} }

func (r *elb) parseLine(line []byte, e *entry) verdict {
	r.toks = splitColumns(line, r.toks[:0])
	return r.parseColumns(line, r.toks, e)
}

// parseColumns reads a line that is split into columns.
func (r *elb) parseColumns(line []byte, toks []token, e *entry) verdict {
	at := 0 // the column of the time
	if !r.classic {
		at = 1
	}
	name := at + 1
	if r.stamped {
		name = 0
	}
	if len(toks) < name+elbColumns || toks[name+elbRequest].kind != quoted {
		return other
	}
	t := toks[name:]
	*e = entry{duration: -1, upstream: -1, queue: -1, status: statusOf(t[elbStatus].textIn(line)), peer: t[elbTarget].textIn(line)}
	if !r.stamped {
		m, ok := parseMoment(toks[at].textIn(line))
		if !ok {
			return other
		}
		e.time = m.ns
	}
	if bytes.IndexByte(t[elbClient].textIn(line), ':') < 0 {
		return other
	}
	var parts [3]int64
	sum, all := int64(0), true
	for i := range parts {
		d, n := parseDecimal(t[elbSending+i].textIn(line))
		if n == 0 || n != int(t[elbSending+i].to-t[elbSending+i].from) {
			return garbled
		}
		ns, ok := d.toNanoseconds(1e9)
		if parts[i] = ns; !ok || ns < 0 || ns >= longest {
			parts[i], all = -1, false
			continue
		}
		sum += ns
	}
	var ok bool
	if e.method, e.target, ok = parseRequest(t[elbRequest].textIn(line)); !ok {
		if b := t[elbRequest].textIn(line); len(b) == 0 || b[0] == '-' {
			return other // no HTTP
		}
	}
	if c := name + elbRequest + elbTrace; c < len(toks) && !r.classic {
		e.key = toks[c].textIn(line)
	}
	if e.status == 460 { // the client closed the connection while it waited
		e.status = 499
	}
	if e.status == 504 && parts[1] < 0 && !r.classic { // the target gave no answer, or took no connection for 10 s: all the time since the request came was its
		if c := name + elbRequest + elbCreation; c < len(toks) && !r.stamped {
			if m, ok := parseMoment(toks[c].textIn(line)); ok && e.time > m.ns && e.time-m.ns < longest {
				e.duration = e.time - m.ns
				e.upstream, e.unanswered = e.duration, true
			}
		}
		return understood
	}
	if all && sum < longest {
		e.duration, e.upstream = sum, parts[1]
		e.proxied = proxied{before: parts[0], sending: parts[2], ordered: true}
	}
	return understood
}

func compileELB(sample []sampled) *layout {
	var e entry
	var r *elb // the first of these that reads a line
	before := []*elb{{}, {classic: true}, {classic: true, stamped: true}}
	var toks []token
	for _, s := range sample {
		toks = splitColumns(s.text, toks[:0])
		for i, x := range before {
			if x.parseColumns(s.text, toks, &e) == understood && e.method != nil {
				r, before = x, before[:i]
				break
			}
		}
		if len(before) == 0 {
			break
		}
	}
	if r == nil {
		return nil
	}
	l := &layout{name: "AWS application load balancer", reader: r, resolution: 1e3, stamp: evidence.StampCompletion, zoned: true, timed: true, http: true, proxy: true,
		fields: []string{"time: 1 µs, when the request was answered", "duration: sum of the three processing times, seconds", "upstream target_processing_time: seconds"}}
	if r.classic {
		l.name, l.stamp, l.stampless = "AWS classic load balancer", evidence.StampStart, r.stamped
		l.fields = []string{"time: 1 µs, when the request came", "duration: sum of the three processing times, seconds", "upstream backend_processing_time: seconds"}
	}
	return l
}
