package redis_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
	"github.com/unstall/unstall/internal/diagnose/check/redis"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/redislog"
	"github.com/unstall/unstall/internal/format/redisreply"
)

// told is what texts tell, each a file.
func told(t *testing.T, texts ...string) *check.Case {
	t.Helper()
	b := evidence.NewBundle()
	for i, text := range texts {
		if err := format.Read(context.Background(), []format.Format{redisreply.Format, redislog.Format}, formattest.Artifact(fmt.Sprint(i), []byte(text)), b); err != nil {
			t.Fatal(err)
		}
	}
	b.Unify()
	b.Align()
	return &check.Case{Bundle: b}
}

// judged is what is said of texts, each a file.
func judged(t *testing.T, texts ...string) map[string]check.Verdict {
	t.Helper()
	c := told(t, texts...)
	out := make(map[string]check.Verdict)
	for _, k := range []check.Check{redis.SlowCommand, redis.Fork, redis.AOFFsync, redis.MemoryLimit, redis.BigValue, redis.NetworkBound, redis.Connections, redis.CPUSaturated} {
		if !k.Applies(c) {
			t.Fatalf("%s does not apply", k.ID)
		}
		v := k.Judge(c)
		checktest.Holds(t, "", &k, c, &v)
		if v.State == check.Supported && (v.Title == "" || len(v.Fix) == 0 || len(v.Evidence) == 0 || !(v.Weight > 0)) {
			t.Errorf("%s: %+v", k.ID, v)
		}
		if v.State == check.Inconclusive && len(v.Needs) == 0 {
			t.Errorf("%s is left open: %s", k.ID, v.Summary)
		}
		out[k.ID] = v
	}
	return out
}

// base is an answer to INFO of a server that is well.
var base = []string{"maxmemory:0", "used_memory:50000000", "used_memory_rss:60000000", "connected_clients:20", "client_recent_max_input_buffer:20480", "client_recent_max_output_buffer:0", "aof_enabled:0",
	"rdb_bgsave_in_progress:0", "latest_fork_usec:300", "total_forks:2", "errorstat_ERR:count=1", "cmdstat_ping:calls=1,usec=1"}

