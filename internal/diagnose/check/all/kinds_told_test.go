package all_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLittleConvictsNobody wants no cause found by so few readings that chance makes as many.
func TestLittleConvictsNobody(t *testing.T) {
	counters := func(rows ...string) string { // dotnet-counters collect --format csv
		b := "Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n"
		for i, row := range rows {
			b += fmt.Sprintf("03/07/2024 11:20:%02d,System.Runtime,%s\n", 2*(i/3), row)
		}
		return b
	}
	screen := func(queue int) string { // dotnet-counters monitor
		return fmt.Sprintf("Press p to pause, r to resume, q to quit.\n    Status: Running\n\n[System.Runtime]\n    CPU Usage (%%)                                                 31\n    ThreadPool Completed Work Item Count (Count / 1 sec)       1,918\n    ThreadPool Queue Length                                       %5d\n    ThreadPool Thread Count                                       48\n", queue)
	}
	hour := func(figure string) string { // sar: an hour's mean
		return "Linux 5.14.0 (n3)  03/07/2024  _x86_64_  (8 CPU)\n\n10:00:01 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n11:00:01 AM     all     " + figure + "\n"
	}
	gauge := "time,active,max,waiting\n2024-03-07T11:00:00Z,10,10,1\n"
	holdAll(t, map[string]made{
		"a pool: two samples, one waits": {files: map[string]string{"counters.csv": counters("CPU Usage (%),Metric,64", "ThreadPool Thread Count,Metric,88", "ThreadPool Queue Length,Metric,0", "CPU Usage (%),Metric,19", "ThreadPool Thread Count,Metric,97", "ThreadPool Queue Length,Metric,1", "ThreadPool Completed Work Item Count (Count / 1 sec),Rate,1760")},
			never: []string{"dotnet.threadpool-starvation"}},
		"a pool: one screen, two wait":                {files: map[string]string{"screen.txt": screen(2)}, never: []string{"dotnet.threadpool-starvation"}},
		"a pool's gauge, read once, one waits":        {files: map[string]string{"pool.csv": gauge}, never: []string{"service.pool-exhausted"}},
		"a single hour of a host, busy for the half":  {files: map[string]string{"sar.txt": hour("41.20      0.00      8.10      0.10      0.00     50.60")}, never: []string{"linux.cpu-saturation", "linux.noisy-neighbour", "linux.disk-busy"}},
		"a single hour of a host that waits for disk": {files: map[string]string{"sar.txt": hour(" 6.20      0.00      2.10      9.10      0.00     82.60")}, never: []string{"linux.cpu-saturation", "linux.disk-busy"}},
		"a single hour of jstat": {files: map[string]string{"jstat.txt": "Timestamp         S0     S1     E      O      M     CCS    YGC     YGCT    FGC    FGCT     GCT\n         3600.1   0.00  11.02  40.10  97.31  95.20  91.02    812   10.101     1    0.212   10.313\n"},
			never: []string{"jvm.old-gen-leak", "jvm.full-gc"}},
	})
}

// TestChildrenUnderOtherNames wants calls of a request counted that a proxy or a client library records under a service name of its own.
func TestChildrenUnderOtherNames(t *testing.T) {
	zipkin := func(n int, child, kind string) string {
		return "[" + strings.TrimSuffix(each(n, func(i int) string {
			at := 1_700_000_000_000_000 + int64(i)*300_000
			return fmt.Sprintf(`{"traceId":"a%02d","id":"b%02d","kind":"SERVER","name":"get /route","timestamp":%d,"duration":141000,"localEndpoint":{"serviceName":"router"}},{"traceId":"a%02d","id":"c%02d","parentId":"b%02d","kind":"%s","name":"get /route","timestamp":%d,"duration":133000,"localEndpoint":{"serviceName":"%s"},"remoteEndpoint":{"serviceName":"timetable"}},`,
				i, i, at, i, i, i, kind, at+2000, child)
		}), ",") + "]"
	}
	otlp := func(n int, child string) string {
		return each(n, func(i int) string {
			at := 1_700_000_000_000_000_000 + int64(i)*300_000_000
			span := func(service, id, parent string, kind int, from, took int64) string {
				return fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}}]},"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%s","parentSpanId":"%s","name":"GET /route","kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"server.address","value":{"stringValue":"timetable"}}],"status":{}}]}]}`,
					service, i+1, id, parent, kind, at+from, at+from+took)
			}
			a, b := fmt.Sprintf("%016x", 2*i+1), fmt.Sprintf("%016x", 2*i+2)
			return `{"resourceSpans":[` + span("router", a, "", 2, 0, 141_000_000) + "," + span(child, b, a, 3, 2_000_000, 133_000_000) + "]}\n"
		})
	}
	const waits = "94 % of the time of 5 requests is waiting for dependencies"
	holdAll(t, map[string]made{
		"Zipkin: the proxy's name":       {files: map[string]string{"trace.json": zipkin(5, "router-proxy", "CLIENT")}, open: []string{"service.dependency-slow"}, says: []string{waits}},
		"Zipkin: the service's own name": {files: map[string]string{"trace.json": zipkin(5, "router", "CLIENT")}, open: []string{"service.dependency-slow"}, says: []string{waits}},
		"OpenTelemetry: a sidecar":       {files: map[string]string{"spans.json": otlp(5, "router-sidecar")}, open: []string{"service.dependency-slow"}, says: []string{waits}},
	})
}

