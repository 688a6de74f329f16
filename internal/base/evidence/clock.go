package evidence

import "math"

// ClockID indexes [Bundle.Clocks].
type ClockID int32

// Stamp says which moment of a request its logged time marks.
type Stamp uint8

// Which end a stamp marks. Servers write their access line when the response
// has been sent; tracing spans carry the start.
const (
	StampUnknown Stamp = iota
	StampStart
	StampCompletion
)

// Unanchored is the Error of a clock whose offset to the epoch is not known:
// its rows can be ordered among themselves but not joined with others.
const Unanchored = math.MaxInt64

// Clock is what an artifact's times are measured by.
type Clock struct {
	Name       string // "unix", "since process start", "monotonic"
	Offset     int64  // ns to add for the epoch
	Error      int64  // ± ns of Offset; Unanchored if it is not known
	Resolution int64  // ns; nginx $time_local: 1e9, stamps are truncated to it
	Stamp      Stamp
	Moved      int64 // ns of Offset that its requests told, which other artifacts saw as well
}

// Anchored says whether the clock's times can be joined with others.
func (c *Clock) Anchored() bool { return c.Error != Unanchored }

// Slack is how far, in ns, a time of this clock may lie from the truth: its
// error plus the truncation of its resolution.
func (c *Clock) Slack() int64 {
	if !c.Anchored() {
		return Unanchored
	}
	return c.Error + max(0, c.Resolution-1)
}
