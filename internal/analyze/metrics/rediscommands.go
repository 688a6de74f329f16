package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
)

// RedisCommand is the cost of a server's calls of one command. The time is that of the thread that runs them, without
// intended waits for other clients (BLPOP).
type RedisCommand struct {
	Name             string // in lower case: "config|get"
	Calls            Value  // 1/s
	Count            float64
	Time             Value // share of Over
	Each             Value // ns a call
	Spent            Value // ns, total of Count calls
	Rejected, Failed Value // 1/s
	P50, P99, P999   Value // ns
	Most             Value // ns: upper end of the bucket with the slowest call
	Slow             Value // calls that the slow log took, of Count
	SlowTime         Value // ns, total of these
	SlowMost         Value // ns, the longest of these since the server's start
	Windowed         bool  // the quantiles are of Over, from buckets that double: upper ends; else since the start

	Script   bool // EVAL, FCALL and similar
	Nested   bool // its time includes other commands that it called, which are counted with those, too
	Blocking bool // it may wait for other clients on purpose

	buckets []bucket // of its calls, if Windowed
}

// redisScripts run programs, which call other commands; EXEC calls commands, too.
var redisScripts = map[string]bool{"eval": true, "evalsha": true, "eval_ro": true, "evalsha_ro": true, "fcall": true, "fcall_ro": true}

// redisBlocking are commands that wait for other clients by design: commands flagged "blocking" in src/commands/*.json, and
// those that only listen.
var redisBlocking = map[string]bool{
	"blpop": true, "brpop": true, "brpoplpush": true, "blmove": true, "blmpop": true, "bzpopmin": true, "bzpopmax": true, "bzmpop": true,
	"xread": true, "xreadgroup": true, "wait": true, "waitaof": true,
	"subscribe": true, "psubscribe": true, "ssubscribe": true, "monitor": true, "sync": true, "psync": true,
}

// Command returns a command by its name, nil if it was not called.
func (r *Redis) Command(name string) *RedisCommand {
	if i := slices.IndexFunc(r.Commands, func(c RedisCommand) bool { return c.Name == name }); i >= 0 {
		return &r.Commands[i]
	}
	return nil
}

func (r *Redis) readCommands(w Window) {
	t := r.told
	buckets := r.listBuckets()
	var nested, others float64
	for name := range t.namesUnder(evidence.SeriesRedisCalls) {
		of := func(series string) Value {
			if !(r.Seconds > 0) { // the counters' start is unknown
				return t.lastOf(series + ":" + name)
			}
			return t.totalGrowth(series + ":" + name)
		}
		calls, spent, own := of(evidence.SeriesRedisCalls), of(evidence.SeriesRedisCallTime), t.totalGrowth(evidence.RedisOwn+name)
		if own.Known() && calls.Number > 0 {
			left := max(0, calls.Number-own.Number)
			spent.Number *= left / calls.Number
			calls.Number = left
		}
		if !(calls.Number > 0) && !(of(evidence.SeriesRedisCallsRejected).Number > 0) {
			continue
		}
		c := RedisCommand{Name: name, Count: calls.Number, Calls: calls.multiplyBy(1 / r.Seconds), Time: spent.multiplyBy(1e-6 / r.Seconds), Each: Unknown,
			Rejected: of(evidence.SeriesRedisCallsRejected).multiplyBy(1 / r.Seconds), Failed: of(evidence.SeriesRedisCallsFailed).multiplyBy(1 / r.Seconds),
			Spent: spent.multiplyBy(1e3), Script: redisScripts[name], Nested: redisScripts[name] || name == "exec", Blocking: redisBlocking[name]}
		c.Slow, c.SlowTime, c.SlowMost = of(evidence.SeriesRedisCallsSlow), of(evidence.SeriesRedisCallsSlowTime).multiplyBy(1e6), t.lastOf(evidence.SeriesRedisCallsSlowMost+":"+name).multiplyBy(1e6)
		if calls.Number > 0 {
			c.Each = spent.multiplyBy(1e3 / calls.Number)
		}
		c.readQuantiles(t, buckets[name])
		if c.Nested {
			nested += stats.ZeroIfNaN(c.Time.Number)
		} else {
			others += stats.ZeroIfNaN(c.Time.Number)
		}
		r.Commands = append(r.Commands, c)
	}
	sorting.Short(r.Commands, func(x, y RedisCommand) int {
		return cmp.Or(cmp.Compare(stats.ZeroIfNaN(y.Time.Number), stats.ZeroIfNaN(x.Time.Number)), cmp.Compare(x.Name, y.Name))
	})
	r.InCommands = r.LoopCommands
	if !(r.Seconds > 0) {
		for i := range r.Commands {
			c := &r.Commands[i]
			c.Calls, c.Time, c.Rejected, c.Failed = Unknown, Unknown, Unknown, Unknown
		}
		sorting.Short(r.Commands, func(x, y RedisCommand) int {
			return cmp.Or(cmp.Compare(stats.ZeroIfNaN(y.Spent.Number), stats.ZeroIfNaN(x.Spent.Number)), cmp.Compare(x.Name, y.Name))
		})
		return
	}
	if !r.InCommands.Known() && len(r.Commands) > 0 {
		// Which of the other commands were called by scripts is unknown: it may be all of them.
		r.InCommands = Value{Number: min(1, max(nested, others)), Origin: r.Commands[0].Time.Origin, Watched: t.watched}
	}
}

