package eventpipe

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"
)

// traceSize is the Trace object of versions 4 and 5.
const traceSize = 48

func (r *Reader) trace4(data []byte) error {
	c := Cursor{rest: data}
	if err := r.moment(&c); err != nil {
		return err
	}
	r.head.PID, r.head.Processors, r.head.SamplingRate = int(c.I32()), int(c.I32()), int(c.I32())
	return nil
}

func (r *Reader) trace6(data []byte) error {
	c := Cursor{rest: data}
	if err := r.moment(&c); err != nil {
		return err
	}
	r.head.Values = map[string]string{}
	for n := c.U32(); n > 0 && c.OK(); n-- {
		key, value := c.counted(), c.counted()
		if c.OK() {
			r.head.Values[key] = value
		}
	}
	number := func(key string) int {
		n, _ := strconv.Atoi(r.head.Values[key])
		return n
	}
	r.head.PID, r.head.Processors, r.head.SamplingRate = number("ProcessId"), number("HardwareThreadCount"), number("ExpectedCPUSamplingRate")
	if !c.OK() {
		r.unknown.Blocks++
	}
	return nil
}

// moment reads what both have in common.
func (r *Reader) moment(c *Cursor) error {
	r.head.SyncTime = systemTime(c)
	r.head.SyncTicks, r.head.Frequency, r.head.PointerBytes = c.I64(), c.I64(), int(c.I32())
	switch {
	case !c.OK():
		return fmt.Errorf("a Trace of %d bytes", traceSize-len(c.rest))
	case r.head.Frequency <= 0:
		return fmt.Errorf("a clock of %d ticks a second", r.head.Frequency)
	case r.head.PointerBytes != 4 && r.head.PointerBytes != 8:
		return fmt.Errorf("pointers of %d bytes", r.head.PointerBytes)
	}
	r.clock = clock{base: r.head.SyncTime.UnixNano(), sync: uint64(r.head.SyncTicks), frequency: uint64(r.head.Frequency)}
	if 1e9%r.head.Frequency == 0 {
		r.clock.factor = 1e9 / r.head.Frequency
	}
	return nil
}

// systemTime reads Windows' SYSTEMTIME.
func systemTime(c *Cursor) time.Time {
	year, month := int(c.U16()), time.Month(c.U16())
	c.Skip(2) // day of the week
	day, hour, minute, second, ms := int(c.U16()), int(c.U16()), int(c.U16()), int(c.U16()), int(c.U16())
	return time.Date(year, month, day, hour, minute, second, ms*1e6, time.UTC)
}

// clock turns ticks into ns since 1970.
type clock struct {
	base            int64
	sync, frequency uint64
	factor          int64 // ns a tick, 0 where that is no whole number
}

func (c *clock) ns(ticks uint64) int64 {
	d := int64(ticks - c.sync)
	if c.factor != 0 {
		return c.base + d*c.factor
	}
	if d < 0 {
		return c.base - c.scaled(uint64(-d))
	}
	return c.base + c.scaled(uint64(d))
}

func (c *clock) scaled(ticks uint64) int64 {
	seconds, rest := ticks/c.frequency, ticks%c.frequency
	hi, lo := bits.Mul64(rest, 1e9) // rest is below the divisor, so the quotient fits
	ns, _ := bits.Div64(hi, lo, c.frequency)
	return int64(seconds*1e9 + ns)
}
