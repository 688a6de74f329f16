package redis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// SlowCommand is a command that takes long and delays all others.
var SlowCommand = check.Check{
	ID:    "redis.slow-command",
	Title: "a slow command delays all clients of Redis",
	Step:  check.StepDependency,
	Doc: `One thread runs all commands, one after the other. A command that scans all keys or a whole large
value (KEYS, HGETALL, SMEMBERS, LRANGE 0 -1, SORT, a union of large sets, DEL of a large key) or a
looping script takes time in proportion to the size, and every command that arrives during it waits:
for half of it on average. At 300 ms twice a second, 60 % of all commands are late by 150 ms on
average, although the CPU is not saturated.

The slow log lists such calls with the client's address, LATENCY HISTOGRAM counts them (7.0 and
later), commandstats has their mean. None of these has the delay of other commands: unstall
calculates it from frequency and duration.

How to tell it from similar problems: a simple command (GET, SET of a small value) in the slow log
was not slow itself: the host did not run its thread (linux.cpu-saturation, linux.swap). A value of
many bytes is redis.big-value. BGSAVE in the slow log is its fork (redis.fork). BLPOP, WAIT and
XREAD BLOCK wait on purpose and delay no other client.

What helps: SCAN, HSCAN, SSCAN and ZSCAN instead of full scans; only the needed fields and ranges;
values split by what is read together; UNLINK instead of DEL (4.0 and later); short scripts; full
scans on a replica. More CPUs, io-threads and pipelines do not help.`,
	Least: fmt.Sprintf("calls of 10 ms and more that occupy the main thread for %v of the time, two of them or one of a second; or shorter calls that occupy it for %v of the time and delay commands by 0.25 ms on average; from the slow log, LATENCY HISTOGRAM or commandstats; where their rate is unknown, one call of 0.5 s, or two of %v and more on average",
		often, ofThread, longFork),
	Thresholds: []check.Threshold{stalled, closeBy, few, forAll, longCall, longFork, longStop, notRun, ofThread, often, rare, rarely, several},

	Needs:   "INFO twice (or SLOWLOG GET with five entries): unstall redis://HOST:PORT, or files of redis-cli",
	Applies: isRedis,
	Judge:   judgeSlow,
}

// single are commands that touch one element, or as many as they name: the command takes µs, and longer only through the bytes it moves.
var single = map[string]bool{
	"GET": true, "SET": true, "SETEX": true, "PSETEX": true, "SETNX": true, "GETSET": true, "GETEX": true, "GETDEL": true, "GETRANGE": true, "SETRANGE": true, "APPEND": true, "STRLEN": true, "MGET": true, "MSET": true, "MSETNX": true,
	"INCR": true, "DECR": true, "INCRBY": true, "DECRBY": true, "INCRBYFLOAT": true, "EXISTS": true, "EXPIRE": true, "PEXPIRE": true, "EXPIREAT": true, "TTL": true, "PTTL": true, "TYPE": true, "PERSIST": true, "TOUCH": true,
	"HGET": true, "HSET": true, "HMSET": true, "HMGET": true, "HSETNX": true, "HEXISTS": true, "HINCRBY": true, "HLEN": true, "LPUSH": true, "RPUSH": true, "LPOP": true, "RPOP": true, "LLEN": true, "SADD": true, "SISMEMBER": true, "SCARD": true,
	"ZADD": true, "ZSCORE": true, "ZRANK": true, "ZCARD": true, "ZINCRBY": true, "XADD": true, "XACK": true, "XLEN": true, "PUBLISH": true, "PING": true, "ECHO": true, "SELECT": true, "AUTH": true, "HELLO": true, "DUMP": true, "RESTORE": true, "SETBIT": true, "GETBIT": true, "PFADD": true, "UNLINK": true,
}

// forks are commands that take as long as a fork.
var forks = map[string]bool{"BGSAVE": true, "BGREWRITEAOF": true, "SAVE": true}