// bucket is the number of calls that took up to some time, and longer than the previous bucket's.
type bucket struct {
	upTo  float64 // ns
	calls float64
}

// listBuckets returns for each command the buckets of LATENCY HISTOGRAM, of the calls between its first answer and its last;
// nil if there is one answer.
func (r *Redis) listBuckets() map[string][]bucket {
	t := r.told
	first, last := int64(1<<63-1), int64(-1<<63)
	all := slices.Collect(t.namesUnder(evidence.SeriesRedisHistogramBucket))
	for _, of := range all {
		k := t.fields[evidence.SeriesRedisHistogramBucket+":"+of]
		first, last = min(first, k.T[0]), max(last, k.T[len(k.T)-1])
	}
	if last <= first {
		return nil
	}
	out := make(map[string][]bucket)
	for _, of := range all {
		command, text, _ := strings.Cut(of, " ")
		upTo, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		k := t.fields[evidence.SeriesRedisHistogramBucket+":"+of]
		n := counterGrowth(k.V[0], k.V[len(k.V)-1])
		if k.T[0] > first { // no call had taken so long before
			n = k.V[len(k.V)-1]
		}
		if n > 0 {
			out[command] = append(out[command], bucket{upTo * 1e3, n})
		}
	}
	for _, b := range out {
		sorting.Short(b, func(x, y bucket) int { return cmp.Compare(x.upTo, y.upTo) })
	}
	return out
}

// readQuantiles takes the quantiles from the buckets, else from INFO.
func (c *RedisCommand) readQuantiles(t *redisTold, of []bucket) {
	c.Most = Unknown
	c.P50, c.P99, c.P999 = t.lastOf(evidence.SeriesRedisCallP50+":"+c.Name).multiplyBy(1e3), t.lastOf(evidence.SeriesRedisCallP99+":"+c.Name).multiplyBy(1e3),
		t.lastOf(evidence.SeriesRedisCallP999+":"+c.Name).multiplyBy(1e3)
	var all float64
	for _, b := range of {
		all += b.calls
	}
	if all == 0 {
		return
	}
	origin := t.fields[evidence.SeriesRedisHistogramBucket+":"+c.Name+" "+strconv.FormatFloat(of[0].upTo/1e3, 'f', -1, 64)].Origin
	at := func(q float64) Value {
		var sum float64
		for _, b := range of {
			if sum += b.calls; sum >= q*all {
				return Value{Number: b.upTo, Origin: origin, Watched: t.watched}
			}
		}
		return Unknown
	}
	c.Windowed, c.buckets = true, of
	c.P50, c.P99, c.P999, c.Most = at(.5), at(.99), at(.999), at(1)
}

// RedisHost is a host with clients of a server.
type RedisHost struct {
	Address           string // "10.0.0.7"; "unix" of a UNIX socket
	Connections, Most Value  // mean of all answers, and maximum
	Young, Blocked    Value  // of Connections, mean: opened within a second; in BLPOP and similar
	Output, Query     Value  // bytes in output and query buffers, totals, maximum
	Commands          map[string]float64
}

