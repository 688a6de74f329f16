package loadresult

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Gatling's simulation.log has one record per line, with tabs between its fields; times
// are ms since the epoch. A request begins when it is sent, after the user got a
// connection from the pool or began to open one.
//
//	RUN      class, id, start, description, version                 3.x (2.x: see the source)
//	USER     scenario, START or END, time                           3.4 on
//	REQUEST  groups, name, start, end, OK or KO, message            3.4 on
//	REQUEST  user, groups, name, start, end, OK or KO, message      3.0 to 3.3
//	REQUEST  scenario, user, groups, name, start, end, OK or KO, …  2.x
//	GROUP, ERROR, ASSERTION                                         ignored
//
// Since 3.12 the file is binary, and only Gatling itself reads it.

func isGatling(head []byte) bool {
	for line := range bytes.Lines(head) {
		kind, rest, ok := bytes.Cut(line, []byte("\t"))
		switch {
		case !ok:
			return false
		case string(kind) == "ASSERTION":
			continue
		case string(kind) == "RUN":
			return bytes.Count(rest, []byte("\t")) >= 4
		}
		return false
	}
	return false
}

// isGatlingBinary recognises the first record of a binary log: its kind, which is 0,
// and Gatling's version as a string after its length (RecordHeader.scala).
func isGatlingBinary(head []byte) bool {
	if len(head) < 16 || head[0] != 0 {
		return false
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n < 3 || n > 24 || int(n)+5 > len(head) {
		return false
	}
	version := head[5 : 5+n]
	return (version[0] == '3' || version[0] == '4') && version[1] == '.' && version[2] >= '0' && version[2] <= '9'
}

func (p *parser) gatlingBinary(*format.Artifact) error {
	return errors.New("it is the binary simulation.log of Gatling 3.12 or later, which only Gatling reads: diagnose the server's access log instead, or run the load with Gatling up to 3.11, or with unstall load")
}

func (p *parser) gatlingLog(a *format.Artifact) error {
	rs := newRows(p)
	r := &run{}
	r.Tool, r.FromSend, r.Mode = "gatling", true, ""
	users, most := 0, 0
	err := rs.readLines(a, func(text []byte, line int64) bool {
		kind, rest, _ := bytes.Cut(text, []byte("\t"))
		switch string(kind) {
		case "REQUEST":
			return rs.gatlingRequest(rest, line)
		case "USER":
			if bytes.Contains(rest, []byte("\tSTART\t")) {
				users++
			} else if bytes.Contains(rest, []byte("\tEND\t")) {
				users--
			}
			most = max(most, users)
			return bytes.Count(rest, []byte("\t")) >= 2
		case "RUN", "GROUP", "ERROR", "ASSERTION":
			return true
		}
		return false
	})
	if err != nil {
		return err
	}
	r.Connection = most
	c := p.b.Clock()
	c.Stamp, c.Resolution = evidence.StampStart, 1e6
	if !rs.finish(r) {
		return errors.New("holds no requests: the simulation made none, or the file was cut before the first")
	}
	return nil
}

// gatlingRequest reads the fields behind REQUEST; their number shows the
// version.
func (rs *rows) gatlingRequest(text []byte, line int64) bool {
	var f [9][]byte
	n := 0
	for field := range bytes.SplitSeq(text, []byte("\t")) {
		if n < len(f) {
			f[n] = field
		}
		n++
	}
	at := 0 // of the groups
	switch {
	case n == 6:
	case n == 7:
		at = 1
	case n >= 8:
		at = 2
	default:
		return false
	}
	groups, name, result, message := f[at], f[at+1], f[at+4], f[at+5]
	start, ok1 := parseNatural(f[at+2])
	end, ok2 := parseNatural(f[at+3])
	good := string(result) == "OK"
	if !ok1 || !ok2 || !good && string(result) != "KO" || start < 1e11 || end > 4e12 || end < start {
		return false
	}
	q := row{start: start * 1e6, end: end * 1e6, line: line, route: rs.gatlingName(name), step: rs.gatlingStep(f[:at], groups)}
	switch {
	case timedOut(message):
		q.outcome = evidence.TimedOut
	case !good:
		q.outcome = evidence.Failed
	}
	rs.add(q, foundStatus(message, good))
	return true
}

// gatlingName returns the script's name for a request: a name of its own, no method and path.
func (rs *rows) gatlingName(name []byte) evidence.NameID {
	if len(rs.routes) >= maxRoutes {
		return 0
	}
	id := rs.p.b.NameBytes(name[:min(len(name), 200)])
	rs.routes[id] = struct{}{}
	return id
}

// gatlingStep returns the scenario, if the version has it, and the groups, separated by commas.
func (rs *rows) gatlingStep(before [][]byte, groups []byte) evidence.NameID {
	if len(groups) == 0 {
		return 0
	}
	var scenario []byte
	if len(before) == 2 {
		scenario = before[0]
	}
	return rs.stepName(scenario, groups)
}

// foundStatus returns the status that a failed check names as found: "status.find.is(200), but
// actually found 500"; codeUnknown where the message names none.
func foundStatus(message []byte, good bool) int64 {
	if good {
		return codeUnknown
	}
	_, text, ok := bytes.Cut(message, []byte("actually found "))
	if ok && bytes.HasPrefix(message, []byte("status")) {
		if code, ok := parseNatural(bytes.TrimSpace(text)); ok && code >= 100 && code <= 599 {
			return code
		}
	}
	return codeUnknown
}
