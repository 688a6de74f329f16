// Package fleet ranks what slows the requests of many hosts: where they lost time, which causes and services
// make most of it, which hosts differ from hosts that do the same, and which versions of a service made it
// worse. It reads only a store of metrics that unstall watch on each host writes to (package
// internal/operate/watch/exporter/names has the series).
//
// Its opinion: the hosts of a service are each other's controls. A host is unlike its peers if its slow time per
// request is beyond chance among so many hosts, and large. A version is worse if hosts that ran both versions
// say so, or moments at which both ran. The store counts and adds up; the number of queries grows with hosts,
// not with requests.
package fleet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/diagnose/check"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/operate/fleet/promql"
	"github.com/unstall/unstall/internal/operate/watch/exporter/names"
)

// Schema is the version of the JSON form of a [Report]. Keys are added, never renamed.
const Schema = "unstall.fleet/v1"

// Options are what the user decides.
type Options struct {
	Since   time.Duration // how far back from now, by the store's clock
	Service string        // the only service to report; "" for all
	Version string        // version of the tool
	Now     time.Time     // this machine's clock
}

// Report is what a fleet lost over a time. What is not known is nil.
type Report struct {
	Schema      string `json:"schema"`
	ToolVersion string `json:"tool_version"`
	Store       string `json:"store"`
	Window      Window `json:"window"`

	Hosts    int     `json:"hosts"`    // that wrote
	SlowS    float64 `json:"slow_s"`   // slow request time of all
	Requests *int64  `json:"requests"` // nil: they were not counted

	Causes     []Cause     `json:"causes"`     // the most slow time first
	Mechanisms []Mechanism `json:"mechanisms"` // add up to slow_s
	Services   []Service   `json:"services"`
	Slowest    []Host      `json:"slowest_hosts"` // at most 100
	Unlike     []Unlike    `json:"unlike_peers"`  // the furthest off first
	Versions   []Version   `json:"versions"`      // where a service ran several
	Changes    []Change    `json:"changes"`       // moments from which a service was slower or faster
	Warnings   []string    `json:"warnings"`

	Asked []Query `json:"-"` // in the order in which answers came
}

// Query is what the store was asked, and how long its answer took.
type Query struct {
	Query string
	Took  time.Duration
}

// Window is the time asked for.
type Window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// Cause is what supported verdicts would have saved. Causes overlap: they do not add up.
type Cause struct {
	Cause    string   `json:"cause"`
	Title    string   `json:"title"` // "" of one that this version does not know
	SlowS    float64  `json:"slow_s"`
	Services []string `json:"services"` // the most first
	Hosts    int      `json:"hosts"`
}

// Mechanism is slow request time with one mechanism.
type Mechanism struct {
	Mechanism string  `json:"mechanism"` // closed list: package ledger
	Title     string  `json:"title"`     // in words; "" of one that this version does not know
	SlowS     float64 `json:"slow_s"`
}

// Service is what the requests of one service lost on all hosts.
type Service struct {
	Service    string      `json:"service"`
	Hosts      int         `json:"hosts"`
	SlowS      float64     `json:"slow_s"`
	Requests   *int64      `json:"requests"`
	Slow       *int64      `json:"slow_requests"`
	Rate       *float64    `json:"slow_s_per_1000_requests"`
	Cause      string      `json:"cause"` // that makes most of it, "" none is found
	CauseS     float64     `json:"cause_slow_s"`
	Mechanisms []Mechanism `json:"mechanisms"`
}

// Host is what the requests of a service lost on one host.
type Host struct {
	Host    string  `json:"host"`
	Service string  `json:"service"`
	SlowS   float64 `json:"slow_s"`
	Cause   string  `json:"cause"` // that makes most of it there, "" none is found
}

// mostHosts bounds the list of hosts with the most slow time.
const mostHosts = 100

// use is the slow time and requests of one version of a service on one host.
type use struct {
	service, host, version string
	slow                   float64 // s
	requests               float64 // NaN: not counted
}

// asked holds the store's answers.
type asked struct {
	store    *promql.Store
	opt      Options
	from, at time.Time

	uses       []use
	mechanisms []promql.Sample
	causes     []promql.Sample
	slow       []promql.Sample
	seconds    []promql.Series // slow time of each version of each service, by steps
	served     []promql.Series // requests of each version, by steps
	starts     []promql.Sample
	clocks     []promql.Sample

	mu      sync.Mutex
	queries []Query
}

