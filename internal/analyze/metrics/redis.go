package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// Redis is what a Redis server, or a server derived from it (Valkey, KeyDB), reported about itself over a window. It comes
// from INFO (https://redis.io/docs/latest/commands/info/), whose counters are sums since the server's start: two answers give
// the difference between them, one answer the total since the start.
type Redis struct {
	Release RedisRelease
	Role    string // "master", "slave"; "" unknown
	Mode    string // "standalone", "cluster", "sentinel"; "" unknown
	Looks   int    // answers of INFO in the window
	Single  bool   // there is one answer: rates and counts are since the start, or since CONFIG RESETSTAT
	Over    Window // the time of the figures
	Seconds float64

	Commands                      []RedisCommand // most time first; without the recorder's own calls
	Ops, Connections, Rejected    Value          // 1/s: commands; connections that were opened, and refused for maxclients
	NetIn, NetOut, ReplicationOut Value          // bytes/s; NetOut is without replication
	Hits, Misses                  Value          // 1/s
	Expired, Evicted, Errors      Value          // 1/s
	EvictedClients                Value          // clients closed for maxmemory-clients, number in Over
	OutputLimit, QueryLimit       Value          // clients closed for the limit of their output or query buffer, number in Over
	ErrorKinds                    map[string]Value
	EvictionExceeded              Value // share of the time above maxmemory
	ExpireCycle, Defragmenting    Value // share of the time

	Main, MainSystem   Value // cores of the thread that runs all commands
	MainMost           Value // the most cores of that thread between two answers
	MainFull           Value // share of the time between answers in which that thread used a whole core
	CPU, Children      Value // cores: of all threads; of forked processes
	Loop, LoopCommands Value // share of the time in which the event loop worked, including waits for disks, and in which it ran commands (Redis 7.2 on)
	InCommands         Value // share of the time in commands, lower bound
	IOThreads          Value // as set
	IOThreadsActive    bool

	Clients, ClientsMost, MaxClients Value
	Blocked, BlockedMost             Value // clients in BLPOP and similar
	Pings, PingP99, PingMost         Value // ns of the recorder's own PINGs
	PingSlow                         Value // share of the PINGs that took 10 times as long as usual, and 1 ms or more

	Used, UsedMost, RSS, Peak, Dataset, Overhead Value // bytes
	ClientMemory, NotCounted, Lua, SystemMemory  Value // bytes
	MaxMemory                                    Value // bytes, 0: no limit
	Policy                                       string
	Fragmentation, FragmentationBytes            Value // RSS ÷ used, and their difference in bytes
	RecentInput, RecentOutput                    Value // bytes: the largest recent buffers of clients, the most of all answers
	Keys, Expires                                Value // keys of all databases; those of them with an expiry
	QueryBuffers, OutputBuffers                  Value // bytes of the client with most, by CLIENT LIST
	Arriving                                     Value // bytes that all clients sent and that are not a whole command yet, the most of all lists

	Fork   RedisFork
	AOF    RedisAOF
	Slow   RedisSlowLog
	Events []RedisEvent // of the server's latency monitor, most time first
	Hosts  []RedisHost  // where its clients are, most connections first
	Told   []RedisTold  // lines of its log
	Doctor map[string]string
	Origin evidence.Origin // of the newest answer

	b       *evidence.Bundle
	subject evidence.SubjectID
	window  Window
	told    *redisTold
}

// RedisFork is the cost of a server's forks: for each BGSAVE and each rewrite of the append-only file.
type RedisFork struct {
	Count, Last, Most Value // number in Over; ns
	Stopped           Value // share of Over, for the forks with a known time
	Child             Value // share of answers with a forked process at work
	Copied            Value // bytes that were written during a fork and had to be copied, at most
	Failed            int
	Saves, Rewrites   Value // number in Over
}

// RedisAOF is the cost of the append-only file.
type RedisAOF struct {
	Enabled, Told bool
	Fsync         string // "always", "everysec", "no"; "" unknown
	Delayed       Value  // writes that waited for fsync, number in Over
	Pending       Value  // share of answers with an fsync under way
	Buffer, Size  Value  // bytes: the most waiting to be written; of the file
	Failing       bool
}

