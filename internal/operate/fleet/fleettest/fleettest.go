// Package fleettest simulates, for tests and measurements of package fleet, hosts that write the slow time of
// their services to a store of metrics. Some known hosts are unlike their peers, and a known version made slow
// time worse. The same fleet has the same series each time.
package fleettest

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// Fleet describes a simulated fleet. Every tenth host runs each of ten services. A host counts its requests and
// its slow time by some mechanisms, and has causes and verdicts. Series of the runtime and the host make up the
// rest of Series.
type Fleet struct {
	Hosts       int
	Series      int // of each host
	From, Until time.Time
	Step        time.Duration // between samples
}

// Known facts of a fleet.
const (
	Services     = 10
	WorseService = "service-3" // the service that got a new version in the middle of the time
	Before       = "1.4.1"     // its version before
	After        = "1.4.2"     // its version after
	Times        = 2.5         // factor of the slow time of the version after
	UnlikeTimes  = 20          // factor of an unlike host's slow time over its peers'
)

// Most is the cause that makes most of a fleet's slow time.
var Most = causes.Causes[0].ID

// Unlike says whether a host is unlike its peers. One host of 997 is.
func Unlike(host int) bool { return host%997 == 17 }

// Service returns the service that a host runs.
func Service(host int) string { return "service-" + strconv.Itoa(host%Services) }

// Name returns a host's name.
func Name(host int) string { return fmt.Sprintf("host-%05d", host) }

// Series is one series: its name, its labels in pairs, and its value at each step.
type Series struct {
	Name   string
	Labels []string
	Values []float64
}

// Steps returns the times of samples, in ms since the epoch.
func (f *Fleet) Steps() (all []int64) {
	for t := f.From; !t.After(f.Until); t = t.Add(f.Step) {
		all = append(all, t.UnixMilli())
	}
	return all
}

const rate = 200 // requests/s of each host

// Of yields the series of a host. The yielded series is overwritten by the next.
func (f *Fleet) Of(host int, yield func(*Series)) {
	steps := f.Steps()
	random := rand.New(rand.NewPCG(uint64(host), 19))
	usual := .002 * math.Exp(.6*(random.Float64()-.5)) // slow s per request, so that no host is far from the rest by chance
	if Unlike(host) {
		usual = .002 * UnlikeTimes
	}
	versions := []string{Before}
	if Service(host) == WorseService {
		versions = append(versions, After)
	}
	middle := len(steps) / 2
	load := rate * math.Exp(.2*random.NormFloat64())
	wobble := make([]float64, len(steps))
	for i := range wobble {
		wobble[i] = math.Exp(.1 * random.NormFloat64())
	}
	count := 0
	for v, version := range versions {
		from, until, times := 0, len(steps), 1.
		if len(versions) > 1 {
			if v == 0 {
				until = middle
			} else {
				from, times = middle-1, Times // a process that begins counts from zero
			}
		}
		s := &Series{}
		put := func(name string, each func(i int) float64, labels ...string) {
			if v == 0 {
				count++
			}
			s.Name, s.Values = name, s.Values[:0]
			s.Labels = append(append(s.Labels[:0], names.Host, Name(host), names.Service, Service(host), names.Version, version), labels...)
			for i := range steps {
				if i < from || i >= until {
					s.Values = append(s.Values, math.NaN())
					continue
				}
				s.Values = append(s.Values, each(i))
			}
			yield(s)
		}
		sum := func(per float64) func(int) float64 {
			total := 0.
			return func(i int) float64 {
				if i > from {
					total += per * f.Step.Seconds() * wobble[i]
				}
				return math.Round(total*1e3) / 1e3
			}
		}
		put(names.Requests, sum(load))
		put(names.SlowRequests, sum(load*.01))
		put(names.Time, func(i int) float64 { return float64(steps[i]) / 1e3 })
		put(names.Start, func(int) float64 { return float64(steps[0]) / 1e3 })
		for m := range ledger.Mechanism(mechanisms) {
			put(names.SlowSeconds, sum(load*usual*times*mechanismShare(int(m))), names.Mechanism, m.String())
		}
		for n, c := range causes.Causes[:found] {
			per := .6
			if n > 0 {
				per = .001
			}
			put(names.CauseSeconds, sum(load*usual*times*per), names.Cause, c.ID)
		}
		for n, c := range causes.Causes[:judged] {
			put(names.Verdict, func(int) float64 { return float64(max(0, 1-n)) }, names.Cause, c.ID)
		}
		// A watch also exports series of the runtime and the host.
		for n := range max(0, f.Series-count) {
			m := series.All[n%len(series.All)].Metric
			more := []string{"pid", strconv.Itoa(1000 + n/len(series.All))}
			if key, value, ok := strings.Cut(m.Labels, "="); ok && !strings.Contains(value, ",") {
				more = append(more, key, value)
			}
			put(m.Full(), sum(float64(n)), append(more, "of", series.All[n%len(series.All)].ID)...)
		}
	}
}

