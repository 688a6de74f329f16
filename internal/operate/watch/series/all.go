package series

import "github.com/unstall/unstall/internal/base/evidence"

// All are the known series.
var All = []Series{
	// Requests.
	{ID: "requests/rate", Unit: "1/s", About: "requests that ended", Metric: Metric{Name: "unstall_requests_total", Counter: true}},
	{ID: "requests/slow", Unit: "1/s", About: "requests that were slow", Metric: Metric{Name: "unstall_slow_requests_total", Counter: true}},
	{ID: "requests/slow-share", Unit: "%", About: "share of requests that were slow", Metric: Metric{Name: "unstall_slow_requests_ratio", Scale: 100}},
	{ID: "requests/errors", Unit: "%", About: "share of requests answered with an error", Metric: Metric{Name: "unstall_failed_requests_ratio", Scale: 100}},
	{ID: "requests/worst", Unit: "ms", About: "longest request that ended", Metric: Metric{Name: "unstall_request_duration_max_seconds", Scale: 1e3}},

	// Any process: /proc, or Performance Monitor.
	{ID: "proc/cpu", Unit: "%", About: "CPU; 100 % is one CPU", Metric: Metric{Name: "process_cpu_seconds_total", Counter: true, Scale: 100}},
	{ID: "proc/system", Unit: "%", About: "CPU in the kernel; 100 % is one CPU", Metric: Metric{Name: "unstall_process_cpu_system_seconds_total", Counter: true, Scale: 100}},
	{ID: "proc/busy", Unit: "%", About: "CPU, of all that it may use", Metric: Metric{Name: "unstall_process_cpu_ratio", Scale: 100}},
	{ID: "proc/rss", Unit: "bytes", About: "resident memory", Metric: Metric{Name: "process_resident_memory_bytes"}},
	{ID: "proc/private", Unit: "bytes", About: "private memory, resident or not (private bytes)", Metric: Metric{Name: "unstall_process_private_memory_bytes"}},
	{ID: "proc/threads", Unit: "count", About: "threads", Metric: Metric{Name: "unstall_process_threads"}},
	{ID: "proc/major-faults", Unit: "1/s", About: "page faults that read a disk", Metric: Metric{Name: "unstall_process_major_faults_total", Counter: true}},
	{ID: "proc/minor-faults", Unit: "1/s", About: "page faults without a disk", Metric: Metric{Name: "unstall_process_minor_faults_total", Counter: true}},
	{ID: "proc/involuntary", Unit: "1/s", About: "times a thread was preempted", Metric: Metric{Name: "unstall_process_involuntary_switches_total", Counter: true}},

	// The machine.
	{ID: "host/user", Unit: "%", Host: true, About: "CPU in user mode, of all CPUs", Metric: Metric{Name: "unstall_host_cpu_ratio", Labels: "mode=user", Help: "CPU time by mode, share of all CPUs", Scale: 100}},
	{ID: "host/system", Unit: "%", Host: true, About: "CPU in the kernel, interrupts not included", Metric: Metric{Name: "unstall_host_cpu_ratio", Labels: "mode=system", Help: "CPU time by mode, share of all CPUs", Scale: 100}},
	{ID: "host/softirq", Unit: "%", Host: true, About: "CPU in interrupts", Metric: Metric{Name: "unstall_host_cpu_ratio", Labels: "mode=softirq", Help: "CPU time by mode, share of all CPUs", Scale: 100}},
	{ID: "host/iowait", Unit: "%", Host: true, About: "CPUs idle waiting for a disk", Metric: Metric{Name: "unstall_host_cpu_ratio", Labels: "mode=iowait", Help: "CPU time by mode, share of all CPUs", Scale: 100}},
	{ID: "host/steal", Unit: "%", Host: true, About: "CPU that the hypervisor gave to others", Metric: Metric{Name: "unstall_host_cpu_ratio", Labels: "mode=steal", Help: "CPU time by mode, share of all CPUs", Scale: 100}},
	{ID: "host/pressure-cpu", Unit: "%", Host: true, About: "time in which a task waited for a CPU", Metric: Metric{Name: "node_pressure_cpu_waiting_seconds_total", Counter: true, Scale: 100}},
	{ID: "host/pressure-memory", Unit: "%", Host: true, About: "time in which a task waited for memory", Metric: Metric{Name: "node_pressure_memory_waiting_seconds_total", Counter: true, Scale: 100}},
	{ID: "host/pressure-io", Unit: "%", Host: true, About: "time in which a task waited for a disk", Metric: Metric{Name: "node_pressure_io_waiting_seconds_total", Counter: true, Scale: 100}},
	{ID: "host/compact-stalls", Unit: "1/s", Host: true, About: "allocations that compacted memory themselves", Metric: Metric{Name: "node_vmstat_compact_stall", Counter: true}},
	{ID: "host/alloc-stalls", Unit: "1/s", Host: true, About: "allocations that reclaimed memory themselves", Metric: Metric{Name: "unstall_host_allocation_stalls_total", Counter: true}},
	{ID: "host/swap-in", Unit: "1/s", Host: true, About: "pages read back from swap", Metric: Metric{Name: "node_vmstat_pswpin", Counter: true}},
	{ID: "host/available", Unit: "bytes", Host: true, About: "memory available", Metric: Metric{Name: "unstall_host_memory_available_bytes"}},

	// .NET.
	newDotnetSeries(evidence.SeriesCPU, "%", "CPU, of all CPUs", Metric{Name: "unstall_dotnet_cpu_ratio", Scale: 100}),
	newDotnetSeries(evidence.SeriesGCTime, "%", "time in GC", Metric{Name: "unstall_dotnet_gc_time_ratio", Scale: 100}),
	newDotnetSeries(evidence.SeriesGen0Collections, "1/s", "collections, of any generation", newGenerationMetric("dotnet_gc_collections_total", "gen0", true)),
	newDotnetSeries(evidence.SeriesGen1Collections, "1/s", "collections of gen 1 and 2", newGenerationMetric("dotnet_gc_collections_total", "gen1", true)),
	newDotnetSeries(evidence.SeriesGen2Collections, "1/s", "gen 2 collections", newGenerationMetric("dotnet_gc_collections_total", "gen2", true)),
	newDotnetSeries(evidence.SeriesInduced, "1/s", "induced collections", Metric{Name: "unstall_dotnet_gc_induced_total", Counter: true}),
	newDotnetSeries(evidence.SeriesGen2Size, "bytes", "gen 2", newGenerationMetric("dotnet_gc_last_collection_heap_size_bytes", "gen2", false)),
	newDotnetSeries(evidence.SeriesLOHSize, "bytes", "large object heap", newGenerationMetric("dotnet_gc_last_collection_heap_size_bytes", "loh", false)),
	newDotnetSeries(evidence.SeriesManagedHeap, "bytes", "managed heap", Metric{Name: "unstall_dotnet_gc_heap_size_bytes"}),
	newDotnetSeries(evidence.SeriesAllocation, "bytes/s", "allocated", Metric{Name: "dotnet_gc_heap_allocated_bytes_total", Counter: true}),
	newDotnetSeries(evidence.SeriesExceptions, "1/s", "exceptions thrown", Metric{Name: "dotnet_exceptions_total", Counter: true}),
	newDotnetSeries(evidence.SeriesContentions, "1/s", "locks waited for", Metric{Name: "dotnet_monitor_lock_contentions_total", Counter: true}),
	newDotnetSeries(evidence.SeriesPoolThreads, "count", "threads of the thread pool", Metric{Name: "dotnet_thread_pool_thread_count"}),
	newDotnetSeries(evidence.SeriesPoolQueue, "count", "work that waits for a thread of the pool", Metric{Name: "dotnet_thread_pool_queue_length"}),
	newDotnetSeries(evidence.SeriesPoolCompleted, "1/s", "work items completed", Metric{Name: "dotnet_thread_pool_work_item_count_total", Counter: true}),
	newDotnetSeries(evidence.SeriesTimers, "count", "timers", Metric{Name: "dotnet_timer_count"}),
	newDotnetSeries(evidence.SeriesRequestsInFlight, "count", "requests under way", Metric{Name: "http_server_active_requests"}),
	newDotnetSeries(evidence.SeriesConnectionQueue, "count", "connections that wait for a thread of the pool", Metric{Name: "kestrel_queued_connections"}),
	newDotnetSeries(evidence.SeriesRequestQueue, "count", "requests that wait for a thread of the pool", Metric{Name: "kestrel_queued_requests"}),

	// JVM.
	{ID: "jvm/young-gc", Unit: "1/s", Runtime: "jvm", About: "young collections", Metric: Metric{Name: "jvm_gc_duration_seconds", Part: "count", Labels: "jvm_gc_name=young", Help: "collections, and how long they took", Counter: true}},
	{ID: "jvm/full-gc", Unit: "1/s", Runtime: "jvm", About: "full collections", Metric: Metric{Name: "jvm_gc_duration_seconds", Part: "count", Labels: "jvm_gc_name=full", Help: "collections, and how long they took", Counter: true}},
	{ID: "jvm/young-gc-time", Unit: "%", Runtime: "jvm", About: "time in young collections", Metric: Metric{Name: "jvm_gc_duration_seconds", Part: "sum", Labels: "jvm_gc_name=young", Help: "collections, and how long they took", Counter: true, Scale: 100}},
	{ID: "jvm/full-gc-time", Unit: "%", Runtime: "jvm", About: "time in full collections", Metric: Metric{Name: "jvm_gc_duration_seconds", Part: "sum", Labels: "jvm_gc_name=full", Help: "collections, and how long they took", Counter: true, Scale: 100}},
	{ID: "jvm/gc-time", Unit: "%", Runtime: "jvm", About: "time in GC, all collectors", Metric: Metric{Name: "unstall_jvm_gc_seconds_total", Counter: true, Scale: 100}},
	{ID: "jvm/safepoint-time", Unit: "%", Runtime: "jvm", About: "time stopped at safepoints, GC included", Metric: Metric{Name: "unstall_jvm_safepoint_seconds_total", Counter: true, Scale: 100}},
	{ID: "jvm/safepoint-other", Unit: "%", Runtime: "jvm", About: "time stopped at safepoints for anything but GC", Metric: Metric{Name: "unstall_jvm_safepoint_other_ratio", Scale: 100}},
	{ID: "jvm/old-used", Unit: "%", Runtime: "jvm", About: "old generation used, of its maximum", Metric: Metric{Name: "unstall_jvm_old_generation_used_ratio", Scale: 100}},
	{ID: "jvm/threads", Unit: "count", Runtime: "jvm", About: "threads", Metric: Metric{Name: "jvm_thread_count"}},
	{ID: "jvm/contended", Unit: "1/s", Runtime: "jvm", About: "locks waited for", Metric: Metric{Name: "unstall_jvm_contended_locks_total", Counter: true}},

	// Go.
	{ID: "go/gc-cycles", Unit: "1/s", Runtime: "go", About: "GC cycles", Metric: Metric{Name: "go_gc_duration_seconds", Part: "count", Help: "GC cycles, and how long they paused the process", Counter: true}},
	{ID: "go/gc-share", Unit: "%", Runtime: "go", About: "CPU time of GC since the value before, of all the process may use", Metric: Metric{Name: "unstall_go_gc_cpu_ratio", Scale: 100}},
	{ID: "go/assist", Unit: "%", Runtime: "go", About: "time of goroutines in mark assists; 100 % is one CPU", Metric: Metric{Name: "unstall_go_gc_assist_ratio", Scale: 100}},
	{ID: "go/paused", Unit: "%", Runtime: "go", About: "time paused by GC", Metric: Metric{Name: "go_gc_duration_seconds", Part: "sum", Help: "GC cycles, and how long they paused the process", Counter: true, Scale: 100}},
	{ID: "go/forced", Unit: "1/s", Runtime: "go", About: "GC cycles requested by the program", Metric: Metric{Name: "go_gc_cycles_forced_gc_cycles_total", Counter: true}},
	{ID: "go/heap", Unit: "bytes", Runtime: "go", About: "heap", Metric: Metric{Name: "go_memstats_heap_alloc_bytes"}},
	{ID: "go/goal", Unit: "bytes", Runtime: "go", About: "heap goal", Metric: Metric{Name: "go_memstats_next_gc_bytes"}},
	{ID: "go/alloc", Unit: "bytes/s", Runtime: "go", About: "allocated", Metric: Metric{Name: "go_memstats_alloc_bytes_total", Counter: true}},
	{ID: "go/goroutines", Unit: "count", Runtime: "go", About: "goroutines", Metric: Metric{Name: "go_goroutines"}},

	// Redis.
	{ID: "redis/main-cpu", Unit: "%", Runtime: "redis", About: "CPU of the thread that runs commands", Metric: Metric{Name: "unstall_redis_main_thread_cpu_seconds_total", Counter: true, Scale: 100}},
	{ID: "redis/ops", Unit: "1/s", Runtime: "redis", About: "commands", Metric: Metric{Name: "redis_commands_processed_total", Counter: true}},
	{ID: "redis/connected", Unit: "count", Runtime: "redis", About: "clients", Metric: Metric{Name: "redis_connected_clients"}},
	{ID: "redis/connections", Unit: "1/s", Runtime: "redis", About: "connections opened", Metric: Metric{Name: "redis_connections_received_total", Counter: true}},
	{ID: "redis/rejected", Unit: "1/s", Runtime: "redis", About: "connections refused", Metric: Metric{Name: "redis_rejected_connections_total", Counter: true}},
	{ID: "redis/used", Unit: "bytes", Runtime: "redis", About: "memory used", Metric: Metric{Name: "redis_memory_used_bytes"}},
	{ID: "redis/used-share", Unit: "%", Runtime: "redis", About: "memory used, of maxmemory", Metric: Metric{Name: "unstall_redis_memory_used_ratio", Scale: 100}},
	{ID: "redis/evicted", Unit: "1/s", Runtime: "redis", About: "keys evicted", Metric: Metric{Name: "redis_evicted_keys_total", Counter: true}},
	{ID: "redis/errors", Unit: "1/s", Runtime: "redis", About: "errors answered", Metric: Metric{Name: "redis_errors_total", Counter: true}},
	{ID: "redis/fork", Unit: "ms", Runtime: "redis", About: "how long the last fork took", Metric: Metric{Name: "redis_latest_fork_seconds", Scale: 1e3}},
	{ID: "redis/aof-delayed", Unit: "1/s", Runtime: "redis", About: "writes that waited for fsync", Metric: Metric{Name: "redis_aof_delayed_fsync_total", Counter: true}},
	{ID: evidence.SeriesRedisPing, Unit: "ms", Runtime: "redis", About: "response time", Metric: Metric{Name: "unstall_redis_answer_seconds", Scale: 1e3}},
}

// newDotnetSeries returns the series of a .NET counter.
func newDotnetSeries(id, unit, about string, m Metric) Series {
	return Series{ID: id, Unit: unit, About: about, Runtime: "dotnet", Metric: m}
}

// newGenerationMetric returns a metric that .NET has for each generation.
func newGenerationMetric(name, which string, counter bool) Metric {
	help := "size after the last collection, by generation"
	if counter {
		help = "collections, by generation; those of a generation include older ones"
	}
	return Metric{Name: name, Labels: "gc_heap_generation=" + which, Help: help, Counter: counter}
}
