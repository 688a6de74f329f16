package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
	"github.com/unstall/unstall/internal/operate/compare"
)

// Plan says how long a change is tried, and in how many turns.
type Plan struct {
	Blocks int           // each has one turn with the old value and one with the tried value
	Turn   time.Duration // length of each
	Settle time.Duration // the part of a turn that does not count, at its beginning
	Seed   uint64        // of the random order

	// Tell is called as each turn begins; may be nil.
	Tell func(block int, value string)
}

// Limits of a plan. Turns are as short as the setting allows, because the load varies and many small blocks tell
// more than few long ones. Fewer than fewest blocks decide nothing.
const (
	fewest    = 6
	most      = 12
	turn      = 5 * time.Second // if the time allows
	leastTime = time.Second     // the least part of a turn that must count
)

// NewPlan divides a time into blocks of two turns; for 0 blocks it chooses how many.
func (c *Change) NewPlan(all time.Duration, blocks int) (Plan, error) {
	settle := c.Setting.Settle
	n := time.Duration(blocks)
	if blocks == 0 {
		n = min(most, max(fewest, all/(2*turn)))
	}
	p := Plan{Blocks: int(n), Settle: settle}
	if least := 2 * n * (settle + leastTime); all < least {
		return p, newUseError("--for %s: %d blocks of two turns take at least %s: in each turn of %s the first %s do not count", all, n, least, c.Place.Name, settle)
	}
	p.Turn = (all / (2 * n)).Truncate(10 * time.Millisecond)
	p.Settle = max(settle, p.Turn/5)
	return p, nil
}

// All returns how long the plan takes.
func (p Plan) All() time.Duration { return 2 * time.Duration(p.Blocks) * p.Turn }

// Alternate sets the old value and the tried value in turn. For both values it returns the turns of whole blocks
// as runs without figures, each with the time that counts. If the context ends, it ends early and returns the
// context's cause.
func (l *Trial) Alternate(ctx context.Context, p Plan) (was, tried []compare.Run, err error) {
	runs, err := compare.Blocks(ctx, p.Blocks, []string{l.Was, l.Tried}, p.Seed, func(ctx context.Context, value string, block int) (compare.Run, error) {
		if err := l.Set(ctx, value); err != nil {
			return compare.Run{}, err
		}
		if p.Tell != nil {
			p.Tell(block, value)
		}
		sleepWithContext(ctx, p.Settle)
		r := compare.Run{Name: fmt.Sprintf("%s=%s, block %d", l.Place.Name, value, block+1), Start: time.Now()}
		r.Load.Duration = p.Turn - p.Settle // the same for all turns, also if the host is late
		sleepWithContext(ctx, r.Load.Duration)
		return r, nil
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return runs[0], runs[1], err
}

// sleepWithContext waits for a time, or until the context ends.
func sleepWithContext(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Measured returns the figures of a process in each turn, measured from one recording of all
// turns.
func Measured(b *evidence.Bundle, turns []compare.Run, process int, opt compare.MeasureOptions) (runs []compare.Run) {
	opt.Process = process
	for _, t := range turns {
		opt.Since, opt.Until = t.Start, t.Start.Add(t.Load.Duration)
		for _, r := range compare.Measure(b, t.Name, opt) {
			r.Start = t.Start
			runs = append(runs, r)
		}
	}
	return runs
}

// looks is the time between two checks that the target still runs.
const looks = 200 * time.Millisecond

// While returns a context that ends when a process does, with [ErrGone] as its cause.
func While(ctx context.Context, pid int) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	began := time.Now()
	start, err := attach.Started(pid)
	go func() {
		for ctx.Err() == nil {
			now, e := attach.Started(pid)
			if err != nil || e != nil || now != start || hasProcessEnded(pid) {
				end(fmt.Errorf("pid %d ended after %s: %w", pid, time.Since(began).Round(100*time.Millisecond), ErrGone))
				return
			}
			sleepWithContext(ctx, looks)
		}
	}()
	return ctx, func() { end(nil) }
}

// hasProcessEnded says whether a process has ended, also where its parent has not waited for it
// yet (state Z of proc_pid_stat(5)).
func hasProcessEnded(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndexByte(b, ')')
	return err != nil || i >= 0 && i+2 < len(b) && (b[i+2] == 'Z' || b[i+2] == 'X')
}

// Gone says whether an error means that the target has ended.
func Gone(err error) bool { return errors.Is(err, ErrGone) }
