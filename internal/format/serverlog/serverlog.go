// Package serverlog reads servers' own log lines about exhausted places for requests, about calls without an answer
// in time, and about slow writes to the disk:
//
//	2016/03/14 00:35:26 [alert] 25909#0: 1024 worker_connections are not enough                                    nginx
//	2020/12/07 11:26:00 [error] 1045#1045: *4 upstream timed out (110: …) while …, upstream: "http://10.0.0.1:80/", …
//	[mpm_prefork:error] [pid 812] AH00161: server reached MaxRequestWorkers setting, …                             Apache
//	[2024-01-09 13:24:39 +0000] [1637] [CRITICAL] WORKER TIMEOUT (pid:7214)                                        gunicorn
//	Fri Oct 24 10:30:19 2014 - [DANGER] async queue is full !!!                                                    uWSGI
//	%4|1562832941.316|MAXPOLL|rdkafka#consumer-1| … Application maximum poll interval (300000ms) exceeded by 88ms  clients of Kafka
//	FATAL:  sorry, too many clients already                                                                        PostgreSQL
//	2018-03-12 19:01:42.911102 W | wal: sync duration of 1.2s, expected less than 1s                               etcd
//	fsync-ing the write ahead log in SyncThread:1 took 2962ms which will adversely effect operation latency        ZooKeeper
//	… rejected execution of … [Running, pool size = 7, active threads = 7, queued tasks = 1000, …]                 Java, Elasticsearch
//	QueuedThreadPool: dw{STARTED,8<=1024<=1024,i=0,q=1024} rejected …                                              Jetty
//	Executing <Task pending name='Task-7' coro=<serve() running at /srv/app.py:31> …> took 0.484 seconds           asyncio, debug mode
//	Thread Thread[vert.x-eventloop-thread-2,5,main] has been blocked for 5103 ms, time limit is 2000               Vert.x, Quarkus
//	Blocked for 155.159ms, operation started here:                                                                 Node.js, blocked-at
//	Event loop blocked for 30.7 milliseconds                                                                       Node.js, programs that measure it themselves
//	Event loop delay threshold exceeded 350ms. Received 1126.05ms.                                                 Kibana
//	WARNING! thread 16 has stopped processing traffic for 2810 milliseconds                                        HAProxy
//	heartbeat was delayed. Previous heartbeat was sent [2345] ms ago, expected interval is [1000] ms.              Akka, Pekko
//	2022-04-21 10:02:11 : Greenlet <Greenlet at 0x10f3b6d00: …> appears to be blocked                              gevent, monitor thread
//	[WARNING] Your app's responsiveness to a new asynchronous event (…) was in excess of 100 milliseconds.         cats-effect
//	Can't keep up! Is the server overloaded? Running 5031ms or 100 ticks behind                                    Minecraft
//	[⚡] Tick #237 included GC lasting 7 ms. (type = Young Gen)                                                     Minecraft, spark
//	@smithy/node-http-handler:WARN - socket usage at capacity=50 and 344 additional requests are enqueued.         SDK of AWS for Node.js
//	HikariPool-1 - Thread starvation or clock leap detected (housekeeper delta=47s466ms).                          HikariCP
//	HTTPSConnectionPool(host='db.example.com', port=443): Read timed out. (read timeout=3.5)                       clients in Python
//	Get "https://db.example.com/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)      clients in Go
//	OOM command not allowed when used memory > 'maxmemory'.                                                        clients of Redis
//	Cache MISS: prices:all                                                                                         programs that log their cache (cache.go)
//	Reactor stalled for 33 ms on shard 3.                                                                          Seastar
//	[SYSMON] long_schedule warning: pid = <0.1878.0>, info: [{timeout,1053},                                       Erlang
//	Completed 200 OK in 12626ms (Views: 11741.3ms | ActiveRecord: 74.5ms)                                          Rails
//	24 ops are blocked > 32.768 sec on osd.15                                                                      Ceph
//	Health check update: 3 slow ops, oldest one blocked for 65 sec, daemons [osd.12,osd.22] have slow ops.         Ceph
//
// and the states that passenger-status and mod_status (?auto) print:
//
//	  Requests in queue: 97
//	IdleWorkers: 0
//
// Sources: ngx_connection.c and ngx_http_upstream.c of nginx (1.0 to 1.27), prefork.c and event.c of Apache (2.2 to 2.4), arbiter.py of
// gunicorn (0.8 to 23), core/loop.c and core/master_utils.c of uWSGI (1.9 to 2.0), wal.go of etcd (2 to 3.6), FileTxnLog.java of
// ZooKeeper (3.4 to 3.9), base_events.py of Python (3.4 to 3.14), BlockedThreadChecker.java of Vert.x (3 to 5), _tracer.py of gevent (1.3 to 24), CpuStarvationCheck.scala of cats-effect (3.4 to 3.6), wdt.c and debug.c of HAProxy (2.9 to 3.3), HeartbeatSender.scala of Akka (2.4 to 2.8), node-http-handler.ts of
// smithy-typescript (2 to 4), reactor.cc of Seastar,
// QueuedThreadPool.java of Jetty (8 to 12), log_subscriber.rb of Rails (3 to 8), PGMap.cc, HealthMonitor.cc and OSD.cc of Ceph (0.94 to 19), and those of the other servers in lines.go.
//
// Such a line shows that something happened, and not how often it did not, so there is no share of requests. The number of lines of a kind
// is reported with the first and the last.
package serverlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/kernelclass"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/java"
)

