package sentence

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// forcedCycle is the detail of waits for a forced cycle, whose title would name the goroutine that happens to end it.
var forcedCycle = evidence.Wait{Kind: evidence.ForcedCycle}.String()

// small is the share of the slow time below which an entry is folded.
const small = .005

// kept are the mechanisms that are always shown: the service's own work, and what the
// ledger cannot explain.
var kept = []struct{ mechanism, title string }{{"own", "own work"}, {"unobserved", "unobserved"}, {"unexplained", "unexplained"}}

// Row is a line of the ledger as it is shown.
type Row struct {
	Mechanism string // the ledger's id, "other" for several
	Title     string
	Ms        float64
	Note      string // how it was measured, and its bounds
	Of        int    // how many entries, where it is several
}

// Amounts returns a function that formats the rows' times (ms): all in the unit that fits the
// total and with the same decimals, so that their points align.
func Amounts(total float64) func(Row) string {
	factor, unit := units.Scale("ms", total)
	decimals := 2
	for v := total * factor; v >= 9.95 && decimals > 0; v /= 10 {
		decimals--
	}
	return func(r Row) string {
		if r.Ms == 0 {
			return r.Nothing()
		}
		return units.Fixed(r.Ms*factor, decimals) + " " + unit
	}
}

// Nothing returns what is shown in place of no time. A request whose states are known has worked
// for some time: without own work, its work was not observed.
func (r Row) Nothing() string {
	if r.Mechanism == "own" {
		return "not observed"
	}
	return "none"
}

// Ledger returns the entries as they are shown: the larger ones in order, the
// small ones as one, what could not be told at the end.
func Ledger(d *diagnose.Diagnosis) (rows []Row, total float64) {
	for _, e := range d.Ledger {
		total += e.SlowMs
	}
	if d.Requests != nil && d.Requests.SlowTotalMs > 0 {
		total = d.Requests.SlowTotalMs
	}
	if total <= 0 {
		return nil, 0
	}
	subjects := make(map[string]bool)
	for _, e := range d.Ledger {
		subjects[e.Subject] = true
	}
	seen := make(map[string]bool)
	var other, last []Row
	for _, e := range d.Ledger {
		row := Row{Mechanism: e.Mechanism, Title: e.Title, Ms: e.SlowMs, Note: methodNote(&e)}
		if e.Title == "" {
			row.Title = e.Mechanism
		}
		switch e.Detail {
		case "":
		case forcedCycle:
			row.Title = "waiting for " + e.Detail // whichever goroutine ends it
		default:
			row.Title += ": " + strings.TrimPrefix(e.Detail, "futex ") // a mutex is one, however the kernel waits for it
		}
		if len(subjects) > 1 {
			row.Title += ", " + e.Subject
		}
		seen[e.Mechanism] = true
		switch {
		case e.Mechanism == "unobserved" || e.Mechanism == "unexplained":
			last = append(last, row)
		case e.Mechanism == "own" || e.SlowMs >= small*total:
			rows = append(rows, row)
		default:
			other = append(other, row)
		}
	}
	switch len(other) {
	case 0:
	case 1:
		rows = append(rows, other[0])
	default:
		rows = append(rows, foldRows(other))
	}
	for _, k := range kept {
		switch {
		case seen[k.mechanism]:
		case k.mechanism == "own":
			rows = append(rows, Row{Mechanism: k.mechanism, Title: k.title})
		default:
			last = append(last, Row{Mechanism: k.mechanism, Title: k.title})
		}
	}
	return append(rows, last...), total
}

// Where says whose time the ledger divides: "41.6 min of slow requests went (286, 8.73 s each on average)"; with how long each took where there are so many that the sum is
// no length of time that anybody waited.
func Where(d *diagnose.Diagnosis, total float64) string {
	text := units.Ms(total) + " of slow requests went"
	if r := d.Requests; r != nil && r.Slow > 1 && total >= summed {
		text += " (" + units.Count(r.Slow) + ", " + units.Ms(total/float64(r.Slow)) + " each on average)"
	}
	return text
}

// summed is the time (ms) of all slow requests from which it is said how long one took.
const summed = 60e3

// methods say how the time of a row was measured, by the first word of its last column.
var methods = []struct{ id, says string }{
	{ledger.MethodTrace, "from a trace of each request"},
	{ledger.MethodSampled, "from samples of the threads, many a second"},
	{ledger.MethodSample, "as in traced requests like these"},
	{ledger.MethodSpan, "as the source of the requests gives it"},
	{ledger.MethodShare, "known for all requests together, not for each"},
	{ledger.MethodOverlap, "what happened in the process at that time, laid over the requests"},
	{ledger.MethodReplay, "from the recorded arrivals, run again without the pauses"},
}

