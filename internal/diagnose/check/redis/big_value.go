package redis

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// BigValue is values of megabytes.
var BigValue = check.Check{
	ID:    "redis.big-value",
	Title: "values of megabytes delay all clients of Redis",
	Step:  check.StepDependency,
	Doc: `The main thread reads a value of some MB from a client's socket, copies it, and writes it to the
sockets of the clients that read it: about 1 ms per MB in each direction. Small commands wait during
that time. The command itself is short, because the cost is in sockets and memory: commandstats and
the slow log may not show it.

client_recent_max_input_buffer and client_recent_max_output_buffer show the largest recent value;
bytes per second divided by commands per second gives the mean response size; the slow log shows the
size of arguments.

How to tell it from similar problems: a command over many elements is redis.slow-command. Clients or
a link that are slower than the responses are redis.network-bound: then the main thread has idle
time.

What helps: values of some kB that hold only data read together; large values split, compressed, or
in an object store with only their key in Redis; a cache of them in the client; a dedicated server,
so that small values do not wait behind them. io-threads (6.0 and later) move socket reads and
writes off the main thread.`,
	Least: fmt.Sprintf("a value of 1 MiB or more in transfer, and %v of the main thread's time for bytes (1 ns per byte and direction), or simple commands on large values that block it for %v of the time, 10 ms or more each; by CLIENT LIST alone, 100 MB that arrive at once, a value of 1 MiB among them; by one INFO alone, as much since the start with %v for each command on average",
		ofThread, often, big),
	Thresholds: []check.Threshold{anyTraffic, arriving, big, few, forAll, hasTime, mostLooks, ofThread, often, rare, someAnswers, waitsToBeSent},

	Needs:   "INFO twice, half a minute apart, and SLOWLOG GET: unstall redis://HOST:PORT",
	Applies: isRedis,
	Judge:   judgeBig,
}

var big = check.Threshold{Name: "size of a value", Value: 1 << 20, Unit: "bytes",
	Why: "it keeps the thread as long as a hundred small commands", Source: "arithmetic: 1 ns a byte"}

// arriving is how many bytes of values must arrive at one time that is known alone.
var arriving = check.Threshold{Name: "bytes that arrive at once, in values of 1 MiB and more", Value: 100e6, Unit: "bytes",
	Why: "the thread copies them for 100 ms, in which no other client is answered", Source: "arithmetic: 1 ns a byte"}

const (
	perByte = 1. // ns: copied to a buffer, and through a socket
)

func judgeBig(c *check.Case) check.Verdict {
	s := serverOf(c)
	if s != nil && s.Looks == 0 && s.QueryBuffers.Number >= big.Value && s.Arriving.Number >= arriving.Value {
		return s.judgeArriving(c)
	}
	if s == nil || s.Looks == 0 && !s.Slow.Watched {
		return notTold("")
	}
	largest, from := s.largestValue()
	v := check.Verdict{Rule: check.TooLittle, Summary: "no value of 1 MiB was transferred"}
	if largest > 0 {
		v.Summary = fmt.Sprintf("the largest value transferred had %s", units.Size(largest))
	}
	v.Weigh(largest, big)
	if largest < big.Value {
		return s.unlessUnknown(v, from)
	}
	v.Evidence = append(v.Evidence, c.Figure("redis.largest_value_bytes", "largest value transferred", largest, "bytes", from.Origin))
	bytes := stats.ZeroIfNaN(s.NetIn.Number) + stats.ZeroIfNaN(s.NetOut.Number)
	moving := math.Min(1, bytes*perByte/1e9)
	v.Weigh(moving, ofThread)
	_, little := s.splitLongCommands()
	switch {
	case isNoticed(little):
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("Values of up to %s delay all clients of %s: %s takes up to %s, %s of the time.", units.Size(largest), s.productTitle(), s.describeCommand(&little[0]), units.Time(longestOf(little)), units.Percent(shareOf(little)))
		s.rankByWaits(c, &v, little)
	case moving >= ofThread.Value && !s.Single && !s.slowTakers():
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("Values of up to %s delay all clients of %s: its main thread moves %s/s.", units.Size(largest), s.productTitle(), units.Size(bytes))
		much, _ := s.splitLongCommands()
		v.Weight = moving
		k := metrics.RedisKept{What: "values", Over: 1e9, Origin: from.Origin}
		k.Add(bytes/largest, largest*perByte)
		v.Weight = math.Max(v.Weight, stats.ZeroIfNaN(s.Waiting(&k)))
		if n := s.waitingClients(meanDelay(much)); n > v.Weight {
			v.Weight = n
			v.Evidence = append(v.Evidence, c.Figure("redis.waiting_clients", "clients waiting for the main thread, on average", n, "count", s.waits.Mean.Origin))
		}
		s.addPings(c, &v)
	case moving >= ofThread.Value && s.Single && s.Ops.Number > 0 && bytes/s.Ops.Number >= big.Value: // and more than that at the times at which clients come
		v.Rule, v.Needs = check.StandsAlone, []check.Need{again, asked}
		v.Title = fmt.Sprintf("Values of megabytes probably delay all clients of %s: since its start a command moves %s on average, %s/s in all.", s.productTitle(), units.Size(bytes/s.Ops.Number), units.Size(bytes))
		largest = bytes / s.Ops.Number
		v.Evidence = append(v.Evidence, c.Figure("redis.mean_command_bytes", "bytes that a command moves, average since the start", largest, "bytes", s.NetOut.Origin))
	default:
		v.Summary += fmt.Sprintf(", but only %s/s are transferred", units.Size(bytes))
		return s.unlessOneLook(v)
	}
	v.Weight, v.Spends = math.Max(v.Weight, moving), "transferring values of "+units.Size(largest)
	v.Summary = fmt.Sprintf("values of up to %s, %s/s", units.Size(largest), units.Size(bytes))
	v.Evidence = append(v.Evidence, c.Figure("redis.received_bytes_per_s", "received", s.NetIn.Number, "bytes/s", s.NetIn.Origin), c.Figure("redis.sent_bytes_per_s", "sent", s.NetOut.Number, "bytes/s", s.NetOut.Origin),
		c.Figure("redis.commands_per_s", "commands", s.Ops.Number, "1/s", s.Ops.Origin))
	if s.Main.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.main_thread_cores", "CPU of the main thread", s.Main.Number, "cores", s.Main.Origin), c.Figure("redis.main_thread_system_cores", "of it in the kernel: sockets, memory", s.MainSystem.Number, "cores", s.MainSystem.Origin))
	}
	for _, e := range s.Slow.ByCommand {
		if e.Bytes >= big.Int64() {
			v.Evidence = append(v.Evidence, c.Figure("redis.slowlog_argument_bytes", "slow log: "+e.Command+joinWords(formatFirstHost(e.Hosts))+", bytes of its arguments at most", float64(e.Bytes), "bytes", e.Origin))
		}
	}
	v.Fix = append(v.Fix, check.Fix{Text: "find them, then split them, compress them, or move them to an object store and keep only the key in Redis", Code: "redis-cli --bigkeys"},
		check.Fix{Text: "give them a dedicated server, so that small values do not wait behind them"})
	if s.Release.AtLeast(6, 0) && !(s.IOThreads.Number > 1) {
		v.Fix = append(v.Fix, check.Fix{Text: "write responses to sockets in other threads", Setting: "io-threads 4"})
	}
	return v
}

