package redis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
	"github.com/unstall/unstall/internal/diagnose/check/redis"
)

// Each cause is found at its threshold, and not just below it.
func TestEdges(t *testing.T) {
	type grow = map[string]float64
	two := func(rates grow, lines func(s int) []string) []string {
		var all []string
		for _, s := range []int{0, 30} {
			of := []string{stat("get", s, 1900, 2)}
			if lines != nil {
				of = append(of, lines(s)...)
			}
			all = append(all, info(s, rates, of...))
		}
		return all
	}
	same := func(lines ...string) func(int) []string { return func(int) []string { return lines } }
	forks := func(each, us int) func(int) []string { // one in so many seconds
		return func(s int) []string {
			return []string{fmt.Sprintf("latest_fork_usec:%d", us), fmt.Sprintf("total_forks:%d", 2+s/each)}
		}
	}
	keys := func(perSecond, us float64) func(int) []string {
		return func(s int) []string { return []string{stat("keys", s, perSecond, us)} }
	}
	const cache, written = "maxmemory:50000000", "aof_enabled:1"
	full := same(cache, "maxmemory_policy:allkeys-lru")
	for _, x := range []struct {
		id         string
		about      string
		below, met []string
	}{
		{"redis.slow-command", "commands of 10 ms for half of a per cent of the time", two(nil, keys(.2, 24_000)), two(nil, keys(.2, 26_000))},
		{"redis.slow-command", "commands of 10 ms", two(nil, keys(1, 9_500)), two(nil, keys(1, 10_500))},
		{"redis.slow-command", "two of them", []string{info(0, nil, stat("get", 0, 1900, 2)), info(30, nil, stat("get", 30, 1900, 2), "cmdstat_keys:calls=1,usec=200000")},
			[]string{info(0, nil, stat("get", 0, 1900, 2)), info(30, nil, stat("get", 30, 1900, 2), "cmdstat_keys:calls=2,usec=400000")}},
		{"redis.fork", "forks for half of a per cent of the time", two(nil, forks(3, 14_500)), two(nil, forks(3, 15_500))},
		{"redis.fork", "forks of 10 ms", two(nil, forks(1, 9_500)), two(nil, forks(1, 10_500))},
		{"redis.aof-fsync", "two delayed writes between two answers", two(grow{"aof_delayed_fsync": 1. / 30}, same(written)), two(grow{"aof_delayed_fsync": 2. / 30}, same(written))},
		{"redis.memory-limit", "one in 200 commands refused", two(grow{"errorstat_OOM": 9.5}, same(cache)), two(grow{"errorstat_OOM": 10.5}, same(cache))},
		{"redis.memory-limit", "a tenth of the lookups misses", two(grow{"evicted_keys": 100, "keyspace_misses": 190}, full), two(grow{"evicted_keys": 100, "keyspace_misses": 210}, full)},
		{"redis.memory-limit", "an eviction for ten misses", two(grow{"evicted_keys": 38, "keyspace_misses": 400}, full), two(grow{"evicted_keys": 42, "keyspace_misses": 400}, full)},
		{"redis.connections", "100 connections a second", two(grow{"total_connections_received": 98, "total_commands_processed": 250}, nil), two(grow{"total_connections_received": 102, "total_commands_processed": 250}, nil)},
		{"redis.connections", "one for three commands", two(grow{"total_connections_received": 120, "total_commands_processed": 420}, nil), two(grow{"total_connections_received": 120, "total_commands_processed": 380}, nil)},
		{"redis.cpu-saturated", "80 % of a CPU", two(grow{"used_cpu_user_main_thread": .39, "used_cpu_sys_main_thread": .39, "total_commands_processed": 300_000}, nil),
			two(grow{"used_cpu_user_main_thread": .41, "used_cpu_sys_main_thread": .41, "total_commands_processed": 300_000}, nil)},
		{"redis.big-value", "a value of a MiB", two(grow{"total_net_output_bytes": 4e8}, same("client_recent_max_output_buffer:1000000")), two(grow{"total_net_output_bytes": 4e8}, same("client_recent_max_output_buffer:1050000"))},
		{"redis.big-value", "a tenth of the main thread's time for bytes", two(grow{"total_net_output_bytes": 9.5e7}, same("client_recent_max_output_buffer:8388608")), two(grow{"total_net_output_bytes": 1.05e8}, same("client_recent_max_output_buffer:8388608"))},
	} {
		if v := judged(t, x.below...)[x.id]; v.State == check.Supported {
			t.Errorf("%s, not quite %s: %s %s", x.id, x.about, v.Title, v.Summary)
		}
		if v := judged(t, x.met...)[x.id]; v.State != check.Supported {
			t.Errorf("%s, %s: %s, %s", x.id, x.about, v.State, v.Summary)
		}
	}
}

