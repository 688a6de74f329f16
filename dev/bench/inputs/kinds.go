package inputs

import (
	"bufio"
	"bytes"
	"fmt"
	"time"
)

// kind is a file of many alike parts, such as lines.
type kind struct {
	name, format string
	begin, end   string
	between      string
	part         func(w *bytes.Buffer, i int)
}

func (k *kind) write(w *bufio.Writer, size int64) error {
	if _, err := w.WriteString(k.begin); err != nil {
		return err
	}
	var part bytes.Buffer
	for i, n := 0, int64(0); n < size; i++ {
		part.Reset()
		if i > 0 {
			part.WriteString(k.between)
		}
		k.part(&part, i)
		n += int64(part.Len())
		if _, err := w.Write(part.Bytes()); err != nil {
			return err
		}
	}
	_, err := w.WriteString(k.end)
	return err
}

var kinds = []kind{
	{name: "access log, text", format: "accesslog", part: AccessLine},
	{name: "access log, JSON", format: "accesslog", part: AccessJSON},
	{name: "GC log, G1 unified", format: "hotspotgc", part: G1Collection},
	{name: "GC log, CMS legacy", format: "hotspotgc", part: CMSCollection},
	{name: "GC log, Parallel legacy", format: "hotspotgc", part: ParallelCollection},
	{name: "gctrace", format: "gctrace", part: GCTrace},
	{name: "spans, Jaeger JSON", format: "spans", begin: `{"data":[`, between: ",", end: "]}", part: JaegerTrace},
	{name: "gauges of a pool, CSV", format: "gauges", begin: "time,pool,active,idle,pending,total,max\n", part: PoolGauge},
	{name: "goroutine dump, text", format: "gopprof", part: Goroutine},
	{name: "vegeta results, CSV", format: "loadresult", part: VegetaRow},
	{name: "k6 output, JSON lines", format: "loadresult", part: K6Line},
	{name: "perf script", format: "perfscript", part: PerfSample},
	{name: "PostgreSQL log", format: "databaselog", part: PostgresLine},
	{name: "strace", format: "strace", part: StraceLine},
	{name: "exchanges over sockets", format: "exchanges", begin: fmt.Sprintf("# exchanges of pid 4711\nfrom %d\n", Began.UnixNano()), end: "of 1\n", part: Exchanges},
	{name: "thread dumps of HotSpot", format: "threaddump", part: ThreadDump},
}

// Began is the first time in written inputs.
var Began = time.Date(2026, 10, 10, 13, 0, 0, 0, time.UTC)

// TimeOf returns the time of part i of most inputs: one each millisecond.
func TimeOf(i int) time.Time { return Began.Add(time.Duration(i) * time.Millisecond) }

// GCTrace writes what Go logs of a collection under GODEBUG=gctrace=1.
func GCTrace(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "gc %d @%.3fs 18%%: 0.10+14+0.024 ms clock, 0.21+0.33/7.5/1.0+0.048 ms cpu, %d->82->41 MB, 80 MB goal, 0 MB stacks, 0 MB globals, 2 P\n", i+1, .007+.118*float64(i), 70+i%10)
}

// AccessLine writes a line of an nginx with request times.
func AccessLine(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "198.51.100.%d - - [%s] \"GET /play/%d?token=abc HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" 0.%03d 0.%03d\n",
		i%250, TimeOf(i).Format("02/Jan/2006:15:04:05 -0700"), i*37%5000, 500+i%900, 20+i*7%900, 10+i*7%900)
}

// AccessJSON writes a line of a logger that writes JSON.
func AccessJSON(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, `{"level":"info","ts":"%s","msg":"request","remote_addr":"198.51.100.%d:5123","method":"GET","uri":"/play/%d","status":200,"duration_ms":%d.25,"bytes":512}`+"\n",
		TimeOf(i).Format(time.RFC3339Nano), i%250, i*37%5000, 2+i*7%90)
}

// PoolGauge writes a row about a pool.
func PoolGauge(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "%d,db,%d,%d,0,10,10\n", TimeOf(i).Unix(), i%8, 10-i%8)
}

// JaegerTrace writes the trace of a request and its call.
func JaegerTrace(w *bytes.Buffer, i int) {
	us := TimeOf(i).UnixMicro()
	fmt.Fprintf(w, `{"traceID":"%016x","spans":[{"traceID":"%016[1]x","spanID":"%016[2]x","operationName":"GET /play","references":[],"startTime":%d,"duration":%d,"tags":[{"key":"span.kind","type":"string","value":"server"},{"key":"http.status_code","type":"int64","value":200}],"processID":"p1"},`+
		`{"traceID":"%016[1]x","spanID":"%016[5]x","operationName":"SELECT orders","references":[{"refType":"CHILD_OF","traceID":"%016[1]x","spanID":"%016[2]x"}],"startTime":%[3]d,"duration":%[6]d,"tags":[{"key":"span.kind","type":"string","value":"client"},{"key":"peer.service","type":"string","value":"db"}],"processID":"p1"}],`+
		`"processes":{"p1":{"serviceName":"shop","tags":[]}}}`, i+1, 2*i+1, us, 5000+i%900, 2*i+2, 3000+i%700)
}

