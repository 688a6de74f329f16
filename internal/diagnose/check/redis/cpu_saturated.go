package redis

import (
	"fmt"
	"math"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// CPUSaturated is more commands than one thread can run.
var CPUSaturated = check.Check{
	ID:    "redis.cpu-saturated",
	Title: "the main thread of Redis is saturated",
	Step:  check.StepDependency,
	Doc: `One thread reads, runs and answers all commands. When it uses a whole CPU, commands queue in the
sockets, where neither the slow log nor commandstats counts the wait. The host's CPUs look idle,
because Redis uses only one of them. A long pipeline occupies the thread until all its commands are
done, and a client that sends one command at a time waits behind them.

used_cpu_user_main_thread and used_cpu_sys_main_thread show it (6.2 and later; before that, the CPU
time of the process, which also counts forks, io-threads and background freeing).

How to tell it from similar problems: if most of the time is in few long commands, it is
redis.slow-command. If the thread waits for a CPU because other processes use them all, it is
linux.cpu-saturation or linux.noisy-neighbour. Little CPU use and long waits point to a fork, the
disk or the network.

What helps: fewer commands (MGET, HMGET, a local cache with client-side caching), cheaper ones;
several servers (a cluster or manual sharding) or replicas for reads; io-threads if most of the time
is in the kernel, for sockets (6.0 and later); shorter pipelines if other clients wait behind long
ones. More CPUs do not help, nor do io-threads if commands use the time.`,
	Least: fmt.Sprintf("a main thread that uses 80 %% of a CPU between two INFO samples (%v of the CPU it was given, if it waits for one), or runs commands for %v of the time; most of it not in commands of 10 ms and more",
		full, full),
	Thresholds: []check.Threshold{full, leastOwn, notRun, often, saturated},

	Needs:   "INFO twice, half a minute apart: unstall redis://HOST:PORT",
	Applies: isRedis,
	Judge:   judgeSaturated,
}

// A thread that uses this part of a core makes a queue by itself: at 80 % the queue is four times the length of what is served (M/M/1). A
// thread that waits for a CPU for part of its time has no time left when both parts add up to full.
var (
	saturated = check.Threshold{Name: "share of a CPU that the main thread uses", Value: .8, Unit: "1",
		Why: "a queue at 80 % is four times as long as what is served", Source: "M/M/1: ρ/(1−ρ)"}
	full = check.Threshold{Name: "share of a CPU that it uses and waits for together", Value: .95, Unit: "1",
		Why: "it has no time left", Source: "M/M/1: ρ/(1−ρ) is 19 at 95 %"}
	notRun = check.Threshold{Name: "share of the time in commands that the thread was on a CPU, below which the host did not run it", Value: .8, Unit: "1",
		Why: "commands do not wait by themselves", Source: "arithmetic: commands take a quarter longer than they compute (1/0.8)"}
	leastOwn = check.Threshold{Name: "CPU that the main thread uses itself", Value: .6, Unit: "CPUs",
		Why: "else it is those who use the CPUs", Source: "M/M/1: ρ/(1−ρ) is 3/2 at 60 %: most of its queue is its own"}
)

// mainThreadUse returns how much of a core the main thread uses, and whether it is full. A thread
// that is in commands all the time is full, whether the host runs it or not.
func (s *server) mainThreadUse() (cores float64, isFull bool) {
	cores = s.Main.Number
	if cores >= saturated.Value || s.InCommands.Number >= full.Value && !s.Single {
		return cores, true
	}
	delay := stats.ZeroIfNaN(s.all.RunDelay.Number)
	return cores, cores >= leastOwn.Value && cores+math.Min(delay, 1-cores) >= full.Value && delay > 0 && delay <= cores
}

func judgeSaturated(c *check.Case) check.Verdict {
	s := serverOf(c)
	switch {
	case s == nil:
		return notTold("")
	case !s.Main.Known() && s.Looks > 0 && s.CPU.Known():
		return check.Verdict{Rule: check.NotRecorded, Summary: "Redis reports the CPU of its main thread only from 6.2 on, and other threads are active",
			Needs: []check.Need{{What: "the CPU of each thread of the process", Command: "unstall record PID"}}}
	case !s.Main.Known():
		return notTold("")
	}
	cores, isFull := s.mainThreadUse()
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("its main thread uses %s of a CPU", units.Percent(cores))}
	if isFull && cores < saturated.Value {
		v.Weigh(math.Max(stats.ZeroIfNaN(s.InCommands.Number), math.Min(1, cores+stats.ZeroIfNaN(s.all.RunDelay.Number))), full)
	} else {
		v.Weigh(cores, saturated)
	}
	v.Evidence = append(v.Evidence, c.Figure("redis.main_thread_cores", "CPU of the main thread", cores, "cores", s.Main.Origin))
	if !isFull {
		if s.Single && cores < saturated.Value {
			return s.unlessOneLook(v)
		}
		return v
	}
	if s.hasSlow(cores / 2) {
		v.Rule = check.Explained
		v.Summary += ", most of it in slow commands (redis.slow-command)"
		return v
	}
	if id := s.busyWith(c, cores); id != "" {
		v.Rule = check.Explained
		v.Summary += ", most of it not in commands, as " + id + " explains"
		return v
	}
	v.Rule = check.Matters
	v.Title = fmt.Sprintf("The main thread of %s is busy %s of the time: it can run no more %s.", s.productTitle(), units.Percent(math.Min(1, cores)), s.formatMost())
	v.Spends = "queueing for its main thread, which is busy " + units.Percent(math.Min(1, cores)) + " of the time"
	if ran := s.OnCPUShare(); ran < notRun.Value && cores < saturated.Value {
		v.Title = fmt.Sprintf("The main thread of %s is saturated: it runs commands %s of the time, but the host gives it only %s of a CPU.", s.productTitle(), units.Percent(s.InCommands.Number), units.Percent(cores))
		v.Spends = "queueing for its main thread, which the host does not run all the time"
		v.Fix = append(v.Fix, check.Fix{Text: "first find what else uses the CPUs of its host: commands take longer than they need", Code: "sudo unstall host"})
	}
	s.addWork(c, &v)
	much, _ := s.splitLongCommands()
	v.Weight = math.Max(cores, stats.ZeroIfNaN(s.InCommands.Number))
	if n := s.waitingClients(meanDelay(much)); n > v.Weight {
		v.Weight = n
		v.Evidence = append(v.Evidence, c.Figure("redis.waiting_clients", "clients waiting for the main thread, on average", n, "count", s.waits.Mean.Origin))
	}
	s.addPings(c, &v)
	v.Evidence = append(v.Evidence, s.doctorEvidence(c, "nothing", "fast-command")...)
	s.addLoadFixes(&v, cores)
	return v
}

