package redis

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// NetworkBound is answers that wait for the network, or for clients that do not take them.
var NetworkBound = check.Check{
	ID:    "redis.network-bound",
	Title: "responses of Redis wait for the network",
	Step:  check.StepDependency,
	Doc: `Redis writes responses into sockets; the rest waits in an output buffer per client. If the link is
full, or a client reads more slowly than it sends commands, buffers grow while the main thread is
idle: the command has finished, but its client still waits. A link of 1 Gbit/s carries 118 MB/s;
cloud machines often sustain less for more than a few minutes. Output buffers count as memory
(mem_clients_normal), also against maxmemory; above client-output-buffer-limit Redis closes the
client.

CLIENT LIST shows the output buffer of each connection (omem); INFO shows the bytes per second sent.

How to tell it from similar problems: if the main thread is saturated, it is redis.cpu-saturated, or
redis.big-value if few large values use the time. Lagging replicas have separate buffers.
Subscribers that do not read count as clients.

What helps: fewer bytes: only the needed fields, compressed values, client-side caching (6.0 and
later); several servers on several links, or replicas near the clients; a faster link, or client and
server on one machine. For a client that does not read: find what it does instead; make it request
less at a time.`,
	Least:      "output buffers of 64 KiB and more in half of the CLIENT LIST samples, or clients closed for their output buffer, with 1 MB/s sent, while the main thread uses less than 60 % of a CPU; by its log alone, a client closed with 1 MiB waiting for it",
	Thresholds: []check.Threshold{anyTraffic, closedFor, few, hasTime, mostLooks, someAnswers, waitsToBeSent},

	Needs:   "INFO twice and CLIENT LIST: unstall redis://HOST:PORT",
	Applies: isRedis,
	Judge:   judgeNetwork,
}

var (
	waitsToBeSent = check.Threshold{Name: "bytes in a client's output buffer", Value: 64 << 10, Unit: "bytes",
		Why: "as much as Redis writes to a client in one turn: the rest waits for the next", Source: "src/server.h of Redis: NET_MAX_WRITES_PER_EVENT"}
	anyTraffic = check.Threshold{Name: "bytes sent", Value: 1e6, Unit: "bytes/s",
		Why: "less fills no network", Source: "arithmetic: 8 Mbit/s, under 1 % of a link of 1 Gbit/s"}
	hasTime = check.Threshold{Name: "CPU that the main thread uses, below which it has time", Value: .6, Unit: "CPUs",
		Why: "half of it is free", Source: "M/M/1: ρ/(1−ρ) is 3/2 at 60 %"}
	someAnswers = check.Threshold{Name: "answers of a slow command that wait at a time", Value: 4, Unit: "count",
		Why: "as many may wait for those who have just asked", Source: "judgement: weighs clients that read slowly against several that have just asked for a long answer"}
	mostLooks = check.Threshold{Name: "share of samples of its clients", Value: .5, Unit: "1",
		Why: "the larger part decides", Source: "arithmetic: half"}
)

func judgeNetwork(c *check.Case) check.Verdict {
	s := serverOf(c)
	if s != nil && s.Looks == 0 {
		if v, ok := s.judgeClosed(c); ok {
			return v
		}
	}
	if s == nil || s.Looks == 0 {
		return notTold("")
	}
	waiting, part := s.unsentBytes()
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%s/s sent", units.Size(stats.ZeroIfNaN(s.NetOut.Number)))}
	v.Weigh(part, mostLooks)
	v.Weigh(s.NetOut.Number, anyTraffic)
	if s.NetOut.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.sent_bytes_per_s", "sent", s.NetOut.Number, "bytes/s", s.NetOut.Origin))
	}
	if math.IsNaN(part) {
		v.Summary += "; output buffers were not recorded"
		if s.OutputLimit.Number > 0 || s.NetOut.Number >= anyTraffic.Value {
			v.Rule, v.Needs = check.NotRecorded, []check.Need{{What: "the output buffer of each client", Command: "redis-cli CLIENT LIST > clients.txt"}}
			return v
		}
	} else {
		v.Summary += fmt.Sprintf(", at most %s in output buffers", units.Size(waiting))
		v.Weigh(waiting, waitsToBeSent)
	}
	if s.Main.Known() {
		v.WeighBelow(s.Main.Number, hasTime)
	}
	if !s.slowTakers() {
		if waiting >= waitsToBeSent.Value && part >= mostLooks.Value && s.NetOut.Number >= anyTraffic.Value && !(s.Main.Number >= hasTime.Value) {
			v.Rule = check.Explained // a slow command has just written them
		}
		return s.unlessUnknown(v, s.NetOut)
	}
	v.Rule = check.Matters
	who := ""
	for _, h := range s.Hosts {
		if h.Output.Number >= waiting/2 {
			who = " to " + h.Address
			break
		}
	}
	v.Title = fmt.Sprintf("Responses of %s wait for the network or for clients that do not read: %s/s are sent, and %s%s wait.", s.productTitle(), units.Size(s.NetOut.Number), units.Size(waiting), who)
	v.Summary = fmt.Sprintf("%s in output buffers", units.Size(waiting))
	v.Spends = "sending responses that wait for the network"
	wait := waiting / math.Max(1, s.NetOut.Number) // s until what waits is sent
	v.Weight = math.Max(part, part*float64(s.countTakers()))
	v.Evidence = append(v.Evidence, c.Figure("redis.output_waiting_bytes", "most bytes in output buffers", waiting, "bytes", s.OutputBuffers.Origin), c.Figure("redis.output_waiting_share", "share of CLIENT LIST samples with bytes in output buffers", part, "1", s.OutputBuffers.Origin),
		c.Figure("redis.output_wait_ms", "time until they are sent, at this rate", wait*1e3, "ms", s.NetOut.Origin))
	if s.Main.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.main_thread_cores", "CPU of the main thread", s.Main.Number, "cores", s.Main.Origin))
	}
	if s.OutputLimit.Number > 0 {
		v.Evidence = append(v.Evidence, c.Figure("redis.clients_closed", "clients closed for their output buffer", s.OutputLimit.Number, "count", s.OutputLimit.Origin))
	}
	s.addPings(c, &v)
	v.Fix = append(v.Fix, check.Fix{Text: "send less: only the needed fields, compressed values, a cache in the client; large responses in parts (HSCAN, LRANGE, GETRANGE)"},
		check.Fix{Text: "check whether the link is full (sar -n DEV, the cloud machine's limit) or the client does not read: then find what it does instead"},
		check.Fix{Text: "use several servers on several links, replicas near the clients, or one machine for client and server"})
	return v
}

