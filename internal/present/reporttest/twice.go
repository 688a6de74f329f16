package reporttest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// written is a figure as a report writes it.
type written struct {
	text string // "317 ms"
	kind string // of its unit: figures of one kind can be told from each other
	base float64
}

// kinds maps a unit to its kind and to its size in the kind's base unit.
var kinds = map[string]struct {
	kind string
	size float64
}{
	"ns": {"time", 1}, "µs": {"time", 1e3}, "ms": {"time", 1e6}, "s": {"time", 1e9}, "min": {"time", 60e9}, "h": {"time", 3600e9},
	"B": {"size", 1}, "KiB": {"size", 1 << 10}, "MiB": {"size", 1 << 20}, "GiB": {"size", 1 << 30}, "KiB/s": {"bytes/s", 1 << 10}, "MiB/s": {"bytes/s", 1 << 20}, "GiB/s": {"bytes/s", 1 << 30},
	"%": {"part", 1}, "CPU": {"CPUs", 1}, "CPUs": {"CPUs", 1}, "/s": {"rate", 1}, "times per second": {"rate", 1}, "/min": {"rate", 1. / 60}, "times per minute": {"rate", 1. / 60},
}

var figures = regexp.MustCompile(`(?:^|[\s(])(\d[\d,]*(?:\.\d+)?) ?(ns|µs|ms|min|s|h|B|[KMG]iB(?:/s)?|%|CPUs?|/s|/min|times per second|times per minute)(?:$|[\s.,;:)])`)

func figuresOf(text string) (out []written) {
	for i := 0; ; {
		at := figures.FindStringSubmatchIndex(text[i:])
		if at == nil {
			return out
		}
		number, unit := text[i+at[2]:i+at[3]], text[i+at[4]:i+at[5]]
		v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		if k, ok := kinds[unit]; ok && err == nil {
			out = append(out, written{number + " " + unit, k.kind, v * k.size})
		}
		i += at[5]
	}
}

// near is the relative difference below which a reader takes two figures for the same quantity.
const near = .02

// agreesWith says whether two figures do not contradict each other: they are equal, or so far
// apart or of such kinds that they are not about the same thing.
func (a written) agreesWith(b written) bool {
	return a.kind != b.kind || a.base == b.base || math.Abs(a.base-b.base) > near*max(a.base, b.base)
}

// Twice returns the figures that stand in a diagnosis twice and differ in the last digit: in what
// a verdict says and in its evidence, in what was measured and in what a fix is said to change, in
// two verdicts by the same id.
func Twice(d *diagnose.Diagnosis) (wrong []string) {
	type key struct{ subject, id, text, unit string }
	told := make(map[key]written)
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		say := figuresOf(v.Title + " " + v.Summary)
		compare := func(what string, f written) {
			for _, s := range say {
				if !s.agreesWith(f) && (s.kind != "CPUs" || strings.Contains(s.text, ".")) { // a whole number of CPUs is how many there are
					wrong = append(wrong, fmt.Sprintf("%s: %s is told, and %s in %q", v.Cause, s.text, f.text, what))
				}
			}
		}
		for _, e := range v.Evidence {
			if e.Value == nil || apart[v.Cause+" "+e.ID] {
				continue
			}
			for _, f := range figuresOf(units.Of(*e.Value, e.Unit)) {
				compare(e.Text, f)
				k := key{v.Subject, e.ID, e.Text, e.Unit}
				if was, ok := told[k]; ok && !was.agreesWith(f) && v.Verdict == check.Supported {
					wrong = append(wrong, fmt.Sprintf("%s: %q is %s, and %s elsewhere", v.Cause, e.Text, f.text, was.text))
				}
				if v.Verdict == check.Supported {
					told[k] = f
				}
			}
		}
		for _, p := range v.Prediction {
			if p.Now == nil || apart[v.Cause+" "+p.ID] {
				continue
			}
			for _, f := range figuresOf(units.Of(*p.Now, p.Unit)) {
				compare("what the fix changes of "+p.Metric, f)
				for _, e := range v.Evidence {
					if e.Value == nil || e.ID != p.ID {
						continue
					}
					for _, x := range figuresOf(units.Of(*e.Value, e.Unit)) {
						if !x.agreesWith(f) {
							wrong = append(wrong, fmt.Sprintf("%s: %s is %s in %q, and %s before the fix", v.Cause, p.ID, x.text, e.Text, f.text))
						}
					}
				}
			}
		}
	}
	return wrong
}

// Shares returns the figures that are called a share and are more than the whole, or less than nothing. Two readings of slightly
// different moments may differ by a hundredth.
func Shares(d *diagnose.Diagnosis) (wrong []string) {
	for _, v := range d.Verdicts {
		for _, e := range v.Evidence {
			if e.Unit == "1" && strings.HasSuffix(e.ID, "_share") && e.Value != nil && (*e.Value < 0 || *e.Value > 1.01) {
				wrong = append(wrong, fmt.Sprintf("%s: %q is a share of %s", v.Cause, e.Text, units.Of(*e.Value, e.Unit)))
			}
		}
	}
	return wrong
}

// apart lists figures, by their cause, that measure something else than the cause's text says and may come near it.
var apart = map[string]bool{
	"redis.fork fork.longest_ms":                           true, // of a fork in the mean
	"linux.swap kernel.stack_share":                        true, // of the slow time
	"dotnet.gen2-pause slow.paused_ms":                     true, // of all time
	"dotnet.gen2-pause slow.paused_most_ms":                true, // with what was queued behind
	"service.pool-exhausted requests.p99_ms":               true, // of the mean of slow requests
	"service.pool-exhausted requests.traced_p99_ms":        true, // of the mean of slow requests
	"service.over-capacity process.own_work_cpus_share":    true, // of the slow time
	"service.dependency-slow call.monitor_longest_ms":      true, // of a call in the mean
	"service.dependency-slow requests.local_ms":            true, // of all of a request
	"service.dependency-slow requests.usual_dependency_ms": true, // of a slow request
	"jvm.gc-cpu-starved gc.these_paused_share":             true, // of the slow time
	"linux.cpu-saturation host.withheld_share":             true, // of the slow time
	"linux.noisy-neighbour host.withheld_share":            true, // of the slow time
}

// countDigits returns how many significant digits a figure has.
func countDigits(text string) (n int) {
	for _, r := range strings.TrimLeft(text, "0.") {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// Alike returns the figures of a text that are the same and are written differently: "0.691 ms"
// and "691 µs".
func Alike(text string) (wrong []string) {
	type key struct {
		kind string
		base string
	}
	first := make(map[key]string)
	for _, f := range figuresOf(text) {
		unit := f.text[strings.LastIndexByte(f.text, ' ')+1:]
		if f.kind == "rate" || unit == "CPU" || countDigits(f.text) < 3 { // figures that are rounded more agree by chance
			continue
		}
		k := key{f.kind, strconv.FormatFloat(f.base, 'e', 3, 64)}
		was, ok := first[k]
		if ok && was != unit {
			wrong = append(wrong, fmt.Sprintf("one figure is written in %s and in %s: %q", was, unit, f.text))
		}
		first[k] = unit
	}
	return wrong
}
