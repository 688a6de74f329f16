package serverlog

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// says is the meaning of a line.
type says int

const (
	usedUp    says = iota // a limit of places is reached: further requests wait, or fail
	noAnswer              // a call ended without an answer in time
	blocked               // a worker was busy for longer than allowed
	slowSync              // data took long to reach the disk
	slowWork              // requests took long, for whatever reason: no cause follows
	heldLoop              // one piece of work held an event loop
	ownWork               // a request took long, and most of it was the server's own work
	slowStore             // a request took long, and most of it was a data base's answers
	stuckOps              // a storage has not done what it was asked for
	noMemory              // Redis refused a command, as it has reached its memory limit
)

// kind is a line of a server.
type kind struct {
	id, server string
	mark       []byte // stands in the line
	take       func(t *told, before, after string) bool
	says       says
	what       string // the scarce resource, or what was waited for
	setting    string
	title      string
	advice     string
}

// kinds are all lines that are read. The first match counts.
var kinds = []kind{
	{"nginx-connections", "nginx", []byte(" worker_connections are not enough"), limitBefore, usedUp, "connections of a worker", "worker_connections",
		"all connections of a worker were in use", "requests then get an answer of 500, or wait: raise worker_connections and worker_rlimit_nofile, and look at what holds connections: netstat -tan counts them"},
	{"nginx-files", "nginx", []byte(" failed (24: Too many open files)"), nil, usedUp, "file descriptors", "worker_rlimit_nofile",
		"all file descriptors were in use", "no connection is accepted then: raise worker_rlimit_nofile"},
	{"nginx-upstream", "nginx", []byte("upstream timed out (110: "), takeUpstream, noAnswer, "an upstream", "",
		"an upstream gave no answer in time", "what the upstream did then shows why: its threads, and its own log; a log_format with $upstream_response_time shows how long it takes"},
	{"nginx-backlog", "the upstream of nginx", []byte(" failed (11: Resource temporarily unavailable) while connecting to upstream"), socketBefore, usedUp, "places in the accept queue", "listen.backlog, backlog, net.core.somaxconn",
		"the accept queue of an upstream's socket was full", "the request failed at once: what the upstream's workers did then shows why they took no connections; a longer queue (its backlog, net.core.somaxconn) lets requests wait instead"},
	{"nginx-limit", "nginx", []byte(" limiting requests, excess: "), limitedBy, usedUp, "requests", "limit_req",
		"requests were refused by a limit", ""},
	{"nginx-limit", "nginx", []byte(" limiting connections by zone "), limitedBy, usedUp, "connections", "limit_conn",
		"connections were refused by a limit", ""},
	{"nginx-delay", "nginx", []byte(" delaying request, excess: "), delayedBy, usedUp, "requests", "limit_req",
		"requests were delayed by a limit", ""},
	{"apache-backlog", "the upstream of Apache", []byte("(11)Resource temporarily unavailable: AH02454"), nil, usedUp, "places in the accept queue", "listen.backlog, backlog, net.core.somaxconn",
		"the accept queue of an upstream's socket was full", "the request failed at once: what the upstream's workers did then shows why they took no connections; a longer queue (its backlog, net.core.somaxconn) lets requests wait instead"},
	{"apache-workers", "Apache", []byte("server reached MaxRequestWorkers setting"), nil, usedUp, "workers", "MaxRequestWorkers",
		"all workers were in use", "further requests wait in the backlog: mod_status shows what workers do"},
	{"apache-clients", "Apache", []byte("server reached MaxClients setting"), nil, usedUp, "workers", "MaxClients",
		"all workers were in use", "further requests wait in the backlog: mod_status shows what workers do"},
	{"apache-upstream", "Apache", []byte("(70007)The timeout specified has expired: "), apacheUpstream, noAnswer, "an upstream", "",
		"an upstream gave no answer in time", "what the upstream did then shows why: its threads, and its own log"},
	{"tomcat-threads", "Tomcat", []byte(") are currently busy, waiting. Increase maxThreads"), threadsBefore, usedUp, "threads", "maxThreads",
		"all threads of a connector were in use", "further requests wait: a thread dump shows what they do: jcmd PID Thread.print"},
	{"tomcat-created", "Tomcat", []byte("Maximum number of threads ("), limitAfter, usedUp, "threads", "maxThreads",
		"all threads of a connector were created", "further requests wait: a thread dump shows what they do: jcmd PID Thread.print"},
	{"gunicorn-timeout", "gunicorn", []byte("[CRITICAL] WORKER TIMEOUT (pid:"), workerAfter, blocked, "workers", "",
		"a worker did nothing else for longer than --timeout, and was ended", "what blocks it shows py-spy dump --pid PID while it does, or unstall record PID"},
	{"uwsgi-harakiri", "uWSGI", []byte("*** HARAKIRI ON WORKER "), workerTry, blocked, "workers", "",
		"a request took longer than harakiri allows, and its worker was ended", "what it does shows py-spy dump --pid PID while it does, or py-tracebacker"},
	{"fpm-children", "PHP-FPM", []byte("server reached pm.max_children setting ("), fpmBare, usedUp, "workers", "pm.max_children",
		"all workers of a pool were in use", "further requests wait in the backlog of its socket: the status page (pm.status_path) tells how many"},
	{"fpm-children-old", "PHP-FPM", []byte("server reached max_children setting ("), fpmBare, usedUp, "workers", "pm.max_children",
		"all workers of a pool were in use", "further requests wait in the backlog of its socket: the status page (pm.status_path) tells how many"},
	{"uwsgi-async", "uWSGI", []byte("async queue is full !!!"), nil, usedUp, "async cores", "async",
		"all async cores were in use", "further requests wait in the listen queue: raise async if what requests wait for can take more"},
	{"puma-timeout", "Puma", []byte("Terminating timed out worker"), nil, blocked, "workers", "",
		"a worker did not check in for longer than worker_timeout, and was ended", "what blocks it shows a stack of it while it does: rbspy dump --pid PID"},
	{"unicorn-timeout", "Unicorn", []byte("s), killing"), unicornWorker, blocked, "workers", "",
		"a request took longer than timeout, and its worker was ended", "what it does shows rbspy dump --pid PID while it does"},
	{"postgres-clients", "PostgreSQL", []byte("sorry, too many clients already"), nil, usedUp, "connections", "max_connections",
		"all connections were in use", "a pool in front (PgBouncer) shares fewer of them: pg_stat_activity shows who holds them"},
	{"postgres-slots", "PostgreSQL", []byte("remaining connection slots are reserved for "), nil, usedUp, "connections", "max_connections",
		"all connections were in use", "a pool in front (PgBouncer) shares fewer of them: pg_stat_activity shows who holds them"},
	{"mysql-connections", "MySQL", []byte("Too many connections"), mysqlError, usedUp, "connections", "max_connections",
		"all connections were in use", "SHOW PROCESSLIST shows who holds them"},
	{"pgbouncer-wait", "PgBouncer", []byte("query_wait_timeout"), isClosing, usedUp, "server connections", "default_pool_size",
		"a query waited in vain for a connection to the server", "SHOW POOLS shows cl_waiting and maxwait: what holds connections shows pg_stat_activity"},
	{"pgbouncer-full", "PgBouncer", []byte("launch_new_connection: pool full ("), poolFull, usedUp, "server connections", "default_pool_size",
		"all connections of a pool to the server were in use", "clients wait then: SHOW POOLS shows cl_waiting and maxwait, pg_stat_activity what holds connections"},
	{"pgbouncer-clients", "PgBouncer", []byte("no more connections allowed (max_client_conn)"), nil, usedUp, "client connections", "max_client_conn",
		"all client connections were in use", "SHOW CLIENTS shows who holds them"},
	{"etcd-sync", "etcd", []byte("sync duration of "), durationAfter, slowSync, "its log", "",
		"its log took long to be on the disk", "a disk of its own: iostat -x 1 shows its writes, and etcd_disk_wal_fsync_duration_seconds how long they take"},
	{"etcd-sync-json", "etcd", []byte(`"msg":"slow fdatasync"`), tookAfter, slowSync, "its log", "",
		"its log took long to be on the disk", "a disk of its own: iostat -x 1 shows its writes, and etcd_disk_wal_fsync_duration_seconds how long they take"},
	{"etcd-apply", "etcd", []byte(" took too long"), tookTooLong, slowWork, "requests", "",
		"requests took longer than 100 ms", "a slow disk makes all of them slow, and then the log has slow syncs, too; otherwise large ranges, passwords (auth) or too little CPU: etcd_disk_wal_fsync_duration_seconds and etcd_disk_backend_commit_duration_seconds show which"},
	{"zookeeper-sync", "ZooKeeper", []byte("fsync-ing the write ahead log in "), tookWord, slowSync, "its log", "",
		"its log took long to be on the disk", "a disk of its own for dataLogDir: iostat -x 1 shows its writes"},
	{"elasticsearch-state", "Elasticsearch", []byte("writing cluster state took ["), durationAfter, slowSync, "the cluster's state", "",
		"the cluster's state took long to be on the disk", "iostat -x 1 shows what the disk does"},
	{"elasticsearch-pool", "a pool of threads", []byte(", queued tasks = "), readRejection, usedUp, "threads", "",
		"all threads of a pool were busy, and its queue was full", "more work was rejected: a thread dump, or the hot threads of Elasticsearch, shows what they do; a longer queue makes requests wait, and no faster"},
	{"jetty-pool", "Jetty", []byte("{STARTED,"), readJettyRejection, usedUp, "threads", "maxThreads",
		"no thread of the pool was idle, and its queue was full", "more work was rejected: a thread dump shows what they do: jcmd PID Thread.print"},
	{"passenger-queue", "Passenger", []byte("Requests in queue: "), queueAfter, usedUp, "processes", "passenger_max_pool_size",
		"requests waited in the queue, as all processes were busy", "passenger-status --show=requests shows what processes do"},
	{"passenger-pool", "Passenger", []byte("Requests in top-level queue : "), queueAfter, usedUp, "processes", "passenger_max_pool_size",
		"requests waited in the queue, as all processes were busy", "passenger-status --show=requests shows what processes do"},
	{"apache-idle", "Apache", []byte("IdleWorkers: "), idleAfter, usedUp, "workers", "MaxRequestWorkers",
		"no worker was idle", "further requests wait in the backlog: mod_status shows what workers do"},
	{"redis-refused", "Redis", []byte("command not allowed when used memory "), nil, noMemory, "memory", "maxmemory",
		"a command was refused, as all memory that it may use is in use", "INFO memory shows used_memory, maxmemory and maxmemory_policy"},
	{"asyncio-loop", "asyncio", []byte("Executing <"), asyncioTook, heldLoop, "python", "",
		"work held the event loop", heldAdvice},
	{"vertx-loop", "Vert.x", []byte("] has been blocked for "), vertxBlocked, heldLoop, "jvm", "",
		"work held the event loop", heldAdvice},
	{"blocked-at", "Node.js", []byte("ms, operation started here"), blockedBefore, heldLoop, "node", "",
		"work held the event loop", heldAdvice},
	{"loop-blocked", "Node.js", []byte("vent loop blocked for "), durationWorded, heldLoop, "node", "",
		"work held the event loop", heldAdvice},
	{"kibana-loop", "Kibana", []byte("vent loop delay threshold exceeded "), delayReceived, heldLoop, "node", "",
		"work held the event loop", heldAdvice},
	{"haproxy-thread", "HAProxy", []byte(" has stopped processing traffic for "), threadStopped, heldLoop, "", "",
		"a thread was busy with one piece of work, and its connections waited", "the trace below the warning tells where it was: regular expressions, maps, Lua, or a lock of HAProxy's own, for which a later release may help"},
	{"akka-heartbeat", "Akka", []byte("heartbeat was delayed. Previous heartbeat was sent ["), heartbeatLate, heldLoop, "jvm", "",
		"a heartbeat was sent late", "its dispatcher had no free thread, or the process did not run: a thread dump shows what dispatchers do, a GC log and top the rest"},
	{"python-client", "a client", []byte(": Read timed out. (read timeout="), pythonCall, noAnswer, "a server", "",
		"a server gave no answer in time", calledAdvice},
	{"go-client", "a client", []byte(" (Client.Timeout exceeded while awaiting headers)"), goCall, noAnswer, "a server", "",
		"a server gave no answer in time", calledAdvice},
	{"seastar-loop", "Seastar", []byte("Reactor stalled for "), durationSpaced, heldLoop, "", "",
		"work held the event loop", heldAdvice},
	{"erlang-schedule", "Erlang", []byte("long_schedule warning: "), scheduleTook, heldLoop, "", "",
		"a process kept its scheduler, or the host did not run it", "the other processes of this scheduler waited for it: top -H shows whether the CPUs were busy"},
	{"rails-work", "Rails", []byte("ms (Views: "), railsWork, ownWork, "rendering views and running its own code", "",
		"requests took a second and more, most of it rendering and other work of the application itself", "a profile shows which code: rack-mini-profiler, rbspy record --pid PID"},
	{"rails-store", "the data base of Rails", []byte("ms (Views: "), railsStore, slowStore, "", "",
		"requests took a second and more, most of it statements", "its slow log names the statements"},
	{"kafka-poll", "a consumer of Kafka", []byte("Application maximum poll interval ("), pollExceeded, blocked, "consumers", "max.poll.interval.ms",
		"a consumer did not ask for messages for longer than it may, and lost its partitions", pollAdvice},
	{"kafka-poll", "a consumer of Kafka", []byte("consumer poll timeout has expired. This means the time between subsequent calls to poll() "), nil, blocked, "consumers", "max.poll.interval.ms",
		"a consumer did not ask for messages for longer than it may, and lost its partitions", pollAdvice},
	{"ceph", "Ceph", []byte(" ops are blocked > "), cephOps, stuckOps, "operations", "",
		"operations were not done", cephAdvice},
	{"ceph", "Ceph", []byte(" requests are blocked > "), cephOps, stuckOps, "operations", "",
		"operations were not done", cephAdvice},
	{"ceph", "Ceph", []byte(" slow ops, oldest one blocked for "), cephOldest, stuckOps, "operations", "",
		"operations were not done", cephAdvice},
	{"ceph", "Ceph", []byte("[WRN] slow request "), cephRequest, stuckOps, "operations", "",
		"operations were not done", cephAdvice},
	{"minecraft-ticks", "Minecraft", []byte("Can't keep up! "), ticksBehind, heldLoop, "jvm", "",
		"the main loop was late", lateAdvice},
	{"spark-collection", "Minecraft", []byte("included GC lasting "), tickCollected, slowWork, "", "",
		"a collection took longer than a tick may", "a GC log shows which, and why: -Xlog:gc*"},
	{"spark-tick", "Minecraft", []byte("% increase from avg)"), tickLasted, heldLoop, "jvm", "",
		"a tick took longer than most", lateAdvice},
	{"cats-effect", "cats-effect", []byte("Your app's responsiveness to a new asynchronous"), fiberLate, heldLoop, "jvm", "",
		"the threads that run fibers noticed an event late", lateAdvice},
	{"gevent-hub", "gevent", []byte("appears to be blocked"), greenletBlocks, heldLoop, "python", "",
		"a greenlet held the event loop", heldAdvice},
	{"aws-sockets", "the HTTP agent of the SDK", []byte("socket usage at capacity="), socketsUsed, usedUp, "sockets", "maxSockets",
		"all sockets were in use, and calls waited for one", "raise maxSockets (NodeHttpHandler), if what is called can take more; otherwise fewer calls at once"},
	{"hikari-housekeeper", "HikariCP", []byte("Thread starvation or clock leap detected"), nil, slowWork, "its housekeeper", "",
		"a task that runs each 30 s came late", "the process did not run for a time, or its clock was set: a machine that slept does that; a GC log and vmstat (st, si) from the same time show the rest"},
	{"innodb-cleaner", "InnoDB", []byte("page_cleaner: 1000ms intended loop took "), durationAfter, slowSync, evidence.DirtyPages, "",
		"writing dirty pages took longer than the second it may", "iostat -x 1 shows what the disk does; innodb_io_capacity must fit it"},
}