// recordQuery notes a query and how long its answer took.
func (a *asked) recordQuery(query string, began time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queries = append(a.queries, Query{query, time.Since(began)})
}

// Of queries a store and returns the report.
func Of(ctx context.Context, store *promql.Store, opt Options) (*Report, error) {
	a := &asked{store: store, opt: opt}
	now, err := store.Query(ctx, "time()", time.Time{})
	if err != nil {
		return nil, err
	}
	if len(now) == 0 {
		return nil, fmt.Errorf("%s does not report the time: is it a store of metrics?", store)
	}
	a.at = time.UnixMilli(int64(now[0].Value * 1e3)).UTC()
	a.from = a.at.Add(-opt.Since)
	if err := a.queryAll(ctx); err != nil {
		return nil, err
	}
	if len(a.uses) == 0 {
		return nil, a.explainNoData(ctx)
	}
	r := &Report{Schema: Schema, ToolVersion: opt.Version, Store: store.String(), Window: Window{a.from, a.at},
		Causes: []Cause{}, Mechanisms: []Mechanism{}, Services: []Service{}, Slowest: []Host{}, Unlike: []Unlike{}, Versions: []Version{}, Changes: []Change{}, Warnings: []string{}}
	r.fillRankings(a)
	r.Unlike = append(r.Unlike, findUnlikeHosts(a.uses, opt.Since)...)
	if err := a.explainUnlike(ctx, r.Unlike); err != nil {
		return nil, err
	}
	r.Versions = append(r.Versions, a.compareVersions()...)
	r.Changes = append(r.Changes, a.findChanges()...)
	r.Warnings = append(r.Warnings, a.collectWarnings()...)
	r.Asked = a.queries
	return r, nil
}

// formatSelector returns the selector of a metric's series, limited to the requested service if there is one.
func (a *asked) formatSelector(name string, more ...string) string {
	if a.opt.Service != "" {
		more = append(more, names.Service+"="+strconv.Quote(a.opt.Service))
	}
	return name + "{" + strings.Join(more, ",") + "}"
}

// increaseQuery returns the query for the increase of a metric's counters over the window, summed by labels.
func (a *asked) increaseQuery(name string, by ...string) string {
	return fmt.Sprintf("sum by (%s) (increase(%s[%s]))", strings.Join(by, ", "), a.formatSelector(name), formatPromDuration(a.opt.Since))
}

func formatPromDuration(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

// queryAll sends all queries that do not depend on answers, some of them at the same time.
func (a *asked) queryAll(ctx context.Context) error {
	var slow, requests []promql.Sample
	query := func(to *[]promql.Sample, q string) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			defer a.recordQuery(q, time.Now())
			*to, err = a.store.Query(ctx, q, a.at)
			return err
		}
	}
	step := stepOf(a.opt.Since)
	series := func(to *[]promql.Series, name string) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			q := fmt.Sprintf("sum by (%s, %s) (increase(%s[%s]))", names.Service, names.Version, a.formatSelector(name), formatPromDuration(step))
			defer a.recordQuery(q, time.Now())
			*to, err = a.store.Range(ctx, q, a.from.Add(step), a.at, step)
			return err
		}
	}
	err := runConcurrently(ctx,
		query(&slow, a.increaseQuery(names.SlowSeconds, names.Service, names.Host, names.Version)),
		query(&requests, a.increaseQuery(names.Requests, names.Service, names.Host, names.Version)),
		query(&a.slow, a.increaseQuery(names.SlowRequests, names.Service)),
		query(&a.mechanisms, a.increaseQuery(names.SlowSeconds, names.Service, names.Mechanism)),
		query(&a.causes, a.increaseQuery(names.CauseSeconds, names.Service, names.Host, names.Cause)+" > 0"),
		series(&a.seconds, names.SlowSeconds),
		series(&a.served, names.Requests),
		query(&a.starts, fmt.Sprintf("max by (%s) (changes(%s{}[%s]))", names.Host, names.Start, formatPromDuration(min(a.opt.Since, time.Hour)))),
		query(&a.clocks, fmt.Sprintf("max by (%[1]s) (%[2]s{} - timestamp(%[2]s{}))", names.Host, names.Time)),
	)
	if err != nil {
		return err
	}
	a.uses = usesOf(slow, requests)
	return nil
}

// atOnce is how many queries are sent to a store at the same time. Small stores run at most four queries of all
// their clients.
const atOnce = 2

