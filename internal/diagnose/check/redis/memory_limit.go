package redis

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// MemoryLimit is a memory limit too low for the data.
var MemoryLimit = check.Check{
	ID:    "redis.memory-limit",
	Title: "Redis has reached its memory limit",
	Step:  check.StepDependency,
	Doc: `At maxmemory Redis frees memory before each command that needs more: with an evicting policy it
deletes keys; with noeviction, the default, it refuses writes (OOM command not allowed). A client
that misses an evicted key recomputes it, usually from a database: that is slow, and Redis shows it
only as misses. Without maxmemory the host's memory is the limit: the kernel swaps, or kills the
server.

A full cache that evicts unused keys is healthy: it has few misses. evicted_keys, keyspace_misses,
errorstat_OOM (6.2 and later) and total_eviction_exceeded_time (7.0 and later) distinguish these
cases.

How to tell it from similar problems: misses without evictions are expired or missing keys. Memory
in used_memory_rss but not in used_memory is fragmentation, or pages copied after a fork
(redis.fork). Pages read back from swap are linux.swap.

What helps: a larger maxmemory, with room for copies after a fork (a third of the host's memory
under heavy writes) and for client buffers; a suitable policy (allkeys-lru or allkeys-lfu for a
cache, volatile-* if only some keys may be evicted, noeviction for data that must not be lost);
times to live; smaller values; several servers. A larger maxmemory-samples evicts better keys and
costs CPU.`,
	Least: fmt.Sprintf("%v of commands refused for memory; or evictions while 10 %% of lookups miss, with at least one eviction per ten misses; or %v of the time in evictions of 10 ms and more; or, where Redis itself reported nothing, one answer that refuses a command for memory",
		often, often),
	Thresholds: []check.Threshold{elsewhereFor, evictedOf, few, forAll, manyMisses, ofClients, ofThread, often, rare},

	Needs:   "INFO twice, half a minute apart: unstall redis://HOST:PORT",
	Applies: isRedis,
	Judge:   judgeMemory,
}

// If more than a tenth of a cache's lookups miss, pages wait for the store behind it. Evictions may be the reason if there is at least one
// per ten misses; below, most misses are of keys that were not evicted.
var (
	manyMisses = check.Threshold{Name: "share of lookups that miss", Value: .1, Unit: "1",
		Why: "pages wait for what the cache stands in for", Source: "arithmetic: a tenth of the lookups: the p90"}
	evictedOf = check.Threshold{Name: "evictions for each miss", Value: .1, Unit: "count",
		Why: "below, most misses are of keys that were not evicted", Source: "arithmetic: nine of ten misses are then of keys that were not evicted in that time"}
)

func judgeMemory(c *check.Case) check.Verdict {
	s := serverOf(c)
	if s == nil || s.Looks == 0 {
		if f, ok := c.Fact(evidence.FactWritesRefused); ok {
			return judgeRefusals(c, f)
		}
		return notTold("")
	}
	v := check.Verdict{Rule: check.TooLittle, Summary: "no memory limit, and nothing evicted"}
	limit := s.MaxMemory.Number
	if limit > 0 && s.UsedMost.Known() {
		v.Summary = fmt.Sprintf("%s of maxmemory in use, nothing evicted or refused", units.Percent(s.UsedMost.Number/limit))
	}
	if s.Used.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.used_memory_bytes", "memory in use", s.Used.Number, "bytes", s.Used.Origin))
	}
	if limit > 0 {
		v.Evidence = append(v.Evidence, c.Figure("redis.maxmemory_bytes", "maxmemory", limit, "bytes", s.MaxMemory.Origin))
	}
	refused, misses := s.refusedCommands(), s.missShare()
	evicting := s.Evicted.Number > 0
	switch {
	case refused.Number > 0 && s.Ops.Number > 0 && refused.Number >= often.Value*s.Ops.Number:
		v.Weigh(refused.Number/s.Ops.Number, often)
	case evicting:
		v.Weigh(misses, manyMisses)
		if s.Misses.Number > 0 {
			v.Weigh(s.Evicted.Number/s.Misses.Number, evictedOf)
		}
	default:
		v.Rule = check.Absent
	}
	switch {
	case refused.Number >= often.Value*s.Ops.Number && refused.Number > 0:
		s.supportRefusals(c, &v, refused)
	case evicting && misses >= manyMisses.Value && s.Evicted.Number >= evictedOf.Value*s.Misses.Number && s.Misses.Number > 0:
		s.supportEvictions(c, &v, misses)
	case isNoticed(s.latencyEvents("eviction-cycle", "eviction-del")):
		s.evictsSlowly(c, &v)
	case evicting:
		v.Summary = fmt.Sprintf("%s keys/s are evicted, but only %s of lookups miss", units.Num(s.Evicted.Number), units.Percent(misses))
		if misses >= manyMisses.Value {
			v.Summary = fmt.Sprintf("%s of lookups miss, but only %s keys/s are evicted: most misses are of other keys", units.Percent(misses), units.Num(s.Evicted.Number))
		}
		if math.IsNaN(misses) {
			v.Summary = fmt.Sprintf("%s keys/s are evicted, but there were no lookups", units.Num(s.Evicted.Number))
		}
		v.Evidence = append(v.Evidence, c.Figure("redis.evicted_per_s", "keys evicted", s.Evicted.Number, "1/s", s.Evicted.Origin))
	}
	if v.Supported() {
		v.Spends = "evicting and refusing at its memory limit"
		s.addMemoryEvidence(c, &v)
		return v
	}
	by := []metrics.Value{s.Evicted}
	if refused.Number > 0 {
		by = append(by, s.Ops)
	}
	return s.unlessUnknown(v, by...)
}

