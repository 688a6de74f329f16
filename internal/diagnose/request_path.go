package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
)

// RequestPath is where the time of a front's requests went, if a pool of workers behind it serves them.
type RequestPath struct {
	Front  string  `json:"front"`           // the subject of the requests: "nginx pid 7"
	Title  string  `json:"title"`           // its program: "nginx"
	Pool   string  `json:"pool"`            // of workers: "PHP-FPM workers, pool www"
	Worker string  `json:"worker"`          // the workers' program: "PHP"
	Store  *Store  `json:"store"`           // the recorded server that workers call; null: none was recorded
	Routes []Steps `json:"routes"`          // by total time, ten at most
	Left   int     `json:"routes_left_out"` // further routes
	// Journeys are the same requests as seen by the users on journeys who made them: by step, longest total time first. Empty without
	// journeys.
	Journeys     []Steps `json:"journeys"`
	JourneysLeft int     `json:"journeys_left_out"`
}

// Store is a recorded server that workers call.
type Store struct {
	Subject string   `json:"subject"` // "redis-server pid 9"
	Title   string   `json:"title"`   // "Redis"
	Address string   `json:"address"` // where workers call it: "unix:/run/redis.sock"
	Busy    *float64 `json:"busy"`    // the share of the time in which it ran commands
	Most    []Call   `json:"most"`    // the commands with most of that time, ms each
}

// Steps is where the time of requests went, mean ms; the parts add up to MeanMs.
type Steps struct {
	Step     string  `json:"step,omitempty"` // of a journey: "buy: into the cart"
	Route    string  `json:"route"`
	Requests int     `json:"requests"`
	MeanMs   float64 `json:"mean_ms"`
	// Outside is the time on the way to the front and back, and until the front accepts the request; only for journeys.
	OutsideMs float64 `json:"outside_ms"`
	FrontMs   float64 `json:"front_ms"`  // the front itself, and unobserved time
	WaitMs    float64 `json:"wait_ms"`   // for a worker
	RunMs     float64 `json:"run_ms"`    // a worker ran its own code, or was ready to
	StoreMs   float64 `json:"store_ms"`  // a worker waited for the store
	CallMs    float64 `json:"call_ms"`   // a worker waited for other network calls
	KernelMs  float64 `json:"kernel_ms"` // a worker was in the kernel for anything else
	OtherMs   float64 `json:"other_ms"`  // a worker waited for anything else
	Calls     []Call  `json:"calls,omitempty"`
	Slow      *Steps  `json:"slow,omitempty"` // the same for slow requests; left out if there are none
}

// Call is the mean time of a network call, ms.
type Call struct {
	Name string  `json:"name"`
	Ms   float64 `json:"ms"`
}

const (
	mostSteps    = 10 // routes that are listed
	mostJourneys = 16 // steps of journeys that are listed
	mostCalls    = 5  // calls listed per route or step
)

// follows sums up requests that were followed through a pool of workers.
type follows struct {
	*run
	front, pool evidence.SubjectID
	store       evidence.SubjectID
	at          map[string]bool // where the store is called
	kernel      float64         // the part of the workers' CPU time that is the kernel's
}

// traceWorkerPool sums up the requests that were followed through a pool of workers; nil if there
// were none, or several pools, of which each would need its own summary.
func (r *run) traceWorkerPool() *RequestPath {
	q := &r.b.Requests
	fronts := make(map[evidence.SubjectID]evidence.Wait) // for their pools
	var s evidence.Segment
	for i := range q.Len() {
		for path := q.Path(i); path.Next(&s); {
			if s.Kind != evidence.PoolWait {
				continue
			}
			if w := r.b.Names.Wait(s.Cause); w.Kind == evidence.WorkerPool {
				fronts[q.Subject.At(i)] = w
			}
		}
	}
	if len(fronts) != 1 {
		return nil
	}
	for front, pool := range fronts {
		f := &follows{run: r, front: front, pool: -1, store: -1, at: make(map[string]bool)}
		return f.buildRequestPath(pool)
	}
	return nil
}