// belongsElsewhere says whether a command's time belongs to another cause, or is intended by its
// clients.
func belongsElsewhere(name string) bool {
	return forks[name] || name == "PSYNC" || name == "SYNC" || name == "MONITOR" || name == "SUBSCRIBE" || name == "EXEC"
}

// splitLongCommands returns the long calls of commands that have much to do, and those of simple
// commands.
func (s *server) splitLongCommands() (much, little []metrics.RedisKept) {
	for _, k := range s.LongCommands() {
		switch {
		case belongsElsewhere(k.What):
		case single[k.What]:
			little = append(little, k)
		default:
			much = append(much, k)
		}
	}
	return much, little
}

var longCall = check.Threshold{Name: "length of a single command that is named however rare", Value: 500e6, Unit: "ns",
	Why: "what arrives at that time waits for half of it, longer than the 200 ms of some clients' timeouts", Source: "arithmetic: half of it is 250 ms"}

// Calls close together in the slow log take much of the thread's time during that stretch, whatever it was before.
var (
	several = check.Threshold{Name: "long calls in the slow log that stand close together", Value: 3, Unit: "count",
		Why: "two may come together by chance", Source: "Poisson: where 1 is usual, 3 or more come by chance in 8 % of recordings"}
	closeBy = check.Threshold{Name: "share of the time from the first of them to the last", Value: .05, Unit: "1",
		Why: "one command in twenty meets one", Source: "PASTA (R. Wolff, Operations Research 30, 1982): one command in twenty meets one: the p95"}
)

// rounded is the resolution of the slow log's stamps.
const rounded = time.Second

// isWorthNaming says whether calls at a hardly known rate are worth reporting. They are not where
// the slow log has several that are far apart, or where other commands take nearly all of the
// time.
func (s *server) isWorthNaming(k *metrics.RedisKept) bool {
	var first, last int64
	for _, e := range s.Slow.Entries {
		if first == 0 {
			first = e.At
		}
		last = e.At
	}
	over := float64(last - first)
	if k.Count >= few.Value && last > first && k.Total < rarely.Value*over*k.Count/(k.Count-1) {
		return false
	}
	if k.Count >= several.Value && last > 0 && k.Total >= closeBy.Value*(over+float64(rounded)) {
		return true
	}
	var spent float64
	for i := range s.Commands {
		spent += stats.ZeroIfNaN(s.Commands[i].Spent.Number)
	}
	return k.Total >= ofThread.Value*spent && (k.Longest >= longCall.Value || k.Count >= few.Value && k.Each() >= longFork.Value)
}