// Format reads such a log.
var Format = format.Format{
	Name:  "serverlog",
	About: "lines of servers whose places are all in use (nginx, Apache, Tomcat, Jetty, Elasticsearch, Passenger, uWSGI, gunicorn, databases, the SDK of AWS), whose upstream gives no answer, whose disk is slow (etcd, ZooKeeper), whose storage does not answer (Ceph), whose event loop was held (asyncio, gevent, Vert.x, cats-effect, Seastar, blocked-at, HAProxy, Kibana, Akka, Minecraft), or whose requests took long (Rails); of clients whose server gives no answer (Python, Go), or refuses it for lack of memory (Redis); of programs that log what their cache lacks",
	Match: matchHead,
	Parse: parseArtifact,
}

// waitChannel stands before the kernel function in which uWSGI finds a worker that it ends.
var waitChannel = []byte("HARAKIRI: -- wchan> ")

// Bounds of what is kept.
const (
	mostLine  = 8 << 10
	mostNames = 200
	mostName  = 120
)

func matchHead(head []byte) format.Confidence {
	if fillsCache(head) {
		return format.Sure
	}
	if !hasMark(head) {
		return format.No
	}
	for l := range bytes.Lines(head) {
		if len(l) <= mostLine && hasMark(l) {
			if _, ok := parseLine(l); ok {
				return format.Sure
			}
		}
	}
	return format.No
}

// hasMark says whether text has the words of a line that is read.
func hasMark(text []byte) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return bytes.Contains(text, k.mark) })
}

// told is the content of a line.
type told struct {
	*kind
	limit  float64 // how many places there are, 0 not told
	name   string  // of what is called, or of the worker
	took   float64 // ns
	worker string
	where  string  // code that held an event loop
	calm   string  // what the line says, where it shows no lack
	count  float64 // operations that the line tells of, 0 one
	own    float64 // ns of took that the server worked itself
}

// parseLine finds what a line says.
func parseLine(l []byte) (t told, ok bool) {
	for i := range kinds {
		k := &kinds[i]
		at := bytes.Index(l, k.mark)
		if at < 0 {
			continue
		}
		t = told{kind: k}
		if k.take == nil || k.take(&t, string(l[:at]), string(l[at+len(k.mark):])) {
			return t, true
		}
	}
	return t, false
}

// group is all lines of a kind about one thing.
type group struct {
	told
	n           int64
	first, last int64 // ns, 0 not told
	line        int64
	most        float64 // ns
	sum         float64 // ns of work that held an event loop, or of requests
	ownSum      float64 // ns of requests that the server worked itself
	counted     float64 // operations that lines tell of, all or most at once
	dense       int     // most within callWindow
	recent      []int64 // times of the last lines
	seen        map[string]int64
	together    int // different workers within workerWindow
	untimed     int

	stack      int    // frames below its last line that were read
	blocks     string // what the thread does in a call that blocks, "" none: by the innermost of them
	blockedAt  string // the innermost that is no library's
	blocksLine int64
}

