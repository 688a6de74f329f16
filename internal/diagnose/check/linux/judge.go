package linux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// kernelEvidence asks for the kernel's own stacks.
var kernelEvidence = check.Need{What: "kernel stacks of its threads, as root, while it is slow", Command: "unstall record PID --kernel"}

// needMore asks for what would settle the question: kernel stacks or, where they were recorded, a
// longer recording.
func needMore(c *check.Case) check.Need {
	if kernelOf(c) != nil {
		return c.Trace("a longer recording under load", "")
	}
	return kernelEvidence
}

var leastWork = check.Threshold{Name: "threads with work on average", Value: .1, Unit: "threads",
	Why: "a tenth of one is what is called idle", Source: "Little's law, L = λW: 100 ms of work in each second"}

var ofBusyThreads = check.Threshold{Name: "share of the time of busy threads from which a cause is named", Value: check.Material.Value, Unit: "1",
	Why: "without requests it stands for slow time, in which threads serve them", Source: "Little's law"}

// finding is how much a mechanism takes.
type finding struct {
	share   float64  // of slow time; without requests, of the time of busy threads
	threads float64  // that were in it, on average, without requests
	x       *charged // by the ledger; nil: it does not tell
	where   string   // "fsync of /var/lib/journal", "" unknown
	of      string   // what share is of
	held    float64  // of slow time: waits for locks while their holders waited, too
}

// judgeLoss judges what requests lost in the mechanism or, without requests, what busy threads
// spent on it. The caller words a supported verdict; any other verdict is complete.
func (m *mechanism) judgeLoss(c *check.Case) (v check.Verdict, f finding) {
	l := c.Ledger
	v.Rule = check.TooLittle
	k := kernelOf(c)
	switch {
	case l == nil || len(l.Rows) < ledger.MinRequests:
		return m.judgeThreads(c, k)
	case !c.Slow():
		v.Rule = check.NotSlow
		v.Summary = "almost no requests were slow"
		return v, f
	case !c.HasRequestStates():
		return m.judgeUnspent(c, k)
	}
	x := m.chargedOf(c)
	m.addTimeAtWork(c, k, x)
	all := x.share
	m.subtractHolderWaits(c, k, x)
	f = finding{share: x.share, x: x, of: "slow time", held: all - x.share}
	if waited := c.Share(ledger.Lock); m.locks && waited > all { // what it holds is charged where the holder was
		all, f.held = waited, waited-x.share
	}
	v.Weigh(x.share, check.Material)
	v.Weigh(x.over, check.MaterialBeyond)
	v.Summary = check.OfSlow(x.share) + " is " + m.what
	if 2*x.linked >= x.ns { // rows of waits show it, not one of its own
		v.Summary += ", or waits for threads in it"
	}
	switch {
	case f.held >= check.WorthTelling.Value:
		v.Summary = fmt.Sprintf("%s is %s, all but %s while their holders waited, too", check.OfSlow(all), m.what, units.Percent(x.share))
	case x.ns == 0:
		v.Summary = "no slow request spent time on " + m.what
	}
	if x.ns > 0 {
		v.Evidence = append(v.Evidence, c.Figure("slow.kernel_ms", "slow time: "+m.what, float64(x.ns)/1e6, "ms", check.From(l.StatesFrom())),
			c.Figure("requests.usual_kernel_ms", "usual time on it per request (median of the most affected route)", float64(x.usual)/1e6, "ms", check.From(l.StatesFrom())))
	}
	if x.ns > 0 && !l.Sampled { // else it is known how much of the time of all was spent on it, and not by which of them
		v.Evidence = append(v.Evidence, c.Figure("slow.kernel_requests", "slow requests that spent time on it, of "+units.Count(len(l.Slow)), float64(x.waiters), "count", check.From(l.StatesFrom())))
	}
	unseen := c.Share(ledger.Unobserved)
	v.Missed(unseen, check.MaterialUnseen)
	switch {
	case x.share >= check.Material.Value && x.over < check.Material.Value:
		v.Rule = check.Usual
		v.Summary += ", as in requests that were not slow"
	case x.share >= check.Material.Value && !c.UserVisible(check.Noticeable):
		v.Rule = check.Brief
		v.Summary += c.ButBrief()
	case x.share >= check.Material.Value:
		v.Rule = check.Matters
		m.fillSupported(c, k, &v, &f)
	case x.share >= check.Arguable.Value:
		v.Rule = check.OnTheEdge
		v.Summary += ": just below the threshold"
		v.Needs = []check.Need{c.Trace("a longer recording under load", "")}
	case unseen >= check.MaterialUnseen.Value:
		v.Rule, v.Needs = check.Unseen, []check.Need{needMore(c)}
		v.Summary += fmt.Sprintf(", but %s of slow time was not observed", units.Percent(unseen))
	}
	return v, f
}

