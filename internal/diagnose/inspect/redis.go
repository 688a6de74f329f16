package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// mostRows is how many rows of a table are listed; the largest come first.
const mostRedisRows = 15

// redisTables returns what a Redis server reported about itself in an artifact: what its commands
// cost, which were slow, what its latency monitor saw, where its clients are.
func redisTables(b *evidence.Bundle, a evidence.ArtifactID) (out []Table) {
	for i := range b.Subjects {
		if told := redisSubject(b, a, evidence.SubjectID(i)); told {
			if r := metrics.RedisOf(b, evidence.SubjectID(i), metrics.Whole); r != nil {
				out = append(out, redisFigures(r)...)
			}
		}
	}
	return out
}

// redisSubject says whether an artifact holds a server's reports about itself.
func redisSubject(b *evidence.Bundle, a evidence.ArtifactID, id evidence.SubjectID) bool {
	for _, c := range b.Coverage {
		switch c.Kind {
		case evidence.CoverRedis, evidence.CoverRedisSlow, evidence.CoverRedisLatency, evidence.CoverRedisClients:
			if of, ok := c.Origin.Artifact(); ok && of == a && c.Subject == id {
				return true
			}
		}
	}
	return false
}

func redisFigures(r *metrics.Redis) (out []Table) {
	add := func(title string, columns []string, rows [][]string) {
		if len(rows) > 0 {
			out = append(out, Table{Title: title, Columns: columns, Rows: rows[:min(len(rows), mostRedisRows)]})
		}
	}
	since := ""
	if r.Single {
		since = " since its start"
	}
	if r.Looks > 0 || r.Used.Known() { // parts of INFO may be posted without the one that counts the server's time
		add(strings.TrimSpace("server "+r.Release.String())+since, []string{"", "figure"}, redisSummary(r))
	}
	var rows [][]string
	slow := slices.ContainsFunc(r.Commands, func(c metrics.RedisCommand) bool { return c.Slow.Number > 0 })
	for _, c := range r.Commands {
		calls := redisRate(c.Calls)
		if !c.Calls.Known() {
			calls = units.Count(int64(c.Count))
		}
		row := []string{c.Name, calls, redisShare(c.Time), redisTime(c.Each), redisTime(c.P99), redisTime(c.P999), redisRate(c.Failed)}
		if slow {
			row = append(row, redisNumber(c.Slow), redisTime(c.SlowTime), redisTime(c.SlowMost))
		}
		rows = append(rows, row)
	}
	p99 := "p99 since its start"
	if len(r.Commands) > 0 && r.Commands[0].Windowed {
		p99 = "p99 ≤"
	}
	columns := []string{"command", "calls", "of the time", "each", p99, "p99.9", "failed"}
	if slow {
		columns = append(columns, "in the slow log", "these together", "longest since its start")
	}
	add("commands"+since, columns, rows)
	rows = nil
	for _, s := range r.Slow.ByCommand {
		size := ""
		if s.Bytes > 0 {
			size = units.Size(float64(s.Bytes))
		}
		rows = append(rows, []string{s.Command, fmt.Sprint(s.Count), units.Time(float64(s.Total)), units.Time(float64(s.Longest)), fmt.Sprint(s.Arguments), size, strings.Join(s.Hosts, ", ")})
	}
	if len(rows) > 1 {
		var all metrics.RedisSlowCommand
		for _, s := range r.Slow.ByCommand {
			all.Count, all.Total, all.Longest = all.Count+s.Count, all.Total+s.Total, max(all.Longest, s.Longest)
		}
		rows = append(rows[:min(len(rows), mostRedisRows-1)], []string{"all", fmt.Sprint(all.Count), units.Time(float64(all.Total)), units.Time(float64(all.Longest)), "", "", ""})
	}
	add("slow log", []string{"command", "calls", "together", "longest", "its arguments", "most bytes of arguments", "from"}, rows)
	rows = nil
	for _, e := range r.Events {
		rows = append(rows, []string{e.Name, fmt.Sprint(e.Count), units.Time(float64(e.Longest)), units.Time(float64(e.AllTime))})
	}
	add("latency monitor", []string{"event", "times", "longest", "longest since its start"}, rows)
	rows = nil
	for _, h := range r.Hosts {
		rows = append(rows, []string{h.Address, redisNumber(h.Connections), redisNumber(h.Most), redisNumber(h.Young), redisNumber(h.Blocked), redisSize(h.Output)})
	}
	add("clients", []string{"address", "connections", "at most", "younger than 2 s", "that wait on purpose", "answers not taken, at most"}, rows)
	return out
}

func redisSummary(r *metrics.Redis) (rows [][]string) {
	for _, f := range []struct{ what, figure string }{
		{"commands", redisRate(r.Ops)},
		{"CPU of the main thread", redisShare(r.Main)},
		{"  in the kernel", redisShare(r.MainSystem)},
		{"event loop busy", redisShare(r.Loop)},
		{"clients", redisNumber(r.Clients)},
		{"connections opened", redisRate(r.Connections)},
		{"sent", redisBytes(r.NetOut)},
		{"received", redisBytes(r.NetIn)},
		{"memory used", redisSize(r.Used)},
		{"resident", redisSize(r.RSS)},
		{"maxmemory", redisSize(r.MaxMemory)},
		{"keys", redisNumber(r.Keys)},
		{"keys evicted", redisRate(r.Evicted)},
		{"forks", redisNumber(r.Fork.Count)},
		{"longest fork", redisTime(r.Fork.Most)},
		{"copied on write, at most", redisSize(r.Fork.Copied)},
		{"writes that waited for fsync", redisNumber(r.AOF.Delayed)},
		{"PING of the recorder, at most", redisTime(r.PingMost)},
	} {
		if f.figure != "" && !(f.what == "maxmemory" && r.MaxMemory.Number == 0) {
			rows = append(rows, []string{f.what, f.figure})
		}
	}
	return rows
}

func ifKnown(v metrics.Value, text func(float64) string) string {
	if !v.Known() {
		return ""
	}
	return text(v.Number)
}

func redisNumber(v metrics.Value) string { return ifKnown(v, units.Num) }
func redisSize(v metrics.Value) string   { return ifKnown(v, units.Size) }
func redisRate(v metrics.Value) string {
	return ifKnown(v, func(n float64) string { return units.Num(n) + " /s" })
}
func redisBytes(v metrics.Value) string {
	return ifKnown(v, func(n float64) string { return units.Size(n) + "/s" })
}
func redisShare(v metrics.Value) string {
	return ifKnown(v, func(n float64) string { return units.Percent(n) })
}
func redisTime(v metrics.Value) string {
	return ifKnown(v, func(n float64) string { return units.Time(n) })
}
