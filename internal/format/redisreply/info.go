package redisreply

import (
	"math"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/unstall/unstall/internal/base/evidence"
)

// snapshot is one answer to INFO.
type snapshot struct {
	sections map[string]bool
	values   []told // in order
	keys     map[string]float64
	at       int64 // ns, by the server's own clock; 0: it does not say
	uptime   float64
	line     int64
}

// told is a figure.
type told struct {
	series string
	value  float64
	use    use
}

// use is the meaning of a figure, which decides how it is kept.
type use uint8

const (
	unused  use = iota
	level       // as it is now
	counter     // a sum since the server's start
	changes     // a level or sum that is kept where it changed: there are many, and few change
)

// infoFields are the fields that are kept as figures. The series is named after the field, behind
// evidence.RedisInfo.
var infoFields = func() map[string]use {
	of := make(map[string]use)
	for u, names := range map[use][]string{
		level: {evidence.SeriesRedisUptime, evidence.SeriesRedisConnected, evidence.SeriesRedisBlocked, evidence.SeriesRedisMaxClients, evidence.SeriesRedisRecentInput,
			evidence.SeriesRedisRecentOutput, evidence.SeriesRedisUsedMemory, evidence.SeriesRedisRSS, evidence.SeriesRedisPeak, evidence.SeriesRedisDataset, evidence.SeriesRedisOverhead,
			evidence.SeriesRedisLua, evidence.SeriesRedisSystemMemory, evidence.SeriesRedisMaxMemory, evidence.SeriesRedisFragmentation, evidence.SeriesRedisFragmented,
			evidence.SeriesRedisNotCounted, evidence.SeriesRedisClientMemory, evidence.SeriesRedisSaving, evidence.SeriesRedisSaveCopied, evidence.SeriesRedisRewriting,
			evidence.SeriesRedisRewriteCopied, evidence.SeriesRedisModuleForked, evidence.SeriesRedisCopied, evidence.SeriesRedisCopiedPeak, evidence.SeriesRedisAOFEnabled,
			evidence.SeriesRedisAOFPending, evidence.SeriesRedisAOFBuffer, evidence.SeriesRedisAOFSize, evidence.SeriesRedisLatestFork, evidence.SeriesRedisThreadsActive},
		counter: {evidence.SeriesRedisSaves, evidence.SeriesRedisRewrites, evidence.SeriesRedisAOFDelayed, evidence.SeriesRedisConnections, evidence.SeriesRedisCommands,
			evidence.SeriesRedisNetIn, evidence.SeriesRedisNetOut, evidence.SeriesRedisReplicationOut, evidence.SeriesRedisRejected, evidence.SeriesRedisExpired,
			evidence.SeriesRedisExpireCycle, evidence.SeriesRedisEvicted, evidence.SeriesRedisEvictedClients, evidence.SeriesRedisExceeded, evidence.SeriesRedisHits,
			evidence.SeriesRedisMisses, evidence.SeriesRedisForks, evidence.SeriesRedisDefragmenting, evidence.SeriesRedisErrors, evidence.SeriesRedisOutputClosed,
			evidence.SeriesRedisQueryClosed, evidence.SeriesRedisLoop, evidence.SeriesRedisLoopCommands, evidence.SeriesRedisCPUUser, evidence.SeriesRedisCPUSystem,
			evidence.SeriesRedisMainUser, evidence.SeriesRedisMainSystem, evidence.SeriesRedisChildrenUser, evidence.SeriesRedisChildrenSystem},
	} {
		for _, name := range names {
			of[strings.TrimPrefix(name, evidence.RedisInfo)] = u
		}
	}
	return of
}()

// sectionNames are those of INFO.
var sectionNames = map[string]bool{"server": true, "clients": true, "memory": true, "persistence": true, "threads": true, "stats": true, "replication": true, "cpu": true,
	"modules": true, "commandstats": true, "errorstats": true, "latencystats": true, "cluster": true, "keyspace": true, "keysizes": true, "sentinel": true, "debug": true,
	"keydb": true, "search": true, "scriptingengines": true, "tls": true, "availability zone": true}

// isSection knows "# Server".
func isSection(s string) bool {
	name, ok := strings.CutPrefix(s, "# ")
	return ok && sectionNames[strings.ToLower(strings.TrimSpace(name))]
}