func judgeSlow(c *check.Case) check.Verdict {
	s := serverOf(c)
	if s == nil {
		return notTold("")
	}
	much, little := s.splitLongCommands()
	watched := s.Looks > 0 || s.Slow.Watched || len(s.Commands) > 0
	v := check.Verdict{Rule: check.TooLittle, Summary: "no command took 10 ms"}
	if !s.Slow.Watched { // what commands took is known as a mean alone
		v.Summary = "no command takes 10 ms on average"
	}
	if share := shareOf(much); share > 0 {
		weighStops(&v, much)
	}
	switch {
	case !watched:
		if most, from := s.longestEvent("command"); most >= longStop.Value {
			return judgeLongestEvent(c, fmt.Sprintf("A command probably delays all clients of %s, up to %s.", s.productTitle(), units.Time(most)), "in long commands", "a command", most, from,
				check.Fix{Text: "find which one: the slow log names it", Code: "SLOWLOG GET 128"})
		}
		if events := s.latencyEvents("command"); isNoticed(events) && events[0].Count >= several.Value && s.quickCommandsAreQuick(events[0].Longest) {
			s.supportEvents(c, &v, &events[0])
			return v
		}
		if n := s.countLines(evidence.RedisSlowScript); n > 0 {
			return s.judgeToldScripts(c, n)
		}
		return notTold("")
	case len(much) == 0 && len(little) > 0:
		v.Summary = fmt.Sprintf("%s took up to %s, but it is a simple command: the host did not run its thread, or it moved many bytes", little[0].What, units.Time(little[0].Longest))
	case len(much) > 0 && math.IsNaN(shareOf(much)) && s.isWorthNaming(&much[0]):
		s.supportRareCalls(c, &v, &much[0])
		return v
	case len(much) > 0 && math.IsNaN(shareOf(much)):
		v.Rule = check.OneLook
		v.Summary = fmt.Sprintf("%s took %s, but its frequency is unknown", much[0].What, units.Time(much[0].Longest))
		v.Needs = []check.Need{asked}
		return v
	case len(much) > 0:
		v.Summary = fmt.Sprintf("%s of the time in long commands, up to %s (%s)", units.Percent(shareOf(much)), units.Time(longestOf(much)), much[0].What)
	}
	if !isNoticed(much) {
		if len(much) == 0 && !s.Slow.Watched && len(s.Commands) == 0 {
			return check.Verdict{Rule: check.NotRecorded, Summary: "what its commands took was not recorded", Needs: []check.Need{asked}}
		}
		if len(much) == 0 {
			v.Rule = check.Absent
			if s.Ops.Known() && !s.Single {
				v.Evidence = append(v.Evidence, c.Figure("redis.commands_per_s", "commands, of which none took as long", s.Ops.Number, "1/s", s.Ops.Origin))
			}
		}
		if s.Looks == 0 { // a slow log of unknown length
			v.Rule, v.Needs = check.NotRecorded, []check.Need{asked}
			return v
		}
		return s.unlessOneLook(v)
	}
	v.Rule = check.Matters
	top := &much[0]
	v.Title = fmt.Sprintf("%s delays all clients of %s: %s each time, %s.", s.describeCommand(top), s.productTitle(), units.Time(top.Each()), joinWords(formatRate(top.PerSecond()), units.Percent(shareOf(much))+" of the time"+s.periodSuffix()))
	v.Spends = "in " + s.describeCommand(top)
	for i := range much[:min(len(much), 3)] {
		k := &much[i]
		name := s.describeCommand(k)
		v.Evidence = append(v.Evidence, c.Figure("redis.long_calls_per_s", name+": long calls", k.PerSecond(), "1/s", k.Origin), c.Figure("redis.long_call_ms", name+": each of these", k.Each()/1e6, "ms", k.Origin),
			c.Figure("redis.long_call_longest_ms", name+": longest", k.Longest/1e6, "ms", k.Origin))
		if slow := s.SlowOf(k.What); slow != nil && slow.Bytes > 1<<10 {
			v.Evidence = append(v.Evidence, c.Figure("redis.slowlog_argument_bytes", name+": bytes of its arguments, at most", float64(slow.Bytes), "bytes", slow.Origin))
		}
	}
	if ran := s.OnCPUShare(); ran < notRun.Value {
		v.Evidence = append(v.Evidence, c.Figure("redis.on_cpu_share", "share of the time in commands that the thread was on a CPU; otherwise the host did not run it", ran, "1", s.Main.Origin))
	}
	s.rankByWaits(c, &v, much)
	v.Evidence = append(v.Evidence, s.doctorEvidence(c, "command", "nothing")...)
	seen := make(map[string]bool)
	for i := range much[:min(len(much), 3)] {
		if f := s.commandAdvice(much[i].What); !seen[f.Text] {
			seen[f.Text] = true
			v.Fix = append(v.Fix, f)
		}
	}
	v.Fix = append(v.Fix, check.Fix{Text: "run full scans on a replica, or let a job store the result in advance"})
	return v
}

