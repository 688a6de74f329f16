package redis_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/unstall/unstall/internal/base/goldentest"
)

const fixtures = "../testdata"

// TestMade holds the fixtures that are made against what makes them: what redis-cli prints of servers of which
// everything is known.
func TestMade(t *testing.T) {
	type grow = map[string]float64
	two := func(more grow, lines func(s int) []string) map[string]string {
		all := make(map[string]string)
		for i, s := range []int{0, 30} {
			of := []string{stat("get", s, 1900, 2)}
			if lines != nil {
				of = append(of, lines(s)...)
			}
			all[fmt.Sprintf("info-%d.txt", i+1)] = info(s, more, of...)
		}
		return all
	}
	and := func(all map[string]string, name, text string) map[string]string {
		all[name] = text
		return all
	}
	same := func(lines ...string) func(int) []string { return func(int) []string { return lines } }
	keys := func(each float64) func(int) []string {
		return func(s int) []string { return []string{stat("keys", s, .5, each)} }
	}
	forked := func(us int) func(int) []string {
		return func(s int) []string {
			return []string{fmt.Sprintf("latest_fork_usec:%d", us), fmt.Sprintf("total_forks:%d", 2+s/5)}
		}
	}
	synced := func(ms int) string {
		text := "127.0.0.1:6379> LATENCY HISTORY aof-fsync-always\n"
		for i := range 25 {
			text += fmt.Sprintf("%2d) 1) (integer) %d\n    2) (integer) %d\n", i+1, 1_795_423_702+i, ms)
		}
		return text
	}
	const always, everySecond = "appendonly\nyes\nappendfsync\nalways\n", "appendonly\nyes\nappendfsync\neverysec\n"
	const unsent = "id=%d addr=10.0.0.7:%d laddr=10.0.0.9:6379 fd=%d name= age=300 idle=0 flags=N db=0 sub=0 psub=0 multi=-1 qbuf=0 qbuf-free=0 obl=0 oll=90 omem=%d events=rw cmd=get\n"
	clients := func(omem int) (text string) {
		for i := range 4 {
			text += fmt.Sprintf(unsent, 20+i, 51000+i, 10+i, omem)
		}
		return text
	}
	for dir, f := range map[string]struct {
		about string
		files map[string]string
	}{
		"redis.slow-command/sick-files":     {"KEYS of 310 ms every two seconds", and(two(nil, keys(310_000)), "slowlog.txt", entries("KEYS", 310_000, 2))},
		"redis.slow-command/healthy-files":  {"KEYS of a few names every two seconds", two(nil, keys(400))},
		"redis.fork/sick-files":             {"a fork of 90 ms every five seconds", two(nil, forked(90_000))},
		"redis.fork/healthy-files":          {"a fork of 2 ms every five seconds", two(nil, forked(2_000))},
		"redis.aof-fsync/sick-files":        {"each write is synced, and takes 25 ms once a second", and(and(two(nil, same("aof_enabled:1")), "config.txt", always), "latency.txt", synced(25))},
		"redis.aof-fsync/healthy-files":     {"writes are synced once a second", and(two(nil, same("aof_enabled:1")), "config.txt", everySecond)},
		"redis.memory-limit/sick-files":     {"a cache that throws away 500 keys/s, of which as many are asked for again", two(grow{"evicted_keys": 500, "keyspace_misses": 700}, same("maxmemory:50000000", "maxmemory_policy:allkeys-lru"))},
		"redis.memory-limit/healthy-files":  {"a full cache whose look-ups find what they ask for", two(grow{"evicted_keys": 30, "keyspace_misses": 60}, same("maxmemory:50000000", "maxmemory_policy:allkeys-lru"))},
		"redis.big-value/sick-files":        {"values of 8 MiB, 300 MB/s of them", two(grow{"total_net_output_bytes": 3e8}, same("client_recent_max_output_buffer:8388608"))},
		"redis.big-value/healthy-files":     {"values of 8 kB, 16 MB/s of them", two(grow{"total_net_output_bytes": 16e6}, same("client_recent_max_output_buffer:8192"))},
		"redis.network-bound/sick-files":    {"20 MB/s go out, and 8 MB wait for clients on another host", and(two(grow{"total_net_output_bytes": 2e7}, nil), "clients.txt", clients(2_000_000))},
		"redis.network-bound/healthy-files": {"20 MB/s go out, and nothing waits", and(two(grow{"total_net_output_bytes": 2e7}, nil), "clients.txt", clients(0))},
		"redis.connections/sick-files":      {"1,500 connections a second for 2,000 commands", two(grow{"total_connections_received": 1500}, nil)},
		"redis.connections/healthy-files":   {"a connection in ten seconds", two(nil, nil)},
		"redis.cpu-saturated/sick-files":    {"300,000 commands a second in pipelines", two(grow{"used_cpu_user_main_thread": .6, "used_cpu_sys_main_thread": .38, "total_commands_processed": 300_000}, nil)},
		"redis.cpu-saturated/healthy-files": {"100,000 commands a second in pipelines", two(grow{"used_cpu_user_main_thread": .2, "used_cpu_sys_main_thread": .1, "total_commands_processed": 100_000}, nil)},
	} {
		about, err := json.MarshalIndent(map[string]string{"about": f.about, "made_by": "go test ./cause/redis -update"}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		f.files["truth.json"] = string(about) + "\n"
		for name, want := range f.files {
			path := filepath.Join(fixtures, dir, name)
			if *goldentest.Update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, []byte(want)) {
				t.Errorf("%s is not what is made: %s", path, goldentest.Command())
			}
		}
	}
}