// TestFaultsOfPlacement takes no fault by which the kernel asks which node uses a page for one that gives a program memory.
func TestFaultsOfPlacement(t *testing.T) {
	samples := func(frames ...string) string {
		return each(120, func(i int) string {
			at := fmt.Sprintf("writer 4711 [002] 52.%06d: cpu-clock: \n", 10_100*i)
			if 10_100*i >= 1_000_000 {
				at = fmt.Sprintf("writer 4711 [002] 53.%06d: cpu-clock: \n", 10_100*i-1_000_000)
			}
			for _, f := range frames {
				at += "\tffffffff811a93e1 " + f + " ([kernel.kallsyms])\n"
			}
			return at + "\t    7f08b5783b58 scan (/opt/writer)\n\n"
		})
	}
	holdAll(t, map[string]made{
		"hints of 3.10":      {files: map[string]string{"perf.txt": samples("migrate_misplaced_page", "do_numa_page", "handle_mm_fault", "__do_page_fault", "page_fault")}, never: []string{"linux.page-faults", "linux.thp-stall"}},
		"hints of 6.8":       {files: map[string]string{"perf.txt": samples("migrate_misplaced_folio", "do_numa_page", "__handle_mm_fault", "handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault")}, never: []string{"linux.page-faults", "linux.thp-stall"}},
		"the task that asks": {files: map[string]string{"perf.txt": samples("change_prot_numa", "task_numa_work", "task_work_run", "exit_to_user_mode_loop")}, never: []string{"linux.page-faults", "linux.thp-stall"}},
		"first touches":      {files: map[string]string{"perf.txt": samples("clear_page_erms", "do_anonymous_page", "__handle_mm_fault", "handle_mm_fault", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault")}, supported: []string{"linux.page-faults"}},
	})
}

// TestDelayedSyncsAcquitNobody wants no AOF cleared whose log says that syncs were late.
func TestDelayedSyncsAcquitNobody(t *testing.T) {
	lines := func(stamp func(i int) string, n int) string {
		return each(n, func(i int) string {
			return stamp(i) + "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for fsync to complete, this may slow down Redis.\n"
		})
	}
	new7 := func(i int) string { return fmt.Sprintf("1:M 07 Mar 2024 11:2%d:12.090 * ", i) }
	old2 := func(i int) string { return fmt.Sprintf("[418] 07 Mar 11:2%d:12 * ", i) }
	old3 := func(i int) string { return fmt.Sprintf("418:M 07 Mar 11:2%d:12.090 * ", i) }
	holdAll(t, map[string]made{
		"nine of 7.x":          {files: map[string]string{"redis.log": lines(new7, 9)}, supported: []string{"redis.aof-fsync"}},
		"nine of 3.x, no year": {files: map[string]string{"redis.log": lines(old3, 9)}, supported: []string{"redis.aof-fsync"}},
		"nine of 2.4":          {files: map[string]string{"redis.log": lines(old2, 9)}, supported: []string{"redis.aof-fsync"}},
		"one of 7.x":           {files: map[string]string{"redis.log": lines(new7, 1)}, open: []string{"redis.aof-fsync"}},
	})
}

// TestFewCyclesOfMany wants GC neither cleared nor its rate told by the lines that are left of a log.
func TestFewCyclesOfMany(t *testing.T) {
	log := func(numbers []int, step, mark float64) string {
		return each(len(numbers), func(i int) string {
			at := 100 + step*float64(numbers[i]-numbers[0])
			return fmt.Sprintf("gc %d @%.3fs 12%%: 0.05+%.0f+0.02 ms clock, 0.2+0.1/%.0f/0.1+0.08 ms cpu, 2040->2046->2030 MB, 2048 MB goal, 0 MB stacks, 0 MB globals, 4 P\n", numbers[i], at, mark, 2*mark)
		})
	}
	var tenth, ends, all []int
	for i := range 120 {
		all = append(all, 200+i)
		if i%10 == 0 {
			tenth = append(tenth, 200+i)
		}
		if i < 9 || i >= 111 {
			ends = append(ends, 200+i)
		}
	}
	holdAll(t, map[string]made{
		"all are there, back to back": {files: map[string]string{"gc.log": log(all, 2.3, 2100)}, supported: []string{"go.memory-limit-thrash"}, says: []string{"0.43"}},
		"the middle is missing":       {files: map[string]string{"gc.log": log(ends, 2.3, 2100)}, supported: []string{"go.memory-limit-thrash"}, says: []string{"0.43"}},
		"every tenth, quiet":          {files: map[string]string{"gc.log": log(tenth, 3, 120)}, open: []string{"go.memory-limit-thrash", "go.gc-rate"}},
	})
}

// TestReadingsAreCounted wants the readings of a pool's gauges counted as they are, however they lie in time: not by the time between the first and the
// last and the least distance of two.
func TestReadingsAreCounted(t *testing.T) {
	csv := "time,active,max,waiting\n"
	for _, at := range []string{"00.000001", "00.7", "00.700001", "01.5", "01.6", "01.9", "02.000001"} {
		csv += "2024-03-07T11:00:" + at + "Z,10,10,8\n"
	}
	log := ""
	for i, waiting := range []int{8, 9, 8, 7, 9, 8, 8} {
		log += fmt.Sprintf("2024-03-07 11:0%d:%02d.%03d DEBUG [HikariPool-1 housekeeper] com.zaxxer.hikari.pool.HikariPool - HikariPool-1 - Pool stats (total=10, active=10, idle=0, waiting=%d)\n", i/2, 30*(i%2), 12+i/3, waiting)
	}
	holdAll(t, map[string]made{
		"seven rows, two of them 1 µs apart": {files: map[string]string{"pool.csv": csv}, supported: []string{"service.pool-exhausted"}, says: []string{"8 waiting on average (7 readings)"}},
		"seven lines of HikariCP":            {files: map[string]string{"app.log": log}, supported: []string{"service.pool-exhausted"}, says: []string{"8.14 waiting on average (7 readings)"}},
	})
}
