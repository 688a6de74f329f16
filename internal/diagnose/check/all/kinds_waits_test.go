package all_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestWaitsPasted wants causes named by what tools print of waits, in layouts of several tools, and not by what is as little as chance.
func TestWaitsPasted(t *testing.T) {
	slow := func(n int, call string) string { // PHP-FPM's slow log, without the line of its time
		return each(n, func(i int) string {
			return fmt.Sprintf("script_filename = public/%d.php\n[0x00007fe121420d20] %s() public/store.php:180\n[0x00007fe121420c60] read() public/page.php:14%d\n\n", i, call, i%10)
		})
	}
	ready := func(long int) string { // runqlat of bpftrace
		return fmt.Sprintf("Attaching 5 probes...\nTracing CPU scheduler... Hit Ctrl-C to end.\n^C\n\n@usecs:\n[4, 8)              %d |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n[16K, 32K)          %d |@@@@@@                                              |\n", 2000-long, long)
	}
	disk := strings.Replace(ready(600), "Tracing CPU scheduler...", "Tracing block device I/O...", 1)
	lists := func(share float64, read string) string { // docker stats with its networks
		heading := "CONTAINER ID   NAME   CPU %     MEM USAGE / LIMIT     MEM %     NET I/O         BLOCK I/O         PIDS\n"
		row := func(read string) string {
			return fmt.Sprintf("22030b705436   shop   3.24%%     %.1fMiB / 100MiB   %.2f%%    1.2kB / 0B      %s / 42.1MB   7\n", share, share, read)
		}
		return heading + row("20.1MB") + heading + row(read)
	}
	running := func(n int, state string) string { // psql
		return "  pid  | state | wait_event_type | runtime | query\n-------+-------+-----+------+------\n" + each(n, func(i int) string {
			return fmt.Sprintf(" %d | %s | %s | 00:00:4%d | SELECT sum(price) FROM lines WHERE day = %d\n", 100+i, state, "IO", i, i)
		})
	}
	broken := func(n int) string { // a frame whose statement has line ends
		return "+----+------+------+------+---------+------+-------+------+\n| Id | User | Host | db   | Command | Time | State | Info |\n" + each(n, func(i int) string {
			return fmt.Sprintf("| %d | web | h:%d | shop | Execute | 3%d | Creating sort index | SELECT a\n  FROM lines\n ORDER BY %d |\n", 10+i, i, i, i)
		})
	}
	digest := func(calls int, mean string) string {
		return fmt.Sprintf("# Profile\n# Rank Query ID           Response time  Calls R/Call V/M   Item\n# ==== ================== ============== ===== ====== ===== =====\n#    1 0x92F3B1B361FB0E5B 41.6291 62.1%% %d %s  9.48 SELECT words\n", calls, mean)
	}
	python := func(n int) string { // faulthandler
		return each(n, func(i int) string {
			return fmt.Sprintf("Thread 0x00007f1c%08x (most recent call first):\n  File \"/opt/shop/locks.py\", line 21 in acquire\n  File \"/opt/shop/cart.py\", line 88 in price\n  File \"/opt/shop/web.py\", line 1%d in show\n\n", i, i)
		}) + "Thread 0x00007f1cffffffff (most recent call first):\n  File \"/opt/shop/cart.py\", line 90 in price\n"
	}
	node := func(took string, n int) string { // the end of a process, newest first
		return each(n, func(i int) string {
			return fmt.Sprintf("[9:0x55d0] %d ms: Mark-sweep 2046.2 (2082.3) -> 2045.8 (2082.3) MB, %s / 0.0 ms  (average mu = 0.1, current mu = 0.0) allocation failure\n", 90_000-4_000*i, took)
		})
	}
	comments := func(seconds int) string { // a script with answers
		return fmt.Sprintf("-- SHOW ENGINE INNODB STATUS;\n-- ---TRANSACTION 421938, ACTIVE %[1]d sec starting index read\n-- mysql tables in use 1, locked 1\n-- LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)\n-- MySQL thread id 12, OS thread handle 140214, query id 511 10.0.0.7 shop updating\n-- /* shop */ UPDATE stock SET n = n - 1 WHERE id = 4\n-- ...\n-- ------- TRX HAS BEEN WAITING %[1]d SEC FOR THIS LOCK TO BE GRANTED:\n", seconds)
	}
	etcd := func(n int) string { // a page before etcd 3.0
		return fmt.Sprintf("# TYPE etcd_wal_fsync_durations_seconds histogram\netcd_wal_fsync_durations_seconds_bucket{le=\"0.001\"} 900\netcd_wal_fsync_durations_seconds_bucket{le=\"0.128\"} %d\netcd_wal_fsync_durations_seconds_bucket{le=\"0.512\"} 1000\netcd_wal_fsync_durations_seconds_bucket{le=\"+Inf\"} 1000\netcd_wal_fsync_durations_seconds_sum 4\netcd_wal_fsync_durations_seconds_count 1000\n", n)
	}
	iostat := func(queue string) string { // of sysstat 12
		return "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           9.10    0.00    6.20   38.40    0.00   46.30\n\nDevice            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util\nnvme0n1       5102.40  81638.40     0.00   0.00    2.10    16.00   12.20    240.00     1.00   7.58    1.80    19.67  " + queue + "  84.90\n"
	}
	arm := "[  243.120001] INFO: task pgd:512 blocked for more than 122 seconds.\n[  243.120201]  __schedule from schedule+0x58/0xf0\n[  243.120501]  ext4_sync_file from do_fsync+0x48/0x74\n"
	holdAll(t, map[string]made{
		"three wait for their session":    {files: map[string]string{"slow.txt": slow(3, "session_start")}, supported: []string{"service.waiting"}},
		"two wait for their session":      {files: map[string]string{"slow.txt": slow(2, "session_start")}, never: []string{"service.waiting"}},
		"three sleep":                     {files: map[string]string{"slow.txt": slow(3, "usleep")}, never: []string{"service.waiting"}},
		"a tenth waits for a CPU":         {files: map[string]string{"runqlat.txt": ready(201)}, supported: []string{"linux.cpu-saturation"}},
		"fewer wait for a CPU":            {files: map[string]string{"runqlat.txt": ready(190)}, never: []string{"linux.cpu-saturation"}},
		"waits for a disk":                {files: map[string]string{"biolatency.txt": disk}, never: []string{"linux.cpu-saturation"}},
		"reads its limit ten times":       {files: map[string]string{"stats.txt": lists(97, "1.2GB")}, supported: []string{"linux.memory-reclaim"}},
		"reads half of that":              {files: map[string]string{"stats.txt": lists(97, "500MB")}, never: []string{"linux.memory-reclaim"}},
		"reads far from its limit":        {files: map[string]string{"stats.txt": lists(40, "1.2GB")}, never: []string{"linux.memory-reclaim"}},
		"three run one statement":         {files: map[string]string{"activity.txt": running(3, "active")}, supported: []string{"service.dependency-slow"}},
		"two run one statement":           {files: map[string]string{"activity.txt": running(2, "active")}, never: []string{"service.dependency-slow"}},
		"three are idle after it":         {files: map[string]string{"activity.txt": running(3, "idle")}, never: []string{"service.dependency-slow"}},
		"rows broken by their statements": {files: map[string]string{"processlist.txt": broken(4)}, supported: []string{"service.dependency-slow"}},
		"two such rows":                   {files: map[string]string{"processlist.txt": broken(2)}, never: []string{"service.dependency-slow"}},
		"a digest of slow statements":     {files: map[string]string{"digest.txt": digest(11, "3.7845")}, supported: []string{"service.dependency-slow"}},
		"a digest of quick ones":          {files: map[string]string{"digest.txt": digest(11976, "0.1127")}, never: []string{"service.dependency-slow"}},
		"comments tell of a lock":         {files: map[string]string{"locks.sql": comments(31)}, supported: []string{"service.row-lock"}},
		"comments of a shell do":          {files: map[string]string{"locks.md": strings.ReplaceAll(comments(31), "-- ", "# ")}, supported: []string{"service.row-lock"}},
		"it is waited for for no second":  {files: map[string]string{"locks.sql": comments(0)}, never: []string{"service.row-lock"}},
		"one sync in a hundred is slow":   {files: map[string]string{"page.txt": etcd(985)}, supported: []string{"linux.disk-sync"}},
		"one in two hundred is":           {files: map[string]string{"page.txt": etcd(995)}, never: []string{"linux.disk-sync"}},
		"a disk has a long queue":         {files: map[string]string{"iostat.txt": iostat("10.71")}, supported: []string{"linux.disk-busy"}},
		"it has a short one":              {files: map[string]string{"iostat.txt": iostat("1.71")}, never: []string{"linux.disk-busy"}},
		"Python waits for a lock":         {files: map[string]string{"dump.txt": python(4)}, supported: []string{"service.waiting"}},
		"two threads of Python wait":      {files: map[string]string{"dump.txt": python(2)}, never: []string{"service.waiting"}},
		"V8 collects for seconds":         {files: map[string]string{"node.log": node("3120.4", 2)}, supported: []string{"service.blocked-loop"}},
		"V8 collects for tenths":          {files: map[string]string{"node.log": node("120.4", 4)}, never: []string{"service.blocked-loop"}},
		"ARM hangs in a sync":             {files: map[string]string{"dmesg.txt": arm}, supported: []string{"linux.disk-sync"}},
	})
}
