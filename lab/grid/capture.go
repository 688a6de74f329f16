package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/unstall/unstall/lab"
	probes "github.com/unstall/unstall/probe/all"
	"github.com/unstall/unstall/record"
	"github.com/unstall/unstall/target"
)

// captureFile is the recording everything at a load is predicted from.
func captureFile(dir string, rate float64) string {
	return filepath.Join(dir, fmt.Sprintf("rate%g-calibration.unstall", rate))
}

// capture records the calibration's service under the load the way a user would:
// unstall record PID --load URL.
func (m *measurer) capture(ctx context.Context, rate float64, work string) error {
	file := captureFile(m.dir, rate)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	one := m.services[0]
	t, err := target.Resolve(ctx, strconv.Itoa(one.PID))
	if err != nil {
		return err
	}
	const lasts = 12 * time.Second
	for tries := 0; ; tries++ {
		m.turn(false)
		fresh := captureFile(work, rate)
		if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		found := record.Find(ctx, probes.Probes, []target.Target{t})
		busy, stolen := lab.HostBusySeconds()
		ours, began := lab.CPUSeconds(one.PID)+lab.CPUSeconds(os.Getpid()), time.Now()
		d := demand{rate: rate, lasts: lasts, seed: m.plan.Seed}
		if _, err := found.Record(ctx, record.Options{For: lasts + 5*time.Second, Path: fresh, Command: []string{"unstall", "record"},
			Beside: record.Load(plan(one, d), t.Subject(), nil, nil)}); err != nil {
			return err
		}
		after, taken := lab.HostBusySeconds()
		ours = lab.CPUSeconds(one.PID) + lab.CPUSeconds(os.Getpid()) - ours
		others := max(0, after+taken-busy-stolen-ours) / time.Since(began).Seconds() / processors
		say("recorded the calibration: others %2.0f %%", 100*others)
		if others < spoilt || tries == again {
			b, err := os.ReadFile(fresh)
			if err != nil {
				return err
			}
			return os.WriteFile(file, b, 0o644)
		}
	}
}
