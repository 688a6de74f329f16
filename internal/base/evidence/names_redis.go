package evidence

// This file has the names of what a Redis server tells of itself; names.go says what names are
// for. A field of INFO (https://redis.io/docs/latest/commands/info/) is a series by its own name
// behind [RedisInfo], as it was told: counters are sums since the server's start, or since somebody
// reset them by CONFIG RESETSTAT. Valkey and KeyDB have the same fields.

// RedisInfo begins the names of fields of INFO.
const RedisInfo = "redis/"

// Fields of INFO. Times are as Redis tells them, in the unit that the name or the comment says.
const (
	SeriesRedisUptime         = "redis/uptime_in_seconds"
	SeriesRedisConnected      = "redis/connected_clients"
	SeriesRedisBlocked        = "redis/blocked_clients" // who waits in BLPOP and similar
	SeriesRedisMaxClients     = "redis/maxclients"
	SeriesRedisRecentInput    = "redis/client_recent_max_input_buffer"  // bytes
	SeriesRedisRecentOutput   = "redis/client_recent_max_output_buffer" // bytes
	SeriesRedisUsedMemory     = "redis/used_memory"
	SeriesRedisRSS            = "redis/used_memory_rss"
	SeriesRedisPeak           = "redis/used_memory_peak"
	SeriesRedisDataset        = "redis/used_memory_dataset"
	SeriesRedisOverhead       = "redis/used_memory_overhead"
	SeriesRedisLua            = "redis/used_memory_lua"
	SeriesRedisSystemMemory   = "redis/total_system_memory"
	SeriesRedisMaxMemory      = "redis/maxmemory" // 0: no limit
	SeriesRedisFragmentation  = "redis/mem_fragmentation_ratio"
	SeriesRedisFragmented     = "redis/mem_fragmentation_bytes"
	SeriesRedisNotCounted     = "redis/mem_not_counted_for_evict"
	SeriesRedisClientMemory   = "redis/mem_clients_normal"
	SeriesRedisSaving         = "redis/rdb_bgsave_in_progress" // 1: it is
	SeriesRedisSaves          = "redis/rdb_saves"
	SeriesRedisSaveCopied     = "redis/rdb_last_cow_size" // bytes
	SeriesRedisRewriting      = "redis/aof_rewrite_in_progress"
	SeriesRedisRewrites       = "redis/aof_rewrites"
	SeriesRedisRewriteCopied  = "redis/aof_last_cow_size"
	SeriesRedisModuleForked   = "redis/module_fork_in_progress"
	SeriesRedisCopied         = "redis/current_cow_size"
	SeriesRedisCopiedPeak     = "redis/current_cow_peak"
	SeriesRedisAOFEnabled     = "redis/aof_enabled"
	SeriesRedisAOFDelayed     = "redis/aof_delayed_fsync"
	SeriesRedisAOFPending     = "redis/aof_pending_bio_fsync"
	SeriesRedisAOFBuffer      = "redis/aof_buffer_length"
	SeriesRedisAOFSize        = "redis/aof_current_size"
	SeriesRedisConnections    = "redis/total_connections_received"
	SeriesRedisCommands       = "redis/total_commands_processed"
	SeriesRedisNetIn          = "redis/total_net_input_bytes"
	SeriesRedisNetOut         = "redis/total_net_output_bytes"
	SeriesRedisReplicationOut = "redis/total_net_repl_output_bytes"
	SeriesRedisRejected       = "redis/rejected_connections"
	SeriesRedisExpired        = "redis/expired_keys"
	SeriesRedisExpireCycle    = "redis/expire_cycle_cpu_milliseconds"
	SeriesRedisEvicted        = "redis/evicted_keys"
	SeriesRedisEvictedClients = "redis/evicted_clients"
	SeriesRedisExceeded       = "redis/total_eviction_exceeded_time" // ms above maxmemory
	SeriesRedisHits           = "redis/keyspace_hits"
	SeriesRedisMisses         = "redis/keyspace_misses"
	SeriesRedisLatestFork     = "redis/latest_fork_usec"
	SeriesRedisForks          = "redis/total_forks"
	SeriesRedisDefragmenting  = "redis/total_active_defrag_time" // ms
	SeriesRedisErrors         = "redis/total_error_replies"
	SeriesRedisOutputClosed   = "redis/client_output_buffer_limit_disconnections"
	SeriesRedisQueryClosed    = "redis/client_query_buffer_limit_disconnections"
	SeriesRedisLoop           = "redis/eventloop_duration_sum"     // µs
	SeriesRedisLoopCommands   = "redis/eventloop_duration_cmd_sum" // µs
	SeriesRedisCPUUser        = "redis/used_cpu_user"              // s
	SeriesRedisCPUSystem      = "redis/used_cpu_sys"
	SeriesRedisMainUser       = "redis/used_cpu_user_main_thread"
	SeriesRedisMainSystem     = "redis/used_cpu_sys_main_thread"
	SeriesRedisChildrenUser   = "redis/used_cpu_user_children"
	SeriesRedisChildrenSystem = "redis/used_cpu_sys_children"
	SeriesRedisThreadsActive  = "redis/io_threads_active"
	SeriesRedisKeys           = "redis/keyspace.keys"    // of all databases
	SeriesRedisKeysThatExpire = "redis/keyspace.expires" // of them, those that are to expire
)