// judgeRefusals judges by answers of Redis that a program logged: each names the limit as its reason. How many commands were carried out is not known.
func judgeRefusals(c *check.Case, f evidence.Fact) check.Verdict {
	n := units.Plural(int(f.Number), "command")
	return check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:    fmt.Sprintf("Redis has reached its memory limit and could not evict enough: it refused %s, by its own answers.", n),
		Summary:  n + " refused for memory",
		Evidence: []check.Evidence{c.Figure("commands.refused_told", "commands refused for memory (OOM), by logged answers", f.Number, "count", f.Origin)},
		Fix: []check.Fix{{Text: "give it more memory", Setting: "maxmemory"}, {Text: "if it is a cache: allow eviction", Setting: "maxmemory-policy allkeys-lru"},
			{Text: "if it is not a cache: give keys a time to live, and find keys that are never deleted (redis-cli --bigkeys, --memkeys)"}},
		Needs: []check.Need{asked}}
}

// formatLimit returns " of 100 MiB", "" where maxmemory is not known.
func (s *server) formatLimit() string {
	if !(s.MaxMemory.Number > 0) {
		return ""
	}
	return " of " + units.Size(s.MaxMemory.Number)
}

// refusedCommands returns the commands that were refused for lack of memory, 1/s.
func (s *server) refusedCommands() metrics.Value { return s.ErrorKinds["OOM"] }

// missShare returns the share of lookups that found nothing, NaN if unknown.
func (s *server) missShare() float64 {
	all := s.Hits.Number + s.Misses.Number
	if !(all > 0) {
		return math.NaN()
	}
	return s.Misses.Number / all
}

var elsewhereFor = check.Threshold{Name: "time that a client waits elsewhere for a refused command", Value: check.NoticeableCall.Value / 1e9, Unit: "s",
	Why: "nothing else is known of it", Source: "judgement: as long as a call that is noticed"} // s

func (s *server) supportRefusals(c *check.Case, v *check.Verdict, refused metrics.Value) {
	v.Rule = check.Matters
	share := math.Min(1, refused.Number/s.Ops.Number)
	v.Title = fmt.Sprintf("%s refuses %s writes/s: it has reached its memory limit%s and may evict nothing.", s.productTitle(), units.Num(refused.Number), s.formatLimit())
	v.Summary = fmt.Sprintf("%s of commands refused for memory", units.Percent(share))
	v.Weight = math.Max(share, refused.Number*elsewhereFor.Value)
	v.Evidence = append(v.Evidence, c.Figure("redis.oom_per_s", "commands refused for memory (OOM)", refused.Number, "1/s", refused.Origin), c.Figure("redis.oom_share", "of all commands", share, "1", refused.Origin))
	v.Fix = append(v.Fix, moreMemoryFix(s), check.Fix{Text: "if it is a cache: allow eviction", Setting: "maxmemory-policy allkeys-lru"},
		check.Fix{Text: "if it is not a cache: give keys a time to live, and find keys that are never deleted (redis-cli --bigkeys, --memkeys)"})
}