// One answer counts delayed syncs since the start: each was a wait of 2 s, so that three in 1,000 s are half of a per cent of the time. Two
// answers count those between them, however long the server has run.
func TestDelayedSyncsOfOneAnswer(t *testing.T) {
	for _, x := range []struct {
		delayed, uptime int
		want            string
	}{
		{0, 1000, check.Inconclusive},
		{1, 300, check.Inconclusive}, // one is no habit, though it is 0.7 % of the time
		{2, 1000, check.Inconclusive},
		{3, 1000, check.Supported},
		{2, 700, check.Supported},
		{3, 86_400, check.Inconclusive},
		{216, 86_400, check.Supported},
		{214, 86_400, check.Inconclusive},
	} {
		text := fmt.Sprintf("# Server\nredis_version:7.0.15\nprocess_id:7\nserver_time_usec:1795423700000000\nuptime_in_seconds:%d\n# Stats\ntotal_commands_processed:%d\naof_enabled:1\naof_delayed_fsync:%d\n", x.uptime, 2000*x.uptime, x.delayed)
		if v := judged(t, text)["redis.aof-fsync"]; v.State != x.want {
			t.Errorf("%d delayed in %d s: %s, want %s: %s %s", x.delayed, x.uptime, v.State, x.want, v.Title, v.Summary)
		}
	}
}