// RedisOf reads a server's reports; nil: there are none.
func RedisOf(b *evidence.Bundle, subject evidence.SubjectID, w Window) *Redis {
	t := redisToldOf(b, subject, w)
	r := &Redis{b: b, subject: subject, window: w, told: t, ErrorKinds: make(map[string]Value), Doctor: make(map[string]string)}
	r.readSlowLog(w)
	r.readFacts()
	if len(t.looks) == 0 && !r.Slow.Watched && len(r.Slow.Entries)+len(r.Events)+len(r.Told) == 0 && !t.any {
		return nil
	}
	r.Release = RedisReleaseOf(b.Subjects[subject].Version)
	r.Looks, r.Single, r.Over, r.Seconds, r.Origin = len(t.looks), t.single, t.over, t.over.Seconds(), t.origin
	if t.partly {
		r.Looks = 0
	}

	rate, count, mean, most, last := t.rateOf, t.totalGrowth, t.meanOf, t.maxOf, t.lastOf
	r.Ops = t.subtractKnown(rate(evidence.SeriesRedisCommands), t.ownRate())
	r.Connections, r.Rejected = rate(evidence.SeriesRedisConnections), rate(evidence.SeriesRedisRejected)
	r.NetIn, r.ReplicationOut = rate(evidence.SeriesRedisNetIn), rate(evidence.SeriesRedisReplicationOut)
	r.NetOut = t.subtractKnown(rate(evidence.SeriesRedisNetOut), r.ReplicationOut) // it includes replication, which has a counter of its own since 7.0
	r.Hits, r.Misses = rate(evidence.SeriesRedisHits), rate(evidence.SeriesRedisMisses)
	r.Expired, r.Evicted, r.Errors = rate(evidence.SeriesRedisExpired), rate(evidence.SeriesRedisEvicted), rate(evidence.SeriesRedisErrors)
	r.EvictedClients = count(evidence.SeriesRedisEvictedClients)
	r.OutputLimit, r.QueryLimit = count(evidence.SeriesRedisOutputClosed), count(evidence.SeriesRedisQueryClosed)
	for name := range t.namesUnder(evidence.SeriesRedisErrorKind) {
		r.ErrorKinds[name] = rate(evidence.SeriesRedisErrorKind + ":" + name)
	}
	r.EvictionExceeded = rate(evidence.SeriesRedisExceeded).multiplyBy(1e-3)
	r.ExpireCycle = rate(evidence.SeriesRedisExpireCycle).multiplyBy(1e-3)
	r.Defragmenting = rate(evidence.SeriesRedisDefragmenting).multiplyBy(1e-3)

	r.readCPU()
	r.Clients, r.ClientsMost = mean(evidence.SeriesRedisConnected), most(evidence.SeriesRedisConnected)
	r.MaxClients = r.orSetting(last(evidence.SeriesRedisMaxClients), "maxclients")
	r.Blocked, r.BlockedMost = mean(evidence.SeriesRedisBlocked), most(evidence.SeriesRedisBlocked)
	r.readPings(w)

	r.Used, r.UsedMost = mean(evidence.SeriesRedisUsedMemory), most(evidence.SeriesRedisUsedMemory)
	r.RSS, r.Peak = mean(evidence.SeriesRedisRSS), last(evidence.SeriesRedisPeak)
	r.Dataset, r.Overhead, r.Lua = mean(evidence.SeriesRedisDataset), mean(evidence.SeriesRedisOverhead), most(evidence.SeriesRedisLua)
	r.ClientMemory, r.NotCounted = most(evidence.SeriesRedisClientMemory), most(evidence.SeriesRedisNotCounted)
	r.SystemMemory, r.MaxMemory = last(evidence.SeriesRedisSystemMemory), r.orSetting(last(evidence.SeriesRedisMaxMemory), "maxmemory")
	r.Fragmentation, r.FragmentationBytes = mean(evidence.SeriesRedisFragmentation), mean(evidence.SeriesRedisFragmented)
	r.RecentInput, r.RecentOutput = most(evidence.SeriesRedisRecentInput), most(evidence.SeriesRedisRecentOutput)
	r.Keys, r.Expires = last(evidence.SeriesRedisKeys), last(evidence.SeriesRedisKeysThatExpire)
	r.Arriving = t.mostEver(evidence.SeriesRedisAllQuery)
	r.QueryBuffers, r.OutputBuffers = t.mostEver(evidence.SeriesRedisMostQuery), t.mostEver(evidence.SeriesRedisMostOutput)
	if f, ok := r.Setting("maxmemory-policy"); ok {
		r.Policy = f.Value
	}
	r.readPersistence()
	r.readCommands(w)
	r.readHosts()
	return r
}

