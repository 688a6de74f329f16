package metricspage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/jstat"
	"github.com/unstall/unstall/internal/format/procfs"
	"github.com/unstall/unstall/internal/format/redisreply"
)

// Pages by their server: one page may have several kinds.
var (
	Go        = newFormat("metrics-go", "pages of Go's Prometheus client (go_)", parseGo, isGo, "go_")
	JVM       = newFormat("metrics-jvm", "pages of a JVM's Prometheus client (jvm_): Micrometer, client_java, OpenTelemetry, the JMX exporter", parseJVM, isJVM, jvmPrefixes...)
	Dotnet    = newFormat("metrics-dotnet", "pages of .NET's Prometheus clients (dotnet_, process_runtime_dotnet_)", parseDotnet, isDotnet, dotnetPrefixes...)
	Redis     = newFormat("metrics-redis", "pages of redis_exporter", parseRedis, isRedis, "redis_")
	Node      = newFormat("metrics-node", "pages of node_exporter", parseNode, isNode, "node_")
	Etcd      = newFormat("metrics-etcd", "pages of etcd: how long it takes until its log is on the disk", parseEtcd, isEtcd, "etcd_")
	Container = newFormat("metrics-cadvisor", "pages of cAdvisor and the kubelet: CPU quotas of containers (container_cpu_cfs_)", parseContainers, isContainer, "container_cpu_cfs_")
	Other     = newFormat("metrics-process", "pages of the Prometheus clients of Python and Node.js (python_, nodejs_)", parseOther, isOther, "python_", "nodejs_")
)

var (
	jvmPrefixes    = []string{"jvm_", "java_lang_"}
	dotnetPrefixes = []string{"dotnet_", "process_runtime_dotnet_", "system_runtime_"}
)

func newFormat(name, about string, parse func(*reading, *format.Artifact, *evidence.Builder, context.Context) error, own func(string) bool, prefixes ...string) format.Format {
	return format.Format{Name: name, About: about, Match: newMatcher(own, prefixes), Parse: func(ctx context.Context, a *format.Artifact, b *evidence.Builder) error {
		r, err := readPages(ctx, a, func(s string) bool { return own(s) || strings.HasPrefix(s, "process_") })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case len(r.pages) == 0 && err != nil:
			return err
		case len(r.pages) == 0:
			return fmt.Errorf("%s: it holds no sample: save a page with curl -s http://HOST:PORT/metrics", name)
		case err != nil:
			b.Warnf(0, "the page is incomplete: %v", err)
			b.Cut()
		}
		if r.strange > 0 {
			b.Warnf(r.first, "%s not samples of a metric", format.Count(r.strange, "line is", "lines are"))
		}
		if r.dropped > 0 {
			b.Warnf(0, "%s not kept: too many", format.Count(r.dropped, "sample was", "samples were"))
		}
		if len(r.pages) == 1 && name != "metrics-node" {
			b.Warnf(r.pages[0].line, "one page shows levels and counts since the start alone: for rates append another one a minute later, each with its time above: (date -u +'# %%FT%%TZ'; curl -s URL) >>metrics.txt")
		}
		return parse(r, a, b, ctx)
	}}
}

