package redisreply

import (
	"math"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// takeSettings takes the relevant pairs of names and values of CONFIG GET. It ignores all
// others, as passwords are settings, too.
func (p *parser) takeSettings(pairs []string) bool {
	for i := 0; i+1 < len(pairs); i += 2 {
		if isSetting(pairs[i]) {
			p.setSetting(strings.ToLower(pairs[i]), pairs[i+1], true)
		}
	}
	return true
}

// setSetting sets a setting. A value of INFO does not replace one of CONFIG GET.
func (p *parser) setSetting(name, value string, config bool) {
	key := evidence.RedisSetting + name
	if !config {
		for _, f := range p.facts {
			if f.Key == key {
				return
			}
		}
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(v, 0) {
		v = math.NaN()
	}
	p.setFact(key, strings.ToValidUTF8(value[:min(len(value), 200)], "?"), v)
}

// isSetting knows the settings that matter, each "maxmemory" or the like.
func isSetting(name string) bool { return settingNames[strings.ToLower(name)] }

// settingNames are the settings that are kept; passwords, paths and names are not among them.
var settingNames = func() map[string]bool {
	of := make(map[string]bool)
	for _, name := range []string{
		"maxmemory", "maxmemory-policy", "maxmemory-samples", "maxmemory-eviction-tenacity", "maxmemory-clients", "maxclients", "timeout", "tcp-keepalive", "tcp-backlog",
		"appendonly", "appendfsync", "no-appendfsync-on-rewrite", "auto-aof-rewrite-percentage", "auto-aof-rewrite-min-size", "aof-use-rdb-preamble",
		"aof-rewrite-incremental-fsync", "save", "rdb-save-incremental-fsync", "rdbcompression", "rdbchecksum", "stop-writes-on-bgsave-error", "rdb-del-sync-files",
		"hz", "dynamic-hz", "io-threads", "io-threads-do-reads", "server-threads", "slowlog-log-slower-than", "slowlog-max-len", "latency-monitor-threshold",
		"latency-tracking", "latency-tracking-info-percentiles", "commandlog-execution-slower-than",
		"lazyfree-lazy-eviction", "lazyfree-lazy-expire", "lazyfree-lazy-server-del", "lazyfree-lazy-user-del", "lazyfree-lazy-user-flush", "replica-lazy-flush",
		"activedefrag", "active-defrag-threshold-lower", "active-defrag-threshold-upper", "active-defrag-cycle-min", "active-defrag-cycle-max", "active-expire-effort",
		"jemalloc-bg-thread", "disable-thp", "oom-score-adj", "repl-backlog-size", "repl-diskless-sync", "repl-diskless-load", "client-output-buffer-limit",
		"client-query-buffer-limit", "proto-max-bulk-len", "cluster-enabled", "cluster-node-timeout", "lua-time-limit", "busy-reply-threshold", "databases",
		"hash-max-listpack-entries", "hash-max-listpack-value", "hash-max-ziplist-entries", "list-max-listpack-size", "set-max-intset-entries",
		"zset-max-listpack-entries", "zset-max-listpack-value", "protected-mode", "replica-read-only",
	} {
		of[name] = true
	}
	return of
}()

// isSpoken knows what a doctor says: LATENCY DOCTOR begins with "Dave, ", MEMORY DOCTOR with "Sam, " or
// "Hi Sam, " (src/latency.c, src/object.c).
func isSpoken(name, s string) bool {
	s = strings.TrimPrefix(s, `"`)
	return strings.HasSuffix(name, " DOCTOR") || strings.HasPrefix(s, "Dave, ") || strings.HasPrefix(s, "Sam, I") || strings.HasPrefix(s, "Hi Sam, ")
}