const cephAdvice = "ceph daemon osd.N dump_ops_in_flight shows what an operation waits for, ceph osd perf and iostat -x 1 a slow disk, ping between its hosts the network"

const pollAdvice = "what it does with a message takes that long: its stack shows what it waits for or computes; fewer messages at a time (max.poll.records) leave it more time for each"

const calledAdvice = "what the server did then shows why: its threads, and its own log; other callers wait for it, too, unless the network to it is slow"

// socketsUsed reads "50 and 344 additional requests are enqueued." of smithy's NodeHttpHandler.
func socketsUsed(t *told, _, after string) bool {
	n, rest, ok := strings.Cut(after, " and ")
	t.limit, t.count = parseWhole(n), parseWhole(leadingDigits(rest))
	return ok && t.limit > 0 && strings.Contains(rest, " additional requests are enqueued")
}

// limitedBy and delayedBy read "4.061 by zone "customer", client: …": nginx does what its limits tell it to.
func limitedBy(t *told, _, after string) bool {
	t.calm = "requests were refused by a limit of its configuration (limit_req, limit_conn): none of them waited"
	return strings.Contains(after, ", client: ")
}

func delayedBy(t *told, _, after string) bool {
	t.calm = "requests were delayed by a limit of its configuration (limit_req without nodelay)"
	return strings.Contains(after, ", client: ")
}

