package redisreply

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// spike is what LATENCY DOCTOR says of an event:
//
//  2. fork: 9 latency spikes (average 1411ms, mean deviation 210ms, period 310.11 sec). Worst all time event 2210ms.
//
// createLatencyReport in https://github.com/redis/redis/blob/unstable/src/latency.c: the mean of those that are kept, and the mean time
// from one to the next.
type spike struct {
	name   string
	n      int
	mean   int64   // ms
	worst  int64   // ms, 0: not told
	period float64 // s
	line   int64
}

// linesOfEvent is how many lines the report has about an event: newer versions of Valkey tell the last spike and the worst on lines of
// their own.
const linesOfEvent = 3

// mostEvents are kept: the server has some twenty, and modules and builds of others have their own.
const mostEvents = 100

// mostSpikes are kept of an event: the server keeps 160.
const mostSpikes = 1000

// parseSpikes reads the lines of an answer to LATENCY DOCTOR.
func (p *parser) parseSpikes(lines []string) {
	for i, l := range lines {
		l = strings.TrimSpace(l)
		number, rest, ok := strings.Cut(l, ". ")
		name, rest, ok2 := strings.Cut(rest, ": ")
		if !ok || !ok2 || len(number) > 3 || name == "" || cleanName(name) != name {
			continue
		}
		s := spike{name: name, line: p.began + int64(i)}
		var deviation int64
		if c, _ := fmt.Sscanf(rest, "%d latency spikes (average %dms, mean deviation %dms, period %f sec)", &s.n, &s.mean, &deviation, &s.period); c < 2 || s.n < 1 || s.n > mostSpikes || s.mean < 0 || s.mean > 1e9 || !(s.period >= 0 && s.period < 1e9) {
			continue
		}
		for k, text := range lines[i:min(len(lines), i+linesOfEvent)] {
			if k > 0 && strings.TrimSpace(text) == "" {
				break
			}
			if _, worst, ok := strings.Cut(text, "Worst all time event"); ok {
				var ms int64
				if c, _ := fmt.Sscanf(strings.TrimLeft(worst, ": "), "%dms", &ms); c == 1 && ms > 0 && ms < 1e9 {
					s.worst = ms
					p.setWorst(name, ms)
				}
				break
			}
		}
		if len(p.doctor) < mostEvents {
			p.doctor = append(p.doctor, s)
		}
	}
}

// isOtherSync says whether an event is a wait until data is on the disk that is not of the append-only file: cluster-config-fsync, cluster-config-dir-fsync
// (https://github.com/redis/redis/blob/unstable/src/cluster_legacy.c), cluster-write-pending-fsync of a build before these.
func isOtherSync(event string) bool {
	return strings.HasSuffix(event, "-fsync") && !strings.HasPrefix(event, "aof-")
}

// emitSpikes emits spikes as events at their mean distance: the answer has their number and length, and not their times.
func (p *parser) emitSpikes(id evidence.SubjectID) {
	if len(p.doctor) == 0 {
		return
	}
	b := p.b
	*b.Clock() = evidence.Clock{Name: "spikes, at their mean distance", Error: evidence.Unanchored}
	b.Warnf(p.doctor[0].line, "LATENCY DOCTOR tells how long spikes take and how far apart they are on average, not when they were: LATENCY HISTORY does")
	t := evidence.Table{Title: "spikes, by LATENCY DOCTOR", Columns: []string{"", "spikes", "mean ms", "worst ms"}}
	var last int64
	for _, s := range p.doctor {
		worst := ""
		if s.worst > 0 {
			worst = strconv.FormatInt(s.worst, 10)
		}
		t.Rows = append(t.Rows, []string{s.name, strconv.Itoa(s.n), strconv.FormatInt(s.mean, 10), worst})
		if isOtherSync(s.name) {
			b.FactAt(id, evidence.FactSyncsSlow, s.name, float64(s.n), s.line)
			if s.worst > 0 {
				b.FactAt(id, evidence.FactSyncMost, s.name, float64(s.worst)*1e6, s.line)
			}
		}
		if s.n > 1 && s.period <= 0 {
			continue
		}
		for k := range s.n {
			end := int64(float64(k+1)*s.period*1e9) + 1e9
			took := s.mean * 1e6
			last = max(last, end)
			b.Interval(evidence.Interval{Subject: id, Lane: evidence.AllLanes, Kind: evidence.ServerStall, Start: end - took, End: end, Cause: b.Name(s.name), Origin: b.Origin(s.line),
				Extra: []evidence.Extra{{Key: evidence.WaitedWithin, Value: float64(took)}}})
		}
	}
	b.Table(t)
	if last > 0 {
		b.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRedisLatency, From: 0, Until: last, Origin: b.Origin(p.doctor[0].line)})
	}
}
