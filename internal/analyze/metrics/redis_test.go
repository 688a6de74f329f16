package metrics_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/redislog"
	"github.com/unstall/unstall/internal/format/redisreply"
)

// redisOf reads texts, each a file.
func redisOf(t *testing.T, w metrics.Window, texts ...string) *metrics.Redis {
	t.Helper()
	return metrics.RedisOf(redisBundle(t, texts...), 0, w)
}

func redisBundle(t *testing.T, texts ...string) *evidence.Bundle {
	t.Helper()
	b := evidence.NewBundle()
	for i, text := range texts {
		if err := format.Read(context.Background(), []format.Format{redisreply.Format, redislog.Format}, formattest.Artifact(fmt.Sprint(i), []byte(text)), b); err != nil {
			t.Fatal(err)
		}
	}
	b.Unify()
	b.Align()
	return b
}

// info is an answer to INFO at a second.
func info(s int, lines ...string) string {
	return fmt.Sprintf("# Server\nredis_version:7.0.15\nprocess_id:7\nserver_time_usec:%d\nuptime_in_seconds:%d\n# Stats\n%s\n", (1_795_423_700+int64(s))*1e6, 100+s, strings.Join(lines, "\n"))
}

func close2(t *testing.T, what string, got metrics.Value, want float64) {
	t.Helper()
	if math.IsNaN(want) != math.IsNaN(got.Number) || math.Abs(got.Number-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got.Number, want)
	}
}

func TestRedisRates(t *testing.T) {
	first := info(0, "total_commands_processed:1000", "used_cpu_user_main_thread:10.0", "used_cpu_sys_main_thread:5.0", "connected_clients:3", "latest_fork_usec:100", "total_forks:2",
		"cmdstat_get:calls=500,usec=1000,usec_per_call=2.00,rejected_calls=0,failed_calls=0", "cmdstat_eval:calls=10,usec=100", "aof_delayed_fsync:3", "rdb_bgsave_in_progress:0", "maxmemory:0")
	second := info(2, "total_commands_processed:3000", "used_cpu_user_main_thread:11.5", "used_cpu_sys_main_thread:5.46", "connected_clients:5", "latest_fork_usec:50000", "total_forks:3",
		"cmdstat_get:calls=2500,usec=201000,usec_per_call=80.00,rejected_calls=4,failed_calls=2", "cmdstat_eval:calls=10,usec=100", "cmdstat_keys:calls=2,usec=600000", "aof_delayed_fsync:4",
		"rdb_bgsave_in_progress:1", "maxmemory:1000", "errorstat_OOM:count=6")
	for name, texts := range map[string][]string{"one file": {first + second}, "two files": {first, second}, "the newer first": {second, first}} {
		t.Run(name, func(t *testing.T) {
			r := redisOf(t, metrics.Whole, texts...)
			if r == nil || r.Single || r.Looks != 2 || r.Seconds != 2 || r.Release.String() != "Redis 7.0.15" || !r.Release.AtLeast(7, 0) || r.Release.AtLeast(7, 2) {
				t.Fatalf("%+v", r)
			}
			close2(t, "commands/s", r.Ops, 1000)
			close2(t, "main thread", r.Main, .98)
			close2(t, "its system time", r.MainSystem, .23)
			close2(t, "its share of full", r.MainFull, 1)
			close2(t, "clients", r.Clients, 4)
			close2(t, "most clients", r.ClientsMost, 5)
			close2(t, "forks", r.Fork.Count, 1)
			close2(t, "the longest fork", r.Fork.Most, 50e6)
			close2(t, "saving", r.Fork.Child, .5)
			close2(t, "delayed fsyncs", r.AOF.Delayed, 1)
			close2(t, "the limit", r.MaxMemory, 1000)
			close2(t, "errors for memory", r.ErrorKinds["OOM"], 3)
			close2(t, "evictions", r.Evicted, math.NaN())
			if len(r.Commands) != 2 || r.Commands[0].Name != "keys" {
				t.Fatalf("%+v", r.Commands)
			}
			close2(t, "time in KEYS", r.Command("keys").Time, .3)
			close2(t, "a KEYS", r.Command("keys").Each, 300e6)
			close2(t, "a GET", r.Command("get").Each, 100e3)
			close2(t, "refused GET", r.Command("get").Rejected, 2)
			close2(t, "time in commands", r.InCommands, .4)
		})
	}
}

// One answer tells what was since the server's start; one after CONFIG RESETSTAT began anew.
func TestRedisSingle(t *testing.T) {
	r := redisOf(t, metrics.Whole, info(0, "total_commands_processed:1000", "cmdstat_get:calls=500,usec=1000"))
	if r == nil || !r.Single || r.Seconds != 100 {
		t.Fatalf("%+v", r)
	}
	close2(t, "commands/s", r.Ops, 10)
	close2(t, "GET/s", r.Command("get").Calls, 5)
	r = redisOf(t, metrics.Whole, info(0, "total_commands_processed:1000"), info(10, "total_commands_processed:50"))
	close2(t, "commands/s", r.Ops, 5)
	if metrics.RedisOf(evidence.NewBundle(), 0, metrics.Whole) != nil {
		t.Error("figures of nothing")
	}
}

// A window tells what was in it, and next to it where it is shorter than answers are apart.
func TestRedisWindow(t *testing.T) {
	at := func(s int) int64 { return (1_795_423_700 + int64(s)) * 1e9 }
	all := info(0, "total_commands_processed:0") + info(10, "total_commands_processed:100") + info(20, "total_commands_processed:1100", "cmdstat_keys:calls=1,usec=5") + info(30, "total_commands_processed:1100", "cmdstat_keys:calls=1,usec=5")
	close2(t, "within", redisOf(t, metrics.Window{From: at(10), Until: at(20)}, all).Ops, 100)
	close2(t, "between two", redisOf(t, metrics.Window{From: at(12), Until: at(15)}, all).Ops, 100)
	last := redisOf(t, metrics.Window{From: at(20), Until: at(30)}, all)
	close2(t, "at the end", last.Ops, 0)
	if last.Command("keys") != nil {
		t.Errorf("what was called before: %+v", last.Commands)
	}
}

