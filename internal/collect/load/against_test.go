//go:build unix

package load

import (
	"bufio"
	"cmp"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
)

// The benchmarks of this file compare the generator with wrk on the same server, and with the known latencies of a server that was
// stopped.
//
//	go test ./load -run '^$' -bench Against -benchtime 1x

// TestMain is also the server of the benchmarks, in a process of its own.
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
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("hello world")) })))
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
	return "http://" + strings.TrimSpace(addr) + "/", cmd.Process
}

// BenchmarkAgainstWrk alternates closed loops of ours and of wrk with one thread
// and reports the median of the pairs' ratios.
func BenchmarkAgainstWrk(b *testing.B) {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		b.Skip("wrk is not installed: github.com/wg/wrk")
	}
	url, _ := serverProcess(b)
	const pairs, seconds = 7, 3
	for b.Loop() {
		var ratios, ours, theirs []float64
		for range pairs {
			r, err := Run(b.Context(), Plan{URL: url, Mode: Closed, Connections: 125, Duration: seconds * time.Second}, nil)
			if err != nil {
				b.Fatal(err)
			}
			out, err := exec.Command(wrk, "-t1", "-c125", fmt.Sprintf("-d%ds", seconds), url).Output()
			if err != nil {
				b.Fatal(err)
			}
			m := regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`).FindSubmatch(out)
			rate, _ := strconv.ParseFloat(string(m[1]), 64)
			ours, theirs, ratios = append(ours, r.Rate.Mean), append(theirs, rate), append(ratios, r.Rate.Mean/rate)
		}
		b.Logf("ratios %.3f", ratios)
		b.ReportMetric(median(ours), "ours/s")
		b.ReportMetric(median(theirs), "wrk/s")
		b.ReportMetric(median(ratios), "ratio")
	}
}

// BenchmarkAgainstSchedule reports how late requests are sent at 10,000/s, the
// server on the same processors.
func BenchmarkAgainstSchedule(b *testing.B) {
	url, _ := serverProcess(b)
	for b.Loop() {
		var p99, worst []float64
		for range 5 {
			r, err := Run(b.Context(), Plan{URL: url, Rate: 10_000, Duration: 3 * time.Second}, nil)
			if err != nil {
				b.Fatal(err)
			}
			p99, worst = append(p99, *r.SendLag.P99), append(worst, *r.SendLag.Max)
			b.Logf("send lag p99 %.3f max %.1f ms, latency p50 %.3f p99 %.3f ms, achieved %.4f, %.2f CPUs, limited %v %v", *r.SendLag.P99, *r.SendLag.Max, *r.Latency.P50, *r.Latency.P99, *r.Achieved, *r.GeneratorCPU, r.GeneratorLimited, r.Warnings)
		}
		b.ReportMetric(median(p99), "lag-p99-ms")
		b.ReportMetric(median(worst), "lag-max-ms")
	}
}

// BenchmarkAgainstStop stops the server for about a second of ten at 2,000 requests/s. It compares the p99 with the true one: the schedule
// replayed through one queue that is served at the server's highest speed, except during the stop.
func BenchmarkAgainstStop(b *testing.B) {
	url, server := serverProcess(b)
	for b.Loop() {
		best, err := Run(b.Context(), Plan{URL: url, Mode: Closed, Connections: 64, Duration: 2 * time.Second}, nil)
		if err != nil {
			b.Fatal(err)
		}
		var off []float64
		for range 5 {
			off = append(off, stopped(b, url, server, 10*time.Second, best.Rate.Mean))
		}
		b.ReportMetric(100*median(off), "p99-off-%")
	}
}

// stopped runs 2,000 requests/s for d with a stop of a tenth of that and returns
// how far the p99 is off from the truth, as a share of it.
func stopped(tb testing.TB, url string, server *os.Process, d time.Duration, best float64) float64 {
	tb.Helper()
	var from, until int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(d * 3 / 10)
		server.Signal(syscall.SIGSTOP)
		from = time.Now().UnixNano()
		time.Sleep(d / 10)
		until = time.Now().UnixNano()
		server.Signal(syscall.SIGCONT)
	}()
	var o recorder
	r, err := Run(tb.Context(), Plan{URL: url, Rate: 2000, Duration: d}, &o)
	<-done
	if err != nil {
		tb.Fatal(err)
	}
	slices.SortFunc(o.rows, func(a, b Row) int { return cmp.Compare(a.Intended, b.Intended) })
	var truth []int64
	var free int64 // when the server has done with what came before
	for _, q := range o.rows {
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
	tb.Logf("stopped %v: p99 %.1f ms, truth %.1f ms (%+.2f %%); %d requests, %d unfinished, %d errors, lag p99 %.2f ms %v",
		time.Duration(until-from), *r.Latency.P99, want, 100*off, r.Offered, r.Unfinished, r.Errors, *r.SendLag.P99, r.Warnings)
	return off
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}
