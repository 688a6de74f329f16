package redis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Fork is a server that copies its page tables.
var Fork = check.Check{
	ID:    "redis.fork",
	Title: "Redis stops while it forks to save its data",
	Step:  check.StepDependency,
	Doc: `BGSAVE, an AOF rewrite and the first sync of a replica fork a child, which shares the server's
memory and writes it out. The fork itself copies the page tables, and Redis answers nothing until it
ends: 10 to 40 ms per GB with 4 KiB pages, ten times longer on some virtual machines, a thirtieth of
that with huge pages (latest_fork_usec). While the child works, the server's first write to each
page copies the page: one page fault each, and up to twice the memory (rdb_last_cow_size,
current_cow_size). The child uses a CPU and the disk.

How to tell it from similar problems: stalls of equal length at the times of "Background saving
started" point to forks. A failed fork (Cannot allocate memory) delays no client, but Redis then
refuses writes (MISCONF).

Transparent huge pages: LATENCY DOCTOR and old guides advise turning them off. That is right up to
Linux 5.7, where the first write to a huge page after a fork copies 2 MiB; from 5.8 on it copies 4
KiB, and huge pages make the fork much shorter. Redis switches them off for itself (disable-thp yes,
6.2 on).

What helps: snapshots only on a replica, or none if they are not needed (save ""); fewer snapshots;
smaller servers (several of 4 GB fork one after the other, each briefly); huge pages on Linux 5.8
and later; fewer writes during a save; vm.overcommit_memory=1 against failing forks. Diskless syncs
do not avoid the fork.`,
	Least: fmt.Sprintf("forks of 10 ms and more that stop the server for %v of the time, two of them or one of a second; two of %v and more for %v of the time; or clients that wait 10 ms and more for %v of the time, twice as often during a save; or %v of commands refused after a failed fork; by one INFO alone, a last fork of half a second; by its log alone, %.0f lines about failed forks within ten minutes",
		often, longFork, rarely, often, often, toldFailed.Value),
	Thresholds: []check.Threshold{stalled, aside, elsewhereFor, few, forAll, longFork, longLast, longStop, ofThread, often, rare, rarely, toldFailed},

	Needs:   "INFO twice, with a fork in between: unstall redis://HOST:PORT",
	Applies: isRedis,
	Judge:   judgeFork,
}

