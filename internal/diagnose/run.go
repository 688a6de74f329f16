package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
)

// Options are what the user decides.
type Options struct {
	SLO          time.Duration    // latency above which a request is slow; 0: found from the requests
	Requests     []string         // artifacts that supply the figures about all requests
	Since, Until time.Time        // zero: unbounded
	Version      string           // of the tool
	ExpectedRate float64          // requests/s that were agreed on, 0 not known
	Baseline     *evidence.Bundle // from when the service was healthy; nil: none
}

// Run diagnoses the evidence in a bundle, which it does not change. It returns an error if no evidence is of the time asked for. In long
// evidence it also diagnoses the worst stretches separately, because a day's share says little about one bad hour.
func Run(ctx context.Context, read *evidence.Bundle, opt Options) (*Diagnosis, error) {
	d, err := diagnoseWindow(ctx, read, opt)
	if err == nil {
		err = supposeTooLong(ctx, read, opt, d)
	}
	if err != nil || !opt.Since.IsZero() || !opt.Until.IsZero() {
		return d, err
	}
	return diagnoseStretches(ctx, read, opt, d)
}

// diagnoseWindow diagnoses the time asked for as a whole.
func diagnoseWindow(ctx context.Context, read *evidence.Bundle, opt Options) (*Diagnosis, error) {
	i := incident.Of(read, incident.Options{Since: opt.Since, Until: opt.Until, SLO: opt.SLO, Requests: opt.Requests, Baseline: opt.Baseline})
	b := i.Bundle
	if i.Nothing() {
		return nil, newWhichError("no evidence lies between --since and --until: it covers %s", formatCoveredTime(i))
	}
	crossCheck(b)
	d := &Diagnosis{Schema: Schema, ToolVersion: opt.Version, RankedBy: "stopped_time", Ledger: []Entry{}, Verdicts: []Verdict{}}
	for _, l := range i.Ledgers() {
		compareP99(b, l)
	}
	addExpectedRates(i, opt)
	r := &run{incident: i, b: b, d: d}
	r.nameSubjects()
	if err := r.judgeCauses(ctx); err != nil {
		return nil, err
	}
	r.describeRequests()
	r.describeEvidence()
	d.Outcome = r.decideOutcome()
	d.Host = r.listHostFigures()
	d.Given = r.listGivenFigures()
	d.Routes, d.RoutesLeft = r.summarizeRoutes()
	if d.Outcome != Found {
		d.Busiest = r.findBusiest()
	}
	d.Collectors = r.summarizeCollectors()
	d.Through = r.traceWorkerPool()
	d.kept = &kept{incident: i, threads: r.summarizeThreads()}
	return d, nil
}

// addExpectedRates adds, for each service, the rate requests were expected to come at: as agreed,
// and as in the baseline. A service has no baseline if its name is not in it, unless both have
// only one service.
func addExpectedRates(i *incident.Incident, opt Options) {
	b := i.Bundle
	add := func(s evidence.SubjectID, key string, v float64) {
		b.Facts = append(b.Facts, evidence.Fact{Subject: s, Key: key, Number: v})
	}
	expected := opt.ExpectedRate
	if expected == 0 {
		expected = b.ExpectedRate
	}
	var well []*ledger.Ledger
	if i.Baseline != nil {
		well = i.Baseline.Ledgers()
	}
	for _, l := range i.Ledgers() {
		if expected > 0 {
			add(l.Subject, evidence.FactExpectedRate, expected)
		}
		for _, w := range well {
			alone := len(well) == 1 && len(i.Ledgers()) == 1
			if r := w.Requests; r.Rate > 0 && (alone || b.Agree(b.Subjects[l.Subject], i.Baseline.Bundle.Subjects[w.Subject])) {
				add(l.Subject, evidence.FactBaselineRate, r.Rate)
				add(l.Subject, evidence.FactBaselineP50, float64(r.P50))
				add(l.Subject, evidence.FactBaselineP99, float64(r.P99))
				break
			}
		}
	}
}

type run struct {
	incident *incident.Incident
	b        *evidence.Bundle // its
	d        *Diagnosis
	name     map[evidence.SubjectID]string
	unseen   bool // a process without requests has waits that were not recorded
	outside  int  // noticeably slow requests while nothing was traced
}

