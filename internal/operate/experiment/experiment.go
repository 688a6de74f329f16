// Package experiment changes a setting of a running service, or of its host, under the load that is there, says
// what that did, and changes it back. This file has the frame; a setting is a file with a [Setting] value and a
// line in [All].
//
// The package's opinion: a change is borrowed. The old value is written down before anything is changed. It is
// put back at the end and on a signal, by a second process if the first one is killed, and by the next start of
// the tool if both were killed. The package says "restored" only of a value it has read back, and never writes
// over another process's change. A change is compared only with the old value, in short turns in random order,
// so that changes of the load affect both alike.
package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
)

// Setting is something that can be changed while a service runs, and changed back.
type Setting struct {
	// Name is the text before the "=". A name that ends in a dot is a family: "jvm." takes
	// "jvm.SoftMaxHeapSize".
	Name   string
	About  string // one line
	Values string // the values accepted after the "=", in words

	// Host says that the setting is one of the whole host. It needs --host and root.
	Host bool

	// Told says that the target's runtime shows the effect, for example in its GC log, which is switched on
	// during the try. Without it nothing is switched on.
	Told bool

	// Settle is the least time until work that began before a change is over.
	Settle time.Duration

	// Find says where the setting is for a target, without changing anything. If the setting cannot be
	// changed, the error says why in one line, with what to do.
	Find func(ctx context.Context, t discover.Target, name string) (Place, error)

	// Value converts the typed text to the form in which Read returns it.
	Value func(ctx context.Context, p Place, typed string) (string, error)

	// Read and Write are enough to change the setting back: of the target they know only the place.
	// [ErrGone] means that the place no longer exists, so there is nothing to change back.
	Read  func(ctx context.Context, p Place) (string, error)
	Write func(ctx context.Context, p Place, value string) error
}

// Place is where a setting is. It is written down together with the old value.
type Place struct {
	Name string // as typed: "jvm.SoftMaxHeapSize"
	File string // the file to write; "" if there is none

	// PID is the process with which the place disappears, and Start its start time in ticks after boot; 0:
	// the place belongs to the host.
	PID   int
	Start uint64

	Affects string // which processes feel a change: "every process of this host"
}

// All settings, in the order they are offered.
var All = []*Setting{thp, thpDefrag, cpuMax, jvmFlag}

// Errors that callers distinguish.
var (
	ErrUse  = errors.New("wrong use")
	ErrGone = errors.New("it no longer exists")
	ErrBusy = errors.New("another try is still running")
)

// newUseError returns an error about the typed text that wraps [ErrUse].
func newUseError(format string, args ...any) error { return &useError{fmt.Sprintf(format, args...)} }

type useError struct{ text string }

func (e *useError) Error() string        { return e.text }
func (e *useError) Is(target error) bool { return target == ErrUse }

// Of returns the setting that a typed name means.
func Of(name string) (*Setting, bool) {
	i := slices.IndexFunc(All, func(s *Setting) bool {
		rest, family := strings.CutPrefix(name, s.Name)
		return name == s.Name && !s.isFamily() || s.isFamily() && family && rest != ""
	})
	if i < 0 {
		return nil, false
	}
	return All[i], true
}

func (s *Setting) isFamily() bool { return strings.HasSuffix(s.Name, ".") }

// Title returns the name that a setting is listed by: "jvm.FLAG".
func (s *Setting) Title() string {
	if s.isFamily() {
		return s.Name + "FLAG"
	}
	return s.Name
}

// Help lists the settings: "thp= (with --host), cpu.max=, jvm.FLAG=".
func Help() string {
	var all []string
	for _, s := range All {
		title := s.Title() + "="
		if s.Host {
			title += " (with --host)"
		}
		all = append(all, title)
	}
	return strings.Join(all, ", ")
}

// Parse splits text such as "thp=never" into a setting, its name and a value.
func Parse(typed string) (s *Setting, name, value string, err error) {
	name, value, ok := strings.Cut(typed, "=")
	if s, known := Of(name); known {
		if !ok || value == "" {
			return nil, "", "", newUseError("%s: give a value: %s=%s", typed, name, s.Values)
		}
		return s, name, value, nil
	}
	var names []string
	for _, s := range All {
		names = append(names, s.Title()+"=")
	}
	return nil, "", "", newUseError("%s: unknown setting: give one of %s", typed, strings.Join(names, ", "))
}

// Change is a setting with its old value and the value to try.
type Change struct {
	Setting *Setting
	Place   Place
	Was     string // the value that is there
	Tried   string // the value to set, in turn with Was
}

// Find returns the change that the typed text means for a target. It changes nothing.
func Find(ctx context.Context, typed string, t discover.Target) (*Change, error) {
	s, name, value, err := Parse(typed)
	if err != nil {
		return nil, err
	}
	c := &Change{Setting: s}
	if c.Place, err = s.Find(ctx, t, name); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.Was, err = s.Read(ctx, c.Place); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.Tried, err = s.Value(ctx, c.Place, value); err != nil {
		return nil, fmt.Errorf("%s=%s: %w", name, value, err)
	}
	if c.Tried == c.Was {
		return nil, newUseError("%s=%s: it already has this value: nothing to try", name, value)
	}
	return c, nil
}

// writeAndVerify writes a value and fails if it does not read back the same.
func (c *Change) writeAndVerify(ctx context.Context, value string) error {
	if err := c.Setting.Write(ctx, c.Place, value); err != nil {
		return fmt.Errorf("%s=%s: %w", c.Place.Name, value, err)
	}
	now, err := c.Setting.Read(ctx, c.Place)
	if err != nil {
		return fmt.Errorf("%s=%s: %w", c.Place.Name, value, err)
	}
	if now != value {
		return fmt.Errorf("%s=%s: it was written, but reads back as %s", c.Place.Name, value, now)
	}
	return nil
}