// A fork of longFork (ns) or more is reported from the part rarely of the time: one command in a thousand meets it, which is p99.9, and
// waits for longer than people perceive as immediate (J. Nielsen, Usability Engineering, 1993, chapter 5: 0.1 s).
var (
	longFork = check.Threshold{Name: "length of a fork", Value: 100e6, Unit: "ns",
		Why: "people take less for immediate", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 0.1 s"}
	rarely = check.Threshold{Name: "share of the time in such forks", Value: .001, Unit: "1",
		Why: "one command in a thousand meets it", Source: "arithmetic: the p99.9"}
)

var longStop = check.Threshold{Name: "length of one fork alone", Value: 1e9, Unit: "ns",
	Why: "after a second people lose their thought", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 1 s"}

// longLast is less than longStop: a fork copies the page table, so that each of the next takes as long.
var longLast = check.Threshold{Name: "length of the last fork, which INFO tells alone", Value: 500e6, Unit: "ns",
	Why: "what arrives at that time waits for half of it, longer than the 200 ms of some clients' timeouts", Source: "arithmetic: half of it is 250 ms"}

// toldFailed is how many lines about forks that failed say that Redis cannot save: it tries again after five seconds, and refuses writes until a
// save succeeds (stop-writes-on-bgsave-error, which is on by default).
var toldFailed = check.Threshold{Name: "log lines of failed forks within ten minutes", Value: 3, Unit: "count",
	Why: "one or two may be a moment in which memory was short", Source: "src/rdb.c and src/server.c (CONFIG_BGSAVE_RETRY_DELAY) of Redis"}

// judgeFailedForks judges by the log of a server whose forks fail.
func (s *server) judgeFailedForks(c *check.Case) check.Verdict {
	n, when := s.worstRush(evidence.RedisForkFailed)
	within := fmt.Sprintf("%d times within ten minutes", n)
	if n == 0 {
		within = fmt.Sprintf("%d times (the lines have no times)", s.countLines(evidence.RedisForkFailed))
	}
	v := check.Verdict{Rule: check.StandsAlone, Weight: often.Value,
		Title:   fmt.Sprintf("%s cannot fork to save its data, and probably refuses writes (MISCONF): its forks failed %s.", s.productTitle(), within),
		Summary: fmt.Sprintf("%s failed", units.Plural(s.countLines(evidence.RedisForkFailed), "fork")),
		Spends:  "refusing writes after a failed save"}
	v.Evidence = append(v.Evidence, c.Figure("fork.failed_lines", "log lines: Can't save in background: fork", float64(s.countLines(evidence.RedisForkFailed)), "count", s.toldAt(evidence.RedisForkFailed)))
	if n > 0 {
		v.Evidence = append(v.Evidence, c.Figure("fork.failed_lines_worst", "of these, most within ten minutes, at "+formatMinute(when.From)+" UTC", float64(n), "count", s.toldAt(evidence.RedisForkFailed)))
	}
	v.Fix = []check.Fix{{Text: "allow forks to overcommit memory", Setting: "vm.overcommit_memory=1"}, {Text: "or give the host more memory, or Redis a limit (maxmemory) that leaves room for what changes during a save"}}
	if s.isForkOfWindows() {
		v.Fix = []check.Fix{{Text: "give Windows a larger page file: for a save Redis maps its whole heap once more (maxheap, maxmemory)"}}
	}
	v.Fix = append(v.Fix, check.Fix{Text: "or accept writes despite the failed save", Setting: "stop-writes-on-bgsave-error no"})
	v.Needs = []check.Need{{What: "how many commands are refused: errorstat_MISCONF in INFO errorstats", Command: "unstall redis://HOST:PORT"}}
	return v
}

// isForkOfWindows says whether a failed fork is that of Redis for Windows, which has none and says so: fork(2) of Linux never returns EINVAL.
func (s *server) isForkOfWindows() bool {
	return slices.ContainsFunc(s.Told, func(t metrics.RedisTold) bool {
		return t.Kind == evidence.RedisForkFailed && strings.HasSuffix(t.Text, "fork: Invalid argument")
	})
}

// isRecurring says whether forks are long and come again, though rarely.
func isRecurring(forks []metrics.RedisKept) bool {
	return len(forks) > 0 && forks[0].Count >= few.Value && forks[0].Each() >= longFork.Value && shareOf(forks) >= rarely.Value
}

func judgeFork(c *check.Case) check.Verdict {
	s := serverOf(c)
	if last := c.Series(evidence.SeriesRedisLatestFork); last != nil && (s == nil || s.Looks == 0) && last.V[len(last.V)-1]*1e3 >= longLast.Value {
		return oneFork(c, s, last.V[len(last.V)-1]*1e3, last.Origin) // a section of INFO, without its time
	}
	if s == nil || s.Looks == 0 && len(s.Events) == 0 && s.countLines(evidence.RedisSaveBegan)+s.countLines(evidence.RedisRewriteBegan)+s.countLines(evidence.RedisForkFailed) == 0 {
		return notTold("")
	}
	f := &s.Fork
	forks := s.forkStops()
	v := check.Verdict{Rule: check.TooLittle, Summary: "it did not fork"}
	switch share := shareOf(forks); {
	case isRecurring(forks) && !isNoticed(forks):
		v.Weigh(forks[0].Count, few)
		v.Weigh(forks[0].Each(), longFork)
		v.Weigh(share, rarely)
	case share > 0:
		weighStops(&v, forks)
		if n := s.Forks(); n >= few.Value {
			v.WeighOne(n, few)
		}
	}
	if f.Count.Number > 0 && f.Last.Known() {
		v.Summary = fmt.Sprintf("forks of %s, %s of the time", units.Time(f.Most.Number), units.Percent(stats.ZeroIfNaN(shareOf(forks))))
		v.Evidence = append(v.Evidence, c.Figure("fork.longest_ms", "longest fork", f.Most.Number/1e6, "ms", f.Most.Origin))
	} else if f.Last.Number > 0 && s.Single {
		v.Summary = fmt.Sprintf("its last fork took %s", units.Time(f.Last.Number))
	} else if len(forks) > 0 && forks[0].Count > 0 {
		v.Summary = fmt.Sprintf("forks of up to %s", units.Time(longestOf(forks)))
	}
	failed := s.ErrorKinds["MISCONF"]
	switch {
	case failed.Number > 0 && failed.Number >= often.Value*s.Ops.Number:
		v.Rule = check.Matters
		v.Spends = "refusing writes after a failed save"
		v.Title = fmt.Sprintf("%s refuses %s writes/s because it could not save its data.", s.productTitle(), units.Num(failed.Number))
		v.Summary = "writes are refused after a save failed"
		v.Weight = math.Max(failed.Number/s.Ops.Number, failed.Number*elsewhereFor.Value)
		v.Evidence = append(v.Evidence, c.Figure("redis.misconf_per_s", "commands refused (MISCONF)", failed.Number, "1/s", failed.Origin))
		s.addFailures(c, &v)
		v.Fix = append(v.Fix, check.Fix{Text: "allow forks to overcommit memory", Setting: "vm.overcommit_memory=1"}, check.Fix{Text: "give it a disk with free space and write permission"},
			check.Fix{Text: "or accept writes despite the failed save", Setting: "stop-writes-on-bgsave-error no"})
		return v
	case isNoticed(forks), isRecurring(forks), len(forks) > 0 && forks[0].What == "fork" && forks[0].Count < few.Value && longestOf(forks) >= metrics.RedisStall && shareOf(forks) >= often.Value && s.Forks() >= few.Value:
		s.supportForks(c, &v, forks)
		return v
	}
	if late, otherwise, ok := s.whileSaving(); ok && late*f.Child.Number >= often.Value && late >= 2*otherwise && !s.hasSlow(late/2) {
		k := metrics.RedisKept{What: "saving", Over: 1e9, Total: late * f.Child.Number * 1e9, Longest: s.waits.Most.Number, Count: few.Value, Origin: s.waits.Late.Origin}
		k.Squares = k.Total * k.Longest / 2
		s.supportForks(c, &v, []metrics.RedisKept{k})
		v.Title = fmt.Sprintf("%s is slow while it saves: %s of commands then wait 10 ms and more, %s otherwise.", s.productTitle(), units.Percent(late), units.Percent(otherwise))
		return v
	}
	if most, from := s.longestEvent("fork"); most >= longStop.Value || most >= longLast.Value && (s.Single || s.Looks == 0) {
		return oneFork(c, s, most, from)
	}
	if f.Last.Number >= longLast.Value && s.Single {
		return oneFork(c, s, f.Last.Number, f.Last.Origin)
	}
	if !(failed.Number > 0) && s.inRush(evidence.RedisForkFailed, toldFailed.Int()) {
		return s.judgeFailedForks(c)
	}
	if len(forks) == 0 {
		v.Rule = check.Absent
		if f.Count.Known() && !s.Single {
			v.Evidence = append(v.Evidence, c.Figure("fork.count", "forks that INFO counts in "+units.Time(s.Seconds*1e9), f.Count.Number, "count", f.Count.Origin))
		}
	}
	if v.Summary == "it did not fork" && s.Looks == 0 {
		return notTold("")
	}
	if len(forks) > 0 {
		return s.unlessOneLook(v)
	}
	return s.unlessUnknown(v, f.Count)
}

// forkStops returns how long forks kept the main thread.
func (s *server) forkStops() (all []metrics.RedisKept) {
	f := &s.Fork
	if s.Single || !(f.Count.Number > 0) || !f.Last.Known() || !(s.Seconds > 0) {
		return s.latencyEvents("fork")
	}
	k := metrics.RedisKept{What: "fork", Over: s.Seconds * 1e9, Origin: f.Last.Origin}
	if f.Count.Number < few.Value && s.Forks() < few.Value { // a single fork may be the only one there ever is
		return s.latencyEvents("fork")
	}
	each := f.Stopped.Number * s.Seconds * 1e9 / f.Count.Number
	k.Add(f.Count.Number, each)
	k.Longest = math.Max(k.Longest, f.Most.Number)
	return []metrics.RedisKept{k}
}

// whileSaving returns the share of PINGs that waited long while a child saved, and the share of
// the others.
func (s *server) whileSaving() (while, otherwise float64, ok bool) {
	x, o := s.WaitsWhile(evidence.SeriesRedisSaving, evidence.SeriesRedisRewriting)
	return x.Late.Number, o.Late.Number, x.Late.Known() && o.Late.Known()
}

// supportForks supports that forks delay clients.
func (s *server) supportForks(c *check.Case, v *check.Verdict, kept []metrics.RedisKept) {
	f := &s.Fork
	v.Rule = check.Matters
	what := "save its data"
	if f.Rewrites.Number > 0 && !(f.Saves.Number > 0) {
		what = "rewrite its AOF"
	}
	k := &kept[0]
	v.Spends = fmt.Sprintf("in forks of %s to %s", units.Time(math.Max(k.Longest, stats.ZeroIfNaN(f.Last.Number))), what)
	v.Title = fmt.Sprintf("%s stops for %s each time it forks to %s: %s.", s.productTitle(), units.Time(math.Max(k.Each(), stats.ZeroIfNaN(f.Last.Number))), what, joinWords(formatRate(k.PerSecond()), units.Percent(shareOf(kept))+" of the time"))
	v.Summary = fmt.Sprintf("forks of up to %s, %s of the time", units.Time(k.Longest), units.Percent(shareOf(kept)))
	s.rankByWaits(c, v, kept)
	if f.Count.Known() {
		v.Evidence = append(v.Evidence, c.Figure("fork.count", "forks", f.Count.Number, "count", f.Count.Origin))
	}
	if !f.Last.Known() {
		v.Evidence = append(v.Evidence, c.Figure("fork.longest_ms", "longest fork", k.Longest/1e6, "ms", k.Origin))
	}
	if f.Last.Known() {
		v.Evidence = append(v.Evidence, c.Figure("fork.last_ms", "last fork (latest_fork_usec)", f.Last.Number/1e6, "ms", f.Last.Origin))
		if s.RSS.Number > 0 {
			v.Evidence = append(v.Evidence, c.Figure("fork.per_gib_ms", "for each GiB resident", f.Last.Number/1e6/(s.RSS.Number/(1<<30)), "ms", f.Last.Origin))
		}
	}
	if f.Copied.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("fork.copied_bytes", "most memory copied because of writes during a save", f.Copied.Number, "bytes", f.Copied.Origin))
	}
	if f.Child.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("fork.child_share", "share of the time in which a child was active", f.Child.Number, "1", f.Child.Origin))
	}
	if s.Children.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("fork.child_cores", "CPU of children", s.Children.Number, "cores", s.Children.Origin))
	}
	if save, ok := s.Setting("save"); ok && save.Value != "" {
		v.Evidence = append(v.Evidence, c.Seen("save "+save.Value, save.Origin))
	}
	v.Evidence = append(v.Evidence, s.doctorEvidence(c, "fork", "huge pages")...)
	v.Fix = append(v.Fix, check.Fix{Text: "save on a replica that serves no clients, instead of here", Setting: `save ""`}, check.Fix{Text: "or save less often, and run several smaller servers instead of one: more memory makes a fork longer"})
	if s.AOF.Enabled && f.Rewrites.Number > 0 {
		v.Fix = append(v.Fix, check.Fix{Text: "rewrite the AOF less often", Setting: "auto-aof-rewrite-percentage 200"})
	}
	if fix, ok := s.hugePages(); ok {
		v.Fix = append(v.Fix, fix)
	}
}