// orSetting returns a figure of INFO, else a setting.
func (r *Redis) orSetting(v Value, setting string) Value {
	if f, ok := r.Setting(setting); !v.Known() && ok && !math.IsNaN(f.Number) {
		return Value{Number: f.Number, Origin: f.Origin, Watched: 1}
	}
	return v
}

// full is the part of a core from which the main thread is at its limit.
const full = .95

// readCPU reads the CPU time of the server's threads and forks.
func (r *Redis) readCPU() {
	t := r.told
	r.CPU = addValues(t.rateOf(evidence.SeriesRedisCPUUser), t.rateOf(evidence.SeriesRedisCPUSystem))
	r.Children = addValues(t.rateOf(evidence.SeriesRedisChildrenUser), t.rateOf(evidence.SeriesRedisChildrenSystem))
	r.Loop, r.LoopCommands = t.rateOf(evidence.SeriesRedisLoop).multiplyBy(1e-6), t.rateOf(evidence.SeriesRedisLoopCommands).multiplyBy(1e-6)
	r.IOThreads = Unknown
	if f, ok := r.Setting("io-threads"); ok {
		r.IOThreads = Value{Number: f.Number, Origin: f.Origin, Watched: 1}
	}
	r.IOThreadsActive = t.maxOf(evidence.SeriesRedisThreadsActive).Number > 0
	user, system := evidence.SeriesRedisMainUser, evidence.SeriesRedisMainSystem
	if !t.rateOf(user).Known() { // before 6.2, where other threads only close files and free memory
		if r.IOThreads.Number > 1 || r.IOThreadsActive {
			r.Main, r.MainSystem, r.MainMost, r.MainFull = Unknown, Unknown, Unknown, Unknown
			return
		}
		user, system = evidence.SeriesRedisCPUUser, evidence.SeriesRedisCPUSystem
	}
	r.MainSystem = t.rateOf(system)
	r.Main = addValues(t.rateOf(user), r.MainSystem)
	r.MainMost, r.MainFull = Unknown, Unknown
	u, s := t.rateSteps(user), t.rateSteps(system)
	if !u.Known() || !s.Known() {
		return
	}
	var busy, all float64
	for i, from := range u.T[:len(u.T)-1] {
		d := float64(u.T[i+1]-from) / 1e9
		cores := u.V[i] + s.At(from)
		all += d
		if cores >= full {
			busy += d
		}
		if d >= .5 && !(cores <= r.MainMost.Number) { // shorter intervals are dominated by clock ticks
			r.MainMost = Value{Number: cores, Origin: u.Origin, Watched: 1}
		}
	}
	r.MainFull = Value{Number: busy / all, Origin: u.Origin, Watched: t.watched}
}

// readPersistence reads forks and the append-only file.
func (r *Redis) readPersistence() {
	t := r.told
	f := &r.Fork
	f.Saves, f.Rewrites = t.totalGrowth(evidence.SeriesRedisSaves), t.totalGrowth(evidence.SeriesRedisRewrites)
	f.Count = t.totalGrowth(evidence.SeriesRedisForks)
	f.Last, f.Most = t.lastOf(evidence.SeriesRedisLatestFork).multiplyBy(1e3), t.maxOf(evidence.SeriesRedisLatestFork).multiplyBy(1e3)
	for _, told := range r.Told {
		if !t.single && len(t.looks) > 1 && (told.Rush.From < t.over.From || told.Rush.Until > t.over.Until) && told.Kind != evidence.RedisForkFailed {
			continue // the log covers another time than the counters
		}
		switch of := (Value{Number: float64(told.Count), Origin: told.Origin, Watched: 1}); told.Kind {
		case evidence.RedisForkFailed:
			f.Failed += told.Count
		case evidence.RedisSaveBegan:
			f.Saves = f.Saves.orElse(of)
		case evidence.RedisRewriteBegan:
			f.Rewrites = f.Rewrites.orElse(of)
		}
	}
	if !f.Count.Known() {
		f.Count = addValues(f.Saves, f.Rewrites)
	}
	f.Stopped = Unknown
	if f.Count.Known() && f.Last.Known() && r.Seconds > 0 {
		mean := t.meanOf(evidence.SeriesRedisLatestFork).Number * 1e3
		f.Stopped = Value{Number: f.Count.Number * mean / 1e9 / r.Seconds, Origin: f.Last.Origin, Watched: t.watched}
	}
	f.Child = t.shareNonZero(evidence.SeriesRedisSaving, evidence.SeriesRedisRewriting, evidence.SeriesRedisModuleForked)
	f.Copied = Unknown
	for _, name := range []string{evidence.SeriesRedisCopiedPeak, evidence.SeriesRedisCopied, evidence.SeriesRedisSaveCopied, evidence.SeriesRedisRewriteCopied} {
		if v := t.maxOf(name); v.Known() && !(v.Number <= f.Copied.Number) {
			f.Copied = v
		}
	}
	a := &r.AOF
	if v := t.lastOf(evidence.SeriesRedisAOFEnabled); v.Known() {
		a.Told, a.Enabled = true, v.Number > 0
	} else if s, ok := r.Setting("appendonly"); ok {
		a.Told, a.Enabled = true, s.Value == "yes"
	}
	if s, ok := r.Setting("appendfsync"); ok {
		a.Fsync = s.Value
	}
	a.Delayed, a.Pending = t.totalGrowth(evidence.SeriesRedisAOFDelayed), t.shareNonZero(evidence.SeriesRedisAOFPending)
	a.Buffer, a.Size = t.maxOf(evidence.SeriesRedisAOFBuffer), t.lastOf(evidence.SeriesRedisAOFSize)
}