// fillSupported fills in what a supported verdict says for any mechanism.
func (m *mechanism) fillSupported(c *check.Case, k *kernel, v *check.Verdict, f *finding) {
	x := f.x
	for i := range x.places {
		p := &x.places[i]
		if f.where == "" {
			f.where = p.What
			if p.Where != "" && !strings.Contains(p.What, p.Where) {
				f.where = strings.TrimSpace(p.What + " in " + p.Where)
			}
		}
		if call := c.SiteOf(p.Stack).Callee; call != "" && !strings.Contains(p.What, call) && i == 0 {
			v.Evidence = append(v.Evidence, c.Seen("call site: "+call, check.From(c.Ledger.StatesFrom())))
		}
		if p.From != "" && p.From != p.Where {
			v.Evidence = append(v.Evidence, c.Seen("requests wait for it in "+p.From, check.From(c.Ledger.StatesFrom())))
		}
	}
	if f.where == "" && k != nil {
		f.where = m.fileOf(k)
	}
	if 2*x.linked >= x.ns {
		v.Evidence = append(v.Evidence, c.Figure("slow.kernel_of_holder_ms", "of this, waiting for a lock, pool or thread whose holder was in it", float64(x.linked)/1e6, "ms", check.From(c.Ledger.StatesFrom())))
	}
	v.Saves, v.Work = c.Save(x.per, -1, -1), x.work
	v.Prediction = append(v.Prediction, c.PredictP99(x.per1))
	v.Explains = func(p *ledger.Place) bool {
		return m.matchesPlace(c, p) || x.locked && (p.Mechanism == ledger.Lock || p.Mechanism == ledger.Goroutine && onFutex(p.Wait.Kind))
	}
	v.Evidence = append(v.Evidence, m.stackEvidence(c, k)...)
}

// judgeUnspent judges where the states of requests were not recorded, but what the threads did
// that serve them: these spent the same part of their time in the mechanism (Little's law).
func (m *mechanism) judgeUnspent(c *check.Case, k *kernel) (v check.Verdict, f finding) {
	v.Rule = check.NotRecorded
	switch {
	case !c.UserVisible(check.Noticeable):
		v.Rule, v.Summary = check.Brief, "slow requests take only milliseconds"
		return v, f
	case k != nil && k.work != nil && k.work.Busy < leastWork.Value:
		v.Weigh(k.work.Busy, leastWork)
		v.Rule, v.Summary = check.TooLittle, fmt.Sprintf("its threads are almost idle: %s busy on average", units.Num(k.work.Busy))
		return v, f
	case k == nil || k.work == nil:
		v.Summary = "the waits of slow requests in the kernel were not recorded"
		v.Needs = []check.Need{kernelEvidence}
		return v, f
	}
	part := m.busyShare(c, k)
	about := part * c.Share(ledger.Unobserved, ledger.Own, ledger.Kernel, ledger.Unexplained)
	f = finding{share: about, of: "slow time"}
	v.Weigh(part, ofBusyThreads)
	v.Weigh(about, check.Material)
	v.Summary = fmt.Sprintf("busy threads spend %s of their time on %s", units.Percent(part), m.what)
	switch {
	case part < check.Arguable.Value:
		v.Rule = check.TooLittle
	case about < check.Material.Value:
		v.Rule = check.OnTheEdge
		v.Needs = []check.Need{c.Trace("a longer recording under load", "")}
	case passesElsewhere(c, k):
		v.Rule = check.CostUnknown
		v.Summary += fmt.Sprintf(", but only %s threads were busy while %s requests were in flight: most request time passed elsewhere", units.Num(k.work.Busy), units.Num(underWay(c)))
		v.Needs = []check.Need{c.Trace("a longer recording under load", "")}
	default:
		v.Rule = check.Matters
		total := float64(c.Ledger.Total)
		v.Saves = c.Bound(about*total, 0, c.Share(ledger.Unobserved, ledger.Own, ledger.Kernel, ledger.Unexplained)*total)
		v.Explains = func(p *ledger.Place) bool { return m.matchesPlace(c, p) }
		v.Evidence = append(v.Evidence, m.stackEvidence(c, k)...)
		f.where = m.fileOf(k)
	}
	return v, f
}

