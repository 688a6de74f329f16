package service_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	formats "github.com/unstall/unstall/internal/format/all"
)

// What one text tells by itself, and what it does not: each with a twin that says nothing.
func TestTold(t *testing.T) {
	const (
		druid   = "GetConnectionTimeoutException: wait millis 6000, active %d, maxActive 500, creating 1, createElapseMillis %d\n"
		slow    = "[21-May-2026 14:02:1%d]  [pool www] pid 391%[1]d\nscript_filename = /srv/index.php\n[0x00007f3b1c814040] %s() /srv/vendor/x/Handler.php:44\n[0x00007f3b1c813f00] pay() /srv/src/Gateway.php:118\n\n"
		v8      = "[5129:0x37c4790]     %d ms: Mark-sweep 1.8 (3.2) -> 1.8 (3.2) MB, %s / 0.1 ms  (average mu = 0.239, current mu = 0.263) external memory pressure\n"
		locks   = "locktype|pid|mode|granted|waitstart\n-------+---+----+-------+---------\ntransactionid|11|ShareLock|false|2024-02-05 07:41:12.334+01\ntuple|12|ExclusiveLock|%s|2024-02-05 07:41:%s+01\n"
		pools   = " database | user | cl_active | cl_waiting | sv_active | sv_idle | sv_used\n----------+------+-----------+------------+-----------+---------+--------\n shop     | app  |       361 | %d |        80 | %d |       0\n"
		sleep   = "# Time: 170130  6:59:51\n# Query_time: 15.000281  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: %d\n%s;\n"
		bsd     = "Jan  6 10:12:44 web kernel: sonewconn: pcb 0xffff (0.0.0.0:443 (proto 6)): Listen queue overflow: 1 already in queue awaiting acceptance (%d occurrences)\n"
		trace   = "[pid    30] 20:35:%02d.000000 fsync(31) = 0 <%s>\n"
		psi     = "$ grep . /sys/fs/cgroup/*.slice/memory.pressure\n/sys/fs/cgroup/a.slice/memory.pressure:some avg10=0.00 avg60=0.00 avg300=0.00 total=10441\n/sys/fs/cgroup/b.slice/memory.pressure:some avg10=%[1]s avg60=9.00 avg300=9.00 total=70113920554\n/sys/fs/cgroup/b.slice/memory.pressure:full avg10=%[1]s avg60=9.00 avg300=9.00 total=70113920554\n"
		tracked = "[81237.104233] nf_conntrack: nf_conntrack: %s\n"
	)
	repeat := func(n int, line func(i int) string) string {
		var w strings.Builder
		for i := range n {
			w.WriteString(line(i))
		}
		return w.String()
	}
	for _, x := range []struct{ name, text, want, not string }{
		{"nobody may connect", fmt.Sprintf(druid, 2, 49870), "service.dependency-slow", "service.pool-exhausted"},
		{"connecting took a moment", fmt.Sprintf(druid, 2, 400), "", "service.dependency-slow"},
		{"all in use meanwhile", fmt.Sprintf(druid, 499, 49870), "", "service.dependency-slow"},
		{"slow requests in a call", repeat(4, func(i int) string { return fmt.Sprintf(slow, i, "curl_exec") }), "service.dependency-slow", ""},
		{"slow requests in their own code", repeat(4, func(i int) string { return fmt.Sprintf(slow, i, "render") }), "", "service.dependency-slow"},
		{"two slow requests", repeat(2, func(i int) string { return fmt.Sprintf(slow, i, "curl_exec") }), "", "service.dependency-slow"},
		{"V8 collects most of the time", repeat(10, func(i int) string { return fmt.Sprintf(v8, 3000+60*i, "52.9") }), "service.blocked-loop", ""},
		{"V8 collects now and then", repeat(10, func(i int) string { return fmt.Sprintf(v8, 3000+6000*i, "52.9") }), "", "service.blocked-loop"},
		{"locks for seconds", fmt.Sprintf(locks, "false", "13.871"), "service.row-lock", ""},
		{"a lock of a moment", fmt.Sprintf(locks, "false", "12.371"), "", "service.row-lock"},
		{"clients wait for a pool", fmt.Sprintf(pools, 423, 0), "service.pool-exhausted", ""},
		{"connections are idle", fmt.Sprintf(pools, 3, 20), "", "service.pool-exhausted"},
		{"a sleep", fmt.Sprintf(sleep, 0, "select sleep(15)"), "", "service.dependency-slow"},
		{"no sleep", fmt.Sprintf(sleep, 81, "select a from b"), "service.dependency-slow", ""},
		{"a full accept queue", fmt.Sprintf(bsd, 34), "service.accept-queue", ""},
		{"a scan of ports", fmt.Sprintf(bsd, 2), "", "service.accept-queue"},
		{"a thread that syncs", repeat(30, func(i int) string { return fmt.Sprintf(trace, i, "0.400000") }), "linux.disk-sync", ""},
		{"a thread that syncs at times", repeat(30, func(i int) string { return fmt.Sprintf(trace, i, "0.003000") }), "", "linux.disk-sync"},
		{"a group short of memory", fmt.Sprintf(psi, "43.12"), "linux.memory-reclaim", ""},
		{"groups with room", fmt.Sprintf(psi, "3.12"), "", "linux.memory-reclaim"},
		{"a full table of connections", fmt.Sprintf(tracked, "table full, dropping packet"), "linux.conntrack-full", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			a := &format.Artifact{Name: "told.txt", Size: int64(len(x.text)), Modified: 1_700_000_000e9, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(x.text)), nil }}
			b := incident.NewBundle()
			if err := format.Read(context.Background(), formats.Formats, a, b); err != nil {
				t.Fatal(err)
			}
			d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, v := range d.Verdicts {
				switch {
				case v.Verdict == check.Supported && v.Cause == x.want:
					found = true
				case v.Verdict == check.Supported && (x.not == "" && x.want == "" || v.Cause == x.not):
					t.Errorf("%s is supported: %s", v.Cause, v.Title)
				}
			}
			if x.want != "" && !found {
				t.Errorf("%s is not supported", x.want)
			}
		})
	}
}