// pollExceeded reads "300000ms) exceeded by 88ms (…" of librdkafka.
func pollExceeded(t *told, _, after string) bool {
	limit, rest, ok := strings.Cut(after, "ms) exceeded by ")
	more, _, ok2 := strings.Cut(rest, "ms")
	t.took = (parseWhole(limit) + parseWhole(more)) * 1e6
	return ok && ok2 && t.took > 0
}

// readRejection reads what ThreadPoolExecutor of Java says of itself when it takes no more: "[Running, pool size = 7, active threads = 7" before the mark,
// and how many wait behind it. Elasticsearch names the pool: "EsThreadPoolExecutor[search, queue capacity = 1000", "[name = node-1/search, …".
func readRejection(t *told, before, after string) bool {
	_, size, ok := format.CutLast(before, "pool size = ")
	size, active, ok2 := strings.Cut(size, ", active threads = ")
	t.limit = parseWhole(size)
	if !ok || !ok2 || t.limit == 0 || !strings.Contains(before, "ejected") {
		return false
	}
	if _, name, found := strings.Cut(before, "ThreadPoolExecutor["); found {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "name = "), ",")
		if len(name) <= mostName && !strings.ContainsAny(name, " \t@=") {
			t.name = strings.ToValidUTF8(name, "?")
		}
	}
	t.count = parseWhole(leadingDigits(after))
	if parseWhole(active) < t.limit || t.count == 0 {
		t.calm = "work was rejected while threads were free"
	}
	return true
}