// readHosts reads CLIENT LIST.
func (r *Redis) readHosts() {
	t := r.told
	looks := make(map[int64]bool)
	for name := range t.namesUnder(evidence.SeriesRedisHostClients) {
		for _, at := range t.fields[evidence.SeriesRedisHostClients+":"+name].T {
			looks[at] = true
		}
	}
	n := float64(len(looks))
	mean := func(series string) Value {
		k := t.fields[series]
		if k == nil {
			return Unknown
		}
		var all float64
		for _, v := range k.V {
			all += v
		}
		return t.valueOf(k, all/n) // an answer without a value counts as 0
	}
	most := t.mostEver
	at := make(map[string]int)
	for _, a := range slices.Sorted(t.namesUnder(evidence.SeriesRedisHostClients)) {
		at[a] = len(r.Hosts)
		r.Hosts = append(r.Hosts, RedisHost{Address: a, Commands: make(map[string]float64),
			Connections: mean(evidence.SeriesRedisHostClients + ":" + a), Most: most(evidence.SeriesRedisHostClients + ":" + a),
			Young: mean(evidence.SeriesRedisHostYoung + ":" + a), Blocked: mean(evidence.SeriesRedisHostBlocked + ":" + a),
			Output: most(evidence.SeriesRedisHostOutput + ":" + a), Query: most(evidence.SeriesRedisHostQuery + ":" + a)})
	}
	for of := range t.namesUnder(evidence.SeriesRedisHostLast) {
		a, command, _ := strings.Cut(of, " ")
		if i, ok := at[a]; ok {
			r.Hosts[i].Commands[command] = mean(evidence.SeriesRedisHostLast + ":" + of).Number
		}
	}
	sorting.Short(r.Hosts, func(x, y RedisHost) int {
		return cmp.Compare(stats.ZeroIfNaN(y.Connections.Number), stats.ZeroIfNaN(x.Connections.Number))
	})
}

// RedisSlowLog is SLOWLOG: calls that took longer than slowlog-log-slower-than, without their intended waits.
type RedisSlowLog struct {
	Over      Value       // ns above which a call is logged; below 0: none is; Unknown
	Entries   []RedisSlow // by their end
	Lost      int         // entries that were dropped before they were read
	Watched   bool        // the log was read: no entries means no slow calls
	ByCommand []RedisSlowCommand
	Origin    evidence.Origin
}

// RedisSlow is an entry of the slow log.
type RedisSlow struct {
	Command    string // "KEYS", "CONFIG GET"
	At, Within int64  // ns: when the call ended, with the uncertainty before At
	Took       int64  // ns
	Arguments  int
	Bytes      int64  // of all arguments, -1 unknown
	Client     string // "10.0.0.7:51234", "" unknown
	Origin     evidence.Origin
}

// RedisSlowCommand sums up the slow log's calls of a command.
type RedisSlowCommand struct {
	Command        string
	Count          int
	Total, Longest int64    // ns
	Hosts          []string // addresses without ports, most time first, 5 at most
	Arguments      int      // of the longest call
	Bytes          int64    // of the call with most
	Origin         evidence.Origin
}

// RedisEvent is a kind of event of the server's latency monitor.
type RedisEvent struct {
	Name           string // as Redis calls it: "fork", "command", "aof-fsync-always"
	Count          int
	Total, Longest int64     // ns
	AllTime        int64     // ns: the longest since the server's start, 0 unknown
	Span           int64     // ns from the first event to the last, 0: there is one
	Within         RedisKept // the events between the first answer to INFO and the last
	Origin         evidence.Origin
}