func (s *server) supportEvictions(c *check.Case, v *check.Verdict, misses float64) {
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("%s evicts keys that are still in use: %s keys/s at its limit%s, and %s of lookups miss.", s.productTitle(), units.Num(s.Evicted.Number),
		s.formatLimit(), units.Percent(misses))
	v.Summary = fmt.Sprintf("%s keys/s evicted, %s of lookups miss", units.Num(s.Evicted.Number), units.Percent(misses))
	part := math.Min(s.Evicted.Number, s.Misses.Number) // upper bound on the lookups of evicted keys
	v.Weight = math.Max(misses, part*elsewhereFor.Value)
	v.Evidence = append(v.Evidence, c.Figure("redis.evicted_per_s", "keys evicted", s.Evicted.Number, "1/s", s.Evicted.Origin), c.Figure("redis.misses_per_s", "lookups that miss", s.Misses.Number, "1/s", s.Misses.Origin),
		c.Figure("redis.misses_share", "share of lookups that miss", misses, "1", s.Misses.Origin))
	if s.Policy == "volatile-lru" || s.Policy == "volatile-lfu" || s.Policy == "volatile-random" || s.Policy == "volatile-ttl" {
		if s.Expires.Known() && s.Keys.Number > 0 && s.Expires.Number < s.Keys.Number/2 {
			v.Evidence = append(v.Evidence, c.Figure("redis.evictable_share", "share of keys that the policy may evict (those with a time to live)", s.Expires.Number/s.Keys.Number, "1", s.Expires.Origin))
			v.Fix = append(v.Fix, check.Fix{Text: "most keys have no time to live and are never evicted, so the others are evicted sooner: allow eviction of all unused keys", Setting: "maxmemory-policy allkeys-lru"})
		}
	}
	v.Fix = append(v.Fix, moreMemoryFix(s), check.Fix{Text: "or store less: shorter times to live, smaller or compressed values (a small hash takes a tenth of the memory of separate keys), several servers"},
		check.Fix{Text: "if some keys are used much more often than others", Setting: "maxmemory-policy allkeys-lfu"})
}

func (s *server) evictsSlowly(c *check.Case, v *check.Verdict) {
	all := s.latencyEvents("eviction-cycle", "eviction-del")
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("Evictions delay all clients of %s: up to %s at a time, %s of the time.", s.productTitle(), units.Time(longestOf(all)), units.Percent(shareOf(all)))
	v.Summary = units.Percent(shareOf(all)) + " of the time in evictions"
	s.rankByWaits(c, v, all)
	v.Fix = append(v.Fix, moreMemoryFix(s))
	if s.Release.AtLeast(4, 0) {
		v.Fix = append(v.Fix, check.Fix{Text: "free evicted values in the background", Setting: "lazyfree-lazy-eviction yes"})
	}
}

// moreMemoryFix advises more memory, as far as the host has it.
func moreMemoryFix(s *server) check.Fix {
	f := check.Fix{Text: "give it more memory"}
	if total := s.SystemMemory.Number; total > 0 && s.MaxMemory.Number > 0 {
		if half := total / 2; 2*s.MaxMemory.Number <= half {
			f.Setting = "maxmemory " + formatMegabytes(2*s.MaxMemory.Number)
			f.Text += fmt.Sprintf("; the host has %s, but snapshots and client buffers also need memory", units.Size(total))
		} else {
			f.Text += fmt.Sprintf(": the host has %s, so divide the keys among several", units.Size(total))
		}
	}
	return f
}

func formatMegabytes(bytes float64) string {
	return units.Num(bytes/(1<<20)) + "mb"
}

// ofClients is the part of maxmemory in buffers of clients from which it is reported.
var ofClients = check.Threshold{Name: "part of maxmemory in buffers of clients, from which it is reported", Value: .1, Unit: "1",
	Why: "it is no data, and a client that does not read keeps it", Source: "judgement: weighs the buffers that replicas and subscribers may have (client-output-buffer-limit: 256 and 32 MB by default) against a limit that they use up"}

func (s *server) addMemoryEvidence(c *check.Case, v *check.Verdict) {
	if s.Policy != "" {
		v.Evidence = append(v.Evidence, c.Seen("maxmemory-policy "+s.Policy, s.Origin))
	}
	if s.RSS.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.resident_bytes", "resident", s.RSS.Number, "bytes", s.RSS.Origin))
	}
	if s.ClientMemory.Number > ofClients.Value*s.MaxMemory.Number && s.MaxMemory.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("redis.client_buffers_bytes", "of it, buffers of clients", s.ClientMemory.Number, "bytes", s.ClientMemory.Origin))
	}
	if s.EvictionExceeded.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("redis.above_maxmemory_share", "share of the time above maxmemory", s.EvictionExceeded.Number, "1", s.EvictionExceeded.Origin))
	}
	s.addPings(c, v)
	v.Evidence = append(v.Evidence, s.doctorEvidence(c, "memory", "eviction-cycle", "eviction-del")...)
}

// latencyEvents returns what the latency monitor saw of some kinds of events, over the time that
// INFO covers, or that the events span.
func (s *server) latencyEvents(names ...string) (all []metrics.RedisKept) {
	for _, e := range s.Events {
		for _, name := range names {
			if e.Name == name && e.Count > 0 {
				all = append(all, s.Event(e))
			}
		}
	}
	return all
}