// readJettyRejection reads Jetty's QueuedThreadPool when it rejects a job, "8<=1024<=1024,i=0,q=1024} rejected …": its least, present and most threads, the
// idle ones, and the jobs that wait.
func readJettyRejection(t *told, _, after string) bool {
	state, rest, ok := strings.Cut(after, "}")
	if !ok || !strings.Contains(rest, " rejected ") {
		return false
	}
	threads, more, ok := strings.Cut(state, ",i=")
	_, most, ok2 := format.CutLast(threads, "<=")
	_, queued, ok3 := format.CutLast(more, "q=")
	t.limit = parseWhole(most)
	if !ok || !ok2 || !ok3 || t.limit == 0 {
		return false
	}
	if leadingDigits(more) != "0" || parseWhole(leadingDigits(queued)) == 0 {
		t.calm = "work was rejected while threads were idle, or nothing waited"
	}
	return true
}

// leastQueue is how many requests must wait at one look: fewer wait where one process ends its request in a moment.
const leastQueue = 5

func queueAfter(t *told, _, after string) bool {
	n := leadingDigits(after)
	if parseWhole(n) < leastQueue {
		t.calm = "no queue, or a short one"
	}
	return n != "" && strings.TrimSpace(after) == n
}

func idleAfter(t *told, before, after string) bool {
	n := leadingDigits(after)
	if parseWhole(n) > 0 {
		t.calm = "workers were idle"
	}
	return n != "" && before == "" && strings.TrimSpace(after) == n
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

// pythonCall reads "HTTPSConnectionPool(host='shop.example.com', port=443)" before the mark, as urllib3 and requests of Python name whom they asked. An
// exception that another follows from is not counted twice.
func pythonCall(t *told, before, _ string) bool {
	_, rest, ok := format.CutLast(before, "ConnectionPool(host='")
	host, rest, ok2 := strings.Cut(rest, "', port=")
	port, _, ok3 := strings.Cut(rest, ")")
	if !ok || !ok2 || !ok3 || host == "" || len(host) > mostName || strings.ContainsAny(host, " \t\"'") || strings.HasPrefix(strings.TrimSpace(before), "urllib3.exceptions.") {
		return false
	}
	if t.name = strings.ToValidUTF8(host, "?"); parseWhole(port) > 0 {
		t.name += ":" + port
	}
	return true
}

// goCall reads `Get "https://shop.example.com/cart": context deadline exceeded` before the mark, as net/http of Go says whom it asked. A probe of
// Kubernetes asks the service itself, and a load generator counts its errors.
func goCall(t *told, before, _ string) bool {
	if strings.Contains(before, "probe failed") || strings.HasPrefix(strings.TrimSpace(before), "[") && strings.Contains(before, "]\t") || strings.Contains(before, "while waiting for connection") {
		return false
	}
	i := max(strings.LastIndex(before, ` "http`), strings.LastIndex(before, ` \"http`), strings.LastIndex(before, " http"))
	if i < 0 {
		return false
	}
	url := strings.TrimLeft(before[i+1:], `\"`)
	if n := strings.IndexAny(url, `\" `); n >= 0 {
		url = url[:n]
	}
	t.name = addressOf(strings.TrimSuffix(url, ":"))
	return t.name != ""
}

// durationSpaced reads "33 ms on shard 3".
func durationSpaced(t *told, _, after string) bool {
	v, rest, ok := strings.Cut(after, " ms")
	t.took = parseWhole(v) * 1e6
	return ok && t.took > 0 && strings.HasPrefix(rest, " on shard ")
}

// scheduleTook reads "pid = <0.1878.0>, info: [{timeout,1053}," behind the mark: the time is ms.
func scheduleTook(t *told, _, after string) bool {
	_, v, ok := strings.Cut(after, "{timeout,")
	v, _, ok2 := strings.Cut(v, "}")
	t.took = parseWhole(v) * 1e6
	return ok && ok2 && t.took > 0
}

// longRequest (ns) is from when on a request is long: people lose their thought after a second (J. Nielsen, Usability Engineering, 1993, chapter 5).
const longRequest = 1e9

// railsTimes reads "Completed 200 OK in 12626" before the mark, and "11741.3ms | ActiveRecord: 74.5ms | Allocations: 112788)" behind it. Views is without the statements
// that rendering waits for.
func railsTimes(before, after string) (took, store float64, ok bool) {
	_, rest, found := format.CutLast(before, "Completed ")
	_, ms, in := format.CutLast(rest, " in ")
	took = 1e6 * parseWhole(ms)
	_, active, has := strings.Cut(after, "ActiveRecord: ")
	if has {
		store = durationOf(active)
	}
	return took, store, found && in && took > 0 && store <= took
}

func railsWork(t *told, before, after string) bool {
	took, store, ok := railsTimes(before, after)
	t.took, t.own = took, took-store
	if took < longRequest {
		t.calm, t.took, t.own = "requests of less than a second", 0, 0
	}
	return ok && (took < longRequest || 2*store <= took)
}

func railsStore(t *told, before, after string) bool {
	took, store, ok := railsTimes(before, after)
	t.took = store
	return ok && 2*store > took
}

// cephOps reads "24" before the mark and "32.768 sec" behind it.
func cephOps(t *told, before, after string) bool {
	f := strings.Fields(before)
	if len(f) == 0 {
		return false
	}
	seconds, _, ok := strings.Cut(after, " sec")
	t.count = parseWhole(f[len(f)-1])
	t.took = secondsOf(seconds)
	return ok && t.count > 0 && t.took > 0
}

// cephOldest reads "3" before the mark and "65 sec, daemons […]" behind it.
func cephOldest(t *told, before, after string) bool {
	if !cephOps(t, before, after) {
		return false
	}
	return strings.Contains(after, "slow ops")
}

// cephRequest reads "30.873970 seconds old, received at …".
func cephRequest(t *told, _, after string) bool {
	seconds, rest, ok := strings.Cut(after, " seconds old, ")
	t.took = secondsOf(seconds)
	return ok && t.took > 0 && strings.HasPrefix(rest, "received at ")
}

// secondsOf reads "32.768" in ns; 0 of other text.
func secondsOf(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e7) {
		return 0
	}
	return v * 1e9
}

