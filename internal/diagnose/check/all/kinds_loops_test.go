package all_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLoopsPasted wants causes named by what programs log of their loops, pools and statements, in layouts of several versions, and not by what is as little as chance.
func TestLoopsPasted(t *testing.T) {
	ticks := func(n int, ms int) string { // before 1.13
		return each(n, func(i int) string {
			return fmt.Sprintf("[01:2%d:28] [Server thread/WARN]: Can't keep up! Did the system time change, or is the server overloaded? Running %dms behind, skipping %d tick(s)\n", i, ms+i, ms/50)
		})
	}
	fibers := func(n int) string { // on one line
		return each(n, func(i int) string {
			return fmt.Sprintf("2024-10-16T16:08:%02d.007Z [WARNING] Your app's responsiveness to a new asynchronous event (such as a new connection, an upstream response, or a timer) was in excess of 250 milliseconds. Your CPU is probably starving.\n", i)
		})
	}
	greenlet := func(file string) string {
		return "Mon Apr 21 10:02:11 2025 : Greenlet <Greenlet at 0x10f3b6d00: serve> appears to be blocked\nBlocked Stack (for thread id 0x70000fe4f000):\n  File \"/srv/venv/lib/python3.10/site-packages/gevent/greenlet.py\", line 906, in run\n" +
			"  File \"" + file + "\", line 31, in send_receipt\n  File \"/usr/lib/python3.10/subprocess.py\", line 364, in check_call\n"
	}
	sockets := "(node:8) @smithy/node-http-handler:WARN - socket usage at capacity=50 and 100 additional requests are enqueued.\n"
	probes := func(n int) string {
		return strings.Repeat("[12:40:09 WRN] .NET Thread Pool is exhibiting delays of 3.2s. This can indicate .NET Thread Pool starvation, very long .NET GC pauses, or other runtime or machine pauses.\n", n)
	}
	delve := func(n int) string {
		return "(dlv) goroutines\n* Goroutine 1 - User: ./main.go:8 main.main (0x49aeb4) (thread 812)\n" + each(n, func(i int) string {
			return fmt.Sprintf("  Goroutine %d - User: /usr/local/go/src/sync/mutex.go:81 sync.(*Mutex).Lock (0x46a796) [semacquire 457422h31m13.3s]\n", 20+i)
		}) + fmt.Sprintf("[%d goroutines]\n", n+1)
	}
	mapped := func(n, took, apart int) string { // GORM, behind a logger's time; ms
		at := 0
		return each(n, func(i int) string {
			at += apart
			return fmt.Sprintf("2024-05-02 09:%02d:%02d.%03dZ shop/price.go:31 [%d.250ms] [rows:1] SELECT * FROM `prices` WHERE `prices`.`part_id` = %d LIMIT 1\n", at/60000, at/1000%60, at%1000, took, i)
		})
	}
	django := func(n int, took string) string { // without times, between the lines of two requests
		return "[08/Oct/2023 21:02:14] \"GET / HTTP/1.1\" 200 48\n" + each(n, func(i int) string {
			return fmt.Sprintf("(%s) SELECT \"shop_part\".\"id\" FROM \"shop_part\" WHERE \"shop_part\".\"id\" = %d LIMIT 21; args=(%d,); alias=default\n", took, i, i)
		}) + "[08/Oct/2023 21:02:19] \"GET /parts HTTP/1.1\" 200 48211\n"
	}
	session := func(n int, ns string) string {
		return fmt.Sprintf("Session Metrics {\n    28100 nanoseconds spent acquiring 1 JDBC connections;\n    %s nanoseconds spent executing %d JDBC statements;\n    0 nanoseconds spent executing 0 JDBC batches;\n}\n", ns, n)
	}
	profile := func(ticks int, row string) string {
		return fmt.Sprintf("Statistical profiling result from isolate-0x7f2a-211-v8.log, (%d ticks, 3 unaccounted, 0 excluded).\n\n [Shared libraries]:\n   ticks  total  nonlib   name\n     90    1.8%%          /lib/x86_64-linux-gnu/libc-2.31.so\n\n%s\n", ticks, row)
	}
	js := " [JavaScript]:\n   ticks  total  nonlib   name\n   4000   80.0%   97.6%  LazyCompile: *render /srv/app/page.js:31:18\n"
	holdAll(t, map[string]made{
		"ticks late by seconds":            {files: map[string]string{"server.log": ticks(3, 2600)}, supported: []string{"service.blocked-loop"}},
		"one late tick":                    {files: map[string]string{"server.log": ticks(1, 2600)}, never: []string{"service.blocked-loop"}},
		"fibers late each second":          {files: map[string]string{"app.log": fibers(8)}, supported: []string{"service.blocked-loop"}},
		"fibers late twice":                {files: map[string]string{"app.log": fibers(2)}, never: []string{"service.blocked-loop"}},
		"a greenlet in a call that blocks": {files: map[string]string{"worker.log": greenlet("/srv/shop/mail.py")}, supported: []string{"service.blocked-loop"}},
		"a greenlet in no code of one's":   {files: map[string]string{"worker.log": greenlet("/srv/venv/lib/python3.10/site-packages/gevent/hub.py")}, never: []string{"service.blocked-loop"}},
		"sockets used up":                  {files: map[string]string{"lambda.log": sockets}, supported: []string{"service.pool-exhausted"}},
		"probes of a pool are late":        {files: map[string]string{"silo.log": probes(2)}, supported: []string{"dotnet.threadpool-starvation"}},
		"one of them is":                   {files: map[string]string{"silo.log": probes(1)}, never: []string{"dotnet.threadpool-starvation"}},
		"delve shows waits, not for which": {files: map[string]string{"goroutines.txt": delve(12)}, never: []string{"go.lock-contention"}},
		"statements in turn":               {files: map[string]string{"app.log": mapped(12, 100, 102)}, supported: []string{"service.chatty-calls"}},
		"quick ones":                       {files: map[string]string{"app.log": mapped(12, 20, 22)}, never: []string{"service.chatty-calls"}},
		"statements with time between":     {files: map[string]string{"app.log": mapped(60, 100, 400)}, never: []string{"service.chatty-calls"}},
		"statements side by side":          {files: map[string]string{"app.log": mapped(60, 100, 10)}, never: []string{"service.chatty-calls"}},
		"a request of many statements":     {files: map[string]string{"runserver.log": django(40, "0.031")}, supported: []string{"service.chatty-calls"}},
		"of quick ones":                    {files: map[string]string{"runserver.log": django(40, "0.001")}, never: []string{"service.chatty-calls"}},
		"requests of few statements":       {files: map[string]string{"runserver.log": strings.Repeat(django(4, "0.310"), 5)}, never: []string{"service.chatty-calls"}},
		"a session of many statements":     {files: map[string]string{"app.log": session(1001, "1523000000")}, supported: []string{"service.chatty-calls"}},
		"a session of nothing":             {files: map[string]string{"app.log": session(0, "0")}, never: []string{"service.chatty-calls"}},
		"a profile of one function":        {files: map[string]string{"prof.txt": profile(5000, js)}, supported: []string{"service.own-work"}},
		"a profile that mostly waits":      {files: map[string]string{"prof.txt": profile(50_000, js)}, never: []string{"service.own-work"}},
	})
}
