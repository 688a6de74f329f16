package redis

import (
	"fmt"
	"math"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Connections is clients that reconnect again and again, or too many clients.
var Connections = check.Check{
	ID:    "redis.connections",
	Title: "clients of Redis keep opening new connections",
	Step:  check.StepDependency,
	Doc: `A new connection takes a round trip before the first command, and one each for AUTH, SELECT and TLS;
the main thread accepts, sets up and closes it, which costs as much as about ten small commands. A
client that connects for each request or command waits several times as long as one that keeps its
connections. If thousands connect at the same time, after a restart or a timeout, the main thread
accepts them before it answers commands: up to a thousand per round. Above maxclients Redis refuses
connections.

total_commands_processed divided by total_connections_received gives the commands per connection;
rejected_connections counts refused ones; CLIENT LIST shows their addresses and ages.

How to tell it from similar problems: idle open connections only cost memory. Monitoring and health
checks open a new connection a few times per minute. Blocked clients (BLPOP and similar) wait on
purpose.

What helps: a pool of connections in each process, kept open (PHP: pconnect; Python: one
ConnectionPool for the process; not one client per request); fewer processes, or a proxy that pools
for them; reconnecting with exponential backoff and jitter; for bursts a longer tcp-backlog and
net.core.somaxconn; for refused connections a larger maxclients and a timeout for idle ones.`,
	Least: fmt.Sprintf("100 new connections per second, and at least one per three commands or enough to take %v of the main thread's time; or bursts of 500 per second while clients wait 10 ms and more for %v of the time; or two refused connections; or %v more clients, and 50 %% more, of which almost none disconnects, so that maxclients is reached within ten minutes",
		ofThread, often, manyKept),
	Thresholds: []check.Threshold{almostFull, aside, burst, elsewhereFor, few, forCommands, goesOn, halfLooks, keptOpen, manyKept, manyOpened,
		ofThread, often, soon},

	Needs:   "INFO twice, half a minute apart: unstall redis://HOST:PORT",
	Applies: isRedis,
	Judge:   judgeConnections,
}

var (
	manyOpened = check.Threshold{Name: "new connections", Value: 100, Unit: "1/s",
		Why: "below, they take less than 1 % of the thread", Source: "arithmetic: 60 µs each"}
	forCommands = check.Threshold{Name: "new connections for each command", Value: .3, Unit: "count",
		Why: "HELLO or AUTH, SELECT, and one that is wanted", Source: "arithmetic: one in three"}
	ofThread = check.Threshold{Name: "share of the main thread's time", Value: .1, Unit: "1",
		Why: "commands that come at that time wait", Source: "PASTA (R. Wolff, Operations Research 30, 1982): a tenth of the commands meets one: the p90"}
	almostFull = check.Threshold{Name: "share of maxclients in use", Value: .95, Unit: "1",
		Why: "clients that are refused at the limit come and go between two samples", Source: "judgement: weighs clients that left between two samples against connections that are refused for another reason (protected mode)"}
	burst = check.Threshold{Name: "connections opened within a second", Value: 500, Unit: "1/s",
		Why: "30 ms of the thread at once", Source: "arithmetic: 60 µs each"}
)

const (
	costs = 60e3 // ns of the main thread per connection, opened and closed
)

func judgeConnections(c *check.Case) check.Verdict {
	s := serverOf(c)
	if s == nil || s.Looks == 0 && s.turnedAway() == "" {
		return notTold("")
	}
	opened, each := s.Connections.Number, s.Connections.Number/s.Ops.Number
	v := check.Verdict{Rule: check.TooLittle, Summary: "connections are kept"}
	v.Weigh(opened, manyOpened)
	if opened >= manyOpened.Value {
		v.WeighOne(each, forCommands)
		v.WeighOne(opened*costs/1e9, ofThread)
	}
	if opened > 0 {
		v.Summary = fmt.Sprintf("%s new connections/s", units.Num(opened))
		v.Evidence = append(v.Evidence, c.Figure("redis.connections_opened_per_s", "connections opened", opened, "1/s", s.Connections.Origin))
	}
	if opened > 0 && each > 0 {
		v.Summary += fmt.Sprintf(", one per %s commands", units.Num(1/math.Max(each, 1e-9)))
		v.Evidence = append(v.Evidence, c.Figure("redis.commands_per_s", "commands", s.Ops.Number, "1/s", s.Ops.Origin))
	}
	most := metrics.Highest(s.Rate(evidence.SeriesRedisConnections))
	refused := s.Rejected.Number * s.Seconds
	switch {
	case refused >= few.Value && !s.Single:
		v.Rule = check.StandsAlone
		v.Title = fmt.Sprintf("%s refuses connections: %s are open, which is its limit (maxclients), and %s more were refused.", s.productTitle(), units.Num(s.ClientsMost.Number), units.Num(refused))
		v.Summary = fmt.Sprintf("%s connections were refused", units.Num(refused))
		if !s.ClientsMost.Known() {
			v.Title = fmt.Sprintf("%s refuses connections: %s were refused, because it has reached its client limit (maxclients) or is in protected mode.", s.productTitle(), units.Num(refused))
		}
		if s.ClientsMost.Number < almostFull.Value*s.MaxClients.Number { // the counter includes both
			v.Title = fmt.Sprintf("%s refuses connections from other hosts: %s were, though only %s are open (maxclients %s).", s.productTitle(), units.Num(refused), units.Num(s.ClientsMost.Number), units.Num(s.MaxClients.Number))
			v.Fix = append(v.Fix, check.Fix{Text: "it runs in protected mode and answers only 127.0.0.1: set a password or an ACL, and bind it to the address that clients use"})
		}
		v.Weight = math.Max(often.Value, s.Rejected.Number*elsewhereFor.Value)
		v.Evidence = append(v.Evidence, c.Figure("redis.connections_refused_per_s", "connections refused", s.Rejected.Number, "1/s", s.Rejected.Origin))
		if s.MaxClients.Known() {
			v.Evidence = append(v.Evidence, c.Figure("redis.maxclients", "maxclients", s.MaxClients.Number, "count", s.MaxClients.Origin))
		}
	case s.turnedAway() != "":
		v.Rule = check.StandsAlone
		v.Title = fmt.Sprintf("%s refuses connections: it has reached its client limit (maxclients).", s.productTitle())
		v.Summary, v.Weight = "connections were refused", 1
		v.Evidence = append(v.Evidence, c.Seen("it answered: "+s.turnedAway(), s.toldAt(evidence.RedisMaxClients)))
	case s.secondsToFull() <= soon.Value:
		v.Rule = check.Matters
		v.WeighBelow(s.secondsToFull(), soon)
		v.Title = fmt.Sprintf("Clients of %s open connections and close none: %s are open, and in %s they reach the limit (maxclients %s).", s.productTitle(), units.Num(s.Curve(evidence.SeriesRedisConnected).Last()),
			units.Time(s.secondsToFull()*1e9), units.Num(s.MaxClients.Number))
		v.Summary, v.Weight = "connections are opened and not closed", often.Value
		v.Fix = append(v.Fix, check.Fix{Text: "find the client that opens them (CLIENT LIST: addr, age, idle) and make it close or reuse each; until then close idle connections", Setting: "timeout 300"})
	case opened >= manyOpened.Value && (each >= forCommands.Value || opened*costs/1e9 >= ofThread.Value):
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("Clients of %s do not reuse connections: %s new ones per second%s.", s.productTitle(), units.Num(opened), formatEach(1/each))
		v.Weight = math.Max(math.Min(1, opened*costs/1e9), opened*2*stats.ZeroIfNaN(s.waits.Best.Number)/1e9)
	case most >= burst.Value && !s.Single && s.waits.Late.Number >= often.Value && !s.hasSlow(s.waits.Late.Number/2):
		v.Rule = check.Matters
		v.Title = fmt.Sprintf("Clients of %s connect in bursts: %s within one second, while all other clients wait.", s.productTitle(), units.Num(most))
		v.Weight = s.waits.Late.Number
	default:
		return s.unlessUnknown(v, s.Connections)
	}
	s.addConnectionEvidence(c, &v, most)
	return v
}

// A server that fills up within minutes is one of today's incidents. Connections count as not closed if most of the opened ones are still
// open; a filling pool has few.
var (
	soon = check.Threshold{Name: "time until maxclients is reached", Value: 600, Unit: "s",
		Why: "a server that is full within minutes is one of today's incidents", Source: "judgement: weighs the time that a person needs to act against servers that fill up in hours"}
	keptOpen = check.Threshold{Name: "part of the opened connections that is still open", Value: .5, Unit: "1",
		Why: "they are not closed", Source: "arithmetic: half"}
	manyKept = check.Threshold{Name: "clients more than before", Value: 50, Unit: "count",
		Why: "a pool that fills has fewer", Source: "judgement: more than a pool that fills has: 10 in HikariCP, 10 for each CPU in go-redis"}
	goesOn = check.Threshold{Name: "part of the growth in the second half of the time", Value: .25, Unit: "1",
		Why: "a pool that is filled stops", Source: "arithmetic: half of a half"}
	halfLooks = check.Threshold{Name: "samples from which there are halves", Value: 6, Unit: "count",
		Why: "three in each", Source: "arithmetic: of three points in each half the middle one is known"}
)

// secondsToFull returns after how long (s) the limit of clients is reached at the rate at which
// they grow while hardly any disconnects; infinite where they do not grow so.
func (s *server) secondsToFull() float64 {
	k := s.Curve(evidence.SeriesRedisConnected)
	if s.Single || !k.Known() || len(k.T) < 2 || !(s.MaxClients.Number > 0) {
		return math.Inf(1)
	}
	first, last := k.V[0], k.Last()
	grew := last - first
	if grew < manyKept.Value || grew < keptOpen.Value*s.Connections.Number*s.Seconds || grew < first/2 {
		return math.Inf(1)
	}
	if half := k.V[len(k.V)/2]; len(k.V) >= halfLooks.Int() && last-half < goesOn.Value*grew {
		return math.Inf(1)
	}
	return (s.MaxClients.Number - last) / (grew / s.Seconds)
}

// turnedAway returns the server's answer to a client beyond the limit, "" if no client is known to
// have been refused.
func (s *server) turnedAway() string {
	for _, t := range s.Told {
		if t.Kind == evidence.RedisMaxClients && strings.Contains(t.Text, "number of clients reached") && (t.Most == 0 || s.inRush(t.Kind, few.Int())) {
			return t.Text
		}
	}
	return ""
}

// oneEach is the number of commands per connection from which they are counted.
const oneEach = 1.5

func formatEach(n float64) string {
	switch {
	case math.IsNaN(n):
		return ""
	case n < oneEach:
		return ", one for every command"
	}
	return ", one for every " + units.Num(n) + " commands"
}

func (s *server) addConnectionEvidence(c *check.Case, v *check.Verdict, most float64) {
	v.Spends = "opening connections"
	much, _ := s.splitLongCommands()
	if n := s.waitingClients(meanDelay(much)); n > v.Weight {
		v.Weight = n
		v.Evidence = append(v.Evidence, c.Figure("redis.waiting_clients", "clients waiting for the main thread, on average", n, "count", s.waits.Mean.Origin))
	}
	if most > 0 {
		v.Evidence = append(v.Evidence, c.Figure("redis.connections_opened_most_per_s", "most connections opened between two INFO samples", most, "1/s", s.Connections.Origin))
	}
	if s.ClientsMost.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.connected_most", "most clients connected", s.ClientsMost.Number, "count", s.ClientsMost.Origin))
	}
	if s.Main.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.main_thread_cores", "CPU of the main thread", s.Main.Number, "cores", s.Main.Origin))
	}
	for _, h := range s.Hosts[:min(len(s.Hosts), 3)] {
		v.Evidence = append(v.Evidence, c.Figure("redis.connections_from", "connections from "+h.Address+", on average", h.Connections.Number, "count", h.Connections.Origin))
		if h.Young.Number > 0 {
			v.Evidence = append(v.Evidence, c.Figure("redis.connections_new", "of these, opened within the last second", h.Young.Number, "count", h.Young.Origin))
		}
	}
	s.addPings(c, v)
	if n := s.countLines(evidence.RedisBacklog); n > 0 {
		v.Evidence = append(v.Evidence, c.Seen("its log: net.core.somaxconn is below its tcp-backlog", s.toldAt(evidence.RedisBacklog)))
	}
	v.Fix = append(v.Fix, check.Fix{Text: "keep connections in each client process: one small pool, created once, instead of one client per request"},
		check.Fix{Text: "for many short-lived processes (PHP, functions): persistent connections, or a pooling proxy on their host"},
		check.Fix{Text: "after a failed connection, retry with exponential backoff and jitter"})
	if s.Rejected.Number > 0 && s.ClientsMost.Number >= almostFull.Value*s.MaxClients.Number {
		v.Fix = append(v.Fix, check.Fix{Text: "raise maxclients, and close idle connections", Setting: "maxclients " + check.Digits(3, 2*math.Max(1000, s.MaxClients.Number))}, check.Fix{Text: "close idle connections", Setting: "timeout 300"})
	}
}