func isGo(s string) bool        { return strings.HasPrefix(s, "go_") && !strings.HasPrefix(s, "go_sql_") }
func isJVM(s string) bool       { return hasAnyPrefix(s, jvmPrefixes) }
func isRedis(s string) bool     { return strings.HasPrefix(s, "redis_") }
func isEtcd(s string) bool      { return strings.HasPrefix(s, "etcd_") }
func isContainer(s string) bool { return strings.HasPrefix(s, "container_cpu_cfs_") }
func isNode(s string) bool      { return strings.HasPrefix(s, "node_") }
func isOther(s string) bool {
	return strings.HasPrefix(s, "python_") || strings.HasPrefix(s, "nodejs_")
}
func isDotnet(s string) bool {
	return hasAnyPrefix(s, dotnetPrefixes)
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// setTimes sets the clock and gives each page a time: its own if all pages have one, else one after
// the other.
func (r *reading) setTimes(b *evidence.Builder) (timed bool) {
	last := int64(0)
	timed = true
	for i := range r.pages {
		timed = timed && r.pages[i].t > last
		last = r.pages[i].t
	}
	if timed {
		*b.Clock() = evidence.Clock{Name: "unix", Error: 1e9, Resolution: 1e9}
		return true
	}
	*b.Clock() = evidence.Clock{Name: "pages, one after the other", Error: evidence.Unanchored}
	if len(r.pages) > 1 {
		b.Warnf(0, "nothing tells when these pages are from, so that no rate is known: put the time before each, as date -u +'# %%FT%%TZ' prints it")
	}
	for i := range r.pages {
		r.pages[i].t = int64(i+1) * 1e9
	}
	return false
}

// level is a figure that each page has.
type level struct {
	series, unit string
	scale        float64
	hold         func(*sample) bool
	names        []string
}

// emitLevels writes figures as series.
func (r *reading) emitLevels(b *evidence.Builder, subject evidence.SubjectID, all []level) {
	for _, x := range all {
		s := evidence.Series{Subject: subject, Name: x.series, Unit: x.unit}
		for i := range r.pages {
			p := &r.pages[i]
			for _, name := range x.names {
				if v := p.sumOf(name, x.hold); !math.IsNaN(v) {
					s.T, s.V = append(s.T, p.t), append(s.V, v*x.scale)
					break
				}
			}
		}
		if len(s.T) > 0 {
			s.Origin = b.Origin(r.pages[0].line)
			b.Series(s)
		}
	}
}

// emitRates writes counters as their growth per second, each since the page before.
func (r *reading) emitRates(b *evidence.Builder, subject evidence.SubjectID, all []level) {
	for _, x := range all {
		s := evidence.Series{Subject: subject, Name: x.series, Unit: x.unit}
		for i := 1; i < len(r.pages); i++ {
			p, q := &r.pages[i-1], &r.pages[i]
			for _, name := range x.names {
				if v := q.sumOf(name, x.hold) - p.sumOf(name, x.hold); v >= 0 {
					s.T, s.V = append(s.T, q.t), append(s.V, v*x.scale/(float64(q.t-p.t)/1e9))
					break
				}
			}
		}
		if len(s.T) > 0 {
			s.Origin = b.Origin(r.pages[0].line)
			b.Series(s)
		}
	}
}

// isLongest says whether a metric is the longest of some times, of which the sum of several says nothing.
func isLongest(name string) bool {
	return strings.HasSuffix(name, "_seconds_max") || strings.HasSuffix(name, "_milliseconds_max")
}

// emitTable shows the figures of the last page by their names.
func (r *reading) emitTable(b *evidence.Builder, title string, show func(string) bool) {
	p := &r.pages[len(r.pages)-1]
	sums := make(map[string]float64)
	for i := range p.samples {
		if s := &p.samples[i]; show(s.name) && s.label("le") == "" && s.label("quantile") == "" {
			if isLongest(s.name) {
				sums[s.name] = max(sums[s.name], s.v)
				continue
			}
			sums[s.name] += s.v
		}
	}
	names := make([]string, 0, len(sums))
	for n := range sums {
		names = append(names, n)
	}
	sort.Strings(names)
	t := evidence.Table{Title: title, Columns: []string{"", "value"}}
	for _, n := range names[:min(len(names), 60)] {
		t.Rows = append(t.Rows, []string{n, fmt.Sprintf("%.6g", sums[n])})
	}
	if len(t.Rows) > 0 {
		b.Table(t)
	}
}

func parseGo(r *reading, _ *format.Artifact, b *evidence.Builder, _ context.Context) error {
	timed := r.setTimes(b)
	last := &r.pages[len(r.pages)-1]
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})
	for i := range last.samples {
		if s := &last.samples[i]; s.name == "go_info" {
			if v := s.label("version"); strings.HasPrefix(v, "go1") {
				b.Describe(subject, func(x *evidence.Subject) { x.Version = v })
			}
		}
	}
	one := []level{
		{evidence.SeriesGoGoroutines, "1", 1, nil, []string{"go_goroutines", "go_sched_goroutines_goroutines"}},
		{evidence.SeriesGoHeapSnapshot, "bytes", 1, nil, []string{"go_memstats_heap_alloc_bytes", "go_memstats_alloc_bytes"}},
		{evidence.SeriesGoGoal, "bytes", 1, nil, []string{"go_memstats_next_gc_bytes", "go_gc_heap_goal_bytes"}},
		{evidence.SeriesGoSys, "bytes", 1, nil, []string{"go_memstats_sys_bytes", "go_memory_classes_total_bytes"}},
		{evidence.SeriesGoReleased, "bytes", 1, nil, []string{"go_memstats_heap_released_bytes", "go_memory_classes_heap_released_bytes"}},
		{evidence.SeriesGoCPUFraction, "1", 1, nil, []string{"go_memstats_gc_cpu_fraction"}},
		{evidence.SeriesGoCycles, "count", 1, nil, []string{"go_gc_duration_seconds_count", "go_gc_cycles_total_gc_cycles_total"}},
		{evidence.SeriesGoAllocated, "bytes", 1, nil, []string{"go_memstats_alloc_bytes_total", "go_gc_heap_allocs_bytes_total"}},
	}
	if timed && len(r.pages) > 1 {
		r.emitLevels(b, subject, one)
		b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverHeap, From: r.pages[0].t, Until: last.t, Origin: b.Origin(r.pages[0].line)})
	} else {
		r.emitLevels(b, subject, one[:1])
	}
	fact := func(key string, v float64) {
		if !math.IsNaN(v) {
			b.Fact(evidence.Fact{Subject: subject, Key: key, Number: v, Value: fmt.Sprintf("%.6g", v), Origin: b.Origin(last.line)})
		}
	}
	fact(evidence.FactNumGC, last.firstOf("go_gc_duration_seconds_count", "go_gc_cycles_total_gc_cycles_total"))
	fact(evidence.FactTotalAlloc, last.firstOf("go_memstats_alloc_bytes_total", "go_gc_heap_allocs_bytes_total"))
	share := last.firstOf("go_memstats_gc_cpu_fraction")
	if all := last.firstOf("go_cpu_classes_total_cpu_seconds_total"); math.IsNaN(share) && all > 0 { // marking on idle CPUs costs nothing else
		share = (last.firstOf("go_cpu_classes_gc_total_cpu_seconds_total") - stats.ZeroIfNaN(last.firstOf("go_cpu_classes_gc_mark_idle_cpu_seconds_total"))) / all
	}
	if share >= 0 && share <= 1 {
		fact(evidence.FactGCCPUFraction, share)
	}
	r.emitTable(b, "metrics of Go, last page", func(s string) bool { return isGo(s) || strings.HasPrefix(s, "process_") })
	return nil
}

