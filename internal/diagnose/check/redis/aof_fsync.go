package redis

import (
	"fmt"
	"math"
	"time"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// AOFFsync is waiting until the log of writes is on the disk.
var AOFFsync = check.Check{
	ID:    "redis.aof-fsync",
	Title: "Redis waits for the disk of its append-only file (AOF)",
	Step:  check.StepDependency,
	Doc: `With appendonly yes Redis appends writes to a file before it answers them. With appendfsync always
the main thread then waits for the disk in each round of its event loop that wrote something: 0.1 ms
on an SSD with a protected cache, 10 ms and more on cloud volumes. Reads that arrive during the wait
are delayed, too. With everysec, the default, another thread syncs once a second. If a sync takes
longer than that and blocks writes to the file, the main thread waits for it, up to some seconds
(aof_delayed_fsync; in the log "Asynchronous AOF fsync is taking too long").

The CPU is idle during the wait, the slow log is empty, and the times in commandstats are normal,
because neither a command nor the CPU is slow. The latency monitor (aof-fsync-always,
aof-write-pending-fsync), PINGs from outside and kernel stacks show it.

How to tell it from similar problems: a rewrite of the file forks (redis.fork), and its writes slow
the syncs: then both causes apply. Other writers on the same disk are linux.disk-busy.

What helps: appendfsync everysec, if the last second may be lost; a dedicated disk with a protected
cache; no sync during a rewrite (no-appendfsync-on-rewrite yes); the writes of one request in one
pipeline, so that they share one sync; a replica that writes the log instead of the primary. With
WAITAOF (7.2 and later) only clients that need durability wait for the disk.`,
	Least: fmt.Sprintf("appendfsync always, and syncs that block the main thread for 10 %% of the time (kernel stacks), or for %v of it in events of 10 ms and more, or PINGs that wait %v on average; or two delayed fsyncs within the recording, or in one INFO so many that writes waited for %v of the time since the start, or three log lines about them within ten minutes",
		often, pingSync, often),
	Thresholds: []check.Threshold{stalled, aside, delayedFor, few, forAll, longStop, longSync, ofThread, often, pingSync, rare, rarely, saturated, toldSyncs},

	Needs:   "INFO twice and CONFIG GET append*, and evidence of the waits: unstall redis://HOST:PORT",
	Applies: isRedis,
	Judge:   judgeFsync,
}

var (
	longSync = check.Threshold{Name: "share of the time of the main thread in syncs", Value: .1, Unit: "1",
		Why: "clients queue as at a server that is busy for a tenth longer", Source: "PASTA (R. Wolff, Operations Research 30, 1982): a tenth of the commands meets one: the p90"}
	pingSync = check.Threshold{Name: "mean wait of PINGs", Value: 1e6, Unit: "ns",
		Why: "ten times what they take where none waits", Source: "judgement: ten times the 0.1 ms of a PING on a server where none waits"}
)

var toldSyncs = check.Threshold{Name: "log lines of delayed syncs within ten minutes", Value: 3, Unit: "count",
	Why: "each is of a write that waited 2 s and then went on", Source: "flushAppendOnlyFile of src/aof.c of Redis"}

func judgeFsync(c *check.Case) check.Verdict {
	s := serverOf(c)
	if s == nil || s.Looks == 0 && len(s.Told) == 0 && len(s.Events) == 0 {
		return notTold("")
	}
	told := s.countLines(evidence.RedisSlowFsync)
	events := s.latencyEvents(syncEvents...)
	v := check.Verdict{Rule: check.TooLittle, Summary: "no AOF (appendonly no)"}
	a := &s.AOF
	switch {
	case a.Told && !a.Enabled && told == 0:
		v.Rule = check.Absent
		return v
	case !a.Told && told == 0 && len(events) == 0:
		return check.Verdict{Rule: check.NotRecorded, Summary: "whether it writes an AOF was not recorded", Needs: []check.Need{asked}}
	}
	if isNoticed(events) {
		weighStops(&v, events)
	}
	if told > 0 {
		v.WeighOne(float64(s.linesAtOnce(evidence.RedisSlowFsync)), toldSyncs)
	}
	if s.waits.Mean.Known() {
		v.WeighOne(s.waits.Mean.Number, pingSync)
	}
	if a.Delayed.Known() && !isNoticed(events) {
		v.WeighOne(a.Delayed.Number, few)
	}
	v.Summary = "AOF syncs delay no client"
	if n := a.Delayed.Number; n > 0 {
		v.Summary = "AOF syncs delayed " + units.Plural(int(n), "write")
	}
	if a.Fsync != "" {
		v.Summary = "appendfsync " + a.Fsync + ": " + v.Summary
	}
	switch {
	case isNoticed(events):
		s.supportSyncs(c, &v, events)
	case a.Fsync == "always" && s.syncWaitShare() >= longSync.Value:
		v.WeighOne(s.syncWaitShare(), longSync)
		k := metrics.RedisKept{What: "fsync", Over: 1e9, Total: s.syncWaitShare() * 1e9, Origin: s.kernel.Origin}
		s.supportSyncs(c, &v, []metrics.RedisKept{k})
	case a.Fsync == "always" && s.waits.Mean.Number-meanDelay(s.keptBySlowCommands()) >= pingSync.Value && s.Main.Number < saturated.Value && s.kernel == nil:
		s.supportSyncs(c, &v, nil)
	case a.Delayed.Number >= few.Value && (!s.Single || a.Delayed.Number*delayedFor.Value/1e9 >= often.Value*s.Seconds && s.Seconds > 0):
		s.supportSyncs(c, &v, nil)
	case s.inRush(evidence.RedisSlowFsync, toldSyncs.Int()):
		s.supportSyncs(c, &v, nil)
	case s.longSyncs() >= longStop.Value:
		most, from := s.longestEvent(syncEvents...)
		return judgeLongestEvent(c, fmt.Sprintf("%s probably waits for its disk when it writes the AOF, up to %s.", s.productTitle(), units.Time(most)), "waiting for the disk", "a write or sync of the AOF", most, from,
			check.Fix{Text: "put the AOF on a faster disk, or on one that nothing else writes to", Setting: "appendfsync everysec"})
	case a.Fsync == "always" && !s.waits.Mean.Known() && s.kernel == nil:
		v.Rule, v.Summary = check.NotRecorded, "appendfsync always: each write waits for the disk; the wait was not measured"
		if f, ok := s.Setting("latency-monitor-threshold"); !ok || f.Number == 0 {
			v.Needs = append(v.Needs, check.Need{What: "the latency monitor, switched on while Redis is slow, and some minutes later the answer to LATENCY HISTORY aof-fsync-always (then set it to 0 again)", Command: "redis-cli CONFIG SET latency-monitor-threshold 10"})
		}
		v.Needs = append(v.Needs, asked)
		return v
	case told > 0 && s.Looks == 0:
		v.Rule, v.Needs = check.OnTheEdge, []check.Need{asked}
		v.Summary = "its log tells " + units.Times(told) + " of an AOF sync that took over 2 s: too rarely to say that clients waited for it"
		return v
	default:
		if s.waits.Mean.Known() {
			v.Summary += fmt.Sprintf(" (a PING waits %s)", units.Time(s.waits.Mean.Number))
		}
		return s.unlessOneLook(v)
	}
	return v
}

// syncEvents are what the latency monitor calls writes and syncs of the AOF.
var syncEvents = []string{"aof-fsync-always", "aof-write", "aof-write-pending-fsync", "aof-write-active-child", "aof-write-alone"}

// longSyncs returns how long the longest of the syncEvents took, ns.
func (s *server) longSyncs() float64 {
	most, _ := s.longestEvent(syncEvents...)
	return most
}

// syncWaitShare returns the share of the time in which the main thread waited for syncs in the
// kernel, 0 where that was not recorded.
func (s *server) syncWaitShare() float64 {
	if s.kernel == nil {
		return 0
	}
	return s.kernel.Threads(evidence.KernelFsync)
}

// keptBySlowCommands returns the slow commands that kept the main thread, which have a cause of
// their own.
func (s *server) keptBySlowCommands() []metrics.RedisKept {
	much, _ := s.splitLongCommands()
	return much
}

// supportSyncs supports slow syncs; kept are the waits of the thread whose time is known.
func (s *server) supportSyncs(c *check.Case, v *check.Verdict, kept []metrics.RedisKept) {
	a := &s.AOF
	v.Rule = check.Matters
	share := shareOf(kept)
	mean := math.NaN()
	if s.waits.Mean.Known() {
		mean = math.Max(0, s.waits.Mean.Number-meanDelay(s.keptBySlowCommands()))
	}
	how := ""
	switch {
	case share > 0:
		how = fmt.Sprintf(": its main thread waits for the disk %s of the time", units.Percent(share))
	case mean >= pingSync.Value:
		how = fmt.Sprintf(": commands wait %s on average", units.Time(mean))
	}
	if a.Fsync == "always" {
		v.Title = fmt.Sprintf("Each write to %s waits until it is on the disk (appendfsync always)%s.", s.productTitle(), how)
	} else {
		if n, when := s.worstRush(evidence.RedisSlowFsync); how == "" && !(a.Delayed.Number >= few.Value) {
			if how = fmt.Sprintf(": most log lines at %s UTC", formatMinute(when.From)); n == 0 {
				how = fmt.Sprintf(": its log says so %s (the lines have no times)", units.Times(int64(s.countLines(evidence.RedisSlowFsync))))
			}
		}
		if how == "" && s.Single && a.Delayed.Number > 0 {
			how = fmt.Sprintf(": %s since its start", units.Times(int64(a.Delayed.Number)))
		}
		v.Title = fmt.Sprintf("AOF syncs are so slow that %s itself waits for the disk%s.", s.productTitle(), how)
	}
	v.Summary, v.Spends = "it waits for the disk", "waiting for the disk of its AOF"
	if share > 0 {
		v.Summary += " " + units.Percent(share) + " of the time"
	}
	v.Weight = stats.ZeroIfNaN(share)
	if n := s.waitingClients(meanDelay(s.keptBySlowCommands())); n > v.Weight {
		v.Weight = n
		v.Evidence = append(v.Evidence, c.Figure("redis.waiting_clients", "clients that wait, on average", n, "count", s.waits.Mean.Origin))
	}
	if share > 0 {
		v.Evidence = append(v.Evidence, c.Figure("aof.sync_waits_share", "share of the time in which the main thread waits for syncs", share, "1", kept[0].Origin))
		if kept[0].Longest > 0 {
			v.Evidence = append(v.Evidence, c.Figure("aof.sync_longest_ms", "longest of them", longestOf(kept)/1e6, "ms", kept[0].Origin))
		}
	}
	if a.Delayed.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("aof.delayed_fsyncs", "writes that waited for a sync that took over 2 s (aof_delayed_fsync)", a.Delayed.Number, "count", a.Delayed.Origin))
		v.Weight = math.Max(v.Weight, math.Min(1, a.Delayed.Number*delayedFor.Value/1e9/math.Max(1, s.Seconds)))
	}
	if told := s.countLines(evidence.RedisSlowFsync); told > 0 {
		v.Evidence = append(v.Evidence, c.Figure("aof.slow_fsync_lines", "log lines: AOF fsync is taking too long", float64(told), "count", s.toldAt(evidence.RedisSlowFsync)))
		if n, when := s.worstRush(evidence.RedisSlowFsync); n > 0 {
			v.Evidence = append(v.Evidence, c.Figure("aof.slow_fsync_lines_worst", "of these, most within ten minutes, at "+formatMinute(when.From)+" UTC", float64(n), "count", s.toldAt(evidence.RedisSlowFsync)))
		}
		v.Weight = math.Max(v.Weight, often.Value)
	}
	if s.Main.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.main_thread_cores", "CPU of the main thread", s.Main.Number, "cores", s.Main.Origin))
	}
	s.addPings(c, v)
	v.Evidence = append(v.Evidence, s.doctorEvidence(c, "nothing", "aof-fsync-always", "aof-write-pending-fsync", "aof-write-active-child", "aof-write-alone")...)
	if a.Fsync == "always" {
		v.Fix = append(v.Fix, check.Fix{Text: "sync once a second, in another thread, if the writes of the last second may be lost", Setting: "appendfsync everysec"})
		if s.Release.AtLeast(7, 2) {
			v.Fix = append(v.Fix, check.Fix{Text: "make only clients that need durability wait for the disk", Code: "WAITAOF 1 0 1000"})
		}
	}
	v.Fix = append(v.Fix, check.Fix{Text: "give the AOF a dedicated disk with a protected write cache; write a request's values in one pipeline, so that one sync covers all of them"})
	if f, ok := s.Setting("no-appendfsync-on-rewrite"); ok && f.Value == "no" && s.Fork.Child.Number > 0 {
		v.Fix = append(v.Fix, check.Fix{Text: "do not sync during an AOF rewrite or a snapshot", Setting: "no-appendfsync-on-rewrite yes"})
	}
}

