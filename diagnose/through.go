package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/runtime"
)

// Through is where the time of a front's requests went, behind which a pool of workers does what is asked: of
// all of them, not of slow ones alone.
type Through struct {
	Front  string  `json:"front"`  // whose requests they are: "nginx pid 7"
	Title  string  `json:"title"`  // what it is: "nginx"
	Pool   string  `json:"pool"`   // of workers: "PHP-FPM workers, pool www"
	Routes []Steps `json:"routes"` // in order of the time they took in all, ten at most
	Left   int     `json:"routes_left_out,omitempty"`
}

// Steps is where the time of a route's requests went, ms in their mean; they add up to MeanMs.
type Steps struct {
	Route    string  `json:"route"`
	Requests int     `json:"requests"`
	MeanMs   float64 `json:"mean_ms"`
	FrontMs  float64 `json:"front_ms"`  // the front itself, and what nobody saw
	WaitMs   float64 `json:"wait_ms"`   // for a worker
	RunMs    float64 `json:"run_ms"`    // a worker ran, or was ready to
	CallMs   float64 `json:"call_ms"`   // a worker waited for what it had asked by the network
	KernelMs float64 `json:"kernel_ms"` // a worker was in another call of the kernel
	OtherMs  float64 `json:"other_ms"`  // a worker waited for anything else
	Calls    []Call  `json:"calls,omitempty"`
}

// Call is how long workers waited for one that they had asked, ms in the mean of a route's requests.
type Call struct {
	Name string  `json:"name"`
	Ms   float64 `json:"ms"`
}

// mostSteps are the routes that are told.
const mostSteps = 10

// through sums up the requests that were followed through a pool of workers; nil: none were.
func (r *run) through() *Through {
	type route struct {
		Steps
		calls map[string]float64
	}
	q := &r.b.Requests
	fronts := make(map[evidence.SubjectID]string) // their pools
	for i := range q.Len() {
		for s := range q.Path(i).All {
			if name := r.b.Names.Text(s.Cause); s.Kind == evidence.PoolWait && strings.Contains(name, evidence.WorkerPool) {
				fronts[q.Subject[i]] = name
			}
		}
	}
	if len(fronts) != 1 { // of several each would need its own
		return nil
	}
	var out *Through
	for front, pool := range fronts {
		source, routes := evidence.ArtifactID(-1), make(map[evidence.NameID]*route)
		for i := range q.Len() {
			a, _ := q.Origin[i].Artifact()
			if q.Subject[i] != front || q.Lane[i] != 0 || q.Intended[i] != 0 || source >= 0 && a != source {
				continue // another's account of the same requests
			}
			source = a
			x := routes[q.Route[i]]
			if x == nil {
				x = &route{Steps: Steps{Route: r.b.Names.Text(q.Route[i])}, calls: make(map[string]float64)}
				routes[q.Route[i]] = x
			}
			x.Requests++
			ms := float64(q.Latency(i)) / 1e6
			x.MeanMs, x.FrontMs = x.MeanMs+ms, x.FrontMs+ms
			for s := range q.Path(i).All {
				part := &x.OtherMs
				switch s.Kind {
				case evidence.Unobserved:
					continue
				case evidence.PoolWait:
					part = &x.WaitMs
				case evidence.Running:
					part = &x.RunMs
				case evidence.Syscall:
					part = &x.KernelMs
				case evidence.NetWait:
					part = &x.CallMs
					x.calls[r.b.Names.Text(s.Cause)] += float64(s.Dur) / 1e6
				}
				*part += float64(s.Dur) / 1e6
				x.FrontMs -= float64(s.Dur) / 1e6
			}
		}
		all := make([]*route, 0, len(routes))
		for _, x := range routes {
			all = append(all, x)
		}
		slices.SortFunc(all, func(x, y *route) int { return cmp.Or(cmp.Compare(y.MeanMs, x.MeanMs), cmp.Compare(x.Route, y.Route)) })
		out = &Through{Front: r.name[front], Title: runtime.Of(r.b.Subjects[front].Runtime).Title, Pool: pool, Left: max(0, len(all)-mostSteps)}
		for _, x := range all[:min(len(all), mostSteps)] {
			n := float64(x.Requests)
			for _, v := range []*float64{&x.MeanMs, &x.FrontMs, &x.WaitMs, &x.RunMs, &x.CallMs, &x.KernelMs, &x.OtherMs} {
				*v = max(0, *v/n)
			}
			for name, ms := range x.calls {
				x.Calls = append(x.Calls, Call{name, ms / n})
			}
			slices.SortFunc(x.Calls, func(a, b Call) int { return cmp.Or(cmp.Compare(b.Ms, a.Ms), cmp.Compare(a.Name, b.Name)) })
			x.Calls = x.Calls[:min(len(x.Calls), 5)]
			out.Routes = append(out.Routes, x.Steps)
		}
	}
	return out
}
