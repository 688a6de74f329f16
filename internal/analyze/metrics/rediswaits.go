package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// RedisStall is the wait (ns) for a server's only thread from which clients notice: the excess of a call that is worth naming,
// and the server's own limit of a slow call (slowlog-log-slower-than, 10 ms).
const RedisStall = 10e6

// RedisWaits is how long a server's clients waited beyond the best time of an answer, for whatever reason. It comes from the
// recorder's own PINGs, sent ten times a second, which wait like a client that comes at any time.
type RedisWaits struct {
	Best Value // ns of the fastest PING
	Mean Value // mean ns beyond Best
	Late Value // share of the time in which an arriving client waited [RedisStall] or longer
	Most Value // ns
}

// Shorter calls than [RedisStall] count, too, where a command has so many that its calls of redisShort ns and more take
// redisMuch of the time: one command in ten then waits for them.
const (
	redisShort = 1e6
	redisMuch  = .1
)

// pingEvery is the interval of PINGs, ns. While one is unanswered no other is sent, so the skipped ones are counted for it.
const pingEvery = 100e6

// fewPings is the number of PINGs below which these tell nothing of others' waits.
const fewPings = 20

// Waits reads the PINGs.
func (r *Redis) Waits() RedisWaits {
	x := RedisWaits{Unknown, Unknown, Unknown, Unknown}
	s := r.b.SeriesOf(r.subject, evidence.SeriesRedisPing)
	all := readingsIn(s, r.window)
	if len(all) < fewPings {
		return x
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	best := sorted[len(sorted)/10]
	var sum, n, late float64
	for _, v := range all {
		for left := v; left > 0; left -= pingEvery {
			n++
			sum += max(0, left-best)
			if left-best >= RedisStall {
				late++
			}
		}
	}
	of := func(v float64) Value { return Value{Number: v, Origin: s.Origin, Watched: 1} }
	return RedisWaits{of(best), of(sum / n), of(late / n), of(sorted[len(sorted)-1])}
}

// RedisKept is what occupied a server's only thread repeatedly: a command, a fork. Clients that arrived in the meantime waited
// until it was over.
type RedisKept struct {
	What    string
	Count   float64
	Total   float64 // ns
	Squares float64 // ns²: the sum of the squares of each duration
	Longest float64 // ns
	Over    float64 // ns of the time that Total covers; NaN unknown
	Origin  evidence.Origin
}

// Add notes n occurrences of some ns each.
func (k *RedisKept) Add(n, ns float64) {
	k.Count += n
	k.Total += n * ns
	k.Squares += n * ns * ns
	k.Longest = max(k.Longest, ns)
}

// Share returns the part of the time in which it occupied the thread, which is also the share of arriving clients that had to
// wait. NaN unknown.
func (k *RedisKept) Share() float64 { return math.Min(1, k.Total/k.Over) }

// Mean returns the mean wait of an arriving client, ns: half of an occurrence for those who arrive during one.
func (k *RedisKept) Mean() float64 { return k.Squares / 2 / k.Over }

// Each returns the mean duration, ns.
func (k *RedisKept) Each() float64 { return k.Total / max(1, k.Count) }

// PerSecond returns the number of occurrences per second, NaN unknown.
func (k *RedisKept) PerSecond() float64 { return k.Count / k.Over * 1e9 }

// Waiting returns how many clients waited for it on average: the total wait of all clients per second, in seconds. It takes
// commands to arrive at the rate seen while the thread was free; a client that sends one command after another does not wait
// twice for one stall. NaN where the rate is unknown.
func (r *Redis) Waiting(k *RedisKept) float64 {
	share := k.Share()
	ops := r.Ops.Number
	if !(ops > 0) || math.IsNaN(share) || k.Count == 0 {
		return math.NaN()
	}
	rate := ops / 1e9 / max(1-share, .01) // per ns
	each := k.Squares / k.Total           // mean stall as seen by a client that meets one
	waited := rate * each * each / 2
	if n := r.Clients.Number - r.Blocked.Number; n > 0 && rate*each > n {
		waited = n*each - n*n/rate/2
	}
	return waited / each * share
}

// LongCommands returns the calls of each command that took [RedisStall] or longer, and shorter ones of commands with many of
// them, most time first: from the slow log, the buckets of LATENCY HISTOGRAM, or their mean.
func (r *Redis) LongCommands() (all []RedisKept) {
	over := math.NaN()
	if r.Seconds > 0 {
		over = r.Seconds * 1e9
	}
	ran := 1.
	if part := r.OnCPUShare(); part < mostlyRan {
		ran = part
	}
	by := make(map[string]*RedisKept)
	note := func(k RedisKept) {
		if o := by[k.What]; k.Total > 0 && (o == nil || math.IsNaN(o.Over) || k.Share() > o.Share()) {
			by[k.What] = &k
		}
	}
	logged := r.slowLogKept() // the log has calls one by one
	for _, c := range r.Commands {
		k := RedisKept{What: strings.ToUpper(strings.ReplaceAll(c.Name, "|", " ")), Over: over, Origin: cmp.Or(c.Time.Origin, c.Spent.Origin)}
		switch {
		case c.Each.Number*ran >= RedisStall, c.Each.Number*ran >= redisShort && c.Time.Number*ran >= redisMuch:
			k.Add(c.Count, c.Each.Number)
			if c.Windowed {
				k.Longest = max(k.Longest, c.Most.Number*3/4)
			}
		case c.Windowed:
			for _, b := range c.buckets {
				if b.upTo > RedisStall {
					k.Add(b.calls, b.upTo*3/4) // buckets double
				}
			}
			if all := c.Time.Number * over; k.Total > all {
				part := all / k.Total
				k.Total, k.Squares = all, k.Squares*part
			}
			if r.mayBeHeld(&k) && r.byChance(&k, append(slices.Clone(logged), k), ran) {
				continue
			}
		case c.Slow.Number > 0 && c.SlowTime.Number*ran >= RedisStall*c.Slow.Number:
			k.Add(c.Slow.Number, c.SlowTime.Number/c.Slow.Number)
			if !(r.Seconds > 0) || r.Single { // the longest call since the start is one of these
				k.Longest = max(k.Longest, c.SlowMost.Number)
			}
			if r.mayBeHeld(&k) && r.byChance(&k, append(slices.Clone(logged), k), ran) {
				continue
			}
		}
		note(k)
	}
	for _, k := range logged {
		if by[k.What] == nil && r.mayBeHeld(&k) && r.byChance(&k, logged, ran) {
			continue
		}
		if o := by[k.What]; o == nil || math.IsNaN(o.Over) || r.Slow.Lost == 0 && k.Share() >= allButAll*o.Share() {
			by[k.What] = &k
		}
	}
	for _, k := range by {
		all = append(all, *k)
	}
	sorting.Short(all, func(x, y RedisKept) int {
		return cmp.Or(cmp.Compare(y.Squares, x.Squares), cmp.Compare(x.What, y.What))
	})
	return all
}

// mostlyRan is the least part of the time in commands that the thread must have been on a CPU for the times to be the commands' own.
const mostlyRan = .8

// OnCPUShare returns the part of commands' time in which the thread was on a CPU, 1 at most. Commands are timed by the clock,
// so that any command takes long on a thread that the host does not run. NaN unknown.
func (r *Redis) OnCPUShare() float64 { return math.Min(1, r.ranShare()) }

// ranShare returns the CPU time of the main thread as a share of the time in commands. It may exceed 1, because the thread also
// does other things.
func (r *Redis) ranShare() float64 {
	if !r.Main.Known() || !(r.InCommands.Number >= leastInCommands) {
		return math.NaN()
	}
	return r.Main.Number / r.InCommands.Number
}

const (
	// leastInCommands is the share of the time in commands below which the CPU time says nothing.
	leastInCommands = .02
	// hardlyMore × the time in commands is the CPU time of a thread that does little else, or did not always run: a thread with
	// short commands uses twice as much to read and answer them.
	hardlyMore = 1.1
	// heldFor is the part of the time up to which a thread with enough CPU time may have been kept off its CPU.
	heldFor = .05
	// turn is the least time (ns) that the kernel runs a thread before another's turn (the scheduler's base slice is about
	// 3 ms), which bounds how often it can be taken off its CPU.
	turn = 3e6
	// moreThanChance × the long calls that a command's part of all time in commands would explain make the command long by itself.
	moreThanChance = 3
)

// mayBeHeld reports whether the host may have kept the thread from running for as long as a command's long calls took.
func (r *Redis) mayBeHeld(k *RedisKept) bool {
	ran := r.ranShare()
	if ran < mostlyRan {
		return true
	}
	if delay := ProcessOf(r.b, r.subject, r.window).RunDelay; delay.Known() {
		return delay.Number >= k.Share()
	}
	return ran < hardlyMore && k.Share() < heldFor
}

// byChance reports whether a command that is short on average has long calls only as all commands have, as often as it is under
// way.
func (r *Redis) byChance(k *RedisKept, logged []RedisKept, ran float64) bool {
	var calls, spent, of float64
	long := make(map[string]float64)
	seen := make(map[string]bool)
	for _, x := range slices.Backward(logged) {
		if !seen[x.What] {
			seen[x.What] = true
			calls += x.Count
		}
		long[x.What] = math.Max(long[x.What], x.Share())
	}
	for _, c := range r.Commands {
		name := strings.ToUpper(strings.ReplaceAll(c.Name, "|", " "))
		short := math.Max(0, stats.ZeroIfNaN(c.Time.Number)-stats.ZeroIfNaN(long[name]))
		spent += short
		if name == k.What {
			of = short
			if c.Each.Number*ran >= redisShort {
				return false
			}
		}
	}
	turns := of * k.Over / turn
	return spent > 0 && k.Count < moreThanChance*calls*of/spent && k.Count <= 1+turns
}

// allButAll is the part of the counted time that the slow log must cover to be preferred.
const allButAll = .8

// fewEntries is the number of slow log entries below which their frequency is unknown.
const fewEntries = 5

// slowLogKept returns the slow log by command: over the time between two answers to INFO or, without these, over the time
// that the log covers.
func (r *Redis) slowLogKept() (all []RedisKept) {
	w, over := r.Over, r.Seconds*1e9
	if r.Single || r.Looks < 2 {
		entries := r.Slow.Entries
		w, over = Whole, math.NaN()
		if len(entries) >= fewEntries {
			if span := float64(entries[len(entries)-1].At - (entries[0].At - entries[0].Took)); span > 0 {
				over = span
			}
		}
	}
	by := make(map[string]int)
	for _, e := range r.Slow.Entries {
		if e.At < w.From || e.At-e.Took > w.Until || float64(e.Took) < RedisStall {
			continue
		}
		name, _, _ := strings.Cut(e.Command, " ")
		if parts := strings.Fields(e.Command); len(parts) > 1 && !redisScripts[strings.ToLower(name)] {
			name = e.Command
		}
		i, ok := by[name]
		if !ok {
			i = len(all)
			by[name] = i
			all = append(all, RedisKept{What: name, Over: over, Origin: e.Origin})
		}
		all[i].Add(1, float64(e.Took))
	}
	return all
}

// SlowOf returns the slow log's sum of a command, nil if it has none.
func (r *Redis) SlowOf(command string) *RedisSlowCommand {
	var of *RedisSlowCommand
	for i := range r.Slow.ByCommand {
		c := &r.Slow.ByCommand[i]
		if name, _, _ := strings.Cut(c.Command, " "); c.Command == command || name == command {
			if of == nil || c.Total > of.Total {
				of = c
			}
		}
	}
	return of
}

// Event returns a kind of latency monitor event as time that occupied the thread, over the time between two answers to INFO or,
// without these, over the span of the events.
func (r *Redis) Event(e RedisEvent) RedisKept {
	k := RedisKept{What: e.Name, Count: float64(e.Count), Total: float64(e.Total), Longest: float64(e.Longest), Over: math.NaN(), Origin: e.Origin}
	k.Squares = k.Total * k.Total / math.Max(1, k.Count)
	if !r.Single && r.Looks > 1 {
		k.Count, k.Total, k.Squares = e.Within.Count, e.Within.Total, e.Within.Squares
		k.Over = r.Seconds * 1e9
	} else if e.Span > 0 { // n events span n − 1 intervals
		k.Over = float64(e.Span) * k.Count / (k.Count - 1)
	}
	return k
}

// WaitsWhile returns the waits of PINGs while a field of INFO was above 0 at the answers before and after, and otherwise.
func (r *Redis) WaitsWhile(fields ...string) (while, otherwise RedisWaits) {
	s := r.b.SeriesOf(r.subject, evidence.SeriesRedisPing)
	none := RedisWaits{Unknown, Unknown, Unknown, Unknown}
	if s == nil {
		return none, none
	}
	var n, late [2]float64
	for i, at := range s.T {
		if at < r.window.From || at >= r.window.Until {
			continue
		}
		of := 0
		for _, name := range fields {
			if k := r.told.curveOf(name); k != nil && (k.At(at) > 0 || k.At(at+1e9) > 0) {
				of = 1
			}
		}
		for left := s.V[i]; left > 0; left -= pingEvery {
			n[of]++
			if left >= RedisStall {
				late[of]++
			}
		}
	}
	share := func(i int) RedisWaits {
		x := none
		if n[i] >= fewPings {
			x.Late = Value{Number: late[i] / n[i], Origin: s.Origin, Watched: 1}
		}
		return x
	}
	return share(1), share(0)
}

// RedisScript says whether a command runs a program: EVAL, FCALL and similar.
func RedisScript(command string) bool { return redisScripts[strings.ToLower(command)] }

// Forks returns the number of forks since the server's start, or the last reset; NaN unknown.
func (r *Redis) Forks() float64 { return r.told.lastOf(evidence.SeriesRedisForks).Number }

// LooksAbove returns the part of the answers with a figure in which it was at least so large, NaN without any.
func (r *Redis) LooksAbove(name string, least float64) float64 {
	k := r.told.fields[name]
	if !k.Known() {
		return math.NaN()
	}
	n := 0
	for _, v := range k.V {
		if v >= least {
			n++
		}
	}
	return float64(n) / float64(len(k.V))
}

// Highest is the largest value of a curve, NaN of none.
func Highest(k *Curve) float64 {
	if !k.Known() {
		return math.NaN()
	}
	return slices.Max(k.V)
}