var delayedFor = check.Threshold{Name: "time that a write has waited for a sync when Redis counts it as delayed", Value: 2e9, Unit: "ns",
	Why: "Redis waits no longer, and writes nonetheless", Source: "flushAppendOnlyFile in https://github.com/redis/redis/blob/7.0/src/aof.c: 2 s"}

// worstRush returns how many lines of a kind the log has within ten minutes at most, and when.
func (s *server) worstRush(kind string) (n int, when metrics.Window) {
	for _, t := range s.Told {
		if t.Kind == kind && t.Most > n {
			n, when = t.Most, t.Rush
		}
	}
	return n, when
}

// linesAtOnce returns how many lines of a kind the log has within ten minutes at most. Lines that were copied without their times are all taken for
// one incident: somebody chose them.
func (s *server) linesAtOnce(kind string) int {
	if n, _ := s.worstRush(kind); n > 0 {
		return n
	}
	return s.countLines(kind)
}

// inRush says whether the log has so many lines of a kind within ten minutes, at the time of the
// rest of the evidence, as a log goes back for years.
func (s *server) inRush(kind string, least int) bool {
	n, when := s.worstRush(kind)
	now := s.Looks < 2 || n > 0 && when.Until >= s.Over.From-aside.Int64() && when.From <= s.Over.Until+aside.Int64()
	return s.linesAtOnce(kind) >= least && now
}

var aside = check.Threshold{Name: "time between log lines and INFO samples of one incident", Value: 3600e9, Unit: "ns",
	Why: "an hour", Source: "judgement: weighs clocks that differ and logs that are written late against the events of another day"}

func formatMinute(ns int64) string { return time.Unix(0, ns).UTC().Format("2 Jan 2006 15:04") }

// countLines returns how many lines of the log are of a kind.
func (s *server) countLines(kind string) (n int) {
	for _, t := range s.Told {
		if t.Kind == kind {
			n += t.Count
		}
	}
	return n
}

func (s *server) toldAt(kind string) (o evidence.Origin) {
	for _, t := range s.Told {
		if t.Kind == kind {
			return t.Origin
		}
	}
	return o
}