// runConcurrently calls functions, at most [atOnce] at a time. The first error cancels the context
// of the others and is returned.
func runConcurrently(ctx context.Context, things ...func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	turns := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, do := range things {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if ctx.Err() != nil {
				return
			}
			if err := do(ctx); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// usesOf joins slow time and requests by service, host and version. A version with requests and without slow time
// lost none.
func usesOf(slow, requests []promql.Sample) []use {
	type key struct{ service, host, version string }
	at := make(map[key]*use)
	of := func(s promql.Sample) *use {
		k := key{s.Labels[names.Service], s.Labels[names.Host], s.Labels[names.Version]}
		if at[k] == nil {
			at[k] = &use{service: k.service, host: k.host, version: k.version, requests: math.NaN()}
		}
		return at[k]
	}
	for _, s := range slow {
		if s.Value >= 0 {
			of(s).slow = s.Value
		}
	}
	for _, s := range requests {
		if s.Value >= 0 {
			of(s).requests = s.Value
		}
	}
	all := make([]use, 0, len(at))
	for _, u := range at {
		all = append(all, *u)
	}
	sorting.Short(all, func(x, y use) int {
		return cmp.Or(cmp.Compare(x.service, y.service), cmp.Compare(x.host, y.host), cmp.Compare(x.version, y.version))
	})
	return all
}

// fillRankings sums the answers by service, host, cause and mechanism, the most slow time first.
func (r *Report) fillRankings(a *asked) {
	services := make(map[string]*Service)
	counted := make(map[string]float64)
	hosts := make(map[string]map[string]float64) // by service
	everywhere := make(map[string]bool)
	for _, u := range a.uses {
		s := services[u.service]
		if s == nil {
			s = &Service{Service: u.service, Mechanisms: []Mechanism{}}
			services[u.service], hosts[u.service] = s, make(map[string]float64)
		}
		s.SlowS += u.slow
		r.SlowS += u.slow
		hosts[u.service][u.host] += u.slow
		everywhere[u.host] = true
		counted[u.service] += u.requests // NaN if one of them is not counted
	}
	r.Hosts = len(everywhere)
	var all float64
	for name, s := range services {
		s.Hosts = len(hosts[name])
		if n := counted[name]; n > 0 {
			s.Requests, s.Rate = countOrNil(n), stats.FiniteOrNil(s.SlowS/n*1000)
		}
		all += counted[name]
	}
	if all > 0 {
		r.Requests = countOrNil(all)
	}
	for _, x := range a.slow {
		if s := services[x.Labels[names.Service]]; s != nil {
			s.Slow = countOrNil(x.Value)
		}
	}
	r.rankMechanisms(a, services)
	worst := r.rankCauses(a, services)
	for name, of := range hosts {
		for h, slow := range of {
			if slow > 0 {
				r.Slowest = append(r.Slowest, Host{Host: h, Service: name, SlowS: slow, Cause: worst[place{name, h}].cause})
			}
		}
	}
	sorting.Short(r.Slowest, func(x, y Host) int {
		return cmp.Or(cmp.Compare(y.SlowS, x.SlowS), cmp.Compare(x.Host, y.Host), cmp.Compare(x.Service, y.Service))
	})
	r.Slowest = r.Slowest[:min(len(r.Slowest), mostHosts)]
	for _, s := range services {
		r.Services = append(r.Services, *s)
	}
	sorting.Short(r.Services, func(x, y Service) int {
		return cmp.Or(cmp.Compare(y.SlowS, x.SlowS), cmp.Compare(x.Service, y.Service))
	})
}

func (r *Report) rankMechanisms(a *asked, services map[string]*Service) {
	sums := make(map[string]float64)
	for _, x := range a.mechanisms {
		m := x.Labels[names.Mechanism]
		if !(x.Value > 0) || m == "" {
			continue
		}
		sums[m] += x.Value
		if s := services[x.Labels[names.Service]]; s != nil {
			s.Mechanisms = append(s.Mechanisms, Mechanism{m, titleOf(m), x.Value})
		}
	}
	most := func(x, y Mechanism) int {
		return cmp.Or(cmp.Compare(y.SlowS, x.SlowS), cmp.Compare(x.Mechanism, y.Mechanism))
	}
	for m, v := range sums {
		r.Mechanisms = append(r.Mechanisms, Mechanism{m, titleOf(m), v})
	}
	sorting.Short(r.Mechanisms, most)
	for _, s := range services {
		sorting.Short(s.Mechanisms, most)
	}
}

// place is a service on a host.
type place struct{ service, host string }

// blamed is the cause that makes most of the slow time of a service on a host.
type blamed struct {
	cause string
	slow  float64
}

// rankCauses ranks causes by slow time, and returns the cause that makes most of it at each place.
func (r *Report) rankCauses(a *asked, services map[string]*Service) map[place]blamed {
	type sum struct {
		slow      float64
		hosts     map[string]bool
		byService map[string]float64
	}
	sums := make(map[string]*sum)
	worst := make(map[place]blamed)
	for _, x := range a.causes {
		c, service, host := x.Labels[names.Cause], x.Labels[names.Service], x.Labels[names.Host]
		if c == "" || !(x.Value > 0) {
			continue
		}
		s := sums[c]
		if s == nil {
			s = &sum{hosts: make(map[string]bool), byService: make(map[string]float64)}
			sums[c] = s
		}
		s.slow += x.Value
		s.hosts[host] = true
		s.byService[service] += x.Value
		if w := worst[place{service, host}]; x.Value > w.slow || x.Value == w.slow && c < w.cause {
			worst[place{service, host}] = blamed{c, x.Value}
		}
	}
	for c, s := range sums {
		out := Cause{Cause: c, Title: causeTitle(c), SlowS: s.slow, Hosts: len(s.hosts), Services: []string{}}
		for name, slow := range s.byService {
			out.Services = append(out.Services, name)
			if of := services[name]; of != nil && (slow > of.CauseS || slow == of.CauseS && c < of.Cause) {
				of.Cause, of.CauseS = c, slow
			}
		}
		sorting.Short(out.Services, func(x, y string) int {
			return cmp.Or(cmp.Compare(s.byService[y], s.byService[x]), cmp.Compare(x, y))
		})
		r.Causes = append(r.Causes, out)
	}
	sorting.Short(r.Causes, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.SlowS, x.SlowS), cmp.Compare(x.Cause, y.Cause))
	})
	return worst
}

