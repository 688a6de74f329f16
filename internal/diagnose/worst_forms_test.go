package diagnose_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/dotnetcounters"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/format/procfs"
	"github.com/unstall/unstall/internal/format/redisreply"
	"github.com/unstall/unstall/internal/present/sentence"
)

// counters is what dotnet-counters wrote in 3 hours of a service whose pool starved from one minute to another.
func counters(from, until int) []byte {
	var b strings.Builder
	b.WriteString("Timestamp,Provider,Counter Name,Counter Type,Mean/Increment\n")
	began := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for s := 0; s < 3*3600; s += 5 {
		threads, queue := 6., 0.
		if s >= from*60 && s < until*60 {
			threads, queue = 6+float64(s-from*60)/2, 60
		}
		at := began.Add(time.Duration(s) * time.Second).Format("01/02/2006 15:04:05")
		row := func(name string, v float64) { fmt.Fprintf(&b, "%s,System.Runtime,%s,Metric,%g\n", at, name, v) }
		row("CPU Usage (%)", 4)
		row("ThreadPool Thread Count", threads)
		row("ThreadPool Queue Length", queue)
		row("% Time in GC since last GC (%)", 0)
	}
	return []byte(b.String())
}

// throttled is /proc of 3 hours of a service that its quota stopped for most of the time from one minute to another.
func throttled(from, until int) []byte {
	const cgroup = "/sys/fs/cgroup/system.slice/gateway.service/"
	var b strings.Builder
	began := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixNano()
	periods, times, stopped, used := 0, 0, 0, 0
	for s := 0; s < 3*3600; s += 10 {
		at := began + int64(s)*1e9
		file := func(name, text string) { fmt.Fprintf(&b, "-- %d %s --\n%s\n", at, name, text) }
		file("/proc/stat", fmt.Sprintf("cpu  %d 0 0 %d 0 0 0 0 0 0\ncpu0 %d 0 0 %d 0 0 0 0 0 0", s*10, s*90, s*10, s*90))
		if s == 0 {
			file("/proc/4711/cgroup", "0::/system.slice/gateway.service")
			file(cgroup+"cpu.max", "50000 100000")
		}
		periods += 100
		used += 1e6
		if s >= from*60 && s < until*60 {
			times, stopped, used = times+90, stopped+6e6, used+4e6
		}
		file("/proc/4711/stat", fmt.Sprintf("4711 (gateway) S 1 4711 4711 0 -1 4194560 2253 0 7 0 %d 101 0 0 20 0 9 0 393616 1273937920 2253 18446744073709551615 1 1 0", used/10000))
		file(cgroup+"cpu.stat", fmt.Sprintf("usage_usec %d\nuser_usec %d\nnr_periods %d\nnr_throttled %d\nthrottled_usec %d", used, used, periods, times, stopped))
	}
	return []byte(b.String())
}

// slowlog is a slow log of 3 hours, in which long commands come all at once, and else now and then a short one.
func slowlog(from, until int) []byte { return slowlogOf(from, until, 4, 0) }

// slowlogOf is one with a long command each so many seconds from one minute to another, and else each so many, 0 never.
func slowlogOf(from, until, each, otherwise int) []byte {
	var b strings.Builder
	began := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).Unix()
	n := 0
	for s := 3*3600 - 1; s >= 0; s-- { // the newest first
		command, took := "keys", 0
		switch {
		case s%1200 == 0:
			command, took = "lrange", 11_000
		case s >= from*60 && s < until*60 && s%each == 0:
			took = 900_000
		case otherwise > 0 && s%otherwise == 0:
			took = 300_000
		}
		if took == 0 {
			continue
		}
		n++
		fmt.Fprintf(&b, "%d\n%d\n%d\n%s\n*\n127.0.0.1:60586\n\n", 3*3600-n, began+int64(s), took, command)
	}
	return []byte(b.String())
}