// isJudged says whether the evidence has more about a subject than figures over time, or figures
// of its collector or thread pool. There is nothing to say about a process that merely ran on the
// same host.
func (r *run) isJudged(s evidence.SubjectID) bool {
	if slices.ContainsFunc(r.b.Coverage, func(c evidence.Coverage) bool { return c.Subject == s }) ||
		slices.ContainsFunc(r.b.Facts, func(f evidence.Fact) bool { return f.Subject == s && f.Key != evidence.FactParent }) {
		return true
	}
	return metrics.ReadGCCounters(r.b, s, metrics.Whole) != nil || metrics.CurveOf(r.b, s, evidence.SeriesPoolQueue, metrics.Whole).Known() || r.b.Requests.Subject.Has(s) || r.b.Intervals.Subject.Has(s) || slices.Contains(r.b.Samples.Subject, s)
}

// nameSubjects gives each subject that is judged the name reports use.
func (r *run) nameSubjects() {
	r.name = make(map[evidence.SubjectID]string)
	for i, title := range r.b.Titles() {
		if id := evidence.SubjectID(i); r.isJudged(id) {
			r.name[id] = title
		}
	}
}

// judgeCauses judges every cause for every process and ranks the verdicts: what saves most first;
// without requests, what stops or burns most.
func (r *run) judgeCauses(ctx context.Context) error {
	out, met := r.d.Verdicts, r.isObjectiveMet()
	for i, s := range r.b.Subjects {
		id := evidence.SubjectID(i)
		name, ok := r.name[id]
		if !ok || s.Kind != evidence.Process {
			continue
		}
		c := &check.Case{Bundle: r.b, Subject: id, Ledger: r.incident.Ledger(id), Looks: r.incident.Threads, ObjectiveMet: met}
		r.unseen = r.unseen || c.WaitsUnseen() && (c.Ledger == nil || len(c.Ledger.Rows) < ledger.MinRequests)
		for _, k := range all.Causes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !k.Applies(c) {
				continue
			}
			c.Forget()
			v := withdrawVague(withdrawUnknown(c, k.Judge(c)), c)
			if v.Supported() {
				c.Found = append(c.Found, check.Found{ID: k.ID, Step: k.Step, StopsAll: k.StopsAll, Verdict: v})
			}
			out = append(out, newVerdict(k, v, name, c.Decision(&v)))
		}
	}
	switch {
	case !r.ofProcess():
		out = append(out, r.judgeHosts()...)
	case !slices.ContainsFunc(out, Verdict.isSupported) && !r.hasEnoughRequests(): // a part of a log, beside what something that is called says of itself, or is said to have left unanswered
		told := slices.DeleteFunc(r.judgeHosts(), func(v Verdict) bool { return !v.isSupported() || !strings.HasPrefix(v.Cause, "service.") })
		out = append(slices.DeleteFunc(out, func(v Verdict) bool { // what is found there is not open here
			return v.Verdict == check.Inconclusive && slices.ContainsFunc(told, func(w Verdict) bool { return w.Cause == v.Cause })
		}), told...)
	}
	out = r.joinServers(out)
	order := map[string]int{check.Supported: 0, check.Inconclusive: 1, check.RuledOut: 2}
	sorting.Short(out, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(order[a.Verdict], order[b.Verdict]), cmp.Compare(rankWeight(b), rankWeight(a)))
	})
	r.d.Verdicts = out
	return nil
}

func (v Verdict) isSupported() bool { return v.Verdict == check.Supported }

// hasEnoughRequests says whether requests were recorded that show what a process waits for.
func (r *run) hasEnoughRequests() bool {
	return slices.ContainsFunc(r.incident.Ledgers(), func(l *ledger.Ledger) bool { return len(l.Rows) >= ledger.MinRequests })
}

// ofProcess says whether any process is judged.
func (r *run) ofProcess() bool {
	for id := range r.name {
		if r.b.Subjects[id].Kind == evidence.Process {
			return true
		}
	}
	return false
}

// judgeHosts judges the causes that a host alone can show, or a dependency by its own log: any
// program that runs there, or calls it, waits for it.
func (r *run) judgeHosts() (out []Verdict) {
	for i, s := range r.b.Subjects {
		name, ok := r.name[evidence.SubjectID(i)]
		if !ok || s.Kind != evidence.Host && s.Kind != evidence.Dependency {
			continue
		}
		c := &check.Case{Bundle: r.b, Subject: evidence.SubjectID(i), Looks: r.incident.Threads}
		for _, k := range all.Causes {
			if k.JudgeHost == nil {
				continue
			}
			c.Forget()
			if v, ok := k.JudgeHost(c); ok {
				out = append(out, newVerdict(k, v, name, c.Decision(&v)))
			}
		}
	}
	return out
}

