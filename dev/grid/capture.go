package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	probes "github.com/unstall/unstall/internal/collect/probe/all"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/lab"
)

// recording is how long a recording lasts.
const recording = 12 * time.Second

// captureFile returns the path of a recording that suffices for all predictions at a load.
func captureFile(dir string, rate float64, rep int) string {
	return filepath.Join(dir, fmt.Sprintf("rate%g-rep%d.unstall", rate, rep))
}

// listCaptures returns the paths of the recordings of a load.
func listCaptures(dir string, rate float64) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("rate%g-rep*.unstall", rate)))
	slices.Sort(all)
	return all, err
}

// recordCalibration records the calibration's service under the load as a user would: unstall
// record PID --load URL. others is the share of the CPUs that other programs used.
func (m *measurer) recordCalibration(ctx context.Context, j job) (others float64, err error) {
	i := slices.IndexFunc(m.services, func(r *running) bool { return r.Name == calibration })
	one := m.services[i]
	t, err := discover.Resolve(ctx, strconv.Itoa(one.PID), platform.Recognisers())
	if err != nil {
		return 0, err
	}
	fresh := captureFile(m.work, j.rate, j.rep)
	found := record.Find(ctx, probes.Probes, []discover.Target{t})
	busy, stolen := lab.HostBusySeconds()
	ours, began := lab.CPUSeconds(one.PID)+lab.CPUSeconds(os.Getpid()), time.Now()
	d := demand{rate: j.rate, lasts: recording, seed: m.seedOf(j)}
	if _, err := found.Record(ctx, record.Options{For: recording + 5*time.Second, Path: fresh, Command: []string{"unstall", "record"},
		Beside: record.RunLoad(loadPlan(one, d), t.Subject(), nil, nil)}); err != nil {
		return 0, err
	}
	after, taken := lab.HostBusySeconds()
	ours = lab.CPUSeconds(one.PID) + lab.CPUSeconds(os.Getpid()) - ours
	others = max(0, after+taken-busy-stolen-ours) / time.Since(began).Seconds() / processors
	if err := ctx.Err(); err != nil {
		return 0, err // cut short
	}
	b, err := os.ReadFile(fresh)
	if err != nil {
		return 0, err
	}
	file := m.jobFile(j)
	if err := os.WriteFile(file+".new", b, 0o644); err != nil {
		return 0, err
	}
	return others, os.Rename(file+".new", file)
}