// Times (ns) within which lines are about the same moment.
const (
	callWindow   = 60e9
	workerWindow = 2e9
)

func parseArtifact(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
	groups := make(map[string]*group)
	var all []*group
	dropped, unzoned := int64(0), false
	var cache cacheLog
	var held *group     // of the line above, if it is about an event loop: its stack follows
	var greenlet *group // whose stack of Python is being read
	away, awayLine := 0, int64(0)
	err := a.Lines(func(l format.Line) bool {
		if l.Number&0xfff == 0 && ctx.Err() != nil {
			return false
		}
		if len(l.Text) > mostLine {
			return true
		}
		if held != nil && held.addFrame(l) {
			return true
		}
		held = nil
		if greenlet != nil && greenlet.addGreenletFrame(l) {
			return true
		}
		if cache.readLine(l) {
			return true
		}
		if _, channel, ok := bytes.Cut(l.Text, waitChannel); ok && kernelclass.AwaitsFileServer(string(bytes.TrimSpace(channel))) {
			if away++; awayLine == 0 {
				awayLine = l.Number
			}
			return true
		}
		if !hasMark(l.Text) {
			return true
		}
		t, ok := parseLine(l.Text)
		if !ok {
			return true
		}
		key := t.id + "\x00" + t.name + "\x00" + t.calm
		g := groups[key]
		if g == nil {
			if len(all) == mostNames {
				dropped++
				return true
			}
			g = &group{told: t, line: l.Number, seen: make(map[string]int64)}
			groups[key] = g
			all = append(all, g)
		}
		at, zoned := lineTime(l)
		unzoned = unzoned || at != 0 && !zoned
		g.addLine(t, at)
		switch {
		case g.id == "vertx-loop" && g.calm == "":
			held, g.stack = g, 0
		case g.id == "gevent-hub":
			greenlet = g
		}
		return true
	})
	if err := format.EndReading(ctx, b, err, len(all) > 0 || cache.filled(), "the log", "serverlog: no line about places in use, upstreams or syncs in it"); err != nil {
		return err
	}
	if len(all) > 0 {
		emitGroups(b, all)
	} else {
		*b.Clock() = evidence.Clock{Name: "times of the log", Error: evidence.Unanchored}
	}
	cache.emit(b)
	if away > 0 { // of a worker that was busy for longer than it may
		b.FactAt(b.Subject(evidence.Subject{Kind: evidence.Host}), evidence.FactTasksAwaitFiles, "", 1, awayLine)
	}
	if unzoned {
		b.Warnf(0, "the times of this log have no time zone that is known, and were read as UTC: check them against the other files")
	}
	if dropped > 0 {
		b.Warnf(0, "lines about more than %d upstreams, left out: %d", mostNames, dropped)
	}
	return nil
}

// addFrame reads a line of the stack below a line about an event loop; false of other lines. A thread whose innermost function waits is in a call
// that blocks; code that waits for nothing may only take long.
func (g *group) addFrame(l format.Line) bool {
	function, ok := java.ParseFrame(l.Text)
	if !ok {
		return false
	}
	if g.stack++; g.stack == 1 {
		if wait := java.WaitOf(function); wait != java.NoWait {
			g.blocks, g.blockedAt, g.blocksLine = string(wait), "", l.Number
		}
	}
	if g.blocks != "" && g.blockedAt == "" && !java.InLibrary(function) {
		g.blockedAt = function
	}
	return true
}