// What is bad for some minutes of hours is found in each kind of evidence, and said to be of these minutes; and where it is not, nothing is.
func TestWorstStretchOfEachForm(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    format.Format
		text  func(from, until int) []byte
		cause string
	}{
		{"counters.csv", dotnetcounters.Format, counters, "dotnet.threadpool-starvation"},
		{"proc.txt", procfs.Format, throttled, "linux.cpu-throttled"},
		{"slowlog.txt", redisreply.Format, slowlog, "redis.slow-command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := func(from, until int) *diagnose.Diagnosis {
				b := evidence.NewBundle()
				if err := format.Read(context.Background(), []format.Format{c.of}, formattest.Artifact(c.name, c.text(from, until)), b); err != nil {
					t.Fatal(err)
				}
				d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			if d := of(0, 0); d.Outcome == diagnose.Found || len(d.Stretches) > 0 {
				t.Errorf("healthy: %s %+v", d.Outcome, d.Verdicts[0])
			}
			d := of(120, 128)
			if d.Outcome != diagnose.Found || d.Verdicts[0].Cause != c.cause {
				t.Fatalf("%s %+v", d.Outcome, d.Verdicts)
			}
			from, until := 0., 0.
			if d.Worst != nil {
				from, until = d.Worst.From, d.Worst.Until
			} else if len(d.Stretches) > 0 && d.Stretches[0].Again {
				from, until = d.Stretches[0].From, d.Stretches[0].Until
			}
			if from < 119*60 || from > 121*60 || until < 127*60 || until > 130*60 {
				t.Errorf("from %g to %g min: %s %+v", from/60, until/60, sentence.Stretch(d), d.Stretches)
			}
		})
	}
}

// What is found over all the time does not hide what is worse for some of it: that is said beside it, with when it was.
func TestStretchBesideACause(t *testing.T) {
	b := evidence.NewBundle()
	for name, text := range map[string][]byte{"counters.csv": counters(0, 180), "proc.txt": throttled(60, 68)} {
		if err := format.Read(context.Background(), []format.Format{dotnetcounters.Format, procfs.Format}, formattest.Artifact(name, text), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != diagnose.Found || d.Worst != nil || d.Verdicts[0].Cause != "dotnet.threadpool-starvation" {
		t.Fatalf("%s %+v", d.Outcome, d.Verdicts[0])
	}
	said := strings.Join(sentence.Stretches(d), "\n")
	if !strings.Contains(said, "2026-11-21 10:00:00–10:0") || !strings.Contains(said, "linux.cpu-throttled") {
		t.Errorf("%q %+v", said, d.Stretches)
	}
}

// A cause that all of the evidence has, and some minutes most of, is told with when these were.
func TestStretchOfTheSameCause(t *testing.T) {
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{redisreply.Format}, formattest.Artifact("slowlog.txt", slowlogOf(120, 128, 1, 10)), b); err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != diagnose.Found || d.Verdicts[0].Cause != "redis.slow-command" || d.Worst != nil {
		t.Fatalf("%s %+v %+v", d.Outcome, d.Verdicts[0], d.Worst)
	}
	if len(d.Stretches) != 1 || !d.Stretches[0].Again || d.Stretches[0].From != 120*60 || d.Stretches[0].Until != 128*60 {
		t.Errorf("%+v", d.Stretches)
	}
	if said := sentence.Stretches(d); len(said) != 1 || !strings.Contains(said[0], "redis.slow-command") {
		t.Errorf("%q", said)
	}
}

// A cause that is alike all the time has no stretch that is worse.
func TestNoStretchOfACauseAlike(t *testing.T) {
	b := evidence.NewBundle()
	if err := format.Read(context.Background(), []format.Format{gctrace.Format}, formattest.Artifact("gc.log", cycles(0, 358)), b); err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Outcome != diagnose.Found || len(d.Stretches) > 0 {
		t.Errorf("alike all the time: %s %+v", d.Outcome, d.Stretches)
	}
}