// isField knows "used_memory:1024". Names hold what commands and errors are called.
func isField(s string) bool {
	i := strings.IndexByte(s, ':')
	if i <= 0 || i > 200 {
		return false
	}
	for _, c := range s[:i] {
		if !(c == '_' || c == '-' || c == '|' || c == '.' || unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return false
		}
	}
	return true
}

// parseField reads a line of INFO or CLUSTER INFO. A section that is there already begins the next
// answer.
func (p *parser) parseField(line string) {
	text := strings.TrimSpace(line)
	s := &p.info
	switch {
	case text == "":
	case strings.HasPrefix(text, "# "):
		name := strings.ToLower(text[2:])
		if s.sections[name] {
			p.endSnapshot()
			p.kind = info
		}
		if s.sections == nil {
			s.sections = make(map[string]bool)
			s.line = p.number
		}
		s.sections[name] = true
	case isField(text):
		if s.line == 0 {
			s.line = p.number
		}
		name, value, _ := strings.Cut(text, ":")
		p.takeField(name, strings.TrimSpace(value))
	default:
		p.endAnswer()
		p.beginAnswer(line)
	}
}

func (s *snapshot) addValue(series string, value float64, u use) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) && len(s.values) < mostFields {
		s.values = append(s.values, told{series, value, u})
	}
}

// takeField takes a field of INFO.
func (p *parser) takeField(name, value string) {
	s := &p.info
	if u := infoFields[name]; u != unused {
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			s.addValue(evidence.RedisInfo+name, v, u)
			if name == "uptime_in_seconds" {
				s.uptime = v
			}
			if name == "maxmemory" {
				p.setSetting("maxmemory", value, false)
			}
		}
		return
	}
	if p.takeIdentity(name, value) {
		return
	}
	for _, x := range []struct {
		prefix string
		read   func(p *parser, of, value string)
	}{{"cmdstat_", (*parser).commandStat}, {"latency_percentiles_usec_", (*parser).addPercentiles}, {"errorstat_", (*parser).errorStat}, {"db", (*parser).addKeyspace}} {
		if of, ok := strings.CutPrefix(name, x.prefix); ok && of != "" {
			x.read(p, of[:min(len(of), mostWord)], value)
			return
		}
	}
}

// takeIdentity takes a field about the server's identity or configuration, false for others.
func (p *parser) takeIdentity(name, value string) bool {
	x := &p.subject
	clean := strings.ToValidUTF8(value[:min(len(value), 200)], "?")
	switch name {
	case "redis_version":
		if x.Version == "" {
			x.Version = "Redis " + clean
		}
	case "valkey_version":
		x.Version = "Valkey " + clean
	case "executable":
		x.Name = path.Base(clean)
		if strings.HasPrefix(x.Name, "keydb") {
			x.Version = "KeyDB " + strings.TrimPrefix(x.Version, "Redis ")
		}
	case "mvcc_depth", "server_threads": // of KeyDB alone
		if number, ok := strings.CutPrefix(x.Version, "Redis "); ok {
			x.Version = "KeyDB " + number
		}
	case "process_id":
		if pid, err := strconv.ParseInt(value, 10, 32); err == nil && pid > 0 && p.now.at == 0 { // else the recorder knows the PID in its own namespace
			x.PID = int(pid)
		}
	case "run_id":
		x.Instance = clean
	case "server_time_usec":
		if us, err := strconv.ParseInt(value, 10, 64); err == nil && us > 1e14 && us < 4e15 {
			p.info.at = us * 1e3
		}
	case "role":
		p.setFact(evidence.FactRedisRole, clean, math.NaN())
	case "tcp_port":
		if n, err := strconv.ParseUint(clean, 10, 16); err == nil && n > 0 {
			p.setFact(evidence.FactRedisPort, clean, float64(n))
		}
	case "redis_mode":
		p.setFact(evidence.FactRedisMode, clean, math.NaN())
	case "cluster_state":
		p.setFact(evidence.FactRedisCluster, clean, math.NaN())
	case "maxmemory_policy":
		p.setSetting("maxmemory-policy", value, false)
	case "rdb_last_bgsave_status":
		if value == "err" {
			p.setFact(evidence.FactRedisSaveBad, value, math.NaN())
		}
	case "aof_last_write_status", "aof_last_bgrewrite_status":
		if value == "err" {
			p.setFact(evidence.FactRedisAOFBad, name, math.NaN())
		}
	default:
		return false
	}
	return true
}

