package redisreply

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// events are the answers of LATENCY: what took longer than latency-monitor-threshold
// (https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency-monitor/).
type events struct {
	all   []event
	seen  map[event]bool
	asked bool
	from  int64
	until int64
	line  int64
}

// event is one event; the server keeps the worst of each second.
type event struct {
	name string
	at   int64 // seconds since the epoch, when it ended
	took int64 // ms
}

// eventNames are the events that the server watches; modules and newer versions may add others.
var eventNames = map[string]bool{
	"command": true, "fast-command": true, "fork": true, "expire-cycle": true, "eviction-cycle": true, "eviction-del": true, "active-defrag-cycle": true,
	"aof-write": true, "aof-fsync-always": true, "aof-write-pending-fsync": true, "aof-write-active-child": true, "aof-write-alone": true, "aof-fstat": true,
	"aof-rename": true, "aof-rewrite-diff-write": true, "aof-rewrite-done-fsync": true, "rdb-unlink-temp-file": true, "while-blocked-cron": true,
	"module-acquire-GIL": true, "command-unblocking": true, "eviction-lazyfree": true, "cluster-config-open": true, "expire-del": true,
}

// takeLatest takes LATENCY LATEST: the newest of each event and the worst ever.
func (s *events) takeLatest(p *parser, n *node) bool {
	s.markAsked(p)
	for _, x := range n.items {
		if !x.hasKinds(text, integer, integer, integer) {
			p.countUnparsed(p.began)
			continue
		}
		name := cleanName(x.items[0].text)
		s.addEvent(p, event{name, x.items[1].whole, x.items[2].whole})
		if worst := x.items[3].whole; worst > 0 && worst < 1e9 {
			p.setWorst(name, worst)
		}
	}
	return true
}

// setWorst keeps the longest time that an event ever took.
func (p *parser) setWorst(name string, ms int64) {
	f := evidence.Fact{Key: evidence.FactRedisWorst, Value: name, Number: float64(ms) * 1e6, Origin: p.b.Origin(p.began)}
	if i := slices.IndexFunc(p.facts, func(o evidence.Fact) bool { return o.Key == f.Key && o.Value == name }); i >= 0 {
		p.facts[i] = f
	} else if len(p.facts) < mostNames {
		p.facts = append(p.facts, f)
	}
}

// eventOfFile returns the event in a file's name: the answer itself does not name it.
func (p *parser) eventOfFile() (name string) {
	words := "-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, path.Base(p.file)) + "-"
	for event := range eventNames {
		if len(event) > len(name) && strings.Contains(words, "-"+event+"-") {
			name = event
		}
	}
	return name
}

// takeHistory takes LATENCY HISTORY of an event.
func (s *events) takeHistory(p *parser, name string, n *node) bool {
	if n.kind != list {
		return false
	}
	if name = cleanName(name); name == "" {
		p.b.Warnf(p.began, "of which event this LATENCY HISTORY is, it does not say: name the file after it, such as fork.txt")
		return true
	}
	s.markAsked(p)
	for _, x := range n.items {
		if !x.hasKinds(integer, integer) {
			p.countUnparsed(p.began)
			continue
		}
		s.addEvent(p, event{name, x.items[0].whole, x.items[1].whole})
	}
	return true
}

func (s *events) markAsked(p *parser) {
	if !s.asked {
		s.asked, s.line, s.from = true, p.began, p.now.at
		s.seen = make(map[event]bool)
	}
	s.until = max(s.until, p.now.at)
}

func (s *events) addEvent(p *parser, e event) {
	switch {
	case e.at < 1e8 || e.at > 4e9 || e.took < 0 || e.took > 1e9 || s.seen[e]:
	case len(s.all) == mostSlow:
		p.over++
	default:
		s.seen[e] = true
		e.at = e.at*1e9 + p.skew
		s.all = append(s.all, e)
	}
}

// emitStalls writes the events. An empty answer covers nothing: the monitor may be off, which a
// setting shows.
func (s *events) emitStalls(b *evidence.Builder, id evidence.SubjectID) {
	if !s.asked {
		return
	}
	sorting.Short(s.all, func(x, y event) int { return cmp.Compare(x.at, y.at) })
	from, until := s.from, s.until
	for _, e := range s.all {
		took, end := e.took*1e6, e.at+1e9
		b.Interval(evidence.Interval{Subject: id, Lane: evidence.AllLanes, Kind: evidence.ServerStall, Start: end - took, End: end, Cause: b.Name(e.name), Origin: b.Origin(s.line),
			Extra: []evidence.Extra{{Key: evidence.WaitedWithin, Value: float64(1e9 + took)}}})
		if s.from == 0 {
			if from == 0 {
				from = e.at
			}
			until = end
		}
	}
	if len(s.all) > 0 {
		b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRedisLatency, From: from, Until: max(until, from+1), Origin: b.Origin(s.line)})
	}
}

// takeHistogram takes LATENCY HISTOGRAM, whose counts are cumulative: the calls of each bucket are
// its count less that of the one before.
func (p *parser) takeHistogram(n *node) bool {
	if n.kind != list {
		return false
	}
	at := p.answerTime()
	for i := 0; i+1 < len(n.items); i += 2 {
		name, of := cleanName(strings.ToLower(n.items[i].text)), n.items[i+1]
		if !of.hasKinds(text, integer, text, list) {
			p.countUnparsed(p.began)
			continue
		}
		buckets := of.items[3].items
		var sum int64
		for k := 0; k+1 < len(buckets); k += 2 {
			upTo, calls := buckets[k], buckets[k+1]
			if upTo.kind != integer || calls.kind != integer || calls.whole < sum || upTo.whole < 0 {
				p.countUnparsed(p.began)
				break
			}
			p.told.addPoint(at, p.began, told{evidence.SeriesRedisHistogramBucket + ":" + name + " " + strconv.FormatInt(upTo.whole, 10), float64(calls.whole - sum), counter})
			sum = calls.whole
		}
	}
	return true
}

// takeMemory takes the figures of MEMORY STATS, as long as no INFO was read.
func (p *parser) takeMemory(n *node) bool {
	pairs := n.itemTexts()
	for i := range len(pairs) - 1 { // in a file the figures of databases come without brackets
		switch v, err := strconv.ParseFloat(pairs[i+1], 64); {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		case pairs[i] == "clients.normal" && p.told.looks == 0:
			p.told.addPoint(p.answerTime(), p.began, told{evidence.SeriesRedisClientMemory, v, level})
		case pairs[i] == "dataset.bytes" && p.told.looks == 0:
			p.told.addPoint(p.answerTime(), p.began, told{evidence.SeriesRedisDataset, v, level})
		case pairs[i] == "total.allocated" && p.told.looks == 0:
			p.told.addPoint(p.answerTime(), p.began, told{evidence.SeriesRedisUsedMemory, v, level})
		case pairs[i] == "keys.count" && p.told.looks == 0:
			p.told.addPoint(p.answerTime(), p.began, told{evidence.SeriesRedisKeys, v, level})
		}
	}
	return true
}
