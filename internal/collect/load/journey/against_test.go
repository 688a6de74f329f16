//go:build linux

package journey

import (
	"bufio"
	"cmp"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/load"
)

// TestMain is also the server of the tests of this file, in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("UNSTALL_TEST_SERVER") == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go func() { // ends with the test that started it
		os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>x</title><link rel=icon href=/icon><p>hello world")
	})))
}

// serverProcess starts the server and returns its URL.
func serverProcess(tb testing.TB) (string, *os.Process) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNSTALL_TEST_SERVER=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGCONT)
		in.Close()
		cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr), cmd.Process
}

// stop returns when all threads of the server have stopped, which takes some ms on a busy host.
func stop(tb testing.TB, server *os.Process) {
	server.Signal(syscall.SIGSTOP)
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(server.Pid, &status, syscall.WUNTRACED, nil); err == syscall.EINTR {
			continue
		} else if err != nil || !status.Stopped() {
			tb.Errorf("the server did not stop: %v, status %#x", err, status)
		}
		return
	}
}

// Users who arrive while the server is stopped wait for it from their arrival on. No user is delayed by another, and every wait is counted.
func TestStopped(t *testing.T) {
	url, server := serverProcess(t)
	var from, until int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(time.Second)
		stop(t, server)
		from = time.Now().UnixNano()
		time.Sleep(500 * time.Millisecond)
		until = time.Now().UnixNano()
		server.Signal(syscall.SIGCONT)
	}()
	r, rows := run(t, read(t, "base: "+url+"\njourneys: {a: [{get: /one, think: 100ms}, {get: /two}]}\nscenarios: {b: {journey: a, arrivals: {rate: 200, for: 3s}}}"), Options{})
	<-done
	if r.Users.Arrived != 600 || r.Users.Finished != 600 || len(rows) != 1200 || r.Errors != 0 {
		t.Fatalf("%+v %v", r.Users, r.ErrorKinds)
	}
	during := 0
	var first int64 = 1 << 62
	for _, q := range rows {
		if q.Route == "GET /one" {
			first = min(first, q.Intended)
		}
		if q.Intended > from+int64(5*time.Millisecond) && q.Intended < until {
			during++
			if q.End < until {
				t.Fatalf("answered %s before the server went on: %+v", time.Duration(until-q.End), q)
			}
		}
	}
	if during < 100 {
		t.Errorf("%d requests were due while it was stopped", during)
	}
	for _, q := range rows { // the schedule itself is unchanged
		if q.Route == "GET /one" && (q.Intended-first)%int64(5*time.Millisecond) > 1000 && (q.Intended-first)%int64(5*time.Millisecond) < int64(5*time.Millisecond)-1000 {
			t.Fatalf("due %s after the first", time.Duration(q.Intended-first))
		}
	}
}

// BenchmarkAgainstStop stops the server for a second of ten at 500 users/s. It compares the p99 with the true one: the schedule
// replayed through one queue that is served at the server's highest speed, except during the stop.
func BenchmarkAgainstStop(b *testing.B) {
	url, server := serverProcess(b)
	for b.Loop() {
		best, err := load.Run(b.Context(), load.Plan{URL: url, Mode: load.Closed, Connections: 64, Duration: 2 * time.Second}, nil)
		if err != nil {
			b.Fatal(err)
		}
		var off []float64
		for range 5 {
			off = append(off, stopped(b, url, server, best.Rate.Mean))
		}
		slices.Sort(off)
		b.ReportMetric(100*off[2], "p99-off-%")
	}
}

func stopped(tb testing.TB, url string, server *os.Process, best float64) float64 {
	tb.Helper()
	var from, until int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(3 * time.Second)
		stop(tb, server)
		from = time.Now().UnixNano()
		time.Sleep(time.Second)
		until = time.Now().UnixNano()
		server.Signal(syscall.SIGCONT)
	}()
	r, rows := run(tb, read(tb, "base: "+url+"\njourneys: {a: [{get: /}]}\nscenarios: {b: {journey: a, arrivals: {rate: 500, for: 10s}}}"), Options{})
	<-done
	slices.SortFunc(rows, func(a, b load.Row) int { return cmp.Compare(a.Intended, b.Intended) })
	var truth []int64
	var free int64 // when the server has done with what came before
	for _, q := range rows {
		begin := max(q.Intended, free)
		if begin >= from && begin < until {
			begin = until
		}
		free = begin + int64(1e9/best)
		truth = append(truth, free-q.Intended)
	}
	slices.Sort(truth)
	want := float64(stats.Quantile(truth, .99)) / 1e6
	off := *r.Latency.P99/want - 1
	tb.Logf("stopped %v: p99 %.1f ms, truth %.1f ms (%+.2f %%); %d users, %d errors, lag p99 %.2f ms %v",
		time.Duration(until-from), *r.Latency.P99, want, 100*off, r.Users.Arrived, r.Errors, *r.SendLag.P99, r.Warnings)
	return off
}

// BenchmarkAgainstUsers has ten thousand users under way, each with a connection of its own, and reports the
// generator's memory and how late it is.
func BenchmarkAgainstUsers(b *testing.B) {
	url, _ := serverProcess(b)
	for b.Loop() {
		text := "base: " + url + "\nresources: true\njourneys: {a: [{get: /, think: 10s}, {get: /two, think: 10s}, {get: /three}]}\nscenarios: {b: {journey: a, arrivals: {rate: 520, for: 40s}}}"
		var most, resident float64
		o := &watcher{func(s load.Snapshot) {
			most, resident = max(most, float64(s.Users)), max(resident, rss())
		}}
		r, err := Run(b.Context(), read(b, text), Options{}, o)
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range r.Journeys[0].Steps {
			b.Logf("%s: %d, p50 %.2f p99 %.2f ms, lag p99 %.2f max %.2f ms, %d errors", s.Name, s.Count, *s.Latency.P50, *s.Latency.P99, *s.SendLag.P99, *s.SendLag.Max, s.Errors)
		}
		b.Logf("%+v %v %.2f CPUs %v", *r.Users, r.ErrorKinds, *r.GeneratorCPU, r.Warnings)
		b.ReportMetric(most, "users")
		b.ReportMetric(resident, "MiB")
	}
}

// BenchmarkAgainstHours runs for two minutes and reports the memory at the end against that after half a minute.
func BenchmarkAgainstHours(b *testing.B) {
	url, _ := serverProcess(b)
	for b.Loop() {
		text := "base: " + url + "\nresources: true\njourneys: {a: [{get: /, think: 1s}, {get: /two, think: 1s}, {get: /three}]}\nscenarios: {b: {journey: a, arrivals: {rate: 300, for: 120s}}}"
		var warm, end []float64
		o := &watcher{func(s load.Snapshot) {
			if s.Elapsed > 30*time.Second && s.Elapsed < 60*time.Second {
				warm = append(warm, rss())
			} else if s.Elapsed > 90*time.Second && s.Elapsed < 120*time.Second {
				end = append(end, rss())
			}
		}}
		if _, err := Run(b.Context(), read(b, text), Options{}, o); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(slices.Max(warm), "warm-MiB")
		b.ReportMetric(slices.Max(end), "end-MiB")
	}
}

// rss is this process's resident memory in MiB.
func rss() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize()) / (1 << 20)
}