// limitBefore reads "… 1024" before the mark.
func limitBefore(t *told, before, _ string) bool {
	f := strings.Fields(before)
	if len(f) == 0 {
		return false
	}
	t.limit = parseWhole(f[len(f)-1])
	return t.limit > 0
}

// socketBefore reads "connect() to unix:/run/app.sock" before the mark: only of such a socket the error says that its queue is full.
func socketBefore(t *told, before, after string) bool {
	if !strings.Contains(before, "connect() to unix:") {
		return false
	}
	if _, rest, ok := strings.Cut(after, `upstream: "`); ok {
		url, _, _ := strings.Cut(rest, `"`)
		t.name = addressOf(strings.Replace(url, "unix:///", "unix:/", 1))
	}
	return true
}

// tookTooLong reads what etcd says of requests: "apply entries took too long [99.9ms for 1 entries]", "… took too long (616.6ms) to execute"
// and `"msg":"apply request took too long","took":"4.9s"`.
func tookTooLong(t *told, before, after string) bool {
	switch {
	case strings.Contains(before, "etcdserver: ") && (strings.HasPrefix(after, " [") || strings.HasPrefix(after, " (")):
		t.took = durationOf(after[2:])
	case strings.HasSuffix(before, `"msg":"apply request`):
		return tookAfter(t, before, after)
	}
	return t.took > 0
}