// readSlowLog reads SLOWLOG and LATENCY.
func (r *Redis) readSlowLog(w Window) {
	s := &r.Slow
	s.Over = Unknown
	if f, ok := r.Setting("slowlog-log-slower-than"); ok {
		s.Over = Value{Number: f.Number * 1e3, Origin: f.Origin, Watched: 1}
		if f.Number < 0 {
			s.Over.Number = -1
		}
	}
	for _, c := range r.b.Covered(r.subject, evidence.CoverRedisSlow) {
		s.Watched, s.Origin = s.Over.Number != -1, c.Origin
	}
	v := &r.b.Intervals
	by, hosts := make(map[string]*RedisSlowCommand), make(map[string]map[string]int64)
	for _, i := range v.Select(evidence.Command, r.subject) {
		if v.End[i] < w.From || v.Start[i] >= w.Until {
			continue
		}
		e := RedisSlow{Command: r.b.Names.Text(v.Cause.At(i)), At: v.End[i], Took: v.End[i] - v.Start[i], Bytes: -1, Origin: v.Origin.At(i),
			Client: r.b.Names.Text(v.NameOf(i, evidence.ClientAddress))}
		if n, ok := v.Get(i, evidence.Arguments); ok {
			e.Arguments = int(n)
		}
		if n, ok := v.Get(i, evidence.ArgumentBytes); ok {
			e.Bytes = int64(n)
		}
		if n, ok := v.Get(i, evidence.WaitedWithin); ok {
			e.Within = max(0, int64(n)-e.Took)
		}
		s.Entries = append(s.Entries, e)
		c := by[e.Command]
		if c == nil {
			c = &RedisSlowCommand{Command: e.Command, Origin: e.Origin}
			by[e.Command], hosts[e.Command] = c, make(map[string]int64)
		}
		c.Count++
		c.Total += e.Took
		c.Bytes = max(c.Bytes, e.Bytes)
		if e.Took > c.Longest {
			c.Longest, c.Arguments, c.Origin = e.Took, e.Arguments, e.Origin
		}
		if e.Client != "" {
			hosts[e.Command][RedisAddress(e.Client)] += e.Took
		}
	}
	for name, c := range by {
		took := hosts[name]
		c.Hosts = slices.SortedFunc(maps.Keys(took), func(x, y string) int { return cmp.Or(cmp.Compare(took[y], took[x]), cmp.Compare(x, y)) })
		c.Hosts = c.Hosts[:min(len(c.Hosts), 5)]
		s.ByCommand = append(s.ByCommand, *c)
	}
	sorting.Short(s.ByCommand, func(x, y RedisSlowCommand) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Command, y.Command))
	})
	r.readEvents(w)
}

func (r *Redis) readEvents(w Window) {
	v := &r.b.Intervals
	by, first, last := make(map[string]*RedisEvent), make(map[string]int64), make(map[string]int64)
	event := func(name string, origin evidence.Origin) *RedisEvent {
		if by[name] == nil {
			by[name] = &RedisEvent{Name: name, Origin: origin}
		}
		return by[name]
	}
	for _, i := range v.Select(evidence.ServerStall, r.subject) {
		if v.End[i] < w.From || v.Start[i] >= w.Until {
			continue
		}
		e := event(r.b.Names.Text(v.Cause.At(i)), v.Origin.At(i))
		e.Count++
		e.Total += v.End[i] - v.Start[i]
		e.Longest = max(e.Longest, v.End[i]-v.Start[i])
		if first[e.Name] == 0 {
			first[e.Name] = v.Start[i]
		}
		first[e.Name] = min(first[e.Name], v.Start[i])
		last[e.Name] = max(last[e.Name], v.End[i])
		if o := r.told.over; v.End[i] >= o.From && v.Start[i] <= o.Until {
			e.Within.Add(1, float64(v.End[i]-v.Start[i]))
		}
	}
	for _, f := range r.b.Facts {
		if f.Subject == r.subject && f.Key == evidence.FactRedisWorst {
			event(f.Value, f.Origin).AllTime = int64(f.Number)
		}
	}
	for _, e := range by {
		if e.Count > 1 {
			e.Span = last[e.Name] - first[e.Name]
		}
		r.Events = append(r.Events, *e)
	}
	sorting.Short(r.Events, func(x, y RedisEvent) int { return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Name, y.Name)) })
}

// RedisAddress returns a client's address without its port: "10.0.0.7"; "unix" for a UNIX socket, whose path is followed by a 0
// in place of the port.
func RedisAddress(client string) string {
	i := strings.LastIndexByte(client, ':')
	if i < 0 {
		return client
	}
	if strings.HasPrefix(client, "/") || i == 0 && client[i+1:] == "0" {
		return "unix"
	}
	return strings.Trim(client[:i], "[]")
}