// Methods explains the words of the rows' last column; "" where there are none.
func Methods(rows []Row) string {
	var said []string
	for _, m := range methods {
		if slices.ContainsFunc(rows, func(r Row) bool { of, _, _ := strings.Cut(r.Note, ","); return of == m.id }) {
			said = append(said, m.id+" ("+m.says+")")
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "How it was measured: " + strings.Join(said, ", ") + "."
}

// apart is the share of the slow time by which a cause and a row of the ledger must differ to count as different. A row that shows less than
// the cause counts as different from a tenth of the cause's share on: 28 and 24 % are not the same to a reader, 99 and 93 % are.
const apart = .1

// Reconciled says how the share of the first cause and the rows of the ledger go together where no
// row shows that share: time that is lost because of a cause is often spent waiting for what it
// delays, such as a lock. "" where they agree.
func Reconciled(d *diagnose.Diagnosis) string {
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		if v.Verdict != "supported" {
			continue
		}
		share, low, high, ok := shareOf(d, v)
		if !ok || share < dominant {
			return ""
		}
		part, _ := Share(d, v)
		if part == units.Percent(share) { // a wide interval beside the share is no row of it
			low, high = share, share
		}
		rows, total := Ledger(d)
		sums := make(map[string]float64)
		var largest float64
		less := false // a row shows nearly as much
		for _, r := range rows {
			of := r.Ms / total
			if r.Mechanism != "other" && r.Mechanism != "unobserved" && r.Mechanism != "unexplained" {
				largest = max(largest, of)
			}
			sums[groupMechanism(r.Mechanism)] += of
			for _, of := range []float64{of, sums[groupMechanism(r.Mechanism)]} {
				switch {
				case of >= low-apart*low && of <= high+apart:
					return ""
				case of >= low-apart && of < low:
					less = true
				}
			}
		}
		if !less && largest > high+apart {
			return "The " + part + " that " + v.Cause + " accounts for are a part of the largest row: what is usual, or has another cause, is in it, too."
		}
		return "The " + part + " that " + v.Cause + " accounts for are spread over these rows: over its own, and over waits for what it delays."
	}
	return ""
}

// groupMechanism returns what the rows of one kind of cause have in common.
func groupMechanism(mechanism string) string {
	switch mechanism {
	case "stop_the_world", "mark_assist", "allocation_stall", "collector_cpu":
		return "collector"
	case "requests_cpu", "background_cpu", "host_cpu", "wakeup":
		return "processors"
	}
	return mechanism
}

// foldRows returns one row for several.
func foldRows(all []Row) Row {
	x := Row{Mechanism: "other"}
	for _, r := range all {
		x.Ms += r.Ms
		x.Of += max(1, r.Of)
	}
	x.Title = "other (" + units.Count(x.Of) + ")"
	return x
}

// fold is the share of the slow time from which an entry keeps a row of its own, however short the ledger is to be.
const fold = .1

// Shorter returns a ledger of at most most rows where that is possible: the smallest rows become
// one, and what could not be told is one row where it has no time. Of the smallest those of one mechanism stay together where they are large
// together, as the waits for several event loops are, so that the rest is never the largest row for no reason.
func Shorter(rows []Row, total float64, most int) (out []Row) {
	var small, last []Row
	folds, lost := make(map[string]bool), make(map[string]float64) // by mechanism: a row of it has no room; the time of its small rows
	for i, r := range rows {
		if r.Ms < fold*total {
			folds[r.Mechanism], lost[r.Mechanism] = folds[r.Mechanism] || i+3 > most, lost[r.Mechanism]+r.Ms
		}
	}
	for i, r := range rows {
		together := folds[r.Mechanism] && lost[r.Mechanism] >= fold*total
		switch {
		case r.Mechanism == "unobserved" || r.Mechanism == "unexplained":
			last = append(last, r)
		case r.Mechanism == "other", r.Mechanism != "own" && r.Ms < fold*total && (i+3 > most || together): // they come in order of size
			small = append(small, r)
		default:
			out = append(out, r)
		}
	}
	if len(last) == 2 && last[0].Ms == 0 && last[1].Ms == 0 {
		last = []Row{{Mechanism: "unobserved", Title: "unobserved, unexplained"}}
	}
	joined, small := joinMechanisms(small, total)
	if len(joined) > 0 {
		out = append(out, joined...)
		sorting.Short(out, func(a, b Row) int { return cmp.Compare(b.Ms, a.Ms) })
	}
	switch len(small) {
	case 0:
	case 1:
		out = append(out, small[0])
	default:
		out = append(out, foldRows(small))
	}
	return append(out, last...)
}

// joinMechanisms takes from small rows those of one mechanism that are several and large together: one row for each such mechanism.
func joinMechanisms(small []Row, total float64) (joined, rest []Row) {
	for i, r := range small {
		if slices.ContainsFunc(small[:i], func(o Row) bool { return o.Mechanism == r.Mechanism }) {
			continue
		}
		var alike []Row
		for _, o := range small[i:] {
			if o.Mechanism == r.Mechanism {
				alike = append(alike, o)
			}
		}
		all := foldRows(alike)
		if len(alike) == 1 || r.Mechanism == "other" || all.Ms < fold*total {
			rest = append(rest, alike...)
			continue
		}
		all.Mechanism, all.Note, all.Title = r.Mechanism, r.Note, r.Title+" and "+units.Count(all.Of-1)+" more"
		joined = append(joined, all)
	}
	return joined, rest
}

func methodNote(e *diagnose.Entry) string {
	s := e.Method
	if e.Basis != nil && e.Low != nil && e.High != nil && *e.Basis == "bound" {
		factor, unit := units.Scale("ms", max(math.Abs(*e.High), e.SlowMs))
		if r := units.Range(e.Low, e.High, factor, unit); strings.Contains(r, "–") {
			s += ", " + r
		}
	}
	return strings.TrimPrefix(s, ", ")
}
