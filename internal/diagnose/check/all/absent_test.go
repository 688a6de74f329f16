package all_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/diagnose/check/checktest"
	"github.com/unstall/unstall/internal/format"
)

var every = flag.Bool("every", false, "take away every part of every recording, which takes long")

// change takes a part of the evidence away, or makes it unknown.
type change struct {
	name  string
	lacks bool // it only takes away: what is left tells nothing that the whole did not
	apply func(b *evidence.Bundle)
	slo   time.Duration
}

// changes are all ways to take one thing away from a bundle.
func changes(b *evidence.Bundle) (out []change) {
	add := func(lacks bool, apply func(*evidence.Bundle), name string, args ...any) {
		out = append(out, change{name: fmt.Sprintf(name, args...), lacks: lacks, apply: apply})
	}
	series, facts, covers, kinds, types := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[evidence.Kind]bool{}, map[evidence.NameID]bool{}
	for _, x := range b.Series {
		series[x.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(series)) {
		each := func(change func(x *evidence.Series)) func(b *evidence.Bundle) {
			return func(b *evidence.Bundle) {
				for i := range b.Series {
					if x := &b.Series[i]; x.Name == name && len(x.T) > 0 {
						change(x)
					}
				}
			}
		}
		values := func(of func(x *evidence.Series, i int) float64) func(b *evidence.Bundle) {
			return each(func(x *evidence.Series) {
				v := make([]float64, len(x.V))
				for i := range v {
					v[i] = of(x, i)
				}
				x.V = v
			})
		}
		add(true, each(func(x *evidence.Series) { x.Name = "absent" }), "series %s is absent", name)
		add(true, each(func(x *evidence.Series) { x.T, x.V = x.T[:1], x.V[:1] }), "series %s was read once", name)
		add(true, values(func(*evidence.Series, int) float64 { return math.NaN() }), "series %s is NaN", name)
		add(false, values(func(*evidence.Series, int) float64 { return 0 }), "series %s is 0", name)
		add(false, values(func(x *evidence.Series, i int) float64 {
			if i < len(x.V)/2 {
				return x.V[i]
			}
			return x.V[i] - x.V[len(x.V)/2]
		}), "series %s starts again", name)
		add(true, each(func(x *evidence.Series) {
			if n := min(2, len(x.T)); n == 2 {
				x.T, x.V = []int64{x.T[0], x.T[0] + min(3e6, x.T[1]-x.T[0])}, x.V[:2]
			}
		}), "series %s is of 3 ms", name)
	}
	for _, x := range b.Facts {
		facts[x.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(facts)) {
		each := func(change func(x *evidence.Fact)) func(b *evidence.Bundle) {
			return func(b *evidence.Bundle) {
				for i := range b.Facts {
					if x := &b.Facts[i]; x.Key == key {
						change(x)
					}
				}
			}
		}
		add(true, each(func(x *evidence.Fact) { x.Key = "absent" }), "fact %s is absent", key)
		add(true, each(func(x *evidence.Fact) { x.Number = math.NaN() }), "fact %s is no number", key)
		add(true, each(func(x *evidence.Fact) { x.Value = "" }), "fact %s has no text", key)
		add(false, each(func(x *evidence.Fact) { x.Number = 0 }), "fact %s is 0", key)
	}
	for _, x := range b.Coverage {
		covers[x.Kind] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(covers)) {
		each := func(change func(x *evidence.Coverage)) func(b *evidence.Bundle) {
			return func(b *evidence.Bundle) {
				for i := range b.Coverage {
					if x := &b.Coverage[i]; x.Kind == kind {
						change(x)
					}
				}
			}
		}
		add(true, each(func(x *evidence.Coverage) { x.Kind = "absent" }), "coverage of %s is absent", kind)
		add(true, each(func(x *evidence.Coverage) { x.Until = x.From }), "coverage of %s is empty", kind)
		add(true, each(func(x *evidence.Coverage) { x.Until = min(x.Until, x.From+3e6) }), "coverage of %s is 3 ms", kind)
	}
	for _, k := range b.Intervals.Kind {
		kinds[k] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		left := func(n int) func(b *evidence.Bundle) {
			return func(b *evidence.Bundle) {
				n := n
				b.Intervals.Kind = slices.Clone(b.Intervals.Kind)
				for i, k := range b.Intervals.Kind {
					if k == kind {
						if n--; n < 0 {
							b.Intervals.Kind[i] = evidence.KindUnknown
						}
					}
				}
			}
		}
		add(true, left(0), "intervals of %s are absent", kind)
		add(true, left(1), "one interval of %s is left", kind)
	}
	for k := range evidence.NumKeys {
		if b.Intervals.Has(k) {
			add(true, func(b *evidence.Bundle) { withoutKey(b, k) }, "intervals have no %s", k)
		}
	}
	for column, clear := range map[string]func(v *evidence.Intervals){
		"cause": func(v *evidence.Intervals) { v.Cause = emptied(&v.Cause) },
		"stack": func(v *evidence.Intervals) { v.Stack = emptied(&v.Stack) },
		"lane":  func(v *evidence.Intervals) { v.Lane = emptied(&v.Lane) },
	} {
		if b.Intervals.Len() > 0 {
			add(true, func(b *evidence.Bundle) { clear(&b.Intervals) }, "intervals have no %s", column)
		}
	}
	for _, k := range b.Samples.Type {
		types[k] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		left := func(n int) func(b *evidence.Bundle) {
			return func(b *evidence.Bundle) {
				n := n
				b.Samples.Type = slices.Clone(b.Samples.Type)
				for i, k := range b.Samples.Type {
					if k == kind {
						if n--; n < 0 {
							b.Samples.Type[i] = b.Names.ID("absent")
						}
					}
				}
			}
		}
		add(true, left(0), "samples of %s are absent", b.Names.Text(kind))
		add(true, left(1), "one sample of %s is left", b.Names.Text(kind))
	}
	if b.Samples.Len() > 0 {
		add(true, func(b *evidence.Bundle) { b.Samples.Stack = make([]evidence.StackID, b.Samples.Len()) }, "samples have no stacks")
	}
	if b.Requests.Len() > 0 {
		add(true, func(b *evidence.Bundle) { b.Requests.SetPaths(func(int) evidence.Path { return evidence.Path{} }) }, "requests have no states")
		add(true, func(b *evidence.Bundle) { keepRequests(b, 1) }, "one request is left")
		add(true, func(b *evidence.Bundle) { keepRequests(b, 19) }, "19 requests are left")
		add(true, func(b *evidence.Bundle) {
			for i := range b.Requests.Len() {
				b.Requests.Route.Set(i, 0)
			}
		}, "requests have no routes")
		out = append(out, change{name: "--slo 1h", apply: func(*evidence.Bundle) {}, slo: time.Hour}, change{name: "--slo 1us", apply: func(*evidence.Bundle) {}, slo: time.Microsecond})
	}
	if len(b.Loads) > 0 {
		add(true, func(b *evidence.Bundle) { b.Loads = nil }, "the load's own result is absent")
	}
	for field, clear := range map[string]func(s *evidence.Subject){
		"name": func(s *evidence.Subject) { s.Name, s.Service, s.Address = "", "", "" }, "CPUs": func(s *evidence.Subject) { s.CPUs = 0 },
		"version": func(s *evidence.Subject) { s.Version = "" }, "pid": func(s *evidence.Subject) { s.PID = 0 }, "container": func(s *evidence.Subject) { s.Container = "" },
		"runtime": func(s *evidence.Subject) { s.Runtime = "" },
	} {
		add(true, func(b *evidence.Bundle) {
			for i := range b.Subjects {
				clear(&b.Subjects[i])
			}
		}, "no subject has a %s", field)
	}
	slices.SortFunc(out, func(x, y change) int { return strings.Compare(x.name, y.name) })
	return out
}

// withoutKey takes a figure from all intervals.
func withoutKey(b *evidence.Bundle, k evidence.Key) {
	v := &b.Intervals
	other := evidence.NewBundle()
	p := other.Builder(other.AddArtifact(evidence.Artifact{}), "")
	for i := range v.Len() {
		x := evidence.Interval{Subject: v.Subject.At(i), Lane: v.Lane.At(i), Kind: v.Kind[i], Start: v.Start[i], End: v.End[i], Request: v.Request.At(i), Stack: v.Stack.At(i), Cause: v.Cause.At(i), Holder: v.Holder.At(i), Origin: v.Origin.At(i)}
		for key := range evidence.NumKeys {
			if y, ok := v.Get(i, key); ok && key != k {
				x.Extra = append(x.Extra, evidence.Extra{Key: key, Value: y})
			}
		}
		p.Interval(x)
	}
	clocks := v.Clock
	*v = other.Intervals
	v.Clock = clocks
}

// emptied returns a column as long as another, whose rows are all 0.
func emptied[T ~int32 | ~int64 | ~uint8](c *evidence.Column[T]) (out evidence.Column[T]) {
	for range c.Len() {
		out.Append(0)
	}
	return out
}

// keepRequests leaves the first requests of a bundle; the others are another host's.
func keepRequests(b *evidence.Bundle, n int) {
	for i := n; i < b.Requests.Len(); i++ {
		b.Requests.Start.Set(i, 0)
		b.Requests.Intended.Set(i, 0)
	}
}

// judged is a verdict of a check about a subject.
type judged struct {
	check   *check.Check
	subject string
	runtime string
	verdict check.Verdict
	how     check.Decision
}

// judgeAll asks every check about every subject of a bundle, as [diagnose.Run] does.
func judgeAll(read *evidence.Bundle, slo time.Duration) (out []judged) {
	i := incident.Of(read, incident.Options{SLO: slo})
	b := i.Bundle
	for s, title := range b.Titles() {
		if title == "" {
			continue
		}
		id := evidence.SubjectID(s)
		c := &check.Case{Bundle: b, Subject: id, Ledger: i.Ledger(id), Looks: i.Threads, ObjectiveMet: slo == time.Hour}
		for n := range all.Causes {
			k := &all.Causes[n]
			c.Forget()
			var v check.Verdict
			switch {
			case b.Subjects[s].Kind == evidence.Process && k.Applies(c):
				v = k.Judge(c)
			case b.Subjects[s].Kind != evidence.Process && k.JudgeHost != nil:
				var ok bool
				if v, ok = k.JudgeHost(c); !ok {
					continue
				}
			default:
				continue
			}
			if v.Supported() && b.Subjects[s].Kind == evidence.Process {
				c.Found = append(c.Found, check.Found{ID: k.ID, Step: k.Step, Verdict: v})
			}
			out = append(out, judged{k, fmt.Sprint(s), b.Subjects[s].Runtime, v, c.Decision(&v)})
		}
	}
	return out
}

// nothings are figures of nothing; a found cause shows none as what it is about.
var nothings = regexp.MustCompile(`(^|[^t] |\()0 (B|MiB|ms|ns|s)\b`)

// ofRuntimes are names of what only one runtime has.
var ofRuntimes = map[string]*regexp.Regexp{"go": regexp.MustCompile(`GOMAXPROCS|GOGC|GOMEMLIMIT|debug/pprof|gctrace`),
	"jvm":    regexp.MustCompile(`-XX:|-Xm[nsx]|\bjcmd\b|\bjstack\b`),
	"dotnet": regexp.MustCompile(`DOTNET_|System\.GC|System\.Threading|dotnet-(dump|stack|trace|counters|gcdump)`)}

// faultsOf are what no verdict has, however little is known.
func faultsOf(j *judged) (faults []string) {
	v := &j.verdict
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	faults = checktest.Faults(v.State, &j.how)
	for _, said := range checktest.Unworded(v) {
		add("says %q", said)
	}
	for runtime, names := range ofRuntimes {
		for _, f := range v.Fix {
			if text := f.Text + " " + f.Setting; j.runtime != "" && j.runtime != runtime && names.MatchString(text) {
				add("advises %s: %q", j.runtime, text)
			}
		}
		for _, n := range v.Needs {
			if j.runtime != "" && j.runtime != runtime && names.MatchString(n.String()) {
				add("asks %s for %q", j.runtime, n)
			}
		}
	}
	if text := v.Title + " " + v.Summary; v.Supported() && nothings.MatchString(text) {
		add("is found and says %q", text)
	}
	switch {
	case v.Supported() && math.IsNaN(v.Weight):
		add("is found by an unknown figure: %s", v.Title)
	case v.Supported() && (len(v.Fix) == 0 || v.Saves == nil && !(v.Weight > 0) && j.check.Step != check.StepRest):
		add("is found, helps with %v, saves %v and weighs %v", v.Fix, v.Saves, v.Weight)
	case v.RuledOut() && v.Answer != check.Absent.Answer && v.Answer != check.Explained.Answer && !known(j):
		add("is ruled out without a figure: %s %s", v.Answer, v.Summary)
	case v.Summary == "":
		add("says nothing: %q", v.Title)
	}
	return faults
}

// known reports whether a verdict has a figure.
func known(j *judged) bool {
	if slices.ContainsFunc(j.verdict.Evidence, func(e check.Evidence) bool { return e.Value != nil }) {
		return true
	}
	return slices.ContainsFunc(j.how.Steps, func(s check.Asked) bool {
		return slices.ContainsFunc(s.Compared, func(x check.Compared) bool { return x.Figure != nil })
	})
}

// TestPartsAbsent asks all checks about recordings and files as they are, two processes at a time, and with one part after another taken away: what is
// unknown finds nothing, clears nothing and is not printed.
func TestPartsAbsent(t *testing.T) {
	of := inputs(t)
	maps.DeleteFunc(of, func(name string, _ []string) bool { return strings.Contains(name, "shared/corpus") })
	for name, files := range of {
		if twin, ok := of[strings.TrimSuffix(name, "/sick")+"/healthy"]; ok && strings.HasSuffix(name, "/sick") {
			of[name+beside] = slices.Concat(files, twin)
		}
	}
	var lock sync.Mutex
	seen, n := map[string]int{}, 0
	report := func(t *testing.T, how string, j *judged, faults []string) {
		t.Helper()
		lock.Lock()
		defer lock.Unlock()
		for _, f := range faults {
			key := j.check.ID + ": " + digits.ReplaceAllString(f, "N")
			if key = key[:min(len(key), 90)]; seen[key] < 2 { // it says the same of many
				t.Errorf("%s: %s %s: %s", how, j.check.ID, j.verdict.Answer, f)
			}
			seen[key]++
		}
	}
	t.Run("", func(t *testing.T) {
		for name, files := range of {
			if !isDrawn(4, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := incident.NewBundle()
				for _, f := range files {
					if err := incident.Read(t.Context(), format.File(f), b); err != nil {
						return // the file is of a kind that is to be refused
					}
				}
				before := map[string]string{}
				for _, j := range judgeAll(b, 0) {
					before[j.subject+j.check.ID] = j.verdict.State
					report(t, "as it is", &j, faultsOf(&j))
				}
				if strings.HasSuffix(name, beside) {
					return
				}
				healthy := strings.HasPrefix(filepath.Base(filepath.Dir(files[0])), "healthy")
				for _, x := range changes(b) {
					if !isDrawn(397, name+x.name) {
						continue
					}
					less := b.Clone()
					x.apply(less)
					for _, j := range judgeAll(less, x.slo) {
						faults, was := faultsOf(&j), before[j.subject+j.check.ID]
						if x.lacks && j.verdict.RuledOut() && was == check.Supported {
							faults = append(faults, fmt.Sprintf("is ruled out for what is absent: %s %s", j.verdict.Answer, j.verdict.Summary))
						}
						if x.lacks && healthy && j.verdict.Supported() && was != check.Supported {
							faults = append(faults, fmt.Sprintf("is found for what is absent: %s", j.verdict.Title))
						}
						report(t, x.name, &j, faults)
					}
					lock.Lock()
					n++
					lock.Unlock()
				}
			})
		}
	})
	t.Logf("%d changes of %d inputs", n, len(of))
}

// beside ends the name of a sick process's recording that is read together with its healthy twin's.
const beside = " beside its healthy twin"

var digits = regexp.MustCompile(`[\d.,]+`)

// isDrawn draws one name in so many by its hash, each with -every.
func isDrawn(of uint32, name string) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return *every || h.Sum32()%of == 0
}