// addGreenletFrame reads a line of the stack of Python that gevent prints below a greenlet that blocks, outermost first; false of other lines. What stands there
// holds the loop, whatever it does.
func (g *group) addGreenletFrame(l format.Line) bool {
	_, rest, ok := bytes.Cut(l.Text, []byte(`File "`))
	if !ok {
		return false
	}
	file, rest, ok := bytes.Cut(rest, []byte(`", line `))
	_, name, ok2 := bytes.Cut(rest, []byte(", in "))
	if !ok || !ok2 || bytes.HasSuffix(file, []byte("/gevent/_monitor.py")) { // the thread that looks
		return ok
	}
	if !bytes.Contains(file, []byte("/site-packages/")) && !bytes.Contains(file, []byte("/lib/python")) {
		name = bytes.TrimSpace(name)
		g.blocks, g.blockedAt, g.blocksLine = "wait for what does not yield", strings.ToValidUTF8(string(name[:min(len(name), mostName)]), "?"), l.Number
	}
	return true
}

// addLine counts a line.
func (g *group) addLine(t told, at int64) {
	if t.says == heldLoop && t.worker != "" { // the same block is told of each second, as long as it lasts
		if before := float64(g.seen[t.worker]); before > 0 && t.took > before {
			g.n--
			g.sum -= before
		}
		if len(g.seen) == mostNames {
			clear(g.seen)
		}
		g.seen[t.worker] = int64(t.took)
		t.worker = ""
	}
	g.n++
	g.limit = max(g.limit, t.limit)
	g.ownSum += t.own
	g.counted = max(g.counted, t.count)
	if g.sum += t.took; t.took > g.most {
		g.most, g.where = t.took, t.where
	}
	if at == 0 {
		g.untimed++
		if t.worker != "" { // lines without times that follow each other
			g.seen[t.worker] = 0
			g.together = max(g.together, len(g.seen))
		}
		g.dense = max(g.dense, g.untimed)
		return
	}
	if g.first == 0 || at < g.first {
		g.first = at
	}
	g.last = max(g.last, at)
	if len(g.recent) == mostNames {
		g.recent = g.recent[1:]
	}
	g.recent = append(g.recent, at)
	within := 0
	for _, x := range g.recent {
		if abs(at-x) <= callWindow {
			within++
		}
	}
	g.dense = max(g.dense, within)
	if t.worker == "" {
		return
	}
	if len(g.seen) == mostNames {
		clear(g.seen)
	}
	g.seen[t.worker] = at
	within = 0
	for _, x := range g.seen {
		if x != 0 && abs(at-x) <= workerWindow {
			within++
		}
	}
	g.together = max(g.together, within)
}

// runtimeID is that of the process that a line is about.
func (g *group) runtimeID() string {
	switch g.says {
	case heldLoop:
		return g.what
	case noMemory:
		return "redis"
	}
	return ""
}

func abs(v int64) int64 { return max(v, -v) }

func emitGroups(b *evidence.Builder, all []*group) {
	first, last := int64(0), int64(0)
	for _, g := range all {
		if g.first > 0 && (first == 0 || g.first < first) {
			first = g.first
		}
		last = max(last, g.last)
	}
	*b.Clock() = evidence.Clock{Name: "times of the log", Error: 1e9, Resolution: 1e9}
	if first == 0 {
		b.Clock().Error = evidence.Unanchored
	}
	sorting.Short(all, func(x, y *group) int {
		return cmp.Or(cmp.Compare(x.server, y.server), cmp.Compare(y.n, x.n), cmp.Compare(x.name, y.name))
	})
	t := evidence.Table{Title: "what servers say of themselves", Columns: []string{"", "lines", "most within a minute", "longest s"}}
	subjects := make(map[string]evidence.SubjectID)
	for _, g := range all {
		name := g.server
		if g.says == noAnswer {
			if name = g.name; name == "" {
				name = "the upstream of " + g.server
			}
		}
		about := evidence.Subject{Kind: evidence.Dependency, Name: name}
		if g.says == heldLoop || g.says == noMemory || g.says == ownWork && g.calm == "" {
			about = evidence.Subject{Kind: evidence.Process, Runtime: g.runtimeID()}
		}
		subject, ok := subjects[name]
		if !ok {
			subject = b.Subject(about)
			subjects[name] = subject
		}
		what := g.server + ": " + cmp.Or(g.calm, g.title)
		if g.name != "" {
			what += " (" + g.name + ")"
		}
		longest := ""
		if g.most > 0 {
			longest = fmt.Sprintf("%.4g", g.most/1e9)
		}
		t.Rows = append(t.Rows, []string{what, strconv.FormatInt(g.n, 10), strconv.Itoa(g.dense), longest})
		if g.calm != "" {
			continue
		}
		if g.blockedAt != "" {
			b.FactAt(subject, evidence.FactLoopBlocked, g.blocks+evidence.Link+g.blockedAt, 1, g.blocksLine)
		}
		for _, f := range g.listFacts() {
			b.Fact(evidence.Fact{Subject: subject, Key: f.key, Value: f.value, Number: f.v, From: g.first, Until: g.last, Origin: b.Origin(g.line)})
		}
		title := g.title
		if g.says == usedUp && g.counted > 0 {
			title += fmt.Sprintf(", with %.0f waiting at most", g.counted)
		}
		b.Warnf(g.line, "%s, %s: %s (%s)", g.server, format.Count(g.n, "time", "times"), title, g.advice)
	}
	b.Table(t)
}