// Goroutine writes a goroutine of a dump.
func Goroutine(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "goroutine %d [select, %d minutes]:\nmain.worker(0xc000012345)\n\t/src/main.go:%d +0x1d\nmain.run()\n\t/src/main.go:7 +0x2a\ncreated by main.main in goroutine 1\n\t/src/main.go:3 +0x1\n\n", i+1, i%60, 10+i%20)
}

// VegetaRow writes what vegeta encode prints of a request.
func VegetaRow(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "%d,200,%d,0,11,,aGVsbG8gd29ybGQ=,,%d,GET,http://127.0.0.1:8080/play/17,Q29udGVudC1MZW5ndGg6IDExDQo=\n", TimeOf(i).UnixNano(), 2_000_000+i%500_000, i)
}

// K6Line writes what k6 --out json prints of a request.
func K6Line(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, `{"metric":"http_req_duration","type":"Point","data":{"time":"%s","value":%d.125,"tags":{"expected_response":"true","group":"","method":"GET","name":"http://127.0.0.1:8080/play","proto":"HTTP/1.1","scenario":"default","status":"200","url":"http://127.0.0.1:8080/play"}}}`+"\n",
		TimeOf(i).Format(time.RFC3339Nano), 1+i%40)
}

// PerfSample writes what perf script prints of a sample.
func PerfSample(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "shop %d/%d [%03d] %d.%06d: 10101010 cpu-clock:pppH: \n\t    55d0c3a1%04x handle_%d+0x1d (/usr/bin/shop)\n\t    55d0c3a2%04x serve_%d+0x2a (/usr/bin/shop)\n\t    7f21a4c9caa4 start_thread+0x304 (/usr/lib/libc.so.6)\n\n",
		4242, 4250+i%8, i%2, 1000+i/1000, i%1000*1000, i%97, i%97, i%31, i%31)
}

// PostgresLine writes what PostgreSQL logs of a statement under log_min_duration_statement=0.
func PostgresLine(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "%s [%d] shop@orders LOG:  duration: %d.%03d ms  statement: SELECT * FROM orders WHERE customer = %d\n",
		TimeOf(i).Format("2006-01-02 15:04:05.000 UTC"), 300+i%20, 1+i%90, i%1000, i*37%5000)
}

// StraceLine writes what strace -f -ttt -T prints of a call.
func StraceLine(w *bytes.Buffer, i int) {
	fmt.Fprintf(w, "%d %d.%06d fdatasync(%d) = 0 <0.%06d>\n", 4250+i%8, Began.Unix()+int64(i/1000), i%1000*1000, 5+i%4, 100+i*7%9000)
}

// Exchanges writes a request with two calls, as unstall records them, and every second until when it recorded.
func Exchanges(w *bytes.Buffer, i int) {
	at := TimeOf(i).UnixNano()
	thread, connection := 4712+i%8, 43210+i%16
	fmt.Fprintf(w, "k %d 0 %d 0 512 220 1 1 %d %d %d 10.0.0.7:5432 postgresql idle SELECT orders\n", at+310_000, 2_000_000+i%97*1000, thread, thread, connection)
	fmt.Fprintf(w, "k %d 0 %d 0 300 170 1 1 %d %d %d 10.0.0.9:80 http 200 POST /charge\n", at+2_600_000, 900_000+i%31*1000, thread, thread, connection+100)
	fmt.Fprintf(w, "q %d %d 4000000 40000 180 5120 1 2 %d %d 8080 - http 200 GET /orders/{id}\n", at, 100_000+i%13*1000, thread, thread)
	if i%1000 == 999 {
		fmt.Fprintf(w, "until %d\n", at+5_000_000)
	}
}

// G1Collection writes what JDK 17 logs of a young collection under -Xlog:gc*.
func G1Collection(w *bytes.Buffer, i int) {
	at := Began.Add(time.Duration(i) * 250 * time.Millisecond)
	line := func(tags, format string, args ...any) {
		at = at.Add(300 * time.Microsecond)
		fmt.Fprintf(w, "[%s][%.3fs][info][%-13s] GC(%d) ", at.Format("2006-01-02T15:04:05.000-0700"), 1+at.Sub(Began).Seconds(), tags, i)
		fmt.Fprintf(w, format+"\n", args...)
	}
	before, after := 150+i%37, 12+i%7
	line("gc,start", "Pause Young (Normal) (G1 Evacuation Pause)")
	line("gc,task", "Using 2 workers of 2 for evacuation")
	line("gc,phases", "  Pre Evacuate Collection Set: 0.1ms")
	line("gc,phases", "  Merge Heap Roots: 0.1ms")
	line("gc,phases", "  Evacuate Collection Set: %d.%dms", 2+i%3, i%10)
	line("gc,phases", "  Post Evacuate Collection Set: 0.4ms")
	line("gc,phases", "  Other: 0.2ms")
	line("gc,heap", "Eden regions: %d->0(%d)", before-after, before-after)
	line("gc,heap", "Survivor regions: %d->%d(%d)", 2, 2+i%2, 20)
	line("gc,heap", "Old regions: %d->%d", 8, 8+i%2)
	line("gc,heap", "Archive regions: 2->2")
	line("gc,heap", "Humongous regions: 0->0")
	line("gc,metaspace", "Metaspace: 3801K(4032K)->3801K(4032K) NonClass: 3400K(3520K)->3400K(3520K) Class: 401K(512K)->401K(512K)")
	line("gc", "Pause Young (Normal) (G1 Evacuation Pause) %dM->%dM(256M) %d.%03dms", before, after, 3+i%4, i%1000)
	line("gc,cpu", "User=0.0%ds Sys=0.00s Real=0.01s", 1+i%2)
}