// parseOther reads what clients publish of any process: CPU time, memory and file descriptors.
func parseOther(r *reading, _ *format.Artifact, b *evidence.Builder, _ context.Context) error {
	timed := r.setTimes(b)
	last := &r.pages[len(r.pages)-1]
	subject := b.Subject(evidence.Subject{Kind: evidence.Process})
	r.emitLevels(b, subject, []level{{evidence.SeriesProcessRSS, "bytes", 1, nil, []string{"process_resident_memory_bytes"}}})
	if timed && len(r.pages) > 1 {
		r.emitRates(b, subject, []level{{evidence.SeriesProcessCPU, "cores", 1, nil, []string{"process_cpu_seconds_total"}}})
	}
	if open, most := last.firstOf("process_open_fds"), last.firstOf("process_max_fds"); open >= nearlyAll*most && most > 0 {
		b.Warnf(last.line, "%.0f of %.0f file descriptors are open: beyond the limit no connection is accepted and none is made (raise the limit, ulimit -n, or close what is not used)", open, most)
	}
	r.emitTable(b, "metrics of the process, last page", func(s string) bool { return isOther(s) || strings.HasPrefix(s, "process_") })
	return nil
}

// nearlyAll is the part of the file descriptors from which a shortage is reported.
const nearlyAll = .95

