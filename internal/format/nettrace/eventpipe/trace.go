package eventpipe

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"
)

// traceSize is the Trace object of versions 4 and 5.
const traceSize = 48

func (r *Reader) decodeTrace4(data []byte) error {
	c := Cursor{data: data}
	if err := r.decodeSyncMoment(&c); err != nil {
		return err
	}
	r.head.PID, r.head.Processors, r.head.SamplingRate = int(c.I32()), int(c.I32()), int(c.I32())
	return nil
}

func (r *Reader) decodeTrace6(data []byte) error {
	c := Cursor{data: data}
	if err := r.decodeSyncMoment(&c); err != nil {
		return err
	}
	r.head.Values = map[string]string{}
	for n := c.U32(); n > 0 && c.OK(); n-- {
		key, value := c.readCounted(), c.readCounted()
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

// decodeSyncMoment decodes the common part of both forms of a Trace.
func (r *Reader) decodeSyncMoment(c *Cursor) error {
	r.head.SyncTime = systemTime(c)
	r.head.SyncTicks, r.head.Frequency, r.head.PointerBytes = c.I64(), c.I64(), int(c.I32())
	switch {
	case !c.OK():
		return fmt.Errorf("a Trace of %d bytes", traceSize-c.Len())
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
	factor          int64 // ns a tick, 0 if that is no whole number

	second, from uint64 // the second of the last ticks, and its first tick
}

func (c *clock) toNanoseconds(ticks uint64) int64 {
	d := ticks - c.sync
	if c.factor == 0 {
		return c.scaleTicks(d)
	}
	return c.base + int64(d)*c.factor
}

// scaleTicks converts whole seconds separately, so that it is exact, and usually divides once as time
// advances.
func (c *clock) scaleTicks(d uint64) int64 {
	if int64(d) < 0 {
		seconds := -d/c.frequency + 1
		return c.base - int64(seconds*1e9) + c.partOfSecond(d+seconds*c.frequency)
	}
	if d-c.from >= c.frequency {
		c.second = d / c.frequency
		c.from = c.second * c.frequency
	}
	return c.base + int64(c.second*1e9) + c.partOfSecond(d-c.from)
}

// partOfSecond converts less than a second of ticks to ns.
func (c *clock) partOfSecond(ticks uint64) int64 {
	if c.frequency < 1<<34 {
		return int64(ticks * 1e9 / c.frequency)
	}
	hi, lo := bits.Mul64(ticks, 1e9)
	ns, _ := bits.Div64(hi, lo, c.frequency)
	return int64(ns)
}