// threadsBefore reads "All threads (200" before the mark.
func threadsBefore(t *told, before, _ string) bool {
	_, n, ok := format.CutLast(before, "(")
	t.limit = parseWhole(n)
	return ok && strings.Contains(before, "ll threads (") && t.limit > 0
}

// fpmBare reads "8), consider raising it" of PHP-FPM where its stamp is gone: whole lines are package phpfpm's.
func fpmBare(t *told, before, after string) bool {
	n, _, ok := strings.Cut(after, ")")
	t.limit = parseWhole(n)
	return ok && t.limit > 0 && !strings.Contains(before, "] WARNING: ")
}

// limitAfter reads "200) created for connector".
func limitAfter(t *told, _, after string) bool {
	n, rest, ok := strings.Cut(after, ")")
	t.limit = parseWhole(n)
	return ok && strings.HasPrefix(rest, " created for connector") && t.limit > 0
}

// poolFull reads "5 >= 5)" of PgBouncer's debug log: a client asked for a connection, and the pool has all that it may.
func poolFull(t *told, _, after string) bool {
	_, rest, ok := strings.Cut(after, " >= ")
	n, _, closed := strings.Cut(rest, ")")
	t.limit = parseWhole(n)
	return ok && closed && t.limit > 0
}

func parseWhole(s string) float64 {
	v, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0
	}
	return float64(v)
}

