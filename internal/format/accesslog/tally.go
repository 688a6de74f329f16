package accesslog

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// tally turns entries into evidence and counts the figures of the tables.
type tally struct {
	b        *evidence.Builder
	l        *layout
	subject  evidence.SubjectID
	routes   *routes
	peers    map[string]evidence.NameID
	connects map[evidence.NameID]evidence.NameID // by peer
	upstream evidence.NameID                     // see unknownPeer; 0: not yet needed
	path     evidence.Path
	repeats  *repeats

	lines, requests, profiles, others, damaged, untimed int64
	last                                                verdict
	firstDamaged                                        int64
	example                                             string

	overdue      int64 // requests that waited for a place until their time was up
	overdueLine  int64
	overdueFrom  int64
	overdueUntil int64
	overdueMost  int64  // ns, the longest of these waits
	places       string // of what
	few          few

	classes [7]int64 // 0 client gone, 1xx…5xx, 6 unknown
	counts  []int64  // by route
	timed   latencies
	longest int64

	from, until int64
	perSecond   map[int64]int32
	second      int64
	inSecond    int32

	failed [200]int64 // of failed requests, by status from 400 on

	newest                    int64
	steps, stepLine, stepSize int64
}

// profiles is the path below which net/http/pprof answers: its callers observe the service, and a
// profile of 30 s is no slow request.
var profiles = []byte("/debug/pprof/")

const (
	maxPeers   = 1000
	maxSeconds = 1 << 22
)

func newTally(b *evidence.Builder, l *layout) *tally {
	unknown := "(no HTTP request)"
	if _, ok := l.reader.(*keyed); ok {
		unknown = "" // the key may be missing
	}
	c := b.Clock()
	c.Resolution, c.Stamp = l.resolution, l.stamp
	if l.proxy {
		b.SeenFrom(evidence.FromProxy)
	}
	return &tally{b: b, l: l, subject: b.Subject(evidence.Subject{Kind: evidence.Process}), routes: newRoutes(b, unknown), repeats: newRepeats(),
		peers: make(map[string]evidence.NameID), connects: make(map[evidence.NameID]evidence.NameID), perSecond: make(map[int64]int32)}
}

// seen is the content of one line, without other lines.
type seen struct {
	entry
	verdict verdict
	profile bool   // the caller observes the service
	asking  uint64 // hash of the target and the caller, see hashRequest
	route   []byte // with its method; reused
}

// newLineReader returns a function that reads lines independently of each other.
func (t *tally) newLineReader(r reader) func(format.Line, *seen) {
	fold := &folding{seed: t.repeats.seed}
	return func(l format.Line, x *seen) {
		x.verdict = other
		if len(l.Text) == 0 {
			return
		}
		x.verdict = r.parseLine(l.Text, &x.entry)
		if l.Long && x.verdict != understood {
			x.verdict = garbled
		}
		if t.l.stampless && x.verdict == understood {
			if x.time = l.Stamp; x.time == 0 {
				x.verdict = other
			}
		}
		if x.verdict != understood {
			return
		}
		x.profile = bytes.Contains(x.target, profiles)
		x.route = fold.appendRoute(x.route[:0], x.method, x.target)
		x.asking = hashRequest(t.repeats.seed, &x.entry, l.Text)
	}
}

func (t *tally) addRequest(x *seen, line int64) {
	e := &x.entry
	t.repeats.countRequest(x.asking, e.time)
	if x.profile {
		t.profiles++
		return
	}
	t.requests++
	start, end := e.time, e.time
	if d := max(0, e.duration); t.l.stamp == evidence.StampStart {
		end += d
	} else {
		start -= d
	}
	if t.from == 0 || e.time < t.from {
		t.from = e.time
	}
	t.until = max(t.until, end)
	if behind := t.newest - e.time; behind > t.longest+1e9 && behind > e.duration+1e9 {
		if t.steps++; t.steps == 1 {
			t.stepLine = line
		}
		t.stepSize = max(t.stepSize, behind)
		t.newest = e.time
	}
	t.newest = max(t.newest, e.time)
	t.countPerSecond(end)

	if e.overdue {
		if t.overdue++; t.overdue == 1 {
			t.overdueLine, t.overdueFrom, t.places = line, start, e.limit+" of "+string(e.peer)
		}
		t.overdueUntil, t.overdueMost = max(t.overdueUntil, end), max(t.overdueMost, e.queue)
	}

	t.few.addRequest(e, start, end, line)

	class := 6
	switch {
	case e.status == 0:
		class = 0
	case e.status >= 100 && e.status < 600:
		class = int(e.status / 100)
	}
	t.classes[class]++
	slot := t.routes.routeNumber(x.route, len(e.method))
	for int(slot) >= len(t.counts) {
		t.counts = append(t.counts, 0)
	}
	t.counts[slot]++
	if !t.l.timed {
		return
	}
	if e.duration < 0 {
		t.untimed++
		return
	}
	outcome := e.outcome()
	if outcome != evidence.OK && e.status >= 400 && e.status < 600 {
		t.failed[e.status-400]++
	}
	t.timed.add(e.duration, slot)
	t.longest = max(t.longest, e.duration)
	t.b.Request(evidence.Request{Subject: t.subject, Route: t.routes.names[slot], Start: start, End: end,
		Outcome: outcome, Path: t.splitRequestTime(e), Key: keyOf(e.key), Origin: t.b.Origin(line)})
}