func parseDotnet(r *reading, _ *format.Artifact, b *evidence.Builder, _ context.Context) error {
	timed := r.setTimes(b)
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "dotnet"})
	gen2 := func(s *sample) bool {
		for _, name := range []string{"generation", "gc_heap_generation", "dotnet_gc_heap_generation"} {
			if g := s.label(name); g == "2" || g == "gen2" {
				return true
			}
		}
		return false
	}
	r.emitLevels(b, subject, []level{
		{evidence.SeriesPoolQueue, "count", 1, nil, []string{"dotnet_threadpool_queue_length", "dotnet_thread_pool_queue_length", "process_runtime_dotnet_thread_pool_queue_length", "system_runtime_threadpool_queue_length", "dotnet_thread_pool_queue_length_total"}},
		{evidence.SeriesPoolThreads, "count", 1, nil, []string{"dotnet_threadpool_num_threads", "dotnet_thread_pool_thread_count", "process_runtime_dotnet_thread_pool_threads_count", "system_runtime_threadpool_thread_count", "dotnet_thread_pool_thread_count_total"}},
		{evidence.SeriesWorkingSet, "bytes", 1, nil, []string{"process_working_set_bytes", "dotnet_process_memory_working_set_bytes", "process_memory_usage_bytes"}},
		{evidence.SeriesManagedHeap, "bytes", 1, nil, []string{"dotnet_total_memory_bytes", "process_runtime_dotnet_gc_objects_size_bytes"}},
		{evidence.SeriesCPU, "percent", 1, nil, []string{"system_runtime_cpu_usage"}},
	})
	if timed && len(r.pages) > 1 {
		r.emitRates(b, subject, []level{
			{evidence.SeriesPoolCompleted, "count/s", 1, nil, []string{"dotnet_threadpool_throughput_total", "dotnet_thread_pool_work_item_count_total", "process_runtime_dotnet_thread_pool_completed_items_count_total"}},
			{evidence.SeriesContentions, "count/s", 1, nil, []string{"dotnet_contention_total", "dotnet_monitor_lock_contentions_total", "process_runtime_dotnet_monitor_lock_contention_count_total"}},
			{evidence.SeriesGen2Collections, "count/s", 1, gen2, []string{"dotnet_collection_count_total", "dotnet_gc_collections_total", "process_runtime_dotnet_gc_collections_count_total"}},
		})
		first, last := r.pages[0].t, r.pages[len(r.pages)-1].t
		b.Cover(evidence.Coverage{Subject: subject, Kind: evidence.CoverThreadPool, From: first, Until: last, Origin: b.Origin(r.pages[0].line)})
	}
	r.emitTable(b, "metrics of .NET, last page", func(s string) bool { return isDotnet(s) || strings.HasPrefix(s, "process_") })
	return nil
}

// redisFields are the fields of INFO on a page of redis_exporter, with the factors of their figures
// (https://github.com/oliver006/redis_exporter/blob/master/exporter/exporter.go).
var redisFields = []struct {
	metric, field string
	scale         float64
}{
	{"redis_uptime_in_seconds", "uptime_in_seconds", 1},
	{"redis_connected_clients", "connected_clients", 1},
	{"redis_blocked_clients", "blocked_clients", 1},
	{"redis_config_maxclients", "maxclients", 1},
	{"redis_memory_used_bytes", "used_memory", 1},
	{"redis_memory_used_rss_bytes", "used_memory_rss", 1},
	{"redis_memory_max_bytes", "maxmemory", 1},
	{"redis_mem_fragmentation_ratio", "mem_fragmentation_ratio", 1},
	{"redis_connections_received_total", "total_connections_received", 1},
	{"redis_commands_processed_total", "total_commands_processed", 1},
	{"redis_instantaneous_ops_per_sec", "instantaneous_ops_per_sec", 1},
	{"redis_net_input_bytes_total", "total_net_input_bytes", 1},
	{"redis_net_output_bytes_total", "total_net_output_bytes", 1},
	{"redis_rejected_connections_total", "rejected_connections", 1},
	{"redis_expired_keys_total", "expired_keys", 1},
	{"redis_evicted_keys_total", "evicted_keys", 1},
	{"redis_keyspace_hits_total", "keyspace_hits", 1},
	{"redis_keyspace_misses_total", "keyspace_misses", 1},
	{"redis_latest_fork_seconds", "latest_fork_usec", 1e6},
	{"redis_latest_fork_usec", "latest_fork_usec", 1},
	{"redis_rdb_bgsave_in_progress", "rdb_bgsave_in_progress", 1},
	{"redis_rdb_last_bgsave_duration_sec", "rdb_last_bgsave_time_sec", 1},
	{"redis_aof_enabled", "aof_enabled", 1},
	{"redis_aof_rewrite_in_progress", "aof_rewrite_in_progress", 1},
	{"redis_cpu_sys_seconds_total", "used_cpu_sys", 1},
	{"redis_cpu_user_seconds_total", "used_cpu_user", 1},
	{"redis_cpu_sys_main_thread_seconds_total", "used_cpu_sys_main_thread", 1},
	{"redis_cpu_user_main_thread_seconds_total", "used_cpu_user_main_thread", 1},
}