// closedFor is how much must have waited for a client that its log says was closed for it.
var closedFor = check.Threshold{Name: "bytes that waited for a client that was closed for them", Value: 1 << 20, Unit: "bytes",
	Why: "they take a second and more of a link of 8 Mbit/s", Source: "arithmetic: 1 MiB at 1 MB/s"}

// judgeClosed judges by the log alone: it closed clients that did not take their answers.
func (s *server) judgeClosed(c *check.Case) (v check.Verdict, ok bool) {
	unsent, told := c.Fact(evidence.FactRedisUnsent)
	n := s.countLines(evidence.RedisOutputClosed)
	if !told || n == 0 || unsent.Number < closedFor.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("A client of %s does not take its answers, or the link to it does not: %s waited for it, and it was closed.", s.productTitle(), units.Size(unsent.Number)),
		Summary: fmt.Sprintf("%s in the output buffer of a client that was closed", units.Size(unsent.Number)),
		Spends:  "sending responses that wait for the network"}
	v.Weigh(unsent.Number, closedFor)
	v.Evidence = append(v.Evidence, c.Figure("redis.closed_unsent_bytes", "most bytes that waited for a client that was closed", unsent.Number, "bytes", unsent.Origin),
		c.Figure("redis.clients_closed", "clients closed for their output buffer", float64(n), "count", s.toldAt(evidence.RedisOutputClosed)))
	v.Fix = []check.Fix{{Text: "find what this client does instead of reading (its name and last command stand in the line), and let it subscribe to less, or ask for less at a time"},
		{Text: "check whether the link is full (sar -n DEV, the cloud machine's limit); a higher client-output-buffer-limit only lets more wait"}}
	v.Needs = []check.Need{{What: "whether answers wait for other clients, too", Command: "redis-cli CLIENT LIST > clients.txt"}}
	return v, true
}

// unsentBytes returns how many bytes waited for all clients at most, and in which part of the
// CLIENT LIST samples some did; NaN where there is no sample.
func (s *server) unsentBytes() (bytes, part float64) {
	if len(s.Hosts) == 0 {
		return math.NaN(), math.NaN()
	}
	for _, h := range s.Hosts {
		bytes += stats.ZeroIfNaN(h.Output.Number)
	}
	return bytes, s.LooksAbove(evidence.SeriesRedisMostOutput, waitsToBeSent.Value)
}

// slowTakers says whether clients, or the link to them, take answers more slowly than the server
// makes them.
func (s *server) slowTakers() bool {
	bytes, part := s.unsentBytes()
	closed := s.OutputLimit.Number >= few.Value && !s.Single
	return (bytes >= waitsToBeSent.Value && part >= mostLooks.Value && bytes >= s.atOnce() || closed) && s.NetOut.Number >= anyTraffic.Value && !(s.Main.Number >= hasTime.Value)
}

// atOnce returns how many bytes may wait because a slow command has just written them: a few of
// its answers.
func (s *server) atOnce() float64 {
	much, _ := s.splitLongCommands()
	calls := 0.
	for i := range much {
		calls += stats.ZeroIfNaN(much[i].PerSecond())
	}
	if calls == 0 {
		return 0
	}
	return someAnswers.Value * stats.ZeroIfNaN(s.NetOut.Number) / calls
}

// countTakers returns the number of connections from hosts that leave answers waiting.
func (s *server) countTakers() (n int) {
	for _, h := range s.Hosts {
		if h.Output.Number >= waitsToBeSent.Value {
			n += int(math.Max(1, h.Connections.Number))
		}
	}
	return n
}