// Series of each command; a colon and its name in lower case follow: "redis/cmdstat.calls:config|get".
const (
	SeriesRedisCalls           = "redis/cmdstat.calls"          // since the start
	SeriesRedisCallTime        = "redis/cmdstat.usec"           // µs of the main thread since the start; without what a command waits for others
	SeriesRedisCallsRejected   = "redis/cmdstat.rejected_calls" // before they began
	SeriesRedisCallsFailed     = "redis/cmdstat.failed_calls"
	SeriesRedisCallsSlow       = "redis/cmdstat.slowlog_count"       // calls that took slowlog-log-slower-than or longer, since the start (Redis 8)
	SeriesRedisCallsSlowTime   = "redis/cmdstat.slowlog_time_ms_sum" // ms that these took together
	SeriesRedisCallsSlowMost   = "redis/cmdstat.slowlog_time_ms_max" // ms that the longest of them took, since the start
	SeriesRedisCallP50         = "redis/latencystats.p50"            // µs, of all calls since the start
	SeriesRedisCallP99         = "redis/latencystats.p99"            // likewise
	SeriesRedisCallP999        = "redis/latencystats.p999"           // likewise
	SeriesRedisErrorKind       = "redis/errorstat"                   // replies since the start; what an error begins with follows the colon: "OOM"
	SeriesRedisHistogramBucket = "redis/histogram"                   // calls since the start that took at most so many µs; "get 128" follows the colon
)

// Series of CLIENT LIST, of the connections from one address at each time it was asked for; a colon
// and the address without its port follow, "unix" of a UNIX socket.
const (
	SeriesRedisHostClients = "redis/clients"
	SeriesRedisHostYoung   = "redis/clients.young"   // opened within the last second
	SeriesRedisHostBlocked = "redis/clients.blocked" // in BLPOP and similar
	SeriesRedisHostOutput  = "redis/clients.output"  // bytes of answers that they have not taken yet
	SeriesRedisHostQuery   = "redis/clients.query"   // bytes of what they asked and is not read yet
	SeriesRedisHostLast    = "redis/clients.last"    // connections whose last command it is: "10.0.0.7 get" follows the colon

	SeriesRedisMostOutput = "redis/clients.output.most" // bytes, of the client that has most; nothing follows
	SeriesRedisMostQuery  = "redis/clients.query.most"  // bytes, likewise
	SeriesRedisAllQuery   = "redis/clients.query.all"   // bytes, of all clients that are not blocked
)

// SeriesRedisPing is how long the recorder's own PING took (ns).
const SeriesRedisPing = "redis/ping"

// RedisOwn begins the names of series of how often the recorder itself called a command (since it
// began), so that it can be taken off; the command follows.
const RedisOwn = "redis/own:"

// RedisSetting begins the names of facts that are settings, as CONFIG GET calls them:
// "redis/config/maxmemory-policy". Sizes are bytes.
const RedisSetting = "redis/config/"

// Facts of a Redis server.
const (
	FactRedisRole     = "redis/role"      // "master", "slave"
	FactRedisPort     = "redis/port"      // it is asked at
	FactRedisMode     = "redis/mode"      // "standalone", "cluster", "sentinel"
	FactRedisSlowLost = "redis/slow.lost" // entries of the slow log that were gone before they were read
	FactRedisSaveBad  = "redis/save.failed"
	FactRedisAOFBad   = "redis/aof.failed"
	FactRedisTold     = "redis/told"        // a line of its log that matters: Value is of which kind, [Link], the line; Number how many
	FactRedisUnsent   = "redis/told.unsent" // Number is the most bytes that waited for a client that was closed for it, by its log
	FactRedisRush     = "redis/told.rush"   // Number is how many lines of a kind, which is Value, its log has within ten minutes at most, and when
	FactRedisDoctor   = "redis/doctor"      // Value is which doctor, [Link], what it said
	FactRedisCluster  = "redis/cluster"     // state of the cluster as the node sees it: "ok", "fail"
	FactRedisWorst    = "redis/event.worst" // the longest event of a kind since the server's start: Value is which, Number ns
)

// Names of what can be covered of a Redis server.
const (
	CoverRedis        = "redis statistics"     // INFO
	CoverRedisSlow    = "redis slow log"       // SLOWLOG
	CoverRedisLatency = "redis latency events" // LATENCY, while its monitor was on
	CoverRedisClients = "redis clients"        // CLIENT LIST
	CoverRedisLog     = "redis log"
)

// Kinds of lines of its log that matter: what FactRedisTold begins with.
const (
	RedisForkFailed    = "fork failed"
	RedisSlowFsync     = "slow fsync"                // Asynchronous AOF fsync is taking too long
	RedisReplicaClosed = "output limit of a replica" // the same of a replica or a monitor, for which no request waits
	RedisOutputClosed  = "output limit"              // a client was closed, as it did not take its answers
	RedisOutOfMemory   = "out of memory"
	RedisMaxClients    = "max clients" // maxclients was lowered, or met
	RedisSlowScript    = "slow script"
	RedisSaveFailed    = "save failed"
	RedisHugeWarning   = "huge pages" // it warned of transparent huge pages
	RedisOvercommit    = "overcommit" // it warned of vm.overcommit_memory
	RedisBacklog       = "backlog"    // net.core.somaxconn is below tcp-backlog
	RedisResync        = "full resync"
	RedisLoading       = "loading" // it read its data: until then it answered no client
	RedisForked        = "fork"    // the event of its latency monitor
	RedisSaveBegan     = "save began"
	RedisRewriteBegan  = "rewrite began"
	RedisStarted       = "started"
)