// parseRedis writes a page as INFO.
func parseRedis(r *reading, a *format.Artifact, b *evidence.Builder, ctx context.Context) error {
	var lines []format.Line
	add := func(line int64, text string, args ...any) {
		lines = append(lines, format.Line{Text: []byte(fmt.Sprintf(text, args...)), Number: line})
	}
	for i := range r.pages {
		p := &r.pages[i]
		if p.t != 0 && len(r.pages) > 1 {
			add(p.line, "%s", formatUTC(p.t))
		}
		add(p.line, "# Server")
		for k := range p.samples {
			if s := &p.samples[k]; s.name == "redis_instance_info" {
				for _, x := range [][2]string{{"redis_version", "redis_version"}, {"os", "os"}, {"maxmemory_policy", "maxmemory_policy"}, {"role", "role"}} {
					if v := s.label(x[0]); v != "" {
						add(s.line, "%s:%s", x[1], v)
					}
				}
			}
		}
		for _, f := range redisFields {
			if v := p.firstOf(f.metric); !math.IsNaN(v) {
				if f.field == "used_memory" {
					add(p.line, "# Memory")
				}
				add(p.line, "%s:%s", f.field, formatPlain(v*f.scale))
			}
		}
		commands := make(map[string][2]float64)
		var names []string
		for k := range p.samples {
			s := &p.samples[k]
			at := -1
			switch s.name {
			case "redis_commands_total":
				at = 0
			case "redis_commands_duration_seconds_total":
				at = 1
			}
			if name := s.label("cmd"); at >= 0 && name != "" && !strings.ContainsAny(name, "\n:,") {
				v, ok := commands[name]
				if !ok {
					names = append(names, name)
				}
				v[at] = s.v
				commands[name] = v
			}
		}
		if len(names) > 0 {
			add(p.line, "# Commandstats")
			for _, name := range names {
				if v := commands[name]; v[0] > 0 {
					add(p.line, "cmdstat_%s:calls=%s,usec=%s,usec_per_call=%.2f", name, formatPlain(v[0]), formatPlain(v[1]*1e6), v[1]*1e6/v[0])
				}
			}
		}
		add(p.line, "")
	}
	return redisreply.Format.Parse(ctx, format.Rewritten(a, lines), b)
}

// parseJVM writes the collections of pages as rows of jstat.
func parseJVM(r *reading, a *format.Artifact, b *evidence.Builder, ctx context.Context) error {
	defer r.emitTable(b, "metrics of the JVM, last page", func(s string) bool { return isJVM(s) || strings.HasPrefix(s, "process_") })
	var rows []format.Line
	rows = append(rows, format.Line{Text: []byte("Timestamp YGC YGCT FGC FGCT CGC CGCT GCT"), Number: r.pages[0].line})
	some, beside := false, false
	timed := true
	for i := range r.pages {
		p := &r.pages[i]
		var n, took [3]float64 // young, full, pauses of concurrent cycles
		for k := range p.samples {
			s := &p.samples[k]
			kind, count, scale, ok := collectionKind(s)
			if !ok {
				continue
			}
			if kind < 0 {
				beside = true
				continue
			}
			some = true
			if count {
				n[kind] += s.v
			} else {
				took[kind] += s.v * scale
			}
		}
		since := float64(p.t) / 1e9
		if start := p.firstOf("process_start_time_seconds"); start > 0 && since > start {
			since -= start
		}
		timed = timed && p.t != 0
		rows = append(rows, format.Line{Text: []byte(fmt.Sprintf("%.3f %.0f %.6f %.0f %.6f %.0f %.6f %.6f", since, n[0], took[0], n[1], took[1], n[2], took[2], took[0]+took[1]+took[2])), Number: p.line})
	}
	if beside {
		b.Warnf(0, "collections that run beside the program are counted with all their time, which is not that of pauses: left out")
	}
	if !some || len(r.pages) == 1 || !timed {
		subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm"})
		*b.Clock() = evidence.Clock{Name: "pages, one after the other", Error: evidence.Unanchored}
		if some && len(r.pages) > 1 {
			b.Warnf(0, "nothing tells when these pages are from, so that no rate is known: put the time before each, as date -u +'# %%FT%%TZ' prints it")
		}
		if some {
			r.sinceStart(b, subject)
		}
		return nil
	}
	return jstat.Format.Parse(ctx, format.Rewritten(a, rows), b)
}