// hugePages returns advice about huge pages for forks on this kernel: from 5.8 on it copies only a
// small page of a huge one.
func (s *server) hugePages() (check.Fix, bool) {
	text := ""
	switch splits, known := metrics.SplitsHugePages(s.host); {
	case !known:
		return check.Fix{}, false
	case splits:
		text = fmt.Sprintf("on Linux %s huge pages make the fork shorter, because a write after it copies only 4 KiB, not 2 MiB (from 5.8 on): enable them for the server despite LATENCY DOCTOR's advice, and watch its memory (to try it first: sudo unstall try thp=always)", s.host)
		f := check.Fix{Text: text}
		if s.Release.AtLeast(6, 2) {
			f.Setting = "disable-thp no"
		}
		return f, true
	default:
		text = fmt.Sprintf("on Linux %s (before 5.8) keep huge pages off: each first write after a fork copies 2 MiB", s.host)
	}
	return check.Fix{Text: text, Setting: "transparent_hugepage/enabled=madvise"}, true
}

// addFailures adds forks and saves that failed.
func (s *server) addFailures(c *check.Case, v *check.Verdict) {
	for _, t := range s.Told {
		if t.Kind == evidence.RedisForkFailed || t.Kind == evidence.RedisSaveFailed {
			v.Evidence = append(v.Evidence, c.Seen(fmt.Sprintf("its log, %s: %s", units.Times(t.Count), t.Text), t.Origin))
		}
	}
}

// oneFork judges by how long (ns) the last fork took alone, where the rate of forks is not known.
func oneFork(c *check.Case, s *server, took float64, origin evidence.Origin) check.Verdict {
	title := platform.Redis.Title
	if s != nil {
		title = s.productTitle()
	}
	return check.Verdict{Rule: check.StandsAlone, Weight: rarely.Value,
		Title:    fmt.Sprintf("%s probably stops for %s each time it forks to save its data.", title, units.Time(took)),
		Summary:  fmt.Sprintf("its last fork took %s", units.Time(took)),
		Spends:   fmt.Sprintf("in forks of %s to save its data", units.Time(took)),
		Evidence: []check.Evidence{c.Figure("fork.last_ms", "last fork (latest_fork_usec)", took/1e6, "ms", origin)},
		Fix:      []check.Fix{{Text: "save on a replica only, or less often; or several smaller servers, which fork one after the other, each briefly"}},
		Needs:    []check.Need{{What: "how often it forks: INFO twice, some minutes apart, or its log", Command: "unstall redis://HOST:PORT"}}}
}