// info is one at a second, with fields that grow by as much a second, and others as they are.
func info(s int, grow map[string]float64, lines ...string) string {
	all := []string{"# Server", "redis_version:7.0.15", "process_id:7", fmt.Sprintf("server_time_usec:%d", (1_795_423_700+int64(s))*1e6), fmt.Sprintf("uptime_in_seconds:%d", 1000+s), "# Stats"}
	rates := map[string]float64{"total_commands_processed": 2000, "used_cpu_user_main_thread": .05, "used_cpu_sys_main_thread": .05, "used_cpu_user": .05, "used_cpu_sys": .05, "total_connections_received": .1,
		"total_net_input_bytes": 1e5, "total_net_output_bytes": 4e5, "evicted_keys": 0, "keyspace_hits": 1800, "keyspace_misses": 20, "rejected_connections": 0, "aof_delayed_fsync": 0}
	for name, v := range grow {
		rates[name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		v := rates[name]
		if of, ok := strings.CutPrefix(name, "errorstat_"); ok {
			all = append(all, fmt.Sprintf("errorstat_%s:count=%.0f", of, v*float64(1000+s)))
			continue
		}
		format := "%s:%.0f"
		if strings.Contains(name, "cpu") {
			format = "%s:%.3f"
		}
		all = append(all, fmt.Sprintf(format, name, v*float64(1000+s)))
	}
	for _, l := range base {
		if !strings.Contains(strings.Join(lines, "\n"), l[:strings.IndexByte(l, ':')+1]) {
			all = append(all, l)
		}
	}
	return strings.Join(append(all, lines...), "\n") + "\n"
}

func stat(name string, s int, calls, each float64) string {
	n := calls * float64(1000+s)
	return fmt.Sprintf("cmdstat_%s:calls=%.0f,usec=%.0f,usec_per_call=%.2f", name, n, n*each, each)
}

const alwaysSet = "appendonly\nyes\nappendfsync\nalways\nlatency-monitor-threshold\n0\n"

func TestVerdicts(t *testing.T) {
	get := func(s int) string { return stat("get", s, 1900, 2) }
	two := func(grow map[string]float64, lines ...string) []string {
		return []string{info(0, grow, append(lines, get(0))...), info(30, grow, append(lines, get(30))...)}
	}
	for name, x := range map[string]struct {
		texts []string
		want  string // supported, and nothing else
		words string // its title has
	}{
		"healthy":                  {two(nil), "", ""},
		"KEYS":                     {[]string{info(0, nil, get(0), stat("keys", 0, 1, 80_000)), info(30, nil, get(30), stat("keys", 30, 1, 80_000))}, "redis.slow-command", "KEYS"},
		"many of 3 ms":             {[]string{info(0, map[string]float64{"used_cpu_user_main_thread": .3}, get(0), stat("hgetall", 0, 80, 3000)), info(30, map[string]float64{"used_cpu_user_main_thread": .3}, get(30), stat("hgetall", 30, 80, 3000))}, "redis.slow-command", "HGETALL"},
		"a thread that is not run": {[]string{info(0, nil, get(0), stat("pfcount", 0, 800, 1200)), info(30, nil, get(30), stat("pfcount", 30, 800, 1200))}, "redis.cpu-saturated", "is saturated"},
		"one large hash of many":   {[]string{info(0, nil, get(0), stat("hgetall", 0, 400, 275)), info(30, nil, get(30), stat("hgetall", 30, 400, 275)), entries("HGETALL", 300_000, 2)}, "redis.slow-command", "HGETALL from 10.0.0.7"},
		"quick commands":           {[]string{info(0, nil, get(0), stat("hgetall", 0, 200, 900)), info(30, nil, get(30), stat("hgetall", 30, 200, 900))}, "", ""},
		"a long one once":          {[]string{info(0, nil, get(0)), info(30, nil, get(30), "cmdstat_flushall:calls=1,usec=200000")}, "", ""},
		"busy":                     {two(map[string]float64{"used_cpu_user_main_thread": .6, "used_cpu_sys_main_thread": .38, "total_commands_processed": 300_000}), "redis.cpu-saturated", "busy"},
		"refused":                  {two(map[string]float64{"errorstat_OOM": 300}, "maxmemory:50000000"), "redis.memory-limit", "refuses"},
		"evicts":                   {two(map[string]float64{"evicted_keys": 500, "keyspace_misses": 700}, "maxmemory:50000000"), "redis.memory-limit", "evicts keys that are still in use"},
		"a full cache":             {two(map[string]float64{"evicted_keys": 50, "keyspace_misses": 100}, "maxmemory:50000000"), "", ""},
		"cold cache":               {two(map[string]float64{"keyspace_misses": 1700}, "maxmemory:90000000"), "", ""},
		"delayed fsyncs":           {two(map[string]float64{"aof_delayed_fsync": .2}, "aof_enabled:1"), "redis.aof-fsync", "AOF syncs"},
		"connects":                 {two(map[string]float64{"total_connections_received": 1500}), "redis.connections", "reuse connections"},
		"pages that connect":       {two(map[string]float64{"total_connections_received": 90}), "", ""},
		"turned away":              {two(map[string]float64{"rejected_connections": 2}), "redis.connections", "refuses connections"},
		"large values": {append(two(map[string]float64{"total_net_output_bytes": 4e8}, "client_recent_max_output_buffer:8388608"), // and nothing waits to be sent: without a look at its clients that would be unknown
			"id=20 addr=10.0.0.7:51000 laddr=10.0.0.9:6379 fd=10 name= age=300 idle=0 flags=N db=0 sub=0 psub=0 multi=-1 qbuf=0 qbuf-free=0 obl=0 oll=0 omem=0 events=r cmd=get\n"), "redis.big-value", "8"},
		"one large value": {two(nil, "client_recent_max_output_buffer:8388608"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for id, v := range judged(t, x.texts...) {
				want := check.RuledOut
				if id == x.want {
					want = check.Supported
				}
				if v.State != want {
					t.Errorf("%s is %s: %s %s", id, v.State, v.Title, v.Summary)
				}
				if id == x.want && !strings.Contains(v.Title, x.words) {
					t.Errorf("%s says %q, want %q in it", id, v.Title, x.words)
				}
			}
		})
	}
}

// Forks are counted, and each is as long as the last one said.
func TestForks(t *testing.T) {
	v := judged(t, info(0, nil, "latest_fork_usec:70000", "total_forks:2"), info(30, nil, "latest_fork_usec:90000", "total_forks:8"))
	if x := v["redis.fork"]; x.State != check.Supported || !strings.Contains(x.Title, "forks") {
		t.Errorf("%+v", x)
	}
	v = judged(t, info(0, nil, "latest_fork_usec:2000", "total_forks:2"), info(30, nil, "latest_fork_usec:2000", "total_forks:8"))
	if x := v["redis.fork"]; x.State != check.RuledOut {
		t.Errorf("%+v", x)
	}
}

// One answer to INFO shows what stands out since the start, and rules nothing out.
func TestOneAnswer(t *testing.T) {
	for id, v := range judged(t, info(0, nil, stat("get", 0, 1900, 2))) {
		if want := map[bool]string{true: check.RuledOut, false: check.Inconclusive}[id == "redis.aof-fsync"]; v.State != want { // there is no log of writes
			t.Errorf("%s is %s: %s", id, v.State, v.Summary)
		}
	}
	v := judged(t, info(0, nil, stat("keys", 0, 1, 80_000)))
	if x := v["redis.slow-command"]; x.State != check.Supported {
		t.Errorf("%+v", x)
	}
}

// How long syncs take nothing tells unless somebody watched.
func TestAlways(t *testing.T) {
	two := []string{info(0, nil, "aof_enabled:1"), info(30, nil, "aof_enabled:1"), alwaysSet}
	if v := judged(t, two...)["redis.aof-fsync"]; v.State != check.Inconclusive {
		t.Errorf("%+v", v)
	}
	history := "127.0.0.1:6379> LATENCY HISTORY aof-fsync-always\n"
	for i := range 20 {
		history += fmt.Sprintf("%2d) 1) (integer) %d\n    2) (integer) 25\n", i+1, 1_795_423_703+i)
	}
	if v := judged(t, append(two, history)...)["redis.aof-fsync"]; v.State != check.Supported || !strings.Contains(v.Title, "appendfsync always") {
		t.Errorf("%+v", v)
	}
}

// entries is a slow log of ten calls of a command.
func entries(command string, took, apart int) (all string) {
	for i := range 10 {
		at := fmt.Sprintf("%2d) ", i+1)
		all += at + fmt.Sprintf("1) (integer) %d\n    2) (integer) %d\n    3) (integer) %d\n    4) 1) \"%s\"\n       2) \"cart:*\"\n    5) \"10.0.0.7:51234\"\n    6) \"\"\n", 50-i, 1_795_423_728-i*apart, took, command)
	}
	return all
}

// A slow log alone tells how often, as far back as it goes, and from where.
func TestSlowLog(t *testing.T) {
	v := judged(t, entries("KEYS", 310_000, 2))["redis.slow-command"]
	if v.State != check.Supported || !strings.Contains(v.Title, "KEYS from 10.0.0.7") {
		t.Errorf("%+v", v)
	}
	for _, text := range []string{entries("KEYS", 11_000, 600), entries("GET", 30_000, 2)} {
		if v := judged(t, text)["redis.slow-command"]; v.State != check.Inconclusive {
			t.Errorf("%+v", v)
		}
	}
}

// What people paste of a server is little: a log, one entry of its slow log, or two sections of INFO.
func TestPasted(t *testing.T) {
	fork := func(stamp string, at, took int) string {
		return fmt.Sprintf("7:M 23 "+stamp+" 08:%02d:00.100 * 100 changes in 60 seconds. Saving...\n7:M 23 "+stamp+" 08:%02d:00.%03d * Background saving started by pid %d\n", at, at, 100+took, 100+at)
	}
	noFork := func(at, second int) string {
		return fmt.Sprintf("[2481] 14 Jan %02d:%02d:07 # Can't save in background: fork: Cannot allocate memory\n", at, second)
	}
	const slow = " * Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for fsync to complete, this may slow down Redis.\n"
	entry := func(command string, took int) string {
		return fmt.Sprintf("1) (integer) 31\n   2) (integer) 1795423700\n   3) (integer) %d\n   4) 1) \"%s\"\n      2) \"a\"\n   5) \"10.0.0.7:51234\"\n   6) \"\"\n", took, command)
	}
	stats := func(get, keys, each int) string {
		return fmt.Sprintf("# Commandstats\ncmdstat_get:calls=%d,usec=%d,usec_per_call=2.00\ncmdstat_keys:calls=%d,usec=%d\n", get, 2*get, keys, keys*each)
	}
	slowStats := func(get, count, ms int) string { // Redis 8
		return fmt.Sprintf("# Commandstats\ncmdstat_get:calls=%d,usec=%d,usec_per_call=2.00,rejected_calls=0,failed_calls=0\ncmdstat_json.set:calls=90000,usec=%d,usec_per_call=70.00,rejected_calls=0,failed_calls=0,slowlog_count=%d,slowlog_time_ms_sum=%d.20,slowlog_time_ms_max=410.10\n", get, 2*get, 6_300_000, count, ms)
	}
	for name, x := range map[string]struct {
		text, id, state, words string
	}{
		"long forks":                  {fork("Nov 2026", 1, 190) + fork("Nov 2026", 2, 187), "redis.fork", check.Supported, "190 ms"},
		"long forks without a year":   {fork("Nov", 1, 190) + fork("Nov", 2, 187), "redis.fork", check.Supported, "every 60.2 s"},
		"short forks":                 {fork("Nov", 1, 40) + fork("Nov", 2, 45), "redis.fork", check.Inconclusive, "45 ms"},
		"one fork":                    {fork("Nov 2026", 1, 190), "redis.fork", check.Inconclusive, "190 ms"},
		"failed forks of 2.6":         {noFork(9, 10) + noFork(9, 11) + noFork(9, 12), "redis.fork", check.Supported, "failed 3 times"},
		"two failed forks":            {noFork(9, 10) + noFork(9, 11), "redis.fork", check.Inconclusive, ""},
		"failed forks, hours apart":   {noFork(9, 10) + noFork(12, 11) + noFork(15, 12), "redis.fork", check.Inconclusive, ""},
		"slow syncs of 2.4":           {"[7] 23 Nov 08:46:14" + slow + "[7] 23 Nov 08:46:24" + slow + "[7] 23 Nov 08:50:14" + slow, "redis.aof-fsync", check.Supported, "waits for the disk"},
		"two slow syncs":              {"7:M 23 Nov 2026 08:46:14.001" + slow + "7:M 23 Nov 2026 08:46:24.001" + slow, "redis.aof-fsync", check.Inconclusive, "twice"},
		"slow syncs, hours apart":     {"7:M 23 Nov 2026 08:46:14.001" + slow + "7:M 23 Nov 2026 10:46:24.001" + slow + "7:M 23 Nov 2026 12:46:24.001" + slow, "redis.aof-fsync", check.Inconclusive, "3 times"},
		"a script of half a second":   {entry("evalsha", 640_000), "redis.slow-command", check.Supported, "each time; how often is unknown"},
		"a script of 50 ms":           {entry("evalsha", 50_000), "redis.slow-command", check.Inconclusive, "frequency is unknown"},
		"a GET that the host stopped": {entry("get", 1_800_000), "redis.slow-command", check.Inconclusive, "simple command"},
		"KEYS in command statistics":  {stats(1000, 10, 300_000), "redis.slow-command", check.Supported, "KEYS"},
		"calls that Redis 8 counts":   {slowStats(1_000_000, 23, 1300), "redis.slow-command", check.Inconclusive, "JSON.SET took 410 ms, but its frequency is unknown"},
		"they take much of the time":  {slowStats(50_000, 23, 4300), "redis.slow-command", check.Supported, "JSON.SET"},
		"they are of 4 ms":            {slowStats(50_000, 400, 1600), "redis.slow-command", check.Inconclusive, "no command takes 10 ms"},
		"KEYS that are few":           {stats(40_000_000, 10, 300_000), "redis.slow-command", check.Inconclusive, "KEYS"},
	} {
		v := judged(t, x.text)[x.id]
		if v.State != x.state || !strings.Contains(v.Title+v.Summary, x.words) || strings.Contains(v.Title+v.Summary, "?") {
			t.Errorf("%s: %s: %q %q", name, v.State, v.Title, v.Summary)
		}
	}
}

// Command statistics alone tell rates where their files were written at the times of the answers, and none where these were copied.
func TestCommandStatistics(t *testing.T) {
	text := func(get, keys int) []byte {
		return fmt.Appendf(nil, "# Commandstats\ncmdstat_get:calls=%d,usec=%d\ncmdstat_keys:calls=%d,usec=%d\n", get, 2*get, keys, keys*300_000)
	}
	for apart, words := range map[int64]string{60e9: "per second", 1e9: "how often is unknown", 0: "how often is unknown"} {
		b := evidence.NewBundle()
		for i, data := range [][]byte{text(1000, 10), text(9000, 70)} {
			a := formattest.Artifact(fmt.Sprint(i), data)
			a.Modified = 1_795_423_700e9 + int64(i)*apart
			if err := format.Read(context.Background(), []format.Format{redisreply.Format}, a, b); err != nil {
				t.Fatal(err)
			}
		}
		b.Unify()
		b.Align()
		if v := redis.SlowCommand.Judge(&check.Case{Bundle: b}); v.State != check.Supported || !strings.Contains(v.Title, words) {
			t.Errorf("%d s apart: %s %s %s", apart/1e9, v.State, v.Title, v.Summary)
		}
	}
}

// Clients that never go fill a server, and a refusal says that they have.
func TestFull(t *testing.T) {
	clients := func(a, b int) []string {
		return []string{info(0, map[string]float64{"total_connections_received": 6}, fmt.Sprintf("connected_clients:%d", a), "maxclients:500"), info(30, map[string]float64{"total_connections_received": 6}, fmt.Sprintf("connected_clients:%d", b), "maxclients:500")}
	}
	for _, x := range []struct {
		from, to int
		state    string
	}{{77, 242, check.Supported}, {77, 100, check.RuledOut}, {242, 77, check.RuledOut}} {
		if v := judged(t, clients(x.from, x.to)...)["redis.connections"]; v.State != x.state {
			t.Errorf("from %d to %d: %s %s", x.from, x.to, v.State, v.Title)
		}
	}
	if v := judged(t, "ERR max number of clients reached\n")["redis.connections"]; v.State != check.Supported {
		t.Errorf("%+v", v)
	}
}

// What a server was not asked is not judged.
func TestNothingTold(t *testing.T) {
	b := evidence.NewBundle()
	b.Subjects = append(b.Subjects, evidence.Subject{Kind: evidence.Process, Runtime: "redis"})
	for _, k := range []check.Check{redis.SlowCommand, redis.Fork, redis.AOFFsync, redis.MemoryLimit, redis.BigValue, redis.NetworkBound, redis.Connections, redis.CPUSaturated} {
		if v := k.Judge(&check.Case{Bundle: b}); v.State != check.Inconclusive || len(v.Needs) == 0 {
			t.Errorf("%s: %+v", k.ID, v)
		}
	}
}