// judgeToldScripts judges by the log of a server, which reports a script that ran for longer than lua-time-limit (5 s, unless it is set).
func (s *server) judgeToldScripts(c *check.Case, n int) check.Verdict {
	v := check.Verdict{Rule: check.StandsAlone, Weight: often.Value, Spends: "in long scripts",
		Title:   fmt.Sprintf("A script delayed all clients of %s for seconds: its log reports %s in execution.", s.productTitle(), units.Plural(n, "slow script")),
		Summary: fmt.Sprintf("%s, by the log", units.Plural(n, "slow script"))}
	v.Evidence = []check.Evidence{c.Figure("redis.slow_script_lines", "log lines: slow script detected", float64(n), "count", s.toldAt(evidence.RedisSlowScript))}
	v.Fix = []check.Fix{s.commandAdvice("EVAL"), {Text: "find which one: the slow log names it", Code: "SLOWLOG GET 128"}}
	v.Needs = []check.Need{asked}
	return v
}

// quickCommandsAreQuick says whether the latency monitor saw no simple command that took half as long: else the host did not run the
// thread, whatever the command was.
func (s *server) quickCommandsAreQuick(longest float64) bool {
	most, _ := s.longestEvent("fast-command")
	return most < longest/2
}

// supportEvents supports long commands that only the latency monitor tells of, without their names.
func (s *server) supportEvents(c *check.Case, v *check.Verdict, k *metrics.RedisKept) {
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Long commands delay all clients of %s: %s each time, %s.", s.productTitle(), units.Time(k.Each()), joinWords(formatRate(k.PerSecond()), units.Percent(k.Share())+" of the time"))
	v.Summary = fmt.Sprintf("%s of the time in long commands, up to %s, by the latency monitor", units.Percent(k.Share()), units.Time(k.Longest))
	v.Spends = "in long commands"
	v.Evidence = append(v.Evidence, c.Figure("redis.long_calls_per_s", "long commands, by the latency monitor", k.PerSecond(), "1/s", k.Origin),
		c.Figure("redis.long_call_ms", "each of these", k.Each()/1e6, "ms", k.Origin), c.Figure("redis.long_call_longest_ms", "longest of them", k.Longest/1e6, "ms", k.Origin))
	s.rankByWaits(c, v, []metrics.RedisKept{*k})
	v.Fix = append(v.Fix, check.Fix{Text: "find which one: the slow log names it", Code: "SLOWLOG GET 128"})
	v.Needs = []check.Need{asked}
}

// supportRareCalls supports long calls whose rate is not known.
func (s *server) supportRareCalls(c *check.Case, v *check.Verdict, k *metrics.RedisKept) {
	name := s.describeCommand(k)
	v.Rule, v.Weight = check.StandsAlone, often.Value
	v.Title = fmt.Sprintf("%s delays all clients of %s: %s each time; how often is unknown.", name, s.productTitle(), units.Time(k.Each()))
	v.Summary = fmt.Sprintf("%s took %s, and no other command ran during it", k.What, units.Time(k.Longest))
	v.Spends = "in " + name
	v.Evidence = append(v.Evidence, c.Figure("redis.long_calls", name+": long calls that were recorded", k.Count, "count", k.Origin),
		c.Figure("redis.long_call_ms", name+": each of these", k.Each()/1e6, "ms", k.Origin), c.Figure("redis.long_call_longest_ms", name+": longest", k.Longest/1e6, "ms", k.Origin))
	v.Fix = append(v.Fix, s.commandAdvice(k.What), check.Fix{Text: "run full scans on a replica, or let a job store the result in advance"})
	v.Needs = []check.Need{asked}
}

func longestOf(all []metrics.RedisKept) (ns float64) {
	for i := range all {
		ns = math.Max(ns, all[i].Longest)
	}
	return ns
}

// describeCommand names a command and the hosts it comes from: "KEYS from 10.0.0.7".
func (s *server) describeCommand(k *metrics.RedisKept) string {
	name := k.What
	slow := s.SlowOf(k.What)
	if slow == nil {
		return name
	}
	if strings.HasPrefix(slow.Command, name+" ") && metrics.RedisScript(name) { // the script or function
		name = slow.Command
	}
	if len(slow.Hosts) > 0 {
		name += " from " + slow.Hosts[0]
		if n := len(slow.Hosts) - 1; n > 0 {
			name += " and " + units.Plural(n, "other address")
		}
	}
	return name
}