// explainNoData returns the error for a store that has no data of the window or the service. The error says what
// the store has instead.
func (a *asked) explainNoData(ctx context.Context) error {
	ago := a.at.AddDate(-1, 0, 0)
	if a.opt.Service != "" {
		known, err := a.store.Values(ctx, names.Service, names.SlowSeconds, ago, a.at)
		if err != nil {
			return err
		}
		if near := suggest.Nearest(a.opt.Service, known); near != "" && near != a.opt.Service {
			return fmt.Errorf("--service %s: not found in %s: did you mean %s?", a.opt.Service, a.store, near)
		}
		if len(known) > 0 && !slices.Contains(known, a.opt.Service) {
			return fmt.Errorf("--service %s: not found in %s: it has %s", a.opt.Service, a.store, joinFirstNames(known, 8))
		}
	}
	own, err := a.store.Values(ctx, "__name__", `{__name__=~"unstall_.+"}`, ago, a.at)
	switch {
	case err != nil:
		return err
	case slices.Contains(own, names.SlowSeconds):
		return fmt.Errorf("%s has no %s of the last %s, only older ones: give a longer --since, and check that unstall watch still runs on the hosts", a.store, names.SlowSeconds, a.opt.Since)
	case len(own) > 0:
		return fmt.Errorf("%s has no %s, but %s: these hosts record no requests; give unstall watch their access log or --load", a.store, names.SlowSeconds, joinFirstNames(own, 4))
	}
	return fmt.Errorf("%s has no series of unstall: make hosts send to it with unstall watch, or let Prometheus scrape them", a.store)
}

// joinFirstNames joins the first names in order, and says how many more there are.
func joinFirstNames(all []string, most int) string {
	slices.Sort(all)
	if len(all) > most {
		return strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return strings.Join(all, ", ")
}

// titleOf returns a mechanism in words, "" of one that this version does not know.
func titleOf(id string) string {
	for m := range ledger.NumMechanisms {
		if m.String() == id {
			return m.Title()
		}
	}
	return ""
}

func causeTitle(id string) string {
	if i := slices.IndexFunc(causes.Causes, func(c check.Check) bool { return c.ID == id }); i >= 0 {
		return causes.Causes[i].Title
	}
	return ""
}

func countOrNil(v float64) *int64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return nil
	}
	n := int64(math.Round(v))
	return &n
}