// readPings reads how long the recorder's own PING took.
func (r *Redis) readPings(w Window) {
	r.Pings, r.PingP99, r.PingMost, r.PingSlow = Unknown, Unknown, Unknown, Unknown
	s := r.b.SeriesOf(r.subject, evidence.SeriesRedisPing)
	all := readingsIn(s, w)
	if len(all) == 0 {
		return
	}
	all = slices.Clone(all)
	slices.Sort(all)
	var total float64
	late := 0
	usual := all[len(all)/2]
	for _, v := range all {
		total += v
		if v >= max(slowPing*usual, 1e6) {
			late++
		}
	}
	of := func(v float64) Value { return Value{Number: v, Origin: s.Origin, Watched: 1} }
	r.Pings, r.PingMost, r.PingSlow = of(total/float64(len(all))), of(all[len(all)-1]), of(float64(late)/float64(len(all)))
	if len(all) >= 100 {
		r.PingP99 = of(all[len(all)*99/100])
	}
}

// slowPing times the usual duration makes a PING one that had to wait.
const slowPing = 10

// Setting returns a setting of the server by its name in CONFIG GET: "maxmemory-policy".
func (r *Redis) Setting(name string) (evidence.Fact, bool) {
	return r.b.Fact(r.subject, evidence.RedisSetting+name)
}

// Curve returns a field of INFO at each answer, nil if it is missing.
func (r *Redis) Curve(name string) *Curve { return r.told.curveOf(name) }

// Rate returns a counter of INFO per second, from each answer to the next one; nil of fewer than two.
func (r *Redis) Rate(name string) *Curve { return r.told.rateSteps(name) }

// readFacts reads the facts that do not change.
func (r *Redis) readFacts() {
	for _, f := range r.b.Facts {
		if f.Subject != r.subject {
			continue
		}
		switch f.Key {
		case evidence.FactRedisRole:
			r.Role = f.Value
		case evidence.FactRedisMode:
			r.Mode = f.Value
		case evidence.FactRedisSaveBad:
			r.Fork.Failed++
		case evidence.FactRedisAOFBad:
			r.AOF.Failing = true
		case evidence.FactRedisSlowLost:
			r.Slow.Lost += int(f.Number)
		case evidence.FactRedisTold:
			kind, text, _ := strings.Cut(f.Value, evidence.Link)
			r.Told = append(r.Told, RedisTold{Kind: kind, Count: int(f.Number), Text: text, Origin: f.Origin})
		case evidence.FactRedisDoctor:
			of, text, _ := strings.Cut(f.Value, evidence.Link)
			r.Doctor[of] = text
		}
	}
	for i := range r.Told {
		for _, f := range r.b.Facts {
			if t := &r.Told[i]; f.Subject == r.subject && f.Key == evidence.FactRedisRush && f.Value == t.Kind && int(f.Number) > t.Most {
				t.Most, t.Rush = int(f.Number), Window{f.From, f.Until}
			}
		}
	}
	sorting.Short(r.Told, func(x, y RedisTold) int { return cmp.Compare(y.Count, x.Count) })
}

// RedisTold is a kind of lines in a server's log.
type RedisTold struct {
	Kind   string // evidence.RedisForkFailed and similar
	Count  int
	Text   string // the first line, verbatim
	Most   int    // most lines within ten minutes
	Rush   Window // these ten minutes
	Origin evidence.Origin
}