// eachPair calls f for each of "calls=4,usec=68".
func eachPair(s string, f func(name string, v float64)) {
	for part := range strings.SplitSeq(s, ",") {
		name, text, _ := strings.Cut(part, "=")
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			f(name, v)
		}
	}
}

func (p *parser) commandStat(of, value string) {
	of = strings.ToLower(of)
	eachPair(value, func(name string, v float64) {
		switch name {
		case "calls":
			p.info.addValue(evidence.SeriesRedisCalls+":"+of, v, counter)
		case "usec":
			p.info.addValue(evidence.SeriesRedisCallTime+":"+of, v, counter)
		case "rejected_calls":
			p.info.addValue(evidence.SeriesRedisCallsRejected+":"+of, v, changes)
		case "failed_calls":
			p.info.addValue(evidence.SeriesRedisCallsFailed+":"+of, v, changes)
		case "slowlog_count": // Redis 8
			p.info.addValue(evidence.SeriesRedisCallsSlow+":"+of, v, changes)
		case "slowlog_time_ms_sum":
			p.info.addValue(evidence.SeriesRedisCallsSlowTime+":"+of, v, changes)
		case "slowlog_time_ms_max":
			p.info.addValue(evidence.SeriesRedisCallsSlowMost+":"+of, v, changes)
		}
	})
}

func (p *parser) addPercentiles(of, value string) {
	of = strings.ToLower(of)
	eachPair(value, func(name string, v float64) {
		switch name {
		case "p50":
			p.info.addValue(evidence.SeriesRedisCallP50+":"+of, v, changes)
		case "p99":
			p.info.addValue(evidence.SeriesRedisCallP99+":"+of, v, changes)
		case "p99.9":
			p.info.addValue(evidence.SeriesRedisCallP999+":"+of, v, changes)
		}
	})
}

func (p *parser) errorStat(of, value string) {
	eachPair(value, func(name string, v float64) {
		if name == "count" {
			p.info.addValue(evidence.SeriesRedisErrorKind+":"+of, v, changes)
		}
	})
}

// addKeyspace adds up what databases hold: "db0:keys=3,expires=0,avg_ttl=0".
func (p *parser) addKeyspace(of, value string) {
	if _, err := strconv.Atoi(of); err != nil {
		return
	}
	eachPair(value, func(name string, v float64) {
		series := map[string]string{"keys": evidence.SeriesRedisKeys, "expires": evidence.SeriesRedisKeysThatExpire}[name]
		if series == "" {
			return
		}
		if p.info.keys == nil {
			p.info.keys = make(map[string]float64)
		}
		p.info.keys[series] += v
	})
}

// endSnapshot ends an answer to INFO. Its time is when a recorder got it, else by the server's
// clock, else by the server's uptime.
func (p *parser) endSnapshot() {
	s := p.info
	p.info = snapshot{}
	for series, n := range s.keys {
		s.addValue(series, n, level)
	}
	if len(s.values) == 0 {
		if s.line > 0 && (p.subject.Version != "" || len(p.facts) > 0) {
			p.understood++
		}
		return
	}
	p.understood++
	at := p.now.at
	switch {
	case at > 0 && s.at > 0:
		if d := at - s.at; d > clocksApart || d < -clocksApart {
			p.skew = d
		}
	case at == 0 && s.at > 0:
		at = s.at
	case at == 0 && p.dated > 0:
		at = p.dated
	case at == 0:
		at = int64(s.uptime * 1e9)
		p.undated = true
	}
	p.told.addInfo(at, s.line, s.values)
	for name, n := range p.own {
		p.told.addPoint(at, s.line, told{evidence.RedisOwn + name, n, counter})
	}
}

// clocksApart (ns) is the difference from which two clocks disagree: an answer takes some of it.
const clocksApart = 200e6

// countOwn subtracts the recorder's own commands, which INFO counts among the others, and takes the
// times of its PING.
func (p *parser) countOwn(h header) {
	if p.subject.PID == 0 && h.pid > 0 {
		p.subject.PID = h.pid
	}
	name := strings.ReplaceAll(strings.ToLower(h.name), " ", "|")
	if len(p.own) < mostNames && len(name) <= mostWord {
		p.own[name]++
	}
	if h.name == "PING" {
		p.understood++
		p.told.addPoint(h.at, p.number, told{evidence.SeriesRedisPing, float64(h.took), level})
	}
}
