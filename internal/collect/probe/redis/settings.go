package redis

import (
	"context"
	"fmt"
)

// settings are the settings that decide how a server answers. Passwords, names and paths are not among them and are never requested.
var settings = []string{
	"maxmemory", "maxmemory-policy", "maxmemory-samples", "maxmemory-eviction-tenacity", "maxmemory-clients", "maxclients", "timeout", "tcp-keepalive", "tcp-backlog",
	"appendonly", "appendfsync", "no-appendfsync-on-rewrite", "auto-aof-rewrite-percentage", "auto-aof-rewrite-min-size", "aof-use-rdb-preamble",
	"aof-rewrite-incremental-fsync", "save", "rdb-save-incremental-fsync", "rdbcompression", "rdbchecksum", "stop-writes-on-bgsave-error",
	"hz", "dynamic-hz", "io-threads", "io-threads-do-reads", "slowlog-log-slower-than", "slowlog-max-len", "latency-monitor-threshold", "latency-tracking",
	"lazyfree-lazy-eviction", "lazyfree-lazy-expire", "lazyfree-lazy-server-del", "lazyfree-lazy-user-del", "lazyfree-lazy-user-flush", "replica-lazy-flush",
	"activedefrag", "active-defrag-cycle-min", "active-defrag-cycle-max", "active-expire-effort", "jemalloc-bg-thread", "disable-thp", "oom-score-adj",
	"repl-backlog-size", "repl-diskless-sync", "client-output-buffer-limit", "client-query-buffer-limit", "proto-max-bulk-len", "cluster-enabled",
	"cluster-node-timeout", "busy-reply-threshold", "lua-time-limit", "databases", "hash-max-listpack-entries", "hash-max-listpack-value",
	"list-max-listpack-size", "set-max-intset-entries", "zset-max-listpack-entries", "zset-max-listpack-value", "protected-mode",
}

// recordSettings asks for the settings one by one, which all versions answer; a setting that a
// version lacks is left out.
func (r *recording) recordSettings(ctx context.Context) {
	// The first is requested alone: if CONFIG is renamed or not allowed, it is so for all.
	first, ok := r.askOnce(ctx, "CONFIG", "GET", settings[0])
	if !ok {
		return
	}
	var requests [][]any
	for _, name := range settings[1:] {
		requests = append(requests, []any{"CONFIG", "GET", name})
	}
	all, _ := first.([]any)
	answers, err := r.client.askSeveral(ctx, requests)
	if err != nil {
		return
	}
	for _, a := range answers {
		if pair, ok := a.([]any); ok && len(pair) == 2 {
			all = append(all, pair...)
		}
	}
	writeAnswer(&r.buf, all, "")
}

// askLogfile asks where the server writes its log; "" if nowhere or unknown. The path is not
// stored.
func (r *recording) askLogfile(ctx context.Context) string {
	v, err := r.client.Do(ctx, "CONFIG", "GET", "logfile")
	if err != nil {
		return ""
	}
	if pair, ok := v.([]any); ok && len(pair) == 2 {
		return fmt.Sprint(pair[1])
	}
	return ""
}
