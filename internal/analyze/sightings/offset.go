package sightings

import (
	"math"
	"slices"
	"sort"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/stats"
)

// Settings of the search for a clock's offset. The search takes the differences between the ends of sampled requests and of rows that may be the
// same requests. The true offset occurs once per request, any other as often as by chance.
const (
	farthest     = int64(600e9) // ns: the largest offset of clocks
	nearest10s   = int64(10e9)  // ns: offsets up to this are always searched
	mostSampled  = 400
	mostDiffs    = 2 << 20
	agreeing     = .5         // share of the sample that must agree
	beyondChance = 8          // standard deviations above chance
	blur         = int64(4e6) // ns: how much the delay between the two sources' ends varies
)

// clockOffset returns how much (ns) the clock of an outer source is behind that of an inner one; false where it is unknown, or so small that
// requests are found without it.
func clockOffset(b *evidence.Bundle, inner, outer *source) (int64, bool) {
	if onOneHost(b, inner, outer) {
		return 0, false
	}
	r := &b.Requests
	slack := b.Clocks[r.Clock.At(inner.rows[0])].Slack() + b.Clocks[r.Clock.At(outer.rows[0])].Slack()
	if d, known := byKey(r, inner.rows, outer.rows); known {
		return d, abs(d) > Late/2+slack
	}
	o := offsets{r: r, slack: slack}
	o.indexRows(outer.rows)
	for _, tight := range []bool{true, false} {
		if d, ok := o.findAgreed(o.sampleRequests(inner.rows, tight), tight); ok {
			return d, abs(d) > Late+slack
		}
	}
	return 0, false
}

// onOneHost reports whether both sources were recorded with the process that they are about: one host has one clock.
func onOneHost(b *evidence.Bundle, x, y *source) bool {
	return b.Artifacts[x.artifact].About != (evidence.Subject{}) && b.Artifacts[y.artifact].About != (evidence.Subject{})
}

// byKey returns the offset by requests with the same id, where there are enough.
func byKey(r *evidence.Requests, inner, outer []int) (int64, bool) {
	ends := make(map[evidence.RequestKey]int64)
	for _, i := range inner {
		if k := r.Key.At(i); k != 0 {
			ends[k] = r.End.At(i)
		}
	}
	if len(ends) == 0 {
		return 0, false
	}
	var diffs []int64
	for _, i := range outer {
		if at, ok := ends[r.Key.At(i)]; ok {
			diffs = append(diffs, at-r.End.At(i))
		}
	}
	if len(diffs) < leastMatched {
		return 0, false
	}
	return stats.QuantileOf(diffs, .5), true
}

// offsets searches for the offset between two sources.
type offsets struct {
	r     *evidence.Requests
	slack int64
	of    map[evidence.NameID][]ended // by route; 0: all
	diffs []int64                     // reused
}

// ended is the end and the latency of a row, ns.
type ended struct{ at, took int64 }

func (o *offsets) indexRows(outer []int) {
	o.of = make(map[evidence.NameID][]ended)
	for _, i := range outer {
		x := ended{o.r.End.At(i), o.r.Latency(i)}
		o.of[0] = append(o.of[0], x)
		if route := o.r.Route.At(i); route != 0 {
			o.of[route] = append(o.of[route], x)
		}
	}
	for _, v := range o.of {
		slices.SortFunc(v, func(x, y ended) int {
			if x.at != y.at {
				return int(max(-1, min(1, x.at-y.at)))
			}
			return int(max(-1, min(1, x.took-y.took)))
		})
	}
}

// sampleRequests returns a sample of requests: the slowest, few of which look alike, or an even part of all.
func (o *offsets) sampleRequests(inner []int, slowest bool) []int {
	inner = slices.DeleteFunc(slices.Clone(inner), func(i int) bool { return o.r.Outcome.At(i) == evidence.Unfinished })
	if slowest {
		slices.SortFunc(inner, func(x, y int) int {
			if d := o.r.Latency(y) - o.r.Latency(x); d != 0 {
				return int(max(-1, min(1, d)))
			}
			return x - y
		})
		return inner[:min(len(inner), mostSampled)]
	}
	step := max(1, len(inner)/mostSampled)
	var out []int
	for k := 0; k < len(inner); k += step {
		out = append(out, inner[k])
	}
	return out
}

// findAgreed returns the offset that most of a sample agree with, ns.
func (o *offsets) findAgreed(sample []int, tight bool) (int64, bool) {
	if len(sample) < leastMatched {
		return 0, false
	}
	within := farthest
	var diffs []int64
	for {
		var whole bool
		if diffs, whole = o.listDiffs(sample, within, tight); whole {
			break
		}
		if within /= 2; within < nearest10s {
			return 0, false
		}
	}
	slices.Sort(diffs)
	width := blur + 2*min(o.slack, 1e9)
	least := agreeing * float64(len(sample))
	if _, n := findPeak(diffs, width, Late+o.slack); n >= least { // requests are found without an offset
		return 0, true
	}
	at, n := findPeak(diffs, width, within)
	return at, n >= least
}

// around is the width of the surroundings that estimate chance, in widths of a peak.
const around = 20

// findPeak returns the offset within a limit at which most differences exceed the density of the surroundings, and by how many. It skips
// offsets that chance explains: loads have bursts and regular intervals.
func findPeak(diffs []int64, width, within int64) (at int64, more float64) {
	first, low, high := 0, 0, 0
	for last, d := range diffs {
		for diffs[first] < d-width {
			first++
		}
		middle := diffs[first+(last-first)/2]
		for diffs[low] < middle-around/2*width {
			low++
		}
		for high < len(diffs) && diffs[high] <= middle+around/2*width {
			high++
		}
		n := float64(last - first + 1)
		chance := (float64(high-low) - n) / (around - 1)
		if x := n - chance; abs(middle) <= within && x > more && x >= chance && x >= beyondChance*math.Sqrt(chance+1) {
			at, more = middle, x
		}
	}
	return at, more
}

// listDiffs returns the differences (ns) between the ends of a sample and of rows that may be the same requests; false if there are too many.
func (o *offsets) listDiffs(sample []int, within int64, tight bool) (out []int64, whole bool) {
	out = o.diffs[:0]
	defer func() { o.diffs = out[:0] }()
	for _, i := range sample {
		rows, known := o.of[o.r.Route.At(i)]
		if !known {
			rows = o.of[0]
		}
		end, took := o.r.End.At(i), o.r.Latency(i)
		most := int64(math.MaxInt64)
		if tight {
			most = took + took/4 + 2*grainOfLogs
		}
		for k := sort.Search(len(rows), func(k int) bool { return rows[k].at >= end-within }); k < len(rows) && rows[k].at <= end+within; k++ {
			if x := rows[k]; x.took >= took-grainOfLogs && x.took <= most {
				out = append(out, end-x.at)
			}
		}
		if len(out) > mostDiffs {
			return out, false
		}
	}
	return out, true
}