// CMSCollection writes what JDK 8 logs of a ParNew collection under -XX:+PrintGCDetails, and
// of a concurrent cycle now and then.
func CMSCollection(w *bytes.Buffer, i int) {
	at := Began.Add(time.Duration(i) * 600 * time.Millisecond)
	stamp := func(more time.Duration) string {
		t := at.Add(more)
		return fmt.Sprintf("%s: %.3f", t.Format("2006-01-02T15:04:05.000-0700"), 1+t.Sub(Began).Seconds())
	}
	live := 25950 + i%1000
	fmt.Fprintf(w, "%s: [GC (Allocation Failure) %s: [ParNew: 1770060K->%dK(1922432K), 0.0%d secs] 2105763K->%dK(4019584K), 0.0%d secs] [Times: user=0.12 sys=0.00, real=0.04 secs] \n",
		stamp(0), stamp(time.Millisecond), live, 317141+i%9000, live+335703, 323010+i%9000)
	if i%50 != 49 {
		return
	}
	ms := time.Millisecond
	fmt.Fprintf(w, "%s: [GC (CMS Initial Mark) [1 CMS-initial-mark: 1335703K(2097152K)] 1361653K(4019584K), 0.0037432 secs] [Times: user=0.01 sys=0.00, real=0.00 secs] \n", stamp(50*ms))
	fmt.Fprintf(w, "%s: [CMS-concurrent-mark-start]\n%s: [CMS-concurrent-mark: 0.060/0.060 secs] [Times: user=0.17 sys=0.01, real=0.06 secs] \n", stamp(54*ms), stamp(114*ms))
	fmt.Fprintf(w, "%s: [CMS-concurrent-preclean-start]\n%s: [CMS-concurrent-preclean: 0.008/0.008 secs] [Times: user=0.01 sys=0.00, real=0.01 secs] \n", stamp(114*ms), stamp(122*ms))
	fmt.Fprintf(w, "%s: [GC (CMS Final Remark) [YG occupancy: 101322 K (1922432 K)]%s: [Rescan (parallel) , 0.0063000 secs]%s: [weak refs processing, 0.0001000 secs]%s: [class unloading, 0.0042000 secs]%s: [scrub symbol table, 0.0024000 secs]%s: [scrub string table, 0.0003000 secs][1 CMS-remark: 1335703K(2097152K)] 1437025K(4019584K), 0.0141000 secs] [Times: user=0.03 sys=0.00, real=0.01 secs] \n",
		stamp(122*ms), stamp(122*ms), stamp(128*ms), stamp(128*ms), stamp(133*ms), stamp(135*ms))
	fmt.Fprintf(w, "%s: [CMS-concurrent-sweep-start]\n%s: [CMS-concurrent-sweep: 0.300/0.300 secs] [Times: user=0.31 sys=0.00, real=0.30 secs] \n", stamp(137*ms), stamp(437*ms))
	fmt.Fprintf(w, "%s: [CMS-concurrent-reset-start]\n%s: [CMS-concurrent-reset: 0.005/0.005 secs] [Times: user=0.00 sys=0.00, real=0.01 secs] \n", stamp(437*ms), stamp(442*ms))
}

// ThreadDump writes what jstack prints of 20 threads.
func ThreadDump(w *bytes.Buffer, i int) {
	at := Began.Add(time.Duration(i) * time.Second)
	fmt.Fprintf(w, "%s\nFull thread dump OpenJDK 64-Bit Server VM (21.0.2+13 mixed mode, sharing):\n\n", at.Format("2006-01-02 15:04:05"))
	for k := range 20 {
		fmt.Fprintf(w, "\"http-nio-8080-exec-%d\" #%d [%d] daemon prio=5 os_prio=0 cpu=%d.25ms elapsed=%d.50s tid=0x00007f3c8c0%05x nid=%d waiting on condition  [0x00007f3c5c1fe000]\n"+
			"   java.lang.Thread.State: WAITING (parking)\n\tat jdk.internal.misc.Unsafe.park(java.base@21.0.2/Native Method)\n\tat shop.Handler%d.serve(Handler%d.java:%d)\n\tat java.lang.Thread.run(java.base@21.0.2/Thread.java:1583)\n\n",
			k, 30+k, 4250+k, 100+i, 20+i, k*64, 4250+k, (i+k)%50, (i+k)%50, 20+k)
	}
	w.WriteString("JNI global refs: 23, weak refs: 0\n\n")
}
