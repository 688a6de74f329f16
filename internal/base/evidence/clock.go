package evidence

import "math"

// ClockID indexes [Bundle.Clocks].
type ClockID int32

// Stamp is the moment of a request that its logged time marks.
type Stamp uint8

// Stamps. Servers write their access line when the response has been sent; tracing spans carry the start.
const (
	StampUnknown Stamp = iota
	StampStart
	StampCompletion
)

// Unanchored is the Error of a clock with an unknown offset to the epoch: its rows can be ordered among themselves but not joined
// with others.
const Unanchored = math.MaxInt64

// Clock is the clock of an artifact's times.
type Clock struct {
	Name       string // "unix", "since process start", "monotonic"
	Offset     int64  // ns to add for times since the epoch
	Error      int64  // ± ns of Offset; Unanchored if it is not known
	Resolution int64  // ns; nginx $time_local: 1e9, stamps are truncated to it
	Stamp      Stamp
	Moved      int64 // ns of Offset that its requests showed, which other artifacts saw, too
}

// Anchored reports whether the clock's times can be joined with others.
func (c *Clock) Anchored() bool { return c.Error != Unanchored }

// Slack returns how far (ns) a time of this clock may be off: its error plus the truncation of its resolution.
func (c *Clock) Slack() int64 {
	if !c.Anchored() {
		return Unanchored
	}
	return c.Error + max(0, c.Resolution-1)
}