// What servers tell of themselves decides on both sides of each threshold, by its own figure, and leaves open what one answer cannot tell.
func TestToldEdges(t *testing.T) {
	type grow = map[string]float64
	two := func(rates grow, lines ...string) []string {
		return []string{info(0, rates, append(lines, stat("get", 0, 1900, 2))...), info(30, rates, append(lines, stat("get", 30, 1900, 2))...)}
	}
	unsent := func(each int) (text string) {
		for i := range 4 {
			text += fmt.Sprintf("id=%d addr=10.0.0.7:%d laddr=10.0.0.9:6379 fd=%d name= age=300 idle=0 flags=N db=0 sub=0 psub=0 multi=-1 qbuf=0 qbuf-free=0 obl=0 oll=90 omem=%d events=rw cmd=get\n", 20+i, 51000+i, 10+i, each)
		}
		return text
	}
	arrive := func(n, each int, flags string) (text string) {
		for i := range n {
			text += fmt.Sprintf("id=%d addr=10.0.0.7:%d laddr=10.0.0.9:6379 fd=%d name= age=300 idle=0 flags=%s db=0 sub=0 psub=0 multi=-1 qbuf=%d qbuf-free=0 obl=0 oll=0 omem=0 events=r cmd=set\n", 20+i, 51000+i, 10+i, flags, each)
		}
		return text
	}
	closed := func(flags string, unsent int) string {
		return fmt.Sprintf("7:M 23 Nov 2026 08:46:14.001 # Client id=20 addr=10.0.0.7:51000 fd=10 name= age=300 idle=0 flags=%s db=0 sub=0 psub=1 multi=-1 qbuf=0 qbuf-free=0 obl=0 oll=90 omem=%d events=rw cmd=psubscribe scheduled to be closed ASAP for overcoming of output buffer limits.\n", flags, unsent)
	}
	sends := func(perSecond float64, each int, more grow) []string {
		rates := grow{"total_net_output_bytes": perSecond}
		for k, v := range more {
			rates[k] = v
		}
		return append(two(rates), unsent(each))
	}
	one := func(lines ...string) []string { return []string{info(0, nil, lines...)} }
	busy := func(cores float64) grow {
		return grow{"used_cpu_user_main_thread": cores / 2, "used_cpu_sys_main_thread": cores / 2, "total_commands_processed": 300_000}
	}
	clients := func(a, b, limit int, opened float64) []string {
		rates := grow{"total_connections_received": opened}
		return []string{info(0, rates, fmt.Sprintf("connected_clients:%d", a), fmt.Sprintf("maxclients:%d", limit)), info(30, rates, fmt.Sprintf("connected_clients:%d", b), fmt.Sprintf("maxclients:%d", limit))}
	}
	without := func(texts []string, fields ...string) (out []string) { // as older versions have none, or where a section alone was asked for
		for _, text := range texts {
			lines := strings.Split(text, "\n")
			out = append(out, strings.Join(slices.DeleteFunc(lines, func(l string) bool {
				name, _, _ := strings.Cut(l, ":")
				return slices.Contains(fields, name)
			}), "\n"))
		}
		return out
	}
	refuse := grow{"rejected_connections": 2. / 30}
	for _, x := range []struct {
		cause check.Check
		texts []string
		checktest.Row
	}{
		{redis.MemoryLimit, without(two(nil, "maxmemory:60000000"), "evicted_keys"), checktest.Row{About: "evictions were not told", Rule: check.NotRecorded}},
		{redis.MemoryLimit, without(two(grow{"errorstat_OOM": 10.5}, "maxmemory:0"), "maxmemory"), checktest.Row{About: "the limit was not told", Rule: check.Matters, Says: "it has reached its memory limit and may evict nothing"}},
		{redis.MemoryLimit, without(two(nil, "maxmemory:60000000"), "used_memory"), checktest.Row{About: "what is in use was not told", Rule: check.Absent, Says: "nothing evicted"}},
		{redis.Connections, without(two(nil), "total_connections_received"), checktest.Row{About: "connections were not counted", Rule: check.NotRecorded}},
		{redis.Connections, without(two(refuse), "connected_clients"), checktest.Row{About: "two were refused, of unknown many", Rule: check.StandsAlone, Says: "refuses connections: 2 were refused, because"}},
		{redis.Connections, without(two(grow{"total_connections_received": 2000}), "total_commands_processed"), checktest.Row{About: "2000 opened for unknown many commands", Rule: check.Matters, Says: "do not reuse connections: 2,000 new ones per second."}},
		{redis.AOFFsync, without(two(nil), "aof_enabled"), checktest.Row{About: "whether there is an AOF was not told", Rule: check.NotRecorded, Says: "whether it writes an AOF"}},
		{redis.SlowCommand, without(two(nil), "cmdstat_get", "cmdstat_ping"), checktest.Row{About: "commands were not counted", Rule: check.NotRecorded, Says: "what its commands took"}},
		{redis.NetworkBound, without(two(nil), "total_net_output_bytes"), checktest.Row{About: "what was sent was not told", Rule: check.NotRecorded}},
		{redis.Fork, without(two(nil), "total_forks", "latest_fork_usec"), checktest.Row{About: "forks were not told", Rule: check.NotRecorded}},
		{redis.CPUSaturated, without(two(busy(.82)), "total_commands_processed"), checktest.Row{About: "82 % of a CPU, for unknown many commands", Rule: check.Matters, Says: "it can run no more commands than now"}},

		{redis.BigValue, []string{arrive(3, 34_000_000, "N")}, checktest.Row{About: "three of 34 MB arrive", Rule: check.StandsAlone, ID: "redis.arriving_bytes", Figure: 102e6, Says: "which its main thread copies for 102 ms"}},
		{redis.BigValue, []string{arrive(3, 33_000_000, "N")}, checktest.Row{About: "three of 33 MB arrive", Rule: check.NotRecorded}},
		{redis.BigValue, []string{arrive(300, 1_000_000, "N")}, checktest.Row{About: "300 of not quite a MiB arrive", Rule: check.NotRecorded}},
		{redis.BigValue, []string{arrive(3, 34_000_000, "b")}, checktest.Row{About: "what blocked clients sent waits", Rule: check.NotRecorded}},
		{redis.NetworkBound, []string{closed("N", 1_100_000)}, checktest.Row{About: "a client was closed with 1.1 MB unsent", Rule: check.StandsAlone, ID: "redis.closed_unsent_bytes", Figure: 1.1e6, Says: "1.05 MiB waited for it"}},
		{redis.NetworkBound, []string{closed("N", 1_000_000)}, checktest.Row{About: "with not quite a MiB", Rule: check.NotRecorded}},
		{redis.NetworkBound, []string{closed("S", 300_000_000)}, checktest.Row{About: "a replica was closed", Rule: check.NotRecorded}},

		{redis.NetworkBound, sends(2e6, 70_000, nil), checktest.Row{About: "70 kB wait for each client", Rule: check.Matters, ID: "redis.output_waiting_bytes", Figure: 280_000, Says: "to 10.0.0.7 wait"}},
		{redis.NetworkBound, sends(2e6, 60_000, nil), checktest.Row{About: "60 kB wait for each", Rule: check.TooLittle, ID: "redis.sent_bytes_per_s", Figure: 2e6}},
		{redis.NetworkBound, sends(.9e6, 70_000, nil), checktest.Row{About: "hardly anything is sent", Rule: check.TooLittle, ID: "redis.sent_bytes_per_s", Figure: .9e6}},
		{redis.NetworkBound, two(grow{"total_net_output_bytes": 2e6}), checktest.Row{About: "nobody looked at its clients", Rule: check.NotRecorded, Says: "output buffers were not recorded"}},

		{redis.Connections, two(grow{"rejected_connections": 2. / 30}), checktest.Row{About: "two were refused", Rule: check.StandsAlone, ID: "redis.connections_refused_per_s", Figure: 2. / 30}},
		{redis.Connections, two(grow{"rejected_connections": 1. / 30}), checktest.Row{About: "one was refused", Rule: check.TooLittle}},
		{redis.Connections, clients(100, 160, 1000, 2.5), checktest.Row{About: "sixty more, full in seven minutes", Rule: check.Matters, Says: "open connections and close none"}},
		{redis.Connections, clients(100, 160, 2000, 2.5), checktest.Row{About: "sixty more, full in a quarter of an hour", Rule: check.TooLittle}},
		{redis.Connections, clients(90, 139, 500, 2), checktest.Row{About: "49 more", Rule: check.TooLittle}},
		{redis.Connections, clients(100, 160, 1000, 5), checktest.Row{About: "most of those opened were closed", Rule: check.TooLittle}},
		{redis.Connections, clients(200, 260, 1000, 2.5), checktest.Row{About: "not half as many again", Rule: check.TooLittle}},

		{redis.CPUSaturated, two(busy(.82)), checktest.Row{About: "82 % of a CPU", Rule: check.Matters, ID: "redis.main_thread_cores", Figure: .82, Says: "is busy 82 % of the time"}},
		{redis.CPUSaturated, two(busy(.78)), checktest.Row{About: "78 % of a CPU", Rule: check.TooLittle, ID: "redis.main_thread_cores", Figure: .78}},
		{redis.CPUSaturated, two(grow{"used_cpu_user_main_thread": .41, "used_cpu_sys_main_thread": .41}, "io_threads_active:0"), checktest.Row{About: "2000 commands/s", Rule: check.Matters, ID: "redis.commands_per_s", Figure: 2000}},

		{redis.Fork, one("latest_fork_usec:300", "total_forks:0"), checktest.Row{About: "one answer, and a short fork", Rule: check.OneLook}},
		{redis.MemoryLimit, two(grow{"evicted_keys": 500, "keyspace_misses": 150}, "maxmemory:50000000"), checktest.Row{About: "fewer than one lookup in ten misses", Rule: check.TooLittle, ID: "redis.evicted_per_s", Figure: 500, Says: "of lookups miss"}},
		{redis.MemoryLimit, two(grow{"evicted_keys": 30, "keyspace_misses": 700}, "maxmemory:50000000"), checktest.Row{About: "most misses are of other keys", Rule: check.TooLittle, ID: "redis.evicted_per_s", Figure: 30, Says: "most misses are of other keys"}},
		{redis.MemoryLimit, two(nil, "maxmemory:60000000"), checktest.Row{About: "room is left", Rule: check.Absent, ID: "redis.maxmemory_bytes", Figure: 60e6, Says: "83 % of maxmemory in use"}},
		{redis.AOFFsync, two(nil), checktest.Row{About: "no log of writes", Rule: check.Absent, Says: "no AOF (appendonly no)"}},
		{redis.AOFFsync, two(grow{"aof_delayed_fsync": 1. / 30}, "aof_enabled:1"), checktest.Row{About: "one delayed write", Rule: check.TooLittle, Says: "delayed"}},
		{redis.BigValue, two(nil, "client_recent_max_output_buffer:1000000"), checktest.Row{About: "less than a MiB", Rule: check.TooLittle}},
		{redis.BigValue, two(nil, "client_recent_max_output_buffer:8388608"), checktest.Row{About: "8 MiB, and little traffic", Rule: check.TooLittle, ID: "redis.largest_value_bytes", Figure: 8388608, Says: "are transferred"}},
		{redis.SlowCommand, two(nil), checktest.Row{About: "quick commands", Rule: check.Absent}},
	} {
		c := told(t, x.texts...)
		v := x.cause.Judge(c)
		x.Judged(t, &x.cause, c, &v)
	}
}