// commandAdvice returns what to do instead of a command.
func (s *server) commandAdvice(name string) check.Fix {
	r := s.Release
	word, _, _ := strings.Cut(name, " ")
	switch {
	case name == "KEYS":
		f := check.Fix{Text: "iterate over the keys with SCAN, MATCH and COUNT, some hundred at a time, or keep the names in a set", Code: "SCAN 0 MATCH pattern COUNT 500"}
		if r.AtLeast(6, 0) {
			f.Text += "; an ACL without @dangerous keeps clients from KEYS"
		}
		return f
	case name == "HGETALL" || name == "HKEYS" || name == "HVALS":
		return check.Fix{Text: "read only the needed fields (HMGET), or iterate with HSCAN; split an unbounded hash into several by a prefix of the field", Code: "HMGET key field1 field2"}
	case name == "SMEMBERS" || strings.HasPrefix(name, "SUNION") || strings.HasPrefix(name, "SINTER") || strings.HasPrefix(name, "SDIFF"):
		return check.Fix{Text: "iterate over the set with SSCAN, check members with SMISMEMBER, and combine large sets in advance or on a replica", Code: "SSCAN key 0 COUNT 500"}
	case strings.HasPrefix(name, "Z"):
		return check.Fix{Text: "read a part of the sorted set (LIMIT, by rank), iterate with ZSCAN, and combine large ones in advance", Code: "ZRANGE key 0 99"}
	case name == "LRANGE" || name == "LREM" || name == "LINSERT" || name == "LINDEX" || name == "LPOS" || name == "LSET":
		return check.Fix{Text: "read the list from its ends, a part at a time; data that is looked up in the middle belongs in a hash or a sorted set", Code: "LRANGE key 0 99"}
	case name == "SORT" || name == "SORT_RO":
		return check.Fix{Text: "keep ordered data in a sorted set, or sort in the client"}
	case name == "DEL" && r.AtLeast(6, 0):
		return check.Fix{Text: "free large values in the background: UNLINK instead of DEL, or make DEL do so", Setting: "lazyfree-lazy-user-del yes", Code: "UNLINK key"}
	case name == "DEL":
		return check.Fix{Text: "free large values in the background: UNLINK instead of DEL (Redis 4.0 and later)", Code: "UNLINK key"}
	case name == "FLUSHALL" || name == "FLUSHDB":
		return check.Fix{Text: "free them in the background", Code: name + " ASYNC"}
	case metrics.RedisScript(word):
		return check.Fix{Text: "make the script do less at a time: loop in steps of some hundred elements, or in the client with pipelines; Redis runs no other command during a script"}
	case word == "CLIENT" || word == "INFO" || word == "MEMORY" || word == "SLOWLOG" || word == "LATENCY" || word == "CLUSTER" || word == "COMMAND" || word == "CONFIG":
		return check.Fix{Text: "make monitoring call " + name + " less often"}
	case strings.HasPrefix(name, "X"):
		return check.Fix{Text: "read and trim streams some hundred entries at a time (COUNT; MAXLEN ~)", Code: "XRANGE key - + COUNT 100"}
	case strings.HasPrefix(name, "FT.") || strings.Contains(name, "."):
		return check.Fix{Text: "request less from the module at a time (LIMIT, a narrower query)"}
	}
	return check.Fix{Text: "give " + name + " less work at a time: fewer elements in the value, or a part of it"}
}

// hasSlow says whether slow commands take at least a part (of) of the time.
func (s *server) hasSlow(of float64) bool {
	much, _ := s.splitLongCommands()
	much = slices.DeleteFunc(much, func(k metrics.RedisKept) bool { return math.IsNaN(k.Share()) })
	return len(much) > 0 && shareOf(much) >= of
}
