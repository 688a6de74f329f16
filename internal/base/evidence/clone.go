package evidence

import "slices"

// Clone returns a bundle of the same evidence that can be unified, aligned, clipped and extended while the original stays as read.
// Both share what never changes: names, stacks, and the columns that only hold what was read.
func (b *Bundle) Clone() *Bundle {
	c := *b
	c.Artifacts, c.Clocks, c.Subjects = slices.Clone(b.Artifacts), slices.Clone(b.Clocks), slices.Clone(b.Subjects)
	c.Series, c.Facts, c.Coverage = slices.Clone(b.Series), slices.Clone(b.Facts), slices.Clone(b.Coverage)
	c.Processors, c.Warnings, c.stretches = slices.Clone(b.Processors), slices.Clone(b.Warnings), slices.Clone(b.stretches)
	c.Code = slices.Clone(b.Code)
	c.Loads, c.Tables, c.Unseen, c.parts = slices.Clip(b.Loads), slices.Clip(b.Tables), slices.Clip(b.Unseen), slices.Clip(b.parts)
	c.Requests, c.Intervals = b.Requests.clone(), b.Intervals.clone()
	s := &c.Samples
	s.Subject, s.Time = slices.Clone(s.Subject), slices.Clone(s.Time)
	for i := range c.Series {
		c.Series[i].T = slices.Clone(c.Series[i].T)
	}
	return &c
}