// fact is what a group shows.
type fact struct {
	key, value string
	v          float64
}

func (g *group) listFacts() []fact {
	n := float64(g.n)
	switch g.says {
	case ownWork:
		return []fact{{evidence.FactOwnLong, g.what, n}, {evidence.FactOwnLongMost, "", g.most}, {evidence.FactOwnLongPart, "", g.ownSum / g.sum}}
	case slowStore:
		return []fact{{evidence.FactStatementsSlow, "", n}, {evidence.FactStatementMost, "", g.most}}
	case stuckOps:
		return []fact{{evidence.FactOpsStuck, g.what, max(g.counted, n)}, {evidence.FactOpsStuckMost, "", g.most}}
	case heldLoop:
		if g.most == 0 { // where it stands is told, and not for how long
			return nil
		}
		all := []fact{{evidence.FactLoopHeld, g.where, n}, {evidence.FactLoopHeldMost, g.where, g.most}}
		if over := float64(g.last-g.first) + g.most; g.first > 0 && g.last > g.first {
			all = append(all, fact{evidence.FactLoopHeldShare, "", min(1, g.sum/over)})
		}
		return all
	case usedUp:
		all := []fact{{evidence.FactPlacesUsedUp, g.what + evidence.Link + g.setting, n}}
		if g.limit > 0 {
			all = append(all, fact{evidence.FactPlaces, g.what, g.limit})
		}
		return all
	case noAnswer:
		return []fact{{evidence.FactCallsUnanswered, g.what, n}, {evidence.FactCallsUnansweredDense, g.what, float64(g.dense)}}
	case blocked:
		return []fact{{evidence.FactWorkersBlocked, g.what, n}, {evidence.FactWorkersBlockedTogether, g.what, float64(g.together)}}
	case noMemory:
		return []fact{{evidence.FactWritesRefused, "", n}}
	case slowSync:
		return []fact{{evidence.FactSyncsSlow, g.what, n}, {evidence.FactSyncMost, g.what, g.most}}
	}
	return nil
}

// layouts of times at the beginning of a line, most usual first.
var layouts = []string{"2006/01/02 15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "02-Jan-2006 15:04:05", "Mon Jan _2 15:04:05 2006", "Mon Jan 02 15:04:05.000000 2006"}

// lineTime returns when a line was written, ns since the epoch, 0 unknown; and whether it names
// its zone.
func lineTime(l format.Line) (at int64, zoned bool) {
	text := strings.TrimLeft(string(l.Text[:min(len(l.Text), mostName)]), " [")
	for _, layout := range layouts {
		if len(text) < len(layout) {
			continue
		}
		t, err := time.Parse(layout, text[:len(layout)])
		if err != nil || t.Year() < 1990 || t.Year() >= 2200 {
			continue
		}
		rest := strings.TrimLeft(strings.TrimLeft(text[len(layout):], ".,0123456789"), " ")
		for _, zone := range []string{"-0700", "-07:00"} {
			if z, err := time.Parse(zone, rest[:min(len(rest), len(zone))]); err == nil {
				_, offset := z.Zone()
				return t.UnixNano() - int64(offset)*1e9, true
			}
		}
		return t.UnixNano(), strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "UTC")
	}
	return l.Stamp, true
}
