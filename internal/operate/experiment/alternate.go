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

// Plan is how long a change is tried, and in how many turns.
type Plan struct {
	Blocks int           // in each of which what was there and what is tried have one turn
	Turn   time.Duration // how long each is
	Settle time.Duration // of it, before anything counts
	Seed   uint64        // of the order

	// Tell is told of each turn as it begins; nil: nobody is.
	Tell func(block int, value string)
}

// What a plan is made of: turns are as short as the setting allows, since the load swings, and
// many small blocks tell more than few long ones; fewer than fewest decide nothing.
const (
	fewest    = 6
	most      = 12
	turn      = 5 * time.Second // where there is time for it
	leastTime = time.Second     // that counts, of a turn
)

// NewPlan divides a time; 0 blocks: as many as suit it.
func (c *Change) NewPlan(all time.Duration, blocks int) (Plan, error) {
	settle := c.Setting.Settle
	n := time.Duration(blocks)
	if blocks == 0 {
		n = min(most, max(fewest, all/(2*turn)))
	}
	p := Plan{Blocks: int(n), Settle: settle}
	if least := 2 * n * (settle + leastTime); all < least {
		return p, use("--for %s: %d blocks of two turns take at least %s: in each turn of %s the first %s do not count", all, n, least, c.Place.Name, settle)
	}
	p.Turn = (all / (2 * n)).Truncate(10 * time.Millisecond)
	p.Settle = max(settle, p.Turn/5)
	return p, nil
}

// All is how long it takes.
func (p Plan) All() time.Duration { return 2 * time.Duration(p.Blocks) * p.Turn }

// Alternate makes the setting what it was and what is tried, in turn, and returns when each
// turn of whole blocks counted: runs without figures, of what was there and of what is tried.
// It ends early with the context, whose cause it returns then.
func (l *Trial) Alternate(ctx context.Context, p Plan) (was, tried []compare.Run, err error) {
	runs, err := compare.Blocks(ctx, p.Blocks, []string{l.Was, l.Tried}, p.Seed, func(ctx context.Context, value string, block int) (compare.Run, error) {
		if err := l.Set(ctx, value); err != nil {
			return compare.Run{}, err
		}
		if p.Tell != nil {
			p.Tell(block, value)
		}
		wait(ctx, p.Settle)
		r := compare.Run{Name: fmt.Sprintf("%s=%s, block %d", l.Place.Name, value, block+1), Start: time.Now()}
		r.Load.Duration = p.Turn - p.Settle // of all turns the same, also where the host is late
		wait(ctx, r.Load.Duration)
		return r, nil
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return runs[0], runs[1], err
}

// wait waits, no longer than the context lasts.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Measured are the figures of a process in turns, out of what was recorded of all of them.
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

// looks is how often is looked whether the target is still there.
const looks = 200 * time.Millisecond

// While is a context that ends with a process, with [ErrGone] as its cause.
func While(ctx context.Context, pid int) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	began := time.Now()
	start, err := attach.Started(pid)
	go func() {
		for ctx.Err() == nil {
			now, e := attach.Started(pid)
			if err != nil || e != nil || now != start || ended(pid) {
				end(fmt.Errorf("pid %d ended after %s: %w", pid, time.Since(began).Round(100*time.Millisecond), ErrGone))
				return
			}
			wait(ctx, looks)
		}
	}()
	return ctx, func() { end(nil) }
}

// ended says whether a process has ended and was only not waited for (state Z of proc_pid_stat(5)).
func ended(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndexByte(b, ')')
	return err != nil || i >= 0 && i+2 < len(b) && (b[i+2] == 'Z' || b[i+2] == 'X')
}

// Gone says whether an error is that of a target that has ended.
func Gone(err error) bool { return errors.Is(err, ErrGone) }