// splitRequestTime splits a request's time into the parts that its log shows. If the parts have no order, the waits come first, for a slot of the
// upstream, for the connection and for the answer, and the rest follows.
func (t *tally) splitRequestTime(e *entry) evidence.Path {
	left := e.duration
	part := func(ns int64) int64 {
		ns = min(max(0, ns), left)
		left -= ns
		return ns
	}
	queue := part(e.queue)
	connect := part(min(e.connect, e.upstream))
	upstream := part(e.upstream - max(0, connect))
	reading, before, sending := part(e.reading), part(e.before), part(e.sending)
	if left == e.duration {
		return nil
	}
	peer := t.peerName(e.peer)
	t.path = t.path[:0]
	t.path = t.path.Append(evidence.Segment{Kind: evidence.ClientWait, Dur: reading})
	if before > 0 {
		t.path = t.path.Append(evidence.Segment{Kind: evidence.BeforeService, Dur: before, Cause: t.b.Wait(evidence.InProxy, "")})
	}
	t.path = t.path.Append(evidence.Segment{Kind: evidence.PoolWait, Dur: queue, Cause: peer})
	if connect > 0 {
		t.path = t.path.Append(evidence.Segment{Kind: evidence.BeforeService, Dur: connect, Cause: t.connectName(peer)})
	}
	t.path = t.path.Append(evidence.Segment{Kind: evidence.NetWait, Dur: upstream, Cause: peer})
	if e.ordered || sending == 0 {
		t.path = t.path.Append(evidence.Segment{Kind: evidence.AfterService, Dur: sending})
		return t.path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: left})
	}
	t.path = t.path.Append(evidence.Segment{Kind: evidence.Unobserved, Dur: left})
	return t.path.Append(evidence.Segment{Kind: evidence.AfterService, Dur: sending})
}

// connectName returns the name of the wait in which a proxy connects to an upstream.
func (t *tally) connectName(peer evidence.NameID) evidence.NameID {
	id, ok := t.connects[peer]
	if !ok {
		id = t.b.Wait(evidence.ConnectingTo, t.b.Text(peer))
		t.connects[peer] = id
	}
	return id
}

// leastKey is the least length (bytes) of an id that is unique to a request: shorter ones are counters.
const leastKey = 8

// keyOf returns the id of a line; for W3C's traceparent and Amazon's header the id of the trace.
func keyOf(b []byte) evidence.RequestKey {
	b = trimQuotes(b)
	if len(b) == 55 && b[2] == '-' && b[35] == '-' { // 00-trace-span-flags
		b = b[3:35]
	}
	b = bytes.TrimPrefix(b, []byte("Root="))
	if i := bytes.IndexByte(b, ';'); i >= 0 {
		b = b[:i]
	}
	if len(b) < leastKey || len(b) > 200 {
		return 0
	}
	return evidence.KeyOf(b)
}

// peerName returns the name of an upstream. If several were tried it is the last one, which
// answered.
func (t *tally) peerName(b []byte) evidence.NameID {
	if i := bytes.LastIndexByte(b, ' '); i >= 0 {
		b = b[i+1:]
	}
	if len(b) == 0 || string(b) == "-" || len(b) > 200 {
		return t.unknownPeer()
	}
	if id, ok := t.peers[string(b)]; ok {
		return id
	}
	if len(t.peers) >= maxPeers {
		return t.unknownPeer()
	}
	id := t.b.NameBytes(b)
	t.peers[string(b)] = id
	return id
}

// unknownPeer returns the name of an upstream that a line does not name.
func (t *tally) unknownPeer() evidence.NameID {
	if t.upstream == 0 {
		t.upstream = t.b.Name("upstream")
	}
	return t.upstream
}

func (t *tally) countPerSecond(at int64) {
	s := at / 1e9
	if s == t.second {
		t.inSecond++
		return
	}
	t.flushSecond()
	t.second, t.inSecond = s, 1
}

func (t *tally) flushSecond() {
	if t.inSecond == 0 {
		return
	}
	if n, ok := t.perSecond[t.second]; ok || len(t.perSecond) < maxSeconds {
		t.perSecond[t.second] = n + t.inSecond
	}
	t.inSecond = 0
}

func (t *tally) countGarbled(l format.Line) {
	if t.damaged++; t.damaged == 1 {
		t.firstDamaged = l.Number
		t.example = string(bytes.ToValidUTF8(l.Text[:min(len(l.Text), 80)], []byte("?")))
	}
}

