// Package redis holds the causes that lie in a Redis server, or in its clients' use of it; Valkey and KeyDB are judged alike.
//
// A server has no requests of its own. Slow time there is its clients' wait beyond the best time of an answer. One thread answers all of
// them: a command of d ms delays all clients that arrive during it, by d/2 on average. Causes are ranked by the mean number of clients that
// wait for them (seconds of waiting per second; rate of commands × mean wait, Little's law), bounded by the number of clients.
//
// Sources: https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency/,
// src/server.c, src/evict.c, src/aof.c and src/rdb.c of Redis 7.0, src/latency.c for what LATENCY DOCTOR says.
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

// server is what is known of one server.
type server struct {
	*metrics.Redis
	waits  metrics.RedisWaits
	kernel *metrics.KernelWork // nil: not recorded
	all    metrics.Process
	host   string // release of the host's kernel, "" unknown
}

var often = check.Threshold{Name: "share of the time in which commands have to wait", Value: .005, Unit: "1",
	Why: "of a page that asks ten times, one in twenty meets it", Source: "arithmetic: of ten commands one meets it in 5 % of cases (1 − 0.995¹⁰)"}

var forAll = check.Threshold{Name: "mean wait of all commands for stalls that are shorter, but many", Value: .25e6, Unit: "ns",
	Why: "a page that asks ten times waits some ms", Source: "judgement: ten times what they wait at a healthy server; a page that asks ten times waits 2.5 ms"}

// few is the number of stalls below which they are an accident, unless one is as long as rare: then a client gives up.
var (
	few = check.Threshold{Name: "stalls in a recording", Value: 2, Unit: "count",
		Why: "one is an accident", Source: "arithmetic: the least number that repeats itself"}
	rare = check.Threshold{Name: "length of a single stall that is named however rare", Value: 1e9, Unit: "ns",
		Why: "a client gives up on it", Source: "J. Nielsen, Usability Engineering, 1993, chapter 5: 1 s"}
)

func isRedis(c *check.Case) bool { return c.Runtime() == platform.Redis.ID }

// serverOf returns the server of a case, nil if the server reported nothing.
func serverOf(c *check.Case) *server {
	return check.Once(c, func(c *check.Case) *server {
		r := metrics.RedisOf(c.Bundle, c.Subject, metrics.Whole)
		if r == nil {
			return nil
		}
		s := &server{Redis: r, waits: r.Waits(), all: metrics.ProcessOf(c.Bundle, c.Subject, metrics.Whole)}
		if k := metrics.KernelOf(c.Bundle, c.Subject, metrics.Whole); k != nil {
			s.kernel = k.Work(func(evidence.LaneID) float64 { return 0 })
		}
		if f, ok := c.Bundle.Fact(-1, evidence.FactKernel); ok {
			s.host = f.Value
		}
		return s
	})
}

// productTitle returns the product's name: "Redis".
func (s *server) productTitle() string {
	if s.Release.Product == "" {
		return platform.Redis.Title
	}
	return s.Release.Product
}

// Needs that would show more.
var (
	asked = check.Need{What: "the server's own figures while it is slow", Command: "unstall redis://HOST:PORT"}
	again = check.Need{What: "a second INFO sample, half a minute after the first and given with it: counts since the server's start do not show what it does now",
		Command: "redis-cli INFO everything > info2.txt"}
)

// notTold returns the verdict where the server's own figures were not recorded.
func notTold(string) check.Verdict {
	return check.Verdict{Rule: check.NotRecorded, Summary: "the server's own figures were not recorded", Needs: []check.Need{asked}}
}

// sinceStart returns the verdict for a single INFO sample, whose sums since the server's start
// show nothing unusual.
func (s *server) sinceStart() check.Verdict {
	return check.Verdict{Rule: check.OneLook, Summary: fmt.Sprintf("one INFO sample only gives the average of the %s since its start", units.Time(s.Seconds*1e9)), Needs: []check.Need{again, asked}}
}

// unlessUnknown is [server.unlessOneLook] for a verdict that these figures clear: what is not known clears nothing.
func (s *server) unlessUnknown(v check.Verdict, by ...metrics.Value) check.Verdict {
	if v.RuledOut() && slices.ContainsFunc(by, func(x metrics.Value) bool { return !x.Known() }) {
		v.Rule, v.Summary, v.Needs = check.NotRecorded, "the figures of INFO that would show it were not recorded", []check.Need{asked}
		return v
	}
	return s.unlessOneLook(v)
}

// unlessOneLook makes a verdict that rules out inconclusive if it rests on a single INFO sample,
// or none.
func (s *server) unlessOneLook(v check.Verdict) check.Verdict {
	if !v.RuledOut() {
		return v
	}
	switch {
	case s.Looks == 0:
		v.Rule, v.Needs = check.NotRecorded, []check.Need{asked}
	case s.Single:
		not := s.sinceStart()
		v.Rule, v.Summary, v.Needs = not.Rule, v.Summary+"; "+not.Summary, not.Needs
	}
	return v
}