// formatMost returns how many commands a full thread runs: "than 1,200 commands/s".
func (s *server) formatMost() string {
	if !s.Ops.Known() {
		return "commands than now"
	}
	return "than " + units.Num(s.Ops.Number) + " commands/s"
}

// busyWith returns a cause found before that keeps the thread busy besides commands: big values,
// or connections; "" if there is none.
func (s *server) busyWith(c *check.Case, cores float64) string {
	if s.InCommands.Number >= cores/2 {
		return ""
	}
	for _, f := range c.Found {
		if f.ID == BigValue.ID || f.ID == Connections.ID {
			return f.ID
		}
	}
	return ""
}

// addWork adds what the main thread does.
func (s *server) addWork(c *check.Case, v *check.Verdict) {
	if s.MainSystem.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.main_thread_system_cores", "of it in the kernel: sockets, memory", s.MainSystem.Number, "cores", s.MainSystem.Origin))
	}
	if s.all.RunDelay.Known() {
		v.Evidence = append(v.Evidence, c.Figure("process.runnable_threads", "its threads waiting for a CPU, on average", s.all.RunDelay.Number, "count", s.all.RunDelay.Origin))
	}
	if s.InCommands.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.in_commands_share", "time in commands; the rest is reading, parsing and answering", s.InCommands.Number, "1", s.InCommands.Origin))
	}
	if s.Ops.Known() {
		v.Evidence = append(v.Evidence, c.Figure("redis.commands_per_s", "commands", s.Ops.Number, "1/s", s.Ops.Origin))
	}
	for _, x := range s.Commands[:min(len(s.Commands), 3)] {
		if x.Time.Number >= often.Value {
			v.Evidence = append(v.Evidence, c.Figure("redis.command_share", "time in "+x.Name, x.Time.Number, "1", x.Time.Origin), c.Figure("redis.command_per_s", x.Name, x.Calls.Number, "1/s", x.Calls.Origin))
		}
	}
	for _, h := range s.Hosts[:min(len(s.Hosts), 2)] {
		v.Evidence = append(v.Evidence, c.Figure("redis.connections_from", "connections from "+h.Address, h.Connections.Number, "count", h.Connections.Origin))
	}
}

// addLoadFixes adds what helps a busy thread.
func (s *server) addLoadFixes(v *check.Verdict, cores float64) {
	inCommands := stats.ZeroIfNaN(s.InCommands.Number)
	if s.Release.AtLeast(6, 0) && inCommands < cores/2 && !(s.IOThreads.Number > 1) {
		v.Fix = append(v.Fix, check.Fix{Text: "read and write sockets in other threads: less than half of its time is in commands", Setting: "io-threads 4"})
	}
	v.Fix = append(v.Fix,
		check.Fix{Text: "send fewer commands: read several keys with one command (MGET, HMGET), cache repeated reads in the client"},
		check.Fix{Text: "divide the keys among several servers (a cluster), or read from replicas: one server uses only one CPU for commands"},
		check.Fix{Text: "if clients that send one command at a time wait behind pipelines: send tens of commands at a time, not hundreds, or give bulk work a dedicated server"})
}