// judgeArriving judges by CLIENT LIST alone: values of many MB are arriving from several clients. Small commands are taken from a query
// buffer as soon as they are read, so that what fills it is one command.
func (s *server) judgeArriving(c *check.Case) check.Verdict {
	v := check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title: fmt.Sprintf("Values of up to %s probably delay all clients of %s: %s were arriving when its clients were listed, which its main thread copies for %s.",
			units.Size(s.QueryBuffers.Number), s.productTitle(), units.Size(s.Arriving.Number), units.Time(s.Arriving.Number*perByte)),
		Summary: fmt.Sprintf("values of up to %s, %s at once", units.Size(s.QueryBuffers.Number), units.Size(s.Arriving.Number)),
		Spends:  "transferring values of " + units.Size(s.QueryBuffers.Number),
		Needs:   []check.Need{asked}}
	v.Weigh(s.QueryBuffers.Number, big)
	v.Weigh(s.Arriving.Number, arriving)
	v.Evidence = append(v.Evidence, c.Figure("redis.largest_value_bytes", "largest value transferred", s.QueryBuffers.Number, "bytes", s.QueryBuffers.Origin),
		c.Figure("redis.arriving_bytes", "bytes of commands that were arriving, of all clients", s.Arriving.Number, "bytes", s.Arriving.Origin))
	v.Fix = []check.Fix{{Text: "find which keys they are, then split them, compress them, or move them to an object store and keep only the key in Redis", Code: "redis-cli --bigkeys"},
		{Text: "let fewer clients write such values at the same time: until a command is whole, its buffer takes memory, too (maxmemory-clients of Redis 7 bounds it)"}}
	return v
}

func formatFirstHost(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return " from " + all[0]
}

// largestValue returns the largest value that is known to have been transferred, bytes.
func (s *server) largestValue() (bytes float64, from metrics.Value) {
	from = metrics.Unknown
	note := func(v metrics.Value) {
		if v.Known() && v.Number > bytes {
			bytes, from = v.Number, v
		}
	}
	note(s.RecentInput)
	note(s.RecentOutput)
	note(s.QueryBuffers)
	if !s.slowTakers() { // else many answers wait there
		note(s.OutputBuffers)
	}
	if s.Ops.Number > 0 {
		note(metrics.Value{Number: (stats.ZeroIfNaN(s.NetIn.Number) + stats.ZeroIfNaN(s.NetOut.Number)) / s.Ops.Number, Origin: s.NetOut.Origin, Watched: 1})
	}
	for _, e := range s.Slow.Entries {
		if e.At >= s.Over.From || s.Single || s.Looks == 0 {
			note(metrics.Value{Number: float64(e.Bytes), Origin: e.Origin, Watched: 1})
		}
	}
	return bytes, from
}
