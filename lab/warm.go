package lab

import (
	"context"
	"time"
)

// warmToPlateau puts load on a service until its memory is on a plateau: a process that was just
// allowed more memory first has page faults for it, a passing effect with another cause. A GC cycle must
// have run, too, because the heap reaches its full size only then.
func (t *storming) warmToPlateau(one *Service) error {
	const (
		every = 500 * time.Millisecond
		looks = 4
		still = .03 // of the resident memory, or
		slack = 16 << 20
	)
	rate := one.Variant.Warm
	if rate == 0 {
		rate = t.diagnosisRate(one)
	}
	ctx, enough := context.WithCancel(t.ctx)
	defer enough()
	done := make(chan error, 1)
	go func() {
		_, err := t.Drive(ctx, one, Demand{Rate: rate, For: t.Warm})
		done <- err
	}()
	var resident []int64
	flat := false
	for !flat {
		if !one.Variant.Compared && !one.Variant.Predicted && len(resident) == looks {
			break // only its diagnosis counts, which begins after the process has warmed up
		}
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			t.addWarning("%s: its memory was still changing after %v under load: %d MiB resident", one.Variant.Name, t.Warm, lastOrZero(resident)>>20)
			return nil
		case <-time.After(every):
		}
		now, err := t.takeState(one)
		if err != nil {
			return err
		}
		resident = append(resident, now.RSS)
		flat = now.GCCycles > one.first.GCCycles && isPlateau(resident, looks, still, slack)
	}
	enough()
	return <-done
}

// isPlateau reports whether the last figures differ little.
func isPlateau(v []int64, looks int, part float64, slack int64) bool {
	if len(v) < looks {
		return false
	}
	least, most := v[len(v)-1], v[len(v)-1]
	for _, x := range v[len(v)-looks:] {
		least, most = min(least, x), max(most, x)
	}
	return most-least <= max(slack, int64(part*float64(most)))
}

func lastOrZero(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	return v[len(v)-1]
}