// takeUpstream takes whom nginx asked: it keeps the address of the URL alone.
func takeUpstream(t *told, _, after string) bool {
	_, rest, ok := strings.Cut(after, `upstream: "`)
	if ok {
		url, _, _ := strings.Cut(rest, `"`)
		t.name = addressOf(url)
	}
	return strings.Contains(after, ") while ")
}

// addressOf leaves the scheme and the address of a URL: "fastcgi://unix:/run/php.sock", "http://10.0.0.1:80".
func addressOf(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || len(scheme) > 16 || strings.ContainsAny(scheme, " \t") {
		return ""
	}
	if !strings.HasPrefix(rest, "unix:") {
		rest, _, _ = strings.Cut(rest, "/")
	} else if before, _, found := strings.Cut(rest[len("unix:"):], ":"); found {
		rest = "unix:" + before
	}
	if _, host, found := format.CutLast(rest, "@"); found {
		rest = host
	}
	if rest == "" || len(rest) > mostName || strings.ContainsAny(rest, " \t\"") {
		return ""
	}
	return scheme + "://" + strings.ToValidUTF8(rest, "?")
}

// apacheUpstream says whether a message is of the proxies: others are about clients.
func apacheUpstream(_ *told, before, after string) bool {
	return strings.Contains(before, "proxy") || strings.Contains(before, "fcgi") || strings.Contains(after, "AH0107") || strings.Contains(after, "AH011") || strings.Contains(after, "AH0089")
}