// fewAtWork busy threads, on average, leave those who serve requests idle for most of the time.
// Then not even one server that takes all requests in turn has beyondQueue times as many of them as it
// would have if they came at random (M/M/1: busy ÷ (1 − busy)).
var (
	fewAtWork = check.Threshold{Name: "busy threads on average, that leave those who serve requests idle most of the time", Value: .5, Unit: "threads",
		Why: "the larger part decides", Source: "arithmetic: half"}
	beyondQueue = check.Threshold{Name: "requests in flight, over what a queue of one server has at that load", Value: 4, Unit: "times",
		Why: "requests that come at random do not queue so", Source: "M/M/1: busy/(1−busy)"}
)

// passesElsewhere says whether requests passed most of their time where no thread of the process
// had work: on the way to it, or in the kernel's queues, of which threads show nothing.
func passesElsewhere(c *check.Case, k *kernel) bool {
	busy := k.work.Busy + k.work.Alone
	return busy < fewAtWork.Value && underWay(c) > beyondQueue.Value*busy/(1-busy)
}

// underWay returns how many requests were in flight on average.
func underWay(c *check.Case) float64 {
	l, r := c.Ledger, &c.Bundle.Requests
	var sum int64
	for _, row := range l.Rows {
		sum += r.Latency(row)
	}
	return float64(sum) / float64(max(1, l.To-l.From))
}

// judgeThreads judges without requests, by what busy threads spend their time on.
func (m *mechanism) judgeThreads(c *check.Case, k *kernel) (v check.Verdict, f finding) {
	v.Rule = check.NotRecorded
	if k == nil || k.work == nil {
		v.Summary = "the waits of its threads in the kernel were not recorded"
		v.Needs = []check.Need{kernelEvidence}
		return v, f
	}
	work := k.work
	f = finding{share: m.busyShare(c, k), of: "the time of busy threads"}
	f.threads = f.share * work.Busy
	v.Weigh(f.share, ofBusyThreads)
	v.Weigh(work.Busy, leastWork)
	v.Evidence = append(v.Evidence, c.Figure("process.threads_with_work", "busy threads, on average", work.Busy, "count", work.Origin),
		c.Figure("process.threads_in_kernel", "of these, in "+m.what, f.threads, "count", work.Origin))
	v.Summary = fmt.Sprintf("busy threads spend %s of their time on %s", units.Percent(f.share), m.what)
	switch beside := work.Beside(m.classes...); {
	case work.Busy < leastWork.Value && beside < leastWork.Value:
		v.Rule, v.Summary = check.TooLittle, fmt.Sprintf("its threads are almost idle: %s busy on average", units.Num(work.Busy))
	case f.share >= check.Material.Value && work.Busy >= leastWork.Value:
		v.Rule, v.Weight = check.Matters, f.threads
		v.Explains = func(p *ledger.Place) bool { return m.matchesPlace(c, p) }
		v.Evidence = append(v.Evidence, m.stackEvidence(c, k)...)
		f.where = m.fileOf(k)
	case beside >= check.Material.Value:
		v.Rule = check.CostUnknown
		v.Summary = fmt.Sprintf("one background thread spends %s of the time on %s; whether requests wait for it is unknown", units.Percent(min(1, beside)), m.what)
		v.Needs = []check.Need{{What: "requests, to show whether they wait for it", Command: "unstall PID --load URL"}}
	case f.share >= check.Arguable.Value:
		v.Rule = check.OnTheEdge
		v.Needs = []check.Need{{What: "a longer recording while it is slow", Command: "unstall record PID --kernel --for 5m"}}
	default:
		v.Rule = check.TooLittle
	}
	return v, f
}

// fileOf returns the file, in words, that the mechanism's waits were on longest.
func (m *mechanism) fileOf(k *kernel) string {
	file := k.File(m.classes...)
	if file != "" && len(m.calls) > 0 && m.calls[0] == m.what {
		return m.what + " of " + file
	}
	return file
}

// Of a stack as many functions are told as say what it is.
const (
	mostKernel  = 6
	mostProgram = 3
	mostStacks  = 2
)

