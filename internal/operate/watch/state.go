package watch

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/operate/top"
	"github.com/unstall/unstall/internal/operate/watch/exporter"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

// State returns the current figures for stores.
func (w *Watcher) State() exporter.State {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := exporter.State{At: w.now(), Runs: make(map[string][]string)}
	host := w.hostName
	add := func(name, help string, kind exporter.Kind, v float64, labels ...exporter.Label) {
		s.Samples = append(s.Samples, exporter.Sample{Name: name, Help: help, Kind: kind, Value: v, At: s.At, Labels: exporter.Sort(append(labels, exporter.Label{Name: "host", Value: host}))})
	}
	all := []*subject{w.host}
	for _, key := range slices.Sorted(maps.Keys(w.subjects)) {
		all = append(all, w.subjects[key])
	}
	firing := make(map[string]float64) // by rule and service
	for _, ev := range w.open {
		firing[ev.Rule.ID+"\x00"+ev.Subject.Service]++
	}
	figures := make(map[string]exporter.Figure)
	for _, x := range all {
		labels := []exporter.Label{{Name: "host", Value: host}}
		of := x.runtimeKey()
		if !x.Host {
			labels = append(labels, exporter.Label{Name: "service", Value: x.Service}, exporter.Label{Name: "pid", Value: strconv.Itoa(x.target.PID)})
			add("unstall_up", "the process is watched", exporter.Gauge, 1, exporter.Label{Name: "service", Value: x.Service}, exporter.Label{Name: "pid", Value: strconv.Itoa(x.target.PID)},
				exporter.Label{Name: "runtime", Value: cmp.Or(x.target.Runtime, "other")}, exporter.Label{Name: "runtime_version", Value: x.target.Version}, exporter.Label{Name: names.Version, Value: x.release})
		}
		if !slices.Contains(s.Runs[of], x.Service) {
			s.Runs[of] = append(s.Runs[of], x.Service)
		}
		for _, one := range series.All {
			v, ok := x.tally.Value[one.ID]
			if !ok || s.At.Sub(x.tally.At) > stale {
				continue
			}
			s.Samples = append(s.Samples, exporter.Of(one, v, x.tally.At, labels...))
			if now := x.tally.Newest(one.ID); now == now {
				key := of + "\x00" + x.Service + "\x00" + one.ID
				// If several processes share a name and there is one item only, the largest value counts.
				if was, twice := figures[key]; !twice || now > was.Value {
					figures[key] = exporter.Figure{Runtime: of, Service: x.Service, Series: one.ID, Value: now, At: x.tally.At}
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(figures)) {
		s.Figures = append(s.Figures, figures[key])
	}
	for _, x := range all {
		for i := range w.opt.Rules {
			r := &w.opt.Rules[i]
			if _, has := x.tally.Value[r.Series]; !has {
				continue
			}
			labels := []exporter.Label{{Name: "service", Value: x.Service}, {Name: "rule", Value: r.ID}, {Name: "severity", Value: r.Severity}}
			key := r.ID + "\x00" + x.Service
			if n, told := firing[key]; !told || n >= 0 {
				add("unstall_alarm", "processes of a service with an active rule", exporter.Gauge, n, labels...)
				firing[key] = -1 // one sample for each service
			}
			if bound, ok := w.bounds[key]; ok {
				s.Bounds = append(s.Bounds, exporter.Bound{Runtime: x.runtimeKey(), Service: x.Service, Rule: r.ID, Value: bound})
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.fired)) {
		add("unstall_alarms_total", "how often a rule fired", exporter.Counter, float64(w.fired[id]), exporter.Label{Name: "rule", Value: id})
	}
	for _, k := range slices.SortedFunc(maps.Keys(w.found.Seconds), func(a, b Where) int {
		return cmp.Or(a.compareTo(b.Release), cmp.Compare(a.Mechanism, b.Mechanism))
	}) {
		add(names.SlowSeconds, "time of slow requests by mechanism, in diagnosed minutes", exporter.Counter, w.found.Seconds[k],
			append(k.exporterLabels(), exporter.Label{Name: names.Mechanism, Value: k.Mechanism})...)
	}
	counted := make(map[Release]bool) // exported from the first moment on, because a store sees growth only from a counter's first value
	for k := range w.found.Requests {
		counted[k] = true
	}
	for _, x := range w.subjects {
		counted[x.serviceRelease()] = true
	}
	for _, k := range slices.SortedFunc(maps.Keys(counted), Release.compareTo) {
		add(names.Requests, "requests in diagnosed minutes", exporter.Counter, w.found.Requests[k], k.exporterLabels()...)
		add(names.SlowRequests, "slow requests in diagnosed minutes", exporter.Counter, w.found.Slow[k], k.exporterLabels()...)
	}
	for _, k := range slices.SortedFunc(maps.Keys(w.found.Causes), func(a, b Blamed) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Cause, b.Cause))
	}) {
		add(names.CauseSeconds, "time of slow requests that a cause accounts for, in diagnosed minutes; causes overlap", exporter.Counter, w.found.Causes[k],
			exporter.Label{Name: names.Service, Value: k.Service}, exporter.Label{Name: names.Cause, Value: k.Cause})
	}
	add(names.Time, "the clock of the host, seconds since 1970", exporter.Gauge, float64(s.At.UnixMilli())/1e3)
	add(names.Start, "when the watch began, seconds since 1970", exporter.Gauge, float64(w.began.UnixMilli())/1e3)
	for _, service := range slices.Sorted(maps.Keys(w.found.known)) {
		for _, cause := range slices.Sorted(maps.Keys(w.found.known[service])) {
			v := 0.
			if w.found.Verdicts[service][cause] {
				v = 1
			}
			add(names.Verdict, "1: the newest diagnosis of the service supports the cause", exporter.Gauge, v, exporter.Label{Name: "service", Value: service}, exporter.Label{Name: "cause", Value: cause})
		}
	}
	for _, p := range w.pushers {
		lost, sent, waiting := p.Lost()
		store := exporter.Label{Name: "store", Value: p.Name}
		add("unstall_push_lost_points_total", "points that a store did not take in time", exporter.Counter, float64(lost), store)
		add("unstall_push_sent_points_total", "points that a store took", exporter.Counter, float64(sent), store)
		add("unstall_push_waiting_points", "points that wait for a store", exporter.Gauge, float64(waiting), store)
	}
	sorting.Short(s.Samples, func(a, b exporter.Sample) int { return cmp.Compare(a.Full(), b.Full()) })
	return s
}

func (r Release) compareTo(o Release) int {
	return cmp.Or(cmp.Compare(r.Service, o.Service), cmp.Compare(r.Version, o.Version))
}

func (r Release) exporterLabels() []exporter.Label {
	of := []exporter.Label{{Name: names.Service, Value: r.Service}}
	if r.Version != "" {
		of = append(of, exporter.Label{Name: names.Version, Value: r.Version})
	}
	return of
}

// stale is the age from which figures no longer count as current.
const stale = 30 * time.Second

// runtimeKey returns the runtime under which stores that separate runtimes list the subject's items.
func (s *subject) runtimeKey() string {
	switch {
	case s.Host:
		return "host"
	case top.CountersOf(s.target.Runtime) != nil: // the runtime has items for its own figures
		return s.target.Runtime
	}
	return "process"
}

// startPushers starts to send the state to stores.
func (w *Watcher) startPushers(ctx context.Context, all *sync.WaitGroup) {
	for _, s := range w.opt.Stores {
		p := exporter.NewPusher(s, w.reportTrouble, w.reportRecovery)
		w.mu.Lock()
		w.pushers = append(w.pushers, p)
		w.mu.Unlock()
		all.Go(func() { p.Run(ctx) })
	}
	if len(w.opt.Stores) == 0 {
		return
	}
	all.Go(func() {
		tick := time.NewTicker(w.opt.PushEach)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s := w.State()
				for _, p := range w.pushers {
					p.Put(s)
				}
			}
		}
	})
}

// noteBounds keeps the bounds of rules that compare with usual values.
func (w *Watcher) noteBounds() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.eval.Bounds(func(s rule.Subject, r *rule.Rule, bound float64) { w.bounds[r.ID+"\x00"+s.Service] = bound })
}

// hostName returns the name of this machine for stores. It is $UNSTALL_HOST, because a container has a host name of its own,
// else the host name.
func hostName() string {
	if name := os.Getenv("UNSTALL_HOST"); name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
