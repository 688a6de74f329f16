package format

import "bytes"

// nearby is a kind of evidence that no format reads but a text looks like, and the command that makes readable evidence instead.
type nearby struct {
	marks []string // one of them is in the text
	what  string
	make  string
}

// kinds are texts that users hand in, the most telling marks first.
var kinds = []nearby{
	{[]string{"some avg10="}, "it is a file of /proc/pressure without its name: of CPU, memory or disks, it does not say", "for f in /proc/pressure/*; do echo \"==> $f <==\"; cat $f; done >pressure.txt"},
	{[]string{"[k] ", "# Overhead", "# Children "}, "it is a summary of perf report or perf top: which stacks and which processes its shares are of it does not tell", "perf script -F comm,pid,tid,cpu,time,event,trace,period,ip,sym,dso >stacks.txt"},
	{[]string{"java.lang.OutOfMemoryError"}, "a JVM ran out of memory: the error alone does not tell what filled it", "jcmd PID GC.class_histogram >histogram.txt (and -XX:+HeapDumpOnOutOfMemoryError for the next time)"},
	{[]string{"io.lettuce.", "RedisCommandTimeoutException", "JedisConnectionException"}, "a Redis client of a JVM gave up waiting: why the answer was late it does not tell", "redis-cli info all >info.txt; redis-cli slowlog get 128 >slowlog.txt; jcmd PID Thread.print >threads.txt"},
	{[]string{"java.lang.", "Exception in thread", ".java:", "at org.", "at com."}, "it has stacks or errors of a JVM, but no thread dump, GC line or pool message", "jcmd PID Thread.print >threads.txt"},
	{[]string{"goroutine ", "panic: ", "runtime error:"}, "it looks like an error of a Go program, not like a dump of all goroutines", "curl -o goroutines.txt 'http://HOST:PORT/debug/pprof/goroutine?debug=2'"},
	{[]string{"System.", "Microsoft.", ".cs:line "}, "it has errors of a .NET program, but no counters and no stacks", "dotnet-counters collect -p PID --format csv"},
	{[]string{".js:", "node:internal", "node_modules"}, "it has an error of a Node.js program", "unstall record PID"},
	{[]string{"redis", "Redis"}, "it mentions Redis, but has no INFO, SLOWLOG or log line of it", "redis-cli info all >info.txt; redis-cli slowlog get 128 >slowlog.txt"},
	{[]string{"Traceback (most recent call last)", ".py\", line "}, "it has an error of a Python program", "unstall record PID"},
	{[]string{" req/s", "requests/sec", "Requests/sec", "latency", "Latency"}, "it mentions latency, but is no result of a load generator that is known (wrk, hey, k6, vegeta, ab, bombardier)", "unstall load URL"},
	{[]string{"GET /", "POST /", "PUT /", "HTTP/1", "HTTP/2"}, "it has lines about requests, but none tells how long a request took", "in nginx: log_format timed '$time_iso8601 $request $status $request_time';"},
	{[]string{"# TYPE ", "# HELP "}, "it is a page of metrics, but of no runtime, pool or host that is known", "curl -s http://HOST:PORT/metrics >metrics.txt"},
	{[]string{"Query_time", "postgres", "Postgres", "mysql", "MySQL", "MariaDB", "SELECT ", "select "}, "it mentions a database, but has no line of its slow log and no list of its sessions", "psql -c \"select pid, state, wait_event_type, wait_event, now()-query_start as age, query from pg_stat_activity\" >activity.txt"},
	{[]string{"apiVersion:", "kind: "}, "it is a manifest of Kubernetes: what is set, not what happened", "kubectl describe pod POD >pod.txt; kubectl exec POD -- cat /sys/fs/cgroup/cpu.stat >cpu.txt"},
	{[]string{"CPU", "cpu", "Mem", "load average"}, "it mentions CPUs or memory, but is no output of vmstat, mpstat, iostat, sar or top", "vmstat -t 1 30 >vmstat.txt"},
}

// suggestCommand says what a text looks like and which command makes readable evidence. It
// returns "" for binary data.
func suggestCommand(head []byte) string {
	if bytes.IndexByte(head, 0) >= 0 {
		return ""
	}
	head = head[:min(len(head), 64<<10)]
	for _, k := range kinds {
		for _, m := range k.marks {
			if bytes.Contains(head, []byte(m)) {
				return "; " + k.what + ". What is read: " + k.make
			}
		}
	}
	return ". What is read of a running process: unstall record PID"
}