func workerAfter(t *told, _, after string) bool {
	pid, _, ok := strings.Cut(after, ")")
	t.worker = pid
	return ok && parseWhole(pid) > 0
}

// workerTry reads "10 (pid: 97702, try: 1) ***" of uWSGI, which says the same until the worker has ended.
func workerTry(t *told, _, after string) bool {
	n, rest, ok := strings.Cut(after, " (pid: ")
	t.worker = n
	if again, _, found := strings.Cut(rest, ")"); found {
		if _, try, tells := strings.Cut(again, "try: "); tells && !strings.HasPrefix(try, "1") {
			return false
		}
	}
	return ok && parseWhole(n) > 0
}

// unicornWorker reads "worker=3 PID:912 timeout (61s > 60".
func unicornWorker(t *told, before, _ string) bool {
	_, rest, ok := strings.Cut(before, "worker=")
	n, rest, ok2 := strings.Cut(rest, " PID:")
	t.worker = n
	return ok && ok2 && strings.Contains(rest, "timeout (")
}

// mysqlError says whether a line is an error message of the server or of a client, and not prose about it.
func mysqlError(_ *told, before, _ string) bool {
	return strings.Contains(before, "1040") || strings.Contains(before, "08004") || strings.Contains(before, "[ERROR]") || strings.Contains(before, "[Warning]")
}

func isClosing(_ *told, before, _ string) bool { return strings.Contains(before, "closing because: ") }

// durationAfter reads "1.211301s", "10200ms" and "5012ms".
func durationAfter(t *told, _, after string) bool {
	t.took = durationOf(after)
	return t.took > 0
}

// tookAfter reads `…,"took":"1.5s"`.
func tookAfter(t *told, _, after string) bool {
	_, rest, ok := strings.Cut(after, `"took":"`)
	t.took = durationOf(rest)
	return ok && t.took > 0
}

// tookWord reads "SyncThread:1 took 2962ms which …".
func tookWord(t *told, _, after string) bool {
	_, rest, ok := strings.Cut(after, " took ")
	t.took = durationOf(rest)
	return ok && t.took > 0
}

// durationOf reads a duration as Go, Java and MySQL print it: "1m2.5s", "1.2s", "2962ms"; ns, 0 of anything else.
func durationOf(s string) (ns float64) {
	for {
		n := 0
		for n < len(s) && n < 20 && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
			n++
		}
		v, err := strconv.ParseFloat(s[:n], 64)
		if err != nil || v < 0 || v > 1e9 {
			return ns
		}
		rest := s[n:]
		switch {
		case strings.HasPrefix(rest, "ms"):
			return ns + v*1e6
		case strings.HasPrefix(rest, "µs"), strings.HasPrefix(rest, "us"):
			return ns + v*1e3
		case strings.HasPrefix(rest, "ns"):
			return ns + v
		case strings.HasPrefix(rest, "s"):
			return ns + v*1e9
		case strings.HasPrefix(rest, "m"):
			ns += v * 60e9
			s = rest[1:]
		case strings.HasPrefix(rest, "h"):
			ns += v * 3600e9
			s = rest[1:]
		default:
			return ns
		}
	}
}