func (f *follows) buildRequestPath(pool evidence.Wait) *RequestPath {
	rows := f.listFrontRequests()
	out := &RequestPath{Front: f.name[f.front], Title: platform.ByID(f.b.Subjects[f.front].Runtime).Title, Pool: pool.String(), Routes: []Steps{}, Journeys: []Steps{}}
	for _, x := range f.b.Facts {
		if of := platform.ByID(f.b.Subjects[x.Subject].Runtime); x.Key == evidence.FactListens && of.Workers && pool.By == of.Title {
			f.pool, out.Worker = x.Subject, cmp.Or(of.Versioned, of.Title)
		}
	}
	if f.pool >= 0 {
		if p := metrics.ProcessOf(f.b, f.pool, metrics.Whole); p.CPU.Number > 0 && p.System.Known() {
			f.kernel = min(1, p.System.Number/p.CPU.Number)
		}
	}
	out.Store = f.findStore(rows)
	slow, clients := make(map[int]bool), make(map[int]bool)
	if l := f.incident.Ledger(f.front); l != nil {
		for _, row := range l.Slow {
			slow[row] = true
		}
		for _, row := range l.All.Slow {
			clients[row] = true
		}
	}
	routes := f.newGroup()
	for _, row := range rows {
		routes.addRequest("", row, -1, slow[row])
	}
	out.Routes, out.Left = routes.topSteps(mostSteps)
	steps := f.newGroup()
	for _, x := range f.pairJourneys(rows) {
		steps.addRequest(f.b.Names.Text(f.b.Requests.Step.At(x.user)), x.row, x.user, clients[x.user])
	}
	out.Journeys, out.JourneysLeft = steps.topSteps(mostJourneys)
	return out
}

// listFrontRequests returns the requests as the front itself recorded them; another source's
// records of the same requests are left out.
func (f *follows) listFrontRequests() (rows []int) {
	q, source := &f.b.Requests, evidence.ArtifactID(-1)
	for i := range q.Len() {
		a, _ := q.Origin.At(i).Artifact()
		if q.Subject.At(i) != f.front || q.Lane.At(i) != 0 || q.Intended.At(i) != 0 || q.Step.At(i) != 0 || source >= 0 && a != source {
			continue
		}
		source = a
		rows = append(rows, i)
	}
	return rows
}

// findStore returns the recorded server that workers call; of several the one they waited longest
// for. Nil if none was recorded.
func (f *follows) findStore(rows []int) *Store {
	waited := make(map[string]int64)
	for _, row := range rows {
		for s := range f.b.Requests.Path(row).All {
			if s.Kind == evidence.NetWait {
				waited[f.b.Names.Text(s.Cause)] += s.Dur
			}
		}
	}
	where := make(map[evidence.SubjectID][]string)
	for _, x := range f.b.Facts {
		if _, at, ok := strings.Cut(x.Value, evidence.Link); ok && x.Key == evidence.FactListens && x.Subject != f.pool && waited[at] > 0 {
			where[x.Subject] = append(where[x.Subject], at)
		}
	}
	most, address := int64(0), ""
	for i := range f.b.Subjects {
		s := evidence.SubjectID(i)
		sum := int64(0)
		for _, at := range where[s] {
			sum += waited[at]
		}
		if sum > most {
			most, f.store = sum, s
			address = slices.MaxFunc(where[s], func(x, y string) int { return cmp.Compare(waited[x], waited[y]) })
		}
	}
	if f.store < 0 {
		return nil
	}
	for _, at := range where[f.store] {
		f.at[at] = true
	}
	out := &Store{Subject: f.name[f.store], Title: platform.ByID(f.b.Subjects[f.store].Runtime).Title, Address: address, Most: []Call{}}
	if r := metrics.RedisOf(f.b, f.store, metrics.Whole); r != nil {
		if busy := r.InCommands; busy.Known() {
			out.Busy = &busy.Number
		}
		for _, c := range r.Commands {
			if c.Each.Known() && len(out.Most) < mostCalls {
				out.Most = append(out.Most, Call{c.Name, c.Each.Number / 1e6})
			}
		}
	}
	return out
}

// pairJourneys pairs each request of a user on a journey with the front's record of it: of the
// same route, within the time the user waited, and ended closest to when the user had the answer.
// Of requests that are alike in all of that, any will do.
func (f *follows) pairJourneys(rows []int) (out []pair) {
	q := &f.b.Requests
	at := make(map[evidence.NameID][]int)
	for _, row := range rows {
		at[q.Route.At(row)] = append(at[q.Route.At(row)], row)
	}
	for _, all := range at {
		sorting.Short(all, func(x, y int) int { return cmp.Compare(q.End.At(x), q.End.At(y)) })
	}
	var users []int
	for i := range q.Len() {
		if q.Subject.At(i) == f.front && q.Step.At(i) != 0 && q.Timed(i) {
			users = append(users, i)
		}
	}
	sorting.Short(users, func(x, y int) int { return cmp.Compare(q.End.At(x), q.End.At(y)) })
	taken := make(map[int]bool)
	for _, row := range users {
		all := at[q.Route.At(row)]
		k, _ := slices.BinarySearchFunc(all, q.End.At(row), func(x int, end int64) int { return cmp.Compare(q.End.At(x), end) })
		best, off := -1, int64(0)
		for _, way := range []int{-1, 1} {
			j := k
			if way < 0 {
				j--
			}
			for n := 0; n < mostLooked && j >= 0 && j < len(all); j, n = j+way, n+1 {
				x := all[j]
				grain := f.b.Clocks[q.Clock.At(x)].Resolution + clocksOff
				d := max(q.End.At(x)-q.End.At(row), q.End.At(row)-q.End.At(x))
				if best >= 0 && d >= off {
					break
				}
				if !taken[x] && q.End.At(x) <= q.End.At(row)+grain && q.End.At(x)-q.Latency(x) >= q.End.At(row)-q.Latency(row)-grain {
					best, off = x, d
				}
			}
		}
		if best >= 0 {
			out, taken[best] = append(out, pair{row, best}), true
		}
	}
	if float64(len(out)) < mostPaired*float64(len(users)) {
		return nil
	}
	return out
}