// An interval from less to more than these parts of the slow time tells nothing of a cause.
const (
	uselessLow  = .02
	uselessHigh = .98

	// A sample of fewer than enoughSlow requests has to show this part at least, where no objective makes them slow.
	fewShow = .1
)

// enoughSlow slow requests show what happened in a recording, even if another recording would differ: a few stalls of one cause delay many
// requests, and their sampling interval is wide because the stalls are few.
const enoughSlow = ledger.MinRequests

// withdrawUnknown leaves open what a check found or cleared by a figure that is not known.
func withdrawUnknown(c *check.Case, v check.Verdict) check.Verdict {
	switch d := c.Decision(&v); {
	case v.Supported() && math.IsNaN(v.Weight):
		v.Rule, v.Fix, v.Prediction = check.TooFew, nil, nil
	case v.RuledOut() && d.OfUnknown():
		v.Rule, v.Summary = check.NotRecorded, "the figure that decides it was not recorded"
	default:
		return v
	}
	v.Needs = []check.Need{{What: "a longer recording", Command: "unstall record PID --for 1m"}}
	return v
}

// withdrawVague makes a supported verdict inconclusive if its share of the slow time may be nearly
// anything: by its bounds, or by the sampling interval of few requests.
func withdrawVague(v check.Verdict, c *check.Case) check.Verdict {
	l := c.Ledger
	if !v.Supported() || v.Saves == nil || v.Saves.Low == nil || v.Saves.High == nil || l == nil || l.Total == 0 {
		return v
	}
	if v.Saves.Basis != nil && *v.Saves.Basis == "sampling" && len(l.Slow) >= enoughSlow {
		return v
	}
	total := float64(l.Total) / 1e6
	if v.Saves.Basis != nil && *v.Saves.Basis == "bound" && v.Saves.Value >= max(check.Material.Value, (1-c.Share(ledger.Unobserved))/2)*total {
		return v // bounds around a figure that other evidence supports, and which is most of the time of which anything is known
	}
	low, high := *v.Saves.Low/total, *v.Saves.High/total
	few := l.Rule == ledger.RuleFloor && v.Saves.Basis != nil && *v.Saves.Basis == "sampling" && low < fewShow
	if !few && (low > uselessLow || high < uselessHigh) {
		return v
	}
	v.Rule, v.Saves, v.Fix, v.Prediction = check.Anything, nil, nil, nil
	v.Summary = "its share of the slow time lies anywhere between 0 and 100 %"
	if few {
		v.Summary = fmt.Sprintf("its share of the slow time, of %d slow requests, lies anywhere between %s and %s", len(l.Slow), units.Percent(max(0, low)), units.Percent(min(1, high)))
	}
	v.Needs = []check.Need{{What: "a longer recording, with more slow requests", Command: "unstall record PID --for 5m"}}
	return v
}

// rankWeight ranks supported verdicts: saved slow time first, then stopped time, then what is there at any time.
func rankWeight(v Verdict) float64 {
	if v.standing {
		return -1
	}
	if v.Saves != nil {
		return 1e3 + v.Saves.Value
	}
	return v.weight
}

func newVerdict(k check.Check, v check.Verdict, subject string, how check.Decision) Verdict {
	out := Verdict{Decision: &how, Cause: k.ID, Subject: subject, Step: k.Step, Verdict: v.State, Title: v.Title, Summary: v.Summary, Saves: v.Saves,
		Evidence: v.Evidence, Needs: v.Needs, Fix: v.Fix, Prediction: v.Prediction, Frontier: v.Frontier, weight: v.Weight, standing: v.Standing, spends: v.Spends}
	if out.Title == "" {
		out.Title = k.Title
	}
	if out.Evidence == nil {
		out.Evidence = []Evidence{}
	}
	if out.Needs == nil {
		out.Needs = []Need{}
	}
	if out.Fix == nil {
		out.Fix = []Fix{}
	}
	out.Prediction = make([]Prediction, len(v.Prediction))
	for i, p := range v.Prediction {
		if p.Fix == nil && len(v.Fix) > 0 && !p.Anyway {
			p.Fix = new(int)
		}
		out.Prediction[i] = p
	}
	return out
}
