package experiment

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// Together are settings of the host that keep the requested values until End.
type Together []*Trial

// Host sets settings of the host as typed ("thp=always"), until a time at most. They are put back with the same
// care as those of a try, however this process ends. A setting that already has the value is left alone.
func Host(ctx context.Context, typed []string, until time.Time) (all Together, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, all.End(context.WithoutCancel(ctx)))
			all = nil
		}
	}()
	for _, text := range typed {
		s, name, value, err := Parse(text)
		if err != nil {
			return all, err
		}
		if !s.Host {
			return all, newUseError("%s is not a setting of the host", name)
		}
		place, err := s.Find(ctx, discover.Target{PID: os.Getpid()}, name)
		if err != nil {
			return all, err
		}
		if now, err := s.Read(ctx, place); err == nil && now == value {
			continue
		}
		c, err := Find(ctx, text, discover.Target{PID: os.Getpid()})
		if err != nil {
			return all, err
		}
		l, err := NewTrial(c, until, all...)
		if err != nil {
			return all, err
		}
		all = append(all, l)
		if err := l.Set(ctx, c.Tried); err != nil {
			return all, err
		}
	}
	return all, nil
}

// End puts the settings back, the last one first. A setting that another process has changed
// stays, and is an error.
func (t Together) End(ctx context.Context) error {
	var errs []error
	for i := len(t) - 1; i >= 0; i-- {
		r, err := t[i].End(ctx)
		if err == nil && r.Kept {
			err = errors.New(t[i].Place.Name + ": another process changed it, so it stays " + r.Now)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