// stalled is how long a stop of the main thread must be to count.
var stalled = check.Threshold{Name: "length of a stop of the main thread that counts", Value: metrics.RedisStall, Unit: "ns",
	Why: "commands take microseconds, and slow logs begin there", Source: "slowlog-log-slower-than in redis.conf of Redis 7.0: 10,000 µs"}

// weighStops records the figures by which stops are noticed: those of their length and share, or of what they delay on average.
func weighStops(v *check.Verdict, all []metrics.RedisKept) {
	share, n, longest := 0., 0., 0.
	for i := range all {
		k := &all[i]
		n, longest, share = n+k.Count, math.Max(longest, k.Longest), share+stats.ZeroIfNaN(k.Share())
	}
	if delay := meanDelay(all); share >= ofThread.Value && delay >= forAll.Value {
		v.Weigh(share, ofThread)
		v.Weigh(delay, forAll)
		return
	}
	v.Weigh(longest, stalled)
	v.Weigh(share, often)
	v.WeighOne(n, few)
	v.WeighOne(longest, rare)
}

// isNoticed says whether the stops of the thread are long and frequent enough.
func isNoticed(all []metrics.RedisKept) bool {
	share, n, longest := 0., 0., 0.
	for i := range all {
		k := &all[i]
		n += k.Count
		longest = math.Max(longest, k.Longest)
		if v := k.Share(); !math.IsNaN(v) {
			share += v
		}
	}
	if longest >= metrics.RedisStall && share >= often.Value && (n >= few.Value || longest >= rare.Value) {
		return true
	}
	return share >= ofThread.Value && meanDelay(all) >= forAll.Value
}

// shareOf returns the part of the time in which the thread was kept, NaN if it is known for none.
func shareOf(all []metrics.RedisKept) float64 {
	share := math.NaN()
	for i := range all {
		if v := all[i].Share(); !math.IsNaN(v) {
			share = math.Min(1, v+stats.ZeroIfNaN(share))
		}
	}
	return share
}

// rankByWaits ranks a verdict by how long clients waited, and adds that as evidence.
func (s *server) rankByWaits(c *check.Case, v *check.Verdict, all []metrics.RedisKept) {
	var clients, mean float64
	for i := range all {
		k := &all[i]
		clients += stats.ZeroIfNaN(s.Waiting(k))
		mean += stats.ZeroIfNaN(k.Mean())
	}
	share := shareOf(all)
	v.Weight = math.Max(clients, stats.ZeroIfNaN(share))
	from := all[0].Origin
	if share > 0 {
		v.Evidence = append(v.Evidence, c.Figure("redis.commands_delayed_share", "share of commands delayed by it", share, "1", from),
			c.Figure("redis.command_wait_ms", "mean delay per command", mean/1e6, "ms", from))
	}
	if clients > 0 {
		v.Evidence = append(v.Evidence, c.Figure("redis.waiting_clients", "clients delayed by it at a time, on average", clients, "count", from))
	}
	s.addPings(c, v)
}

// addPings adds how long the recorder's own PINGs waited.
func (s *server) addPings(c *check.Case, v *check.Verdict) {
	if w := s.waits; w.Mean.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.ping_wait_ms", "mean delay of a PING above its minimum", w.Mean.Number/1e6, "ms", w.Mean.Origin),
			c.Figure("redis.ping_longest_ms", "longest PING", w.Most.Number/1e6, "ms", w.Most.Origin))
	}
}

// waitingClients returns how many clients waited on average, by the mean wait of PINGs beyond what
// is explained (ns); NaN if unknown.
func (s *server) waitingClients(explained float64) float64 {
	w, ops := s.waits.Mean, s.Ops.Number
	if !w.Known() || !(ops > 0) {
		return math.NaN()
	}
	n := ops * math.Max(0, w.Number-explained) / 1e9
	if most := s.Clients.Number - stats.ZeroIfNaN(s.Blocked.Number); most > 0 {
		n = math.Min(n, most)
	}
	return n
}

// meanDelay returns the mean delay (ns) of a command by what kept the thread.
func meanDelay(all []metrics.RedisKept) (ns float64) {
	for i := range all {
		ns += stats.ZeroIfNaN(all[i].Mean())
	}
	return ns
}

// periodSuffix returns " since its start" for rates that cover all the time since the server's
// start, else "".
func (s *server) periodSuffix() string {
	if s.Single && s.Looks > 0 {
		return " since its start"
	}
	return ""
}

// rarer is the rate below which an interval is easier to read.
const rarer = .1

// formatRate writes a rate: "0.5 times per second".
func formatRate(perSecond float64) string {
	switch {
	case math.IsNaN(perSecond) || perSecond <= 0:
		return ""
	case perSecond < rarer:
		return "every " + units.Time(1e9/perSecond)
	}
	if n := units.Num(perSecond); n != "1" {
		return n + " times per second"
	}
	return "once per second"
}

// joinWords joins those texts that are not empty: "a, b and c".
func joinWords(all ...string) string {
	var some []string
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	if len(some) < 2 {
		return strings.Join(some, "")
	}
	return strings.Join(some[:len(some)-1], ", ") + " and " + some[len(some)-1]
}