// pair is a request of a user on a journey with the front's record of it.
type pair struct{ user, row int }

const (
	// Requests of the same route to compare on either side.
	mostLooked = 64
	// A web server logs a request when it has sent the answer, perhaps after the client has it, ns.
	clocksOff = 5e6
	// This part of the users' requests must be in the front's log; else the log is another front's, or incomplete.
	mostPaired = .8
)

// group sums up requests of the same kind.
type group struct {
	*follows
	order []*sums
	of    map[[2]string]*sums
}

type sums struct {
	Steps
	calls map[string]float64
	slow  *sums
}

func (f *follows) newGroup() *group { return &group{follows: f, of: make(map[[2]string]*sums)} }

// addRequest adds a request of the front; user is the row of the user's request, −1 if that is
// not known.
func (g *group) addRequest(step string, row, user int, slow bool) {
	route := g.b.Names.Text(g.b.Requests.Route.At(row))
	key := [2]string{step, route}
	x := g.of[key]
	if x == nil {
		x = &sums{Steps: Steps{Step: step, Route: route}, calls: make(map[string]float64)}
		g.of[key], g.order = x, append(g.order, x)
	}
	x.addRequest(g.follows, row, user)
	if slow {
		if x.slow == nil {
			x.slow = &sums{Steps: Steps{Step: step, Route: route}, calls: make(map[string]float64)}
		}
		x.slow.addRequest(g.follows, row, user)
	}
}

func (x *sums) addRequest(f *follows, row, user int) {
	q := &f.b.Requests
	x.Requests++
	ms := float64(q.Latency(row)) / 1e6
	x.MeanMs, x.FrontMs = x.MeanMs+ms, x.FrontMs+ms
	if user >= 0 {
		outside := max(0, float64(q.Latency(user))/1e6-ms)
		x.MeanMs, x.OutsideMs = x.MeanMs+outside, x.OutsideMs+outside
	}
	for s := range q.Path(row).All {
		ms := float64(s.Dur) / 1e6
		part := &x.OtherMs
		switch s.Kind {
		case evidence.Unobserved:
			continue
		case evidence.PoolWait:
			part = &x.WaitMs
		case evidence.Running:
			x.KernelMs += f.kernel * ms
			x.RunMs += (1 - f.kernel) * ms
			x.FrontMs -= ms
			continue
		case evidence.Syscall:
			part = &x.KernelMs
		case evidence.NetWait:
			name := f.b.Names.Text(s.Cause)
			if part = &x.CallMs; f.at[name] {
				part = &x.StoreMs
			}
			x.calls[name] += ms
		}
		*part += ms
		x.FrontMs -= ms
	}
}

// topSteps returns the groups that took most time, at most so many, and how many more there are.
func (g *group) topSteps(most int) (out []Steps, left int) {
	out = []Steps{}
	sorting.Short(g.order, func(x, y *sums) int {
		return cmp.Or(cmp.Compare(y.MeanMs, x.MeanMs), cmp.Compare(x.Step, y.Step), cmp.Compare(x.Route, y.Route))
	})
	for _, x := range g.order[:min(len(g.order), most)] {
		out = append(out, x.meanSteps())
	}
	return out, max(0, len(g.order)-most)
}

func (x *sums) meanSteps() Steps {
	n := float64(x.Requests)
	for _, v := range []*float64{&x.MeanMs, &x.OutsideMs, &x.FrontMs, &x.WaitMs, &x.RunMs, &x.StoreMs, &x.CallMs, &x.KernelMs, &x.OtherMs} {
		*v = max(0, *v/n)
	}
	for name, ms := range x.calls {
		x.Calls = append(x.Calls, Call{name, ms / n})
	}
	sorting.Short(x.Calls, func(a, b Call) int { return cmp.Or(cmp.Compare(b.Ms, a.Ms), cmp.Compare(a.Name, b.Name)) })
	x.Calls = x.Calls[:min(len(x.Calls), mostCalls)]
	if x.slow != nil {
		slow := x.slow.meanSteps()
		x.Slow = &slow
	}
	return x.Steps
}