// stackEvidence returns the kernel stacks with most of the mechanism's time.
func (m *mechanism) stackEvidence(c *check.Case, k *kernel) (out []check.Evidence) {
	if k == nil {
		return nil
	}
	var told []metrics.KernelStack
	at := make(map[string]int) // stacks whose outer ends differ are one
	var texts []string
	var sum float64
	for _, s := range k.Stacks(m.classes...) {
		sum += s.Seconds
		doing := "running"
		if s.Waits {
			doing = "waiting"
		}
		text := doing + " in the kernel with the stack " + stackText(k, s.Stack)
		if n, ok := at[text]; ok {
			told[n].Seconds += s.Seconds
			continue
		}
		at[text] = len(told)
		told, texts = append(told, s), append(texts, text)
	}
	order := make([]int, len(told))
	for i := range order {
		order[i] = i
	}
	sorting.Short(order, func(a, b int) int { return cmp.Compare(told[b].Seconds, told[a].Seconds) })
	for _, i := range order[:min(len(order), mostStacks)] {
		if told[i].Seconds >= check.Arguable.Value*sum {
			out = append(out, c.Figure("kernel.stack_share", "share of "+m.what+" "+texts[i], told[i].Seconds/sum, "1", told[i].Origin))
		}
	}
	return out
}

// stackText writes a stack in one line: the kernel's functions from the innermost outwards,
// without those of the scheduler and the entry, then the program's own.
func stackText(k *kernel, stack evidence.StackID) string {
	kernel, program := k.Frames(stack)
	kernel = slices.DeleteFunc(kernel, func(f string) bool {
		return slices.Contains(entry, f) || strings.HasPrefix(f, "__schedule") || strings.HasPrefix(f, "schedule")
	})
	text := strings.Join(kernel[:min(len(kernel), mostKernel)], evidence.Link)
	program = slices.DeleteFunc(program, func(f string) bool { return strings.Contains(f, "+0x") })
	if len(program) > 0 {
		text += ", in " + strings.Join(program[:min(len(program), mostProgram)], evidence.Link)
	}
	return text
}

var entry = []string{"entry_SYSCALL_64_after_hwframe", "do_syscall_64", "x64_sys_call", "el0_svc", "el0_svc_common", "invoke_syscall", "io_schedule"}

// placeSuffix returns the place as a title adds it: " (fsync of /var/lib/journal in append)".
func (f *finding) placeSuffix() string {
	if f.where == "" {
		return ""
	}
	return " (" + f.where + ")"
}

// who returns who waits, as a title begins: where no requests are known, threads do.
func (f *finding) who() string {
	if f.of == "slow time" {
		return "Requests"
	}
	return "Threads"
}

// formatShare writes the share as titles end: "72 % of slow time".
func (f *finding) formatShare() string { return fmt.Sprintf("%s of %s", units.Percent(f.share), f.of) }

// meanPerRequest returns how long slow requests were in the mechanism on average, in words; ""
// where the ledger does not show it.
func (f *finding) meanPerRequest() string {
	if f.x == nil || f.x.waiters == 0 {
		return ""
	}
	return units.Time(float64(f.x.ns) / float64(f.x.waiters))
}

// strainOf returns what the kernel counted of short memory and busy disks.
func strainOf(c *check.Case) metrics.Strain {
	return check.Once(c, func(c *check.Case) metrics.Strain { return metrics.StrainOf(c.Bundle, c.Subject, requestWindow(c)) })
}

// groupOrHostPressure returns the pressure of the cgroup or, where that is not known, of the host,
// and which it is.
func groupOrHostPressure(group, host metrics.Value) (v metrics.Value, of string) {
	if group.Known() {
		return group, "its cgroup"
	}
	return host, "the host"
}

// slight is the share of the time in which any task waited for it below which memory or disks can
// make nothing slow; much, from which on they may.
var (
	slight = check.Threshold{Name: "share of the time under pressure below which memory or disks make nothing slow", Value: .01, Unit: "1",
		Why: "a p99 meets none", Source: "arithmetic: the p99"}
	much = check.Threshold{Name: "share of the time under pressure from which memory or disks may make requests slow", Value: .1, Unit: "1",
		Why: "a p90 meets it", Source: "arithmetic: the p90"}
)

// hasEvidence says whether there is anything to judge a mechanism by: kernel stacks, or slow time
// at places of its own. Without this, every service would be told that it is unknown.
func (m *mechanism) hasEvidence(c *check.Case) bool {
	if kernelOf(c) != nil {
		return true
	}
	l := c.Ledger
	if l == nil || len(l.Rows) < ledger.MinRequests || !c.HasRequestStates() || l.Total == 0 {
		return false
	}
	return m.chargedOf(c).share >= check.Arguable.Value
}