// How many mechanisms, causes found, and causes judged a service has.
const (
	mechanisms = 8
	found      = 3
	judged     = 14
)

// mechanismShare returns a mechanism's share of the slow time; the first ones have most.
func mechanismShare(m int) float64 {
	return math.Pow(.6, float64(m)) * .4 / (1 - math.Pow(.6, float64(ledger.NumMechanisms)))
}

// Lines writes all series of some hosts as lines of JSON, as VictoriaMetrics imports them
// (https://docs.victoriametrics.com/#how-to-import-data-in-json-line-format).
func (f *Fleet) Lines(to io.Writer, from, until int) error {
	w := bufio.NewWriterSize(to, 1<<16)
	steps := f.Steps()
	for h := from; h < until; h++ {
		f.Of(h, func(s *Series) {
			fmt.Fprintf(w, `{"metric":{"__name__":%q`, s.Name)
			for i := 0; i < len(s.Labels); i += 2 {
				fmt.Fprintf(w, ",%q:%q", s.Labels[i], s.Labels[i+1])
			}
			list := func(each func(i int, cell []byte) []byte) {
				var cell [32]byte
				first := true
				for i, v := range s.Values {
					if v != v {
						continue
					}
					if !first {
						_ = w.WriteByte(',')
					}
					first = false
					_, _ = w.Write(each(i, cell[:0]))
				}
			}
			_, _ = w.WriteString(`},"values":[`)
			list(func(i int, cell []byte) []byte { return strconv.AppendFloat(cell, s.Values[i], 'f', -1, 64) })
			_, _ = w.WriteString(`],"timestamps":[`)
			list(func(i int, cell []byte) []byte { return strconv.AppendInt(cell, steps[i], 10) })
			_, _ = w.WriteString("]}\n")
		})
	}
	return w.Flush()
}

// OpenMetrics writes all series, those of one metric together, in the form from which promtool makes blocks
// (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md).
func (f *Fleet) OpenMetrics(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<16)
	steps := f.Steps()
	for _, name := range names.All {
		fmt.Fprintf(w, "# TYPE %s unknown\n", name)
		for h := range f.Hosts {
			f.Of(h, func(s *Series) {
				if s.Name != name {
					return
				}
				for i, v := range s.Values {
					if v != v {
						continue
					}
					fmt.Fprintf(w, "%s{", s.Name)
					for j := 0; j < len(s.Labels); j += 2 {
						if j > 0 {
							_ = w.WriteByte(',')
						}
						fmt.Fprintf(w, "%s=%q", s.Labels[j], s.Labels[j+1])
					}
					fmt.Fprintf(w, "} %s %.3f\n", strconv.FormatFloat(v, 'f', -1, 64), float64(steps[i])/1e3)
				}
			})
		}
	}
	_, _ = w.WriteString("# EOF\n")
	return w.Flush()
}
