package top

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/probe/redis"
)

// The counters of a Redis server, from INFO (https://redis.io/docs/latest/commands/info/).

const (
	redisWork    = "Redis"
	redisMemory  = "Redis memory"
	redisDisk    = "Redis on disk"
	redisMainID  = "redis/main-cpu"
	redisOpsID   = "redis/ops"
	redisUsedID  = "redis/used"
	redisMaxID   = "redis/limit"
	redisOpenID  = "redis/connections"
	redisSlotsID = "redis/connected"
)

var redisRules = []Rule{
	{redisMainID, "90 % or more: its main thread is saturated", alertAbove(90, 5*time.Second, "the main thread is saturated")},
	{"redis/fork", "a fork stops it: > 20 ms with each BGSAVE or rewrite is long", func(v View) string {
		return alertAbove(20, 0, "each BGSAVE or AOF rewrite stops it that long")(v)
	}},
	{"redis/evicted", "> 0: it is full (maxmemory), and each write drops other keys", alertAbove(0, 5*time.Second, "full: writes drop other keys (maxmemory)")},
	{"redis/aof-delayed", "> 0: the disk is too slow for its AOF, writes wait", alertAbove(0, 5*time.Second, "writes wait for the disk (AOF fsync)")},
	{redisOpenID, "> 100/s: clients do not keep their connections", alertAbove(100, 5*time.Second, "clients open a connection for almost every request")},
	{"redis/rejected", "> 0: maxclients is reached", alertAbove(0, 0, "maxclients is reached: connections are refused")},
	{redisUsedID, "near maxmemory: it evicts keys, or refuses writes", func(v View) string {
		if most := v.Of(redisMaxID); most > 0 && v.holdsFor(5*time.Second, func(x float64) bool { return x > .97*most }) {
			return "maxmemory is reached"
		}
		return ""
	}},
	{"redis/fragmentation", "> 1.5 with much memory: fragmentation wastes some of it (activedefrag)", func(v View) string {
		if v.Of(redisUsedID) < 256<<20 {
			return ""
		}
		return alertAbove(1.5, 30*time.Second, "memory is fragmented")(v)
	}},
	{"redis/blocked", "clients in BLPOP and similar commands, which wait on purpose", nil},
	{"redis/errors", "error responses: INFO errorstats lists them", nil},
}

// Redis are the counters of Redis, read by its own protocol.
var Redis = Counters{"redis", openRedis, redisRules}

type redisSource struct {
	client *redis.Client
	now    func() time.Time
}

func openRedis(ctx context.Context, t discover.Target, _ time.Duration, now func() time.Time) (Source, error) {
	c, err := redis.Dial(ctx, t)
	if err != nil {
		return nil, err
	}
	return &redisSource{c, now}, nil
}

// redisFields are the shown figures, in order.
var redisFields = []struct {
	names []string // fields of INFO; their sum is shown
	Reading
}{
	{[]string{"used_cpu_user_main_thread", "used_cpu_sys_main_thread"}, Reading{ID: redisMainID, Title: "CPU of the main thread", Unit: "%", Kind: Total, Scale: 100}},
	{[]string{"total_commands_processed"}, Reading{ID: redisOpsID, Title: "commands", Unit: "1/s", Kind: Total}},
	{[]string{"connected_clients"}, Reading{ID: redisSlotsID, Title: "clients", Unit: "count"}},
	{[]string{"blocked_clients"}, Reading{ID: "redis/blocked", Title: "clients that wait on purpose", Unit: "count"}},
	{[]string{"total_connections_received"}, Reading{ID: redisOpenID, Title: "connections opened", Unit: "1/s", Kind: Total}},
	{[]string{"rejected_connections"}, Reading{ID: "redis/rejected", Title: "connections refused", Unit: "1/s", Kind: Total}},
	{[]string{"total_net_input_bytes"}, Reading{ID: "redis/in", Title: "received", Unit: "bytes/s", Kind: Total}},
	{[]string{"total_net_output_bytes"}, Reading{ID: "redis/out", Title: "sent", Unit: "bytes/s", Kind: Total}},
	{[]string{"keyspace_hits"}, Reading{ID: "redis/hits", Title: "keys found", Unit: "1/s", Kind: Total}},
	{[]string{"keyspace_misses"}, Reading{ID: "redis/misses", Title: "keys not found", Unit: "1/s", Kind: Total}},
	{[]string{"total_error_replies"}, Reading{ID: "redis/errors", Title: "errors answered", Unit: "1/s", Kind: Total}},
	{[]string{"used_memory"}, Reading{ID: redisUsedID, Title: "memory used", Unit: "bytes", Group: redisMemory}},
	{[]string{"maxmemory"}, Reading{ID: redisMaxID, Title: "maxmemory (0: no limit)", Unit: "bytes", Group: redisMemory}},
	{[]string{"used_memory_rss"}, Reading{ID: "redis/rss", Title: "resident (RSS)", Unit: "bytes", Group: redisMemory}},
	{[]string{"mem_fragmentation_ratio"}, Reading{ID: "redis/fragmentation", Title: "RSS ÷ used", Unit: "count", Group: redisMemory}},
	{[]string{"evicted_keys"}, Reading{ID: "redis/evicted", Title: "keys evicted", Unit: "1/s", Kind: Total, Group: redisMemory}},
	{[]string{"expired_keys"}, Reading{ID: "redis/expired", Title: "keys expired", Unit: "1/s", Kind: Total, Group: redisMemory}},
	{[]string{"latest_fork_usec"}, Reading{ID: "redis/fork", Title: "last fork took", Unit: "ms", Scale: 1e-3, Group: redisDisk}},
	{[]string{"rdb_bgsave_in_progress", "aof_rewrite_in_progress"}, Reading{ID: "redis/saving", Title: "saves and rewrites under way", Unit: "count", Group: redisDisk}},
	{[]string{"aof_delayed_fsync"}, Reading{ID: "redis/aof-delayed", Title: "writes that waited for fsync", Unit: "1/s", Kind: Total, Group: redisDisk}},
}

// Read asks the server for INFO once.
func (s *redisSource) Read(ctx context.Context) ([]Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, redisPatience)
	defer cancel()
	text, err := s.client.Info(ctx)
	if err != nil {
		return nil, err
	}
	return redisReadings(text, s.now()), nil
}

const redisPatience = 3 * time.Second

func redisReadings(text string, at time.Time) (out []Reading) {
	of := make(map[string]float64)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			of[name] = v
		}
	}
	for _, f := range redisFields {
		r := f.Reading
		r.At = at
		if r.Group == "" {
			r.Group = redisWork
		}
		told := false
		for _, name := range f.names {
			v, ok := of[name]
			told = told || ok
			r.Value += v
		}
		if told {
			out = append(out, r)
		}
	}
	return out
}

// Close closes the connection.
func (s *redisSource) Close() error { return s.client.Close() }
