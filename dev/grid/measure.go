package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/gctrace"
	"github.com/unstall/unstall/internal/format/gopprof"
	"github.com/unstall/unstall/lab"
)

// demand is a load on one service.
type demand struct {
	rate  float64
	lead  time.Duration // before what counts
	lasts time.Duration
	seed  uint64
	begin func() // called after the lead, if not nil
}

// seen is the clients' result of a demand after its lead.
type seen struct {
	rows       []load.Row
	from       int64
	limited    bool
	sent, lost int
	offered    float64
	achieved   float64
	latencies  []int64 // ns, sorted; a request without an answer counts the time it waited
}

func loadPlan(r *running, d demand) load.Plan {
	return load.Plan{
		URL: "http://" + r.said.Serving + "/v1/feed", Header: http.Header{"Authorization": {"Bearer t0000042"}},
		Arrivals: load.Poisson, Seed: d.seed, Timeout: 5 * time.Second,
		Pattern: load.Pattern{{For: d.lead + d.lasts, From: d.rate, To: d.rate}},
	}
}

// kept keeps the rows of a run.
type kept struct{ rows []load.Row }

func (*kept) Progress(load.Snapshot) {}
func (k *kept) Rows(rows []load.Row) error {
	k.rows = append(k.rows, rows...)
	return nil
}

