package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/probe/hotspot/attach"
)

// noted names this package in a note.
const noted = "try"

// Trial is a change while it is tried. The old value is written down, and a second process waits to put it back.
// A Trial is not safe for concurrent use.
type Trial struct {
	*Change
	note  *probe.SwitchedOn
	held  *os.File
	guard *guard
	until time.Time
	last  string // the value that was set last
}

// grace is how much longer than planned a try may take before the second process ends it. The first process may be
// stopped (Ctrl-Z) and cannot end it then.
var grace = 30 * time.Second

// NewTrial prepares to try a change, until a time at most. It changes nothing yet. beside are the trials that are
// part of the same change.
func NewTrial(c *Change, until time.Time, beside ...*Trial) (*Trial, error) {
	own, err := attach.Started(os.Getpid())
	if err != nil {
		return nil, err
	}
	note, held, err := probe.Hold(probe.SwitchedOn{Probe: noted, What: c.Place.Name, File: c.Place.File, PID: c.Place.PID, Start: c.Place.Start,
		Was: c.Was, Tried: c.Tried, Recorder: os.Getpid(), RecorderStart: own, Boot: probe.Boot(), Namespace: probe.PIDNamespace()})
	if err != nil {
		return nil, fmt.Errorf("%s: the current value cannot be saved, so nothing is changed: %w", c.Place.Name, err)
	}
	l := &Trial{Change: c, note: note, held: held, until: until, last: c.Was}
	if err := l.checkAlone(beside); err != nil {
		l.removeNote()
		return nil, err
	}
	if l.guard, err = startGuard(note.Path(), held, until.Add(grace)); err != nil {
		l.removeNote()
		return nil, fmt.Errorf("%s: the process that restores it cannot start, so nothing is changed: %w", c.Place.Name, err)
	}
	return l, nil
}

// checkAlone returns an error if another try runs or has left a setting behind, because two tries at once would
// measure each other. If two begin at the same moment, both fail.
func (l *Trial) checkAlone(beside []*Trial) error {
	for _, n := range probe.Notes(probe.Boot(), probe.PIDNamespace()) {
		ours := slices.ContainsFunc(beside, func(b *Trial) bool { return n.Path() == b.note.Path() })
		if n.Probe != noted || n.Path() == l.note.Path() || ours {
			continue
		}
		f, free := n.Take()
		switch {
		case free:
			_ = f.Close()
			return fmt.Errorf("%s: an earlier try left %s, which cannot be restored: see the line above", l.Place.Name, n.What)
		case n.There():
			return fmt.Errorf("%s: %w: pid %d tries %s=%s; wait for its end, or end it: kill %d", l.Place.Name, ErrBusy, n.Recorder, n.What, n.Tried, n.Recorder)
		}
	}
	return nil
}

// Set sets the old value or the tried one. It fails if another process has changed the setting since.
func (l *Trial) Set(ctx context.Context, value string) error {
	switch {
	case !time.Now().Before(l.until):
		return errors.New("it took much longer than planned and was stopped")
	case l.guard.hasEnded():
		return fmt.Errorf("%s: the process that restores it was killed", l.Place.Name)
	}
	now, err := l.Setting.Read(ctx, l.Place)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Place.Name, err)
	}
	if now != l.last {
		return fmt.Errorf("%s is %s: another process changed it from %s", l.Place.Name, now, l.last)
	}
	if now == value {
		return nil
	}
	if err := l.writeAndVerify(ctx, value); err != nil {
		return err
	}
	l.last = value
	return nil
}

// End puts the old value back and returns the value it then reads.
func (l *Trial) End(ctx context.Context) (Restored, error) {
	r, err := restoreSetting(ctx, l.Change)
	if err == nil {
		l.removeNote()
	}
	_ = l.held.Close()
	l.guard.release() // without a note the guard has nothing left to do; with one it tries on
	return r, err
}

func (l *Trial) removeNote() {
	l.note.Forget()
	_ = l.held.Close()
}

// Restored is what became of a setting.
type Restored struct {
	Now  string `json:"now"`  // as read back, "" if there is nothing to be read
	Was  string `json:"was"`  // before it was tried
	Kept bool   `json:"kept"` // it was changed by others meanwhile, and left so
	Gone bool   `json:"gone"` // its process or cgroup has ended, and the setting with it
}

// restoreSetting puts a setting back, however far a try got. It keeps a value that another process has set.
func restoreSetting(ctx context.Context, c *Change) (Restored, error) {
	r := Restored{Was: c.Was}
	now, err := c.Setting.Read(ctx, c.Place)
	if err == nil && now == c.Tried {
		if err = c.writeAndVerify(ctx, c.Was); err == nil {
			now, err = c.Setting.Read(ctx, c.Place)
		}
	}
	switch {
	case errors.Is(err, ErrGone):
		r.Gone = true
		return r, nil
	case err != nil:
		return r, fmt.Errorf("%s could not be restored to %s: %w", c.Place.Name, c.Was, err)
	}
	r.Now, r.Kept = now, now != c.Was
	return r, nil
}

// changeOf returns the change that a note is about; false if this version does not know its
// setting.
func changeOf(l *probe.SwitchedOn) (*Change, bool) {
	s, ok := Of(l.What)
	return &Change{Setting: s, Place: Place{Name: l.What, File: l.File, PID: l.PID, Start: l.Start}, Was: l.Was, Tried: l.Tried}, ok
}

// tidying is how long restoring a setting that was left behind may take, because the user waits for something
// else.
const tidying = 3 * time.Second

// RestoreLeftovers puts back settings left behind by tries that were killed together with their guard. It calls
// say with a line for each.
func RestoreLeftovers(ctx context.Context, say func(string)) {
	for _, l := range probe.Notes(probe.Boot(), probe.PIDNamespace()) {
		c, known := changeOf(l)
		if l.Probe != noted || !known {
			continue
		}
		f, free := l.Take()
		if !free {
			continue // it is being tried
		}
		ctx, cancel := context.WithTimeout(ctx, tidying)
		r, err := restoreSetting(ctx, c)
		cancel()
		if err != nil {
			say(fmt.Sprintf("an earlier try was killed: %v", err))
		} else {
			l.Forget()
			if text := r.formatKilledTry(c); text != "" {
				say(text)
			}
		}
		_ = f.Close()
	}
}

// formatKilledTry returns the line that says what became of the setting of a killed try, "" if its target has
// ended.
func (r Restored) formatKilledTry(c *Change) string {
	switch {
	case r.Gone:
		return ""
	case r.Kept:
		return fmt.Sprintf("%s: an earlier try of %s was killed, and another process has changed it since: it stays %s (it was %s before)", c.Place.Name, c.Tried, r.Now, c.Was)
	}
	return fmt.Sprintf("%s: an earlier try of %s was killed before it restored the setting: it is %s again", c.Place.Name, c.Tried, r.Now)
}