// outcome returns how a request ended. 499 (nginx, Traefik) and no status at all mean
// that the client gave up waiting.
func (e *entry) outcome() evidence.Outcome {
	switch {
	case e.status == 499, e.status == 408, e.status == 504, e.status == 0, e.unanswered:
		return evidence.TimedOut
	case e.status >= 500:
		return evidence.Failed
	case len(e.rpcCode) > 0:
		switch string(e.rpcCode) {
		case "DeadlineExceeded", "DEADLINE_EXCEEDED", "4", "Canceled", "CANCELLED", "1":
			return evidence.TimedOut
		case "Unknown", "UNKNOWN", "2", "Unimplemented", "UNIMPLEMENTED", "12", "Internal", "INTERNAL", "13", "Unavailable", "UNAVAILABLE", "14", "DataLoss", "DATA_LOSS", "15":
			return evidence.Failed
		}
	}
	return evidence.OK
}

// howToTime says how to log durations.
const howToTime = "its lines hold no duration: add it to the log format, in nginx rt=$request_time urt=$upstream_response_time, in Apache us=%D, in Tomcat ms=%D (us=%D from version 10), as JSON duration_ms"

func (t *tally) finish() {
	t.flushSecond()
	if t.last == garbled && t.damaged > 0 {
		// The file was copied, or is read, while its last line is being written.
		t.damaged--
		t.b.Cut()
	}
	for _, n := range t.l.notes {
		t.b.Warnf(0, "%s", n)
	}
	if t.requests == 0 {
		if t.profiles == 0 {
			t.b.Warnf(0, "no access line in it could be read")
		}
		return
	}
	if !t.l.zoned {
		t.b.Warnf(0, "its times have no time zone and were read as UTC: check them against the other files")
	}
	if !t.l.timed {
		t.b.WarnUnless(evidence.CoverRequests, 0, howToTime)
	}
	if t.l.whole {
		t.b.Warnf(0, "its durations are whole seconds: requests under 1 s show as 0; log us=%%D in Apache, ms=%%D in Tomcat up to 9, us=%%D from 10")
	}
	if t.untimed*2 > t.requests {
		t.b.Warnf(0, "requests without a duration, left out: %d of %d", t.untimed, t.requests)
	}
	switch {
	case t.damaged > 0 && t.damaged*2 > t.lines:
		t.b.Warnf(t.firstDamaged, "lines not understood: %d of %d; the first is line %d: %q", t.damaged, t.lines, t.firstDamaged, t.example)
	case t.damaged > 0:
		t.b.Warnf(t.firstDamaged, "lines not understood: %d of %d; the first is line %d", t.damaged, t.lines, t.firstDamaged)
	}
	if t.steps > 0 {
		t.b.Warnf(t.stepLine, "the clock goes backwards %s, first at line %d, by up to %.1f s: requests there may be matched with the wrong moments of other files", format.Times(t.steps), t.stepLine, float64(t.stepSize)/1e9)
	}
	t.b.Cover(evidence.Coverage{Subject: t.subject, Kind: evidence.CoverRequests, From: t.from, Until: t.until, Origin: t.b.Origin(0)})
	t.repeats.emitShare(t.b, t.subject, t.from, t.until)
	if most := slices.Max(t.failed[:]); most > 0 {
		t.b.Fact(evidence.Fact{Subject: t.subject, Key: evidence.FactFailedStatus, Value: strconv.Itoa(400 + slices.Index(t.failed[:], most)), Number: float64(most), From: t.from, Until: t.until, Origin: t.b.Origin(0)})
	}
	if t.overdue > 0 {
		fact := evidence.Fact{Subject: t.subject, Key: evidence.FactPoolTimedOut, Value: t.places, Number: float64(t.overdue), From: t.overdueFrom, Until: t.overdueUntil, Origin: t.b.Origin(t.overdueLine)}
		t.b.Fact(fact)
		fact.Key, fact.Number = evidence.FactPoolTimeout, float64(t.overdueMost)
		t.b.Fact(fact)
	}
	if t.l.proxy {
		t.few.emitWaits(t.b, t.subject, t.requests)
	}
	t.emitSeries()
	t.emitTables()
}

func (t *tally) emitSeries() {
	seconds := make([]int64, 0, len(t.perSecond))
	for s := range t.perSecond {
		seconds = append(seconds, s)
	}
	slices.Sort(seconds)
	s := evidence.Series{Subject: t.subject, Name: evidence.SeriesRequests, Unit: "1/s", Origin: t.b.Origin(0)}
	for i, at := range seconds {
		if i > 0 && at > seconds[i-1]+1 {
			s.T, s.V = append(s.T, (seconds[i-1]+1)*1e9), append(s.V, 0)
		}
		s.T, s.V = append(s.T, at*1e9), append(s.V, float64(t.perSecond[at]))
	}
	t.b.Series(s)
}