// sinceStart reports from the last page alone the number of full collections, their total time, and the longest pause of the last
// minutes.
func (r *reading) sinceStart(b *evidence.Builder, subject evidence.SubjectID) {
	p := &r.pages[len(r.pages)-1]
	var n, took, most float64
	for i := range p.samples {
		s := &p.samples[i]
		if s.name == "jvm_gc_pause_seconds_max" && s.v < 1e6 {
			most = max(most, s.v)
		}
		kind, count, scale, ok := collectionKind(s)
		switch {
		case !ok || kind != 1:
		case count:
			n += s.v
		default:
			took += s.v * scale
		}
	}
	fact := func(key string, v float64) {
		if v > 0 {
			b.FactAt(subject, key, fmt.Sprintf("%.6g", v), v, p.line)
		}
	}
	if n > 0 && n < 1e9 && took < 1e9 {
		fact(evidence.FactFullCollections, n)
		fact(evidence.FactFullMean, took/n*1e9)
	}
	fact(evidence.FactPauseMost, most*1e9)
}

// collectionKind returns the kind of a sample of collections: 0 young, 1 full, 2 pauses of
// concurrent cycles, −1 concurrent cycles.
func collectionKind(s *sample) (kind int, count bool, scale float64, ok bool) {
	name := ""
	scale = 1
	switch s.name {
	case "jvm_gc_pause_seconds_count", "jvm_gc_pause_seconds_sum": // Micrometer
		name = s.label("action")
	case "jvm_gc_duration_seconds_count", "jvm_gc_duration_seconds_sum", "jvm_gc_duration_milliseconds_count", "jvm_gc_duration_milliseconds_sum": // OpenTelemetry
		name = s.label("jvm_gc_action") + s.label("action")
		if strings.Contains(s.name, "milli") {
			scale = 1e-3
		}
	case "jvm_gc_collection_seconds_count", "jvm_gc_collection_seconds_sum": // client_java
		name = s.label("gc")
	case "java_lang_GarbageCollector_CollectionCount", "java_lang_GarbageCollector_CollectionTime", "java_lang_garbagecollector_collectioncount", "java_lang_garbagecollector_collectiontime": // JMX
		name, scale = s.label("name"), 1e-3
	default:
		return 0, false, 0, false
	}
	count = strings.HasSuffix(strings.ToLower(s.name), "count")
	lower := strings.ToLower(name)
	switch {
	case strings.Contains(lower, "cycle"), strings.Contains(lower, "concurrentmarksweep"), strings.Contains(lower, "concurrent gc"):
		return -1, count, scale, true
	case strings.Contains(lower, "pauses"):
		return 2, count, scale, true
	case strings.Contains(lower, "major"), strings.Contains(lower, "old gen"), strings.Contains(lower, "marksweep"):
		return 1, count, scale, true
	}
	return 0, count, scale, true
}

// parseNode writes pages as files of /proc.
func parseNode(r *reading, a *format.Artifact, b *evidence.Builder, ctx context.Context) error {
	var lines []format.Line
	for i := range r.pages {
		if r.pages[i].t == 0 {
			r.pages[i].t = int64(i+1) * 1e9
			if len(r.pages) > 1 {
				b.Warnf(0, "nothing tells when these pages are from: they are taken for 1 s apart")
			}
		}
	}
	if len(r.pages) == 1 { // counts since the host was started
		p := &r.pages[0]
		boot := p.firstOf("node_boot_time_seconds")
		if !(boot > 0) || float64(p.t)/1e9 <= boot || boot > 8e9 {
			b.Subject(evidence.Subject{Kind: evidence.Host})
			*b.Clock() = evidence.Clock{Name: "one page", Error: evidence.Unanchored}
			r.emitTable(b, "metrics of the host", isNode)
			b.Warnf(p.line, "one page shows counts since the start of the host alone: for rates append another one a minute later, each with its time above: (date -u +'# %%FT%%TZ'; curl -s URL) >>metrics.txt")
			return nil
		}
		b.Warnf(p.line, "one page: all rates are means since the host was started; save another one a minute later")
		zero := page{t: int64(boot * 1e9), line: p.line}
		for _, s := range p.samples {
			if strings.HasSuffix(s.name, "_total") || strings.HasPrefix(s.name, "node_vmstat_") {
				s.v = 0
			}
			zero.samples = append(zero.samples, s)
		}
		r.pages = []page{zero, *p}
	}
	for i := range r.pages {
		lines = append(lines, nodeFiles(&r.pages[i])...)
	}
	if len(lines) == 0 {
		return errors.New("it holds no figure of CPUs, disks or memory")
	}
	return procfs.Format.Parse(ctx, format.Rewritten(a, lines), b)
}