func driveLoad(ctx context.Context, r *running, d demand) (*seen, error) {
	if d.begin != nil {
		begun := make(chan struct{})
		timer := time.AfterFunc(d.lead, func() { d.begin(); close(begun) })
		defer func() {
			if !timer.Stop() {
				<-begun
			}
		}()
	}
	k := &kept{}
	result, err := load.Run(ctx, loadPlan(r, d), k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	s := &seen{from: result.Start.Add(d.lead).UnixNano(), limited: result.GeneratorLimited}
	answered := 0
	until := s.from + int64(d.lasts)
	for _, x := range k.rows {
		if x.Intended < s.from {
			continue
		}
		s.rows = append(s.rows, x)
		if x.Outcome != evidence.OK {
			s.lost++
		}
		if x.Status != 0 && x.End <= until {
			answered++
		}
		if x.Status != 0 || x.Outcome == evidence.TimedOut || x.Outcome == evidence.Unfinished {
			s.latencies = append(s.latencies, x.Latency())
		}
	}
	s.sent = len(s.rows)
	s.offered, s.achieved = float64(s.sent)/d.lasts.Seconds(), float64(answered)/d.lasts.Seconds()
	slices.Sort(s.latencies)
	return s, nil
}

// measureSetting measures one setting under one load and keeps the row's sources beside it:
// requests and gctrace.
func measureSetting(ctx context.Context, r *running, d demand, base string) (row Row, err error) {
	profile := base + ".cpu.pb.gz"
	defer os.Remove(profile)
	var busy, ours, stolen [2]float64
	look := func(k int) {
		busy[k], stolen[k] = lab.HostBusySeconds()
		ours[k] = lab.CPUSeconds(r.PID) + lab.CPUSeconds(os.Getpid())
	}
	log := r.logSize()
	var failed error
	from, _ := r.Command("state") // replaced when the lead ends
	var began time.Time
	d.begin = func() {
		began = time.Now()
		look(0)
		from, failed = r.Command("cpu", profile)
	}
	s, err := driveLoad(ctx, r, d)
	if err == nil {
		err = failed
	}
	if err != nil {
		return row, err
	}
	until, err := r.Command("cpu-end")
	if err != nil {
		return row, err
	}
	look(1)
	seconds := float64(until.Time-from.Time) / 1e9
	row = Row{
		Setting: r.Setting, Rate: d.rate, Start: began.UTC(), Seconds: seconds, Seed: d.seed, Go: r.said.Go, Processors: r.said.Procs,
		Runtime: (until.GCSeconds - from.GCSeconds) / seconds,
		CPU:     (until.UserSeconds + until.SysSeconds - from.UserSeconds - from.SysSeconds) / seconds,
		Alloc:   float64(until.AllocBytes-from.AllocBytes) / seconds,
		RSS:     float64(until.RSS), Faults: float64(until.MinorFaults-from.MinorFaults) / seconds,
		Requests: s.sent, Failed: s.lost, Offered: s.offered, Achieved: s.achieved, Limited: s.limited,
		Others: max(0, busy[1]+stolen[1]-busy[0]-stolen[0]-(ours[1]-ours[0])) / time.Since(began).Seconds() / float64(runtime.NumCPU()),
	}
	ms := func(q float64) float64 { return float64(stats.Quantile(s.latencies, q)) / 1e6 }
	if len(s.latencies) > 0 {
		row.P50, row.P99, row.P999 = ms(.5), ms(.99), ms(.999)
	}
	if row.NonHeap, err = r.readNonheap(ctx); err != nil {
		return row, err
	}
	piece := base + ".gctrace"
	if err := copyFrom(r.log, log, piece); err != nil {
		return row, err
	}
	if err := keepRequests(base+".requests.txt", loadPlan(r, d), s.rows); err != nil {
		return row, err
	}
	if err := row.readProfile(ctx, profile, seconds); err != nil {
		return row, err
	}
	if err := row.readCycles(ctx, piece); err != nil {
		return row, err
	}
	row.Stretches = stretchP99s(s.rows, s.from, d.lasts, row.Cycles)
	return row, nil
}

// stretchP99s returns the p99s (ms) of the parts of a run: of a second each, or of as long as
// three cycles take, as far as whole ones fit in.
func stretchP99s(rows []load.Row, from int64, lasts time.Duration, cycles float64) (p99 []float64) {
	length := int64(time.Second)
	if cycles > 0 {
		length = max(length, int64(3/cycles*1e9))
	}
	length = int64(lasts) / max(int64(lasts)/length, 1)
	parts := make([][]int64, int64(lasts)/length)
	for _, x := range rows {
		if k := (x.Intended - from) / length; x.Intended >= from && k < int64(len(parts)) {
			parts[k] = append(parts[k], x.Latency())
		}
	}
	for _, part := range parts {
		if len(part) > 0 {
			slices.Sort(part)
			p99 = append(p99, float64(stats.Quantile(part, .99))/1e6)
		}
	}
	return p99
}

func keepRequests(path string, p load.Plan, rows []load.Row) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := load.NewRowWriter(f, &p)
	if err := w.Write(rows); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// copyFrom copies the part of a log after an offset.
func copyFrom(log string, offset int64, to string) error {
	in, err := os.Open(log)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

func (row *Row) readProfile(ctx context.Context, path string, seconds float64) error {
	b := incident.NewBundle()
	if err := format.Read(ctx, []format.Format{gopprof.Format}, format.File(path), b); err != nil {
		return err
	}
	for i := range b.Subjects {
		if cpu, ok := metrics.ProfileOf(b, evidence.SubjectID(i)); ok {
			row.Profile = float64(cpu.GC) / 1e9 / seconds
			row.Sampled = cpu.GC / 10e6 // a sample stands for 10 ms
		}
	}
	return nil
}

// readCycles reads the time from the end of the first cycle under the load to
// the end of the last: these are whole cycles, so that even a few of them give a rate.
func (row *Row) readCycles(ctx context.Context, path string) error {
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "gc ") {
		return err
	}
	b := incident.NewBundle()
	if err := format.Read(ctx, []format.Format{gctrace.Format}, format.File(path), b); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	v := &b.Intervals
	var rows []int
	for i := range v.Len() {
		if forced, _ := v.Get(i, evidence.Forced); v.Kind[i] == evidence.GCCycle && forced != 1 {
			rows = append(rows, i)
		}
	}
	slices.SortFunc(rows, func(i, k int) int { return int(v.End[i] - v.End[k]) })
	if len(rows) < 2 {
		return nil
	}
	span := float64(v.End[rows[len(rows)-1]]-v.End[rows[0]]) / 1e9
	row.Counted = len(rows)
	row.Cycles = float64(len(rows)-1) / span
	var lives, goals, peaks []float64
	for n, i := range rows {
		get := func(k evidence.Key) float64 { x, _ := v.Get(i, k); return x }
		lives, peaks = append(lives, get(evidence.HeapLive)), append(peaks, get(evidence.HeapAfter))
		if g := get(evidence.HeapGoal); g > 0 {
			goals = append(goals, g)
		}
		if n == 0 {
			continue
		}
		row.Assist += get(evidence.AssistTime) / 1e9 / span
		row.Background += get(evidence.BackgroundTime) / 1e9 / span
		row.Idle += get(evidence.IdleTime) / 1e9 / span
		row.Marking += get(evidence.MarkTime) / 1e9 / span
	}
	row.Live, row.Goal, row.Peak = stats.Median(lives), stats.Median(goals), stats.Median(peaks)
	row.MaxPeak = slices.Max(peaks)
	return nil
}