// Buckets of two answers tell how long calls took between them.
func TestRedisHistogram(t *testing.T) {
	text := "== 1795423700000000000 LATENCY HISTOGRAM of 7 took 1 ns ==\n1) \"get\"\n2) 1) \"calls\"\n   2) (integer) 10\n   3) \"histogram_usec\"\n   4) 1) (integer) 8\n      2) (integer) 10\n" +
		"== 1795423710000000000 LATENCY HISTOGRAM of 7 took 1 ns ==\n1) \"get\"\n2) 1) \"calls\"\n   2) (integer) 1010\n   3) \"histogram_usec\"\n   4) 1) (integer) 8\n      2) (integer) 900\n      3) (integer) 16\n      4) (integer) 1005\n      5) (integer) 33816\n      6) (integer) 1010\n"
	stamped := func(at int64, calls int) string {
		return fmt.Sprintf("== %d INFO of 7 took 1 ns ==\n# Server\nredis_version:7.0.15\nuptime_in_seconds:%d\n# Commandstats\ncmdstat_get:calls=%d,usec=%d\n", at, at/1e9-1_795_423_000, calls, calls)
	}
	r := redisOf(t, metrics.Whole, stamped(1_795_423_700e9, 10)+text+stamped(1_795_423_710e9, 1010))
	get := r.Command("get")
	if get == nil || !get.Windowed || get.Count != 1000 {
		t.Fatalf("%+v", get)
	}
	close2(t, "p50", get.P50, 8e3)
	close2(t, "p99", get.P99, 16e3)
	close2(t, "p99.9", get.P999, 33816e3)
	close2(t, "the longest", get.Most, 33816e3)
}

func TestRedisSlow(t *testing.T) {
	const slow = "1) 1) (integer) 9\n   2) (integer) 1795423705\n   3) (integer) 500000\n   4) 1) \"KEYS\"\n      2) \"*\"\n   5) \"10.0.0.7:51234\"\n   6) \"\"\n" +
		"2) 1) (integer) 8\n   2) (integer) 1795423704\n   3) (integer) 300000\n   4) 1) \"keys\"\n      2) \"cart:*\"\n   5) \"10.0.0.8:51234\"\n   6) \"\"\n" +
		"3) 1) (integer) 7\n   2) (integer) 1795423703\n   3) (integer) 20000\n   4) 1) \"SET\"\n      2) \"k\"\n      3) \"v... (5000000 more bytes)\"\n   5) \"/run/redis.sock:0\"\n   6) \"\"\n"
	const latency = "127.0.0.1:6379> LATENCY LATEST\n1) 1) \"fork\"\n   2) (integer) 1795423705\n   3) (integer) 80\n   4) (integer) 200\n127.0.0.1:6379> LATENCY HISTORY fork\n1) 1) (integer) 1795423701\n   2) (integer) 60\n2) 1) (integer) 1795423705\n   2) (integer) 80\n"
	const log = "7:M 23 Nov 2026 08:47:20.000 * Asynchronous AOF fsync is taking too long (disk is busy?). Writing\n7:M 23 Nov 2026 08:47:22.000 * Background saving started by pid 8\n"
	r := redisOf(t, metrics.Whole, slow, latency, log, info(10, "total_commands_processed:1"), "slowlog-log-slower-than\n10000\nmaxmemory-policy\nnoeviction\n")
	if r == nil || !r.Slow.Watched || len(r.Slow.Entries) != 3 || len(r.Slow.ByCommand) != 2 {
		t.Fatalf("%+v", r)
	}
	close2(t, "what is slow", r.Slow.Over, 10e6)
	keys, set := r.Slow.ByCommand[0], r.Slow.ByCommand[1]
	if keys.Command != "KEYS" || keys.Count != 2 || keys.Total != 800e6 || keys.Longest != 500e6 || strings.Join(keys.Hosts, " ") != "10.0.0.7 10.0.0.8" {
		t.Errorf("%+v", keys)
	}
	if set.Bytes != 5_000_002 || set.Hosts[0] != "unix" || r.Slow.Entries[0].Within != 1e9 {
		t.Errorf("%+v, %+v", set, r.Slow.Entries)
	}
	if len(r.Events) != 1 || r.Events[0].Count != 2 || r.Events[0].Longest != 80e6 || r.Events[0].AllTime != 200e6 {
		t.Errorf("%+v", r.Events)
	}
	if len(r.Told) != 2 || r.Fork.Saves.Number != 1 || r.Policy != "noeviction" {
		t.Errorf("%+v, %+v", r.Told, r.Fork)
	}
}

func TestRedisRelease(t *testing.T) {
	for version, want := range map[string]struct {
		text       string
		has7, has8 bool
	}{"Redis 8.0.0": {"Redis 8.0.0", true, true}, "Valkey 8.1.2": {"Valkey 8.1.2", true, false}, "KeyDB 6.3.4": {"KeyDB 6.3.4", false, false}, "Redis 7.2-rc1": {"Redis 7.2.0", true, false}, "": {}, "Redis x": {}} {
		r := metrics.RedisReleaseOf(version)
		if r.String() != want.text || r.AtLeast(7, 0) != want.has7 || r.AtLeast(8, 0) != want.has8 {
			t.Errorf("%q: %+v", version, r)
		}
	}
}
