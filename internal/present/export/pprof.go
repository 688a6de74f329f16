package export

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

var pprofParts = []string{"cpu", "slow", "heap", "mutex", "block", "goroutine", "threads", "threads-running", "threads-waiting", "allocations", "on-cpu", "off-cpu"}

// preparePprof returns the writer of a profile as go tool pprof reads it
// (https://github.com/google/pprof/blob/main/proto/profile.proto), gzipped. Profiles of one kind
// become one: those that cover a time of their own, as CPU profiles do, are summed; of those that
// count since the process started or show a moment, the last of each process is used. What the
// work was for is the label class.
func preparePprof(s *Source, part string) (Writer, error) {
	build := func() (*profile.Profile, error) { return s.recordedProfile(part) }
	switch part {
	case "slow":
		build = s.slowProfile
	case "threads", "threads-running", "threads-waiting":
		build = func() (*profile.Profile, error) { return s.threadProfile(part) }
	case "allocations":
		build = s.allocationProfile
	}
	p, err := build()
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error { return p.Write(w) }, nil
}

// kindsOf lists the kinds of profile that a part is made of, as the fact profile.kind names
// them.
var kindsOf = map[string][]string{
	"cpu":       {"cpu"},
	"heap":      {"heap", "allocs"},
	"mutex":     {"mutex"},
	"block":     {"block"},
	"goroutine": {"goroutine", "goroutineleak"},
	"on-cpu":    {evidence.SampleOnCPU},
	"off-cpu":   {evidence.SampleOffCPU},
}

// defaultOf is the sample type of each part that go tool pprof shows by default.
var defaultOf = map[string]string{"cpu": "cpu", "heap": "inuse_space", "mutex": "delay", "block": "delay", "goroutine": "goroutine",
	"on-cpu": evidence.SampleOnCPU, "off-cpu": evidence.SampleOffCPU}

// missingProfile says how to record a part that is not there.
var missingProfile = map[string]*Missing{
	"cpu":       {"no CPU profile", profileBy("profile?seconds=10")},
	"heap":      {"no heap profile", profileBy("heap")},
	"mutex":     {"no mutex profile with samples", "it needs runtime.SetMutexProfileFraction in the program, then " + profileBy("mutex")},
	"block":     {"no block profile with samples", "it needs runtime.SetBlockProfileRate in the program, then " + profileBy("block")},
	"goroutine": {"no goroutine profile", profileBy("goroutine")},
	"on-cpu":    {"no on-CPU profile with kernel stacks", "sudo unstall record TARGET --kernel"},
	"off-cpu":   {"no off-CPU profile", "sudo unstall record TARGET --kernel"},
}

func profileBy(path string) string {
	name, _, _ := strings.Cut(path, "?")
	return "unstall record TARGET, or curl -o " + name + ".pb.gz 'http://HOST:PORT/debug/pprof/" + path + "'"
}

// taken is a profile of the bundle.
type taken struct {
	artifact evidence.ArtifactID
	subject  evidence.SubjectID
	from, to int64 // ns; from 0: since the process started
}

// hasWindow says whether the profile covers a time of its own.
func (t *taken) hasWindow() bool { return t.from != 0 && t.to > t.from }

// recordedProfile merges the profiles of a kind.
func (s *Source) recordedProfile(part string) (*profile.Profile, error) {
	b := s.Bundle
	all := s.profilesOf(part)
	p := newProfiler(s, len(s.processTitles(all, nil)) > 1)
	wanted := make(map[evidence.ArtifactID]bool)
	for _, t := range all {
		wanted[t.artifact] = true
		p.addSpan(t)
	}
	x := &b.Samples
	columns := make(map[evidence.NameID]int)
	for i := range x.Len() {
		if a, ok := x.Origin[i].Artifact(); ok && wanted[a] && columnOf(part, b.Names.Text(x.Type[i])) {
			if _, ok := columns[x.Type[i]]; !ok {
				columns[x.Type[i]] = p.addColumn(b.Names.Text(x.Type[i]), b.Names.Text(x.Unit[i]))
			}
		}
	}
	if len(columns) == 0 {
		return nil, missingProfile[part]
	}
	for i := range x.Len() {
		a, ok := x.Origin[i].Artifact()
		if !ok || !wanted[a] {
			continue
		}
		c, ok := columns[x.Type[i]]
		if !ok {
			continue
		}
		k := sampleKey{subject: x.Subject[i], stack: x.Stack[i], class: x.Class[i]}
		p.addSample(k, c, x.Value[i])
	}
	p.p.DefaultSampleType = defaultOf[part]
	if part == "cpu" {
		p.p.PeriodType = &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
		p.p.Period = s.samplingPeriod(all)
	}
	return p.buildProfile()
}

// columnOf says whether a column belongs to a part: a goroutine dump also has a column "waiting",
// which is left out, and one file may hold both where threads ran and where they waited.
func columnOf(part, typ string) bool {
	switch part {
	case "goroutine":
		return typ != "waiting"
	case "on-cpu", "off-cpu":
		return typ == part
	}
	return true
}

// PartsWith returns the parts of a form, other than one, of which there is something to export.
func (f *Form) PartsWith(s *Source, except string) (all []string) {
	for _, part := range f.Parts {
		if part == except {
			continue
		}
		if _, err := f.Prepare(s, part); err == nil {
			all = append(all, part)
		}
	}
	return all
}

// profilesOf returns the profiles that a part is made of.
func (s *Source) profilesOf(part string) (out []taken) {
	b := s.Bundle
	last := make(map[evidence.SubjectID]int)
	for _, f := range b.Facts {
		a, ok := f.Origin.Artifact()
		if !ok || f.Key != evidence.FactProfileKind || !slices.Contains(kindsOf[part], f.Value) {
			continue
		}
		t := taken{artifact: a, subject: f.Subject, from: f.From, to: f.Until}
		if part == "cpu" || t.hasWindow() {
			out = append(out, t)
			continue
		}
		n, seen := last[t.subject]
		switch {
		case !seen:
			last[t.subject] = len(out)
			out = append(out, t)
		case t.to >= out[n].to:
			out[n] = t
		}
	}
	return out
}

// samplingPeriod returns the CPU time between two samples in ns, 0 if it is not the same in all
// profiles.
func (s *Source) samplingPeriod(all []taken) (ns int64) {
	for _, f := range s.Bundle.Facts {
		if a, ok := f.Origin.Artifact(); !ok || f.Key != evidence.FactProfileRate || f.Number <= 0 || !slices.ContainsFunc(all, func(t taken) bool { return t.artifact == a }) {
			continue
		}
		p := int64(1e9/f.Number + .5)
		if ns != 0 && p != ns {
			return 0
		}
		ns = p
	}
	return ns
}

// slowProfile returns the slow requests' time by stack: the outermost frame is what the time was
// charged to, and a state without a stack has its name in place of one. The first value sums to
// the slow time of the ledgers exactly.
func (s *Source) slowProfile() (*profile.Profile, error) {
	traced := s.tracedLedgers()
	if len(traced) == 0 {
		return nil, missingStates
	}
	p := newProfiler(s, len(traced) > 1)
	time := p.addColumn("slow", "nanoseconds")
	states := p.addColumn("states", "count")
	b := s.Bundle
	for _, l := range traced {
		p.addSpan(taken{artifact: l.Source, subject: l.Subject, from: l.From, to: l.To})
		for _, row := range l.Slow {
			route := b.Requests.Route.At(row)
			l.Walk(row, func(_ int64, seg evidence.Segment, c *ledger.Charges) {
				for m, ns := range c {
					if ns == 0 {
						continue
					}
					k := sampleKey{subject: l.Subject, stack: seg.Stack, route: route, state: seg.Kind, mechanism: ledger.Mechanism(m), charged: true}
					if k.mechanism.Named() {
						k.detail = seg.Cause
					}
					p.addSample(k, time, ns)
					p.addSample(k, states, 1)
				}
			})
		}
	}
	if len(p.samples) == 0 {
		return nil, missingSlow(traced)
	}
	p.p.DefaultSampleType = "slow"
	return p.buildProfile()
}

var missingStates = &Missing{"no requests with known states", "give an execution trace: unstall record TARGET, or curl -o trace.out 'http://HOST:PORT/debug/pprof/trace?seconds=5'"}

func missingSlow(ledgers []*ledger.Ledger) *Missing {
	requests, highest := 0, int64(0)
	for _, l := range ledgers {
		requests += len(l.Rows)
		highest = max(highest, l.Threshold)
	}
	over := formatShortDuration(highest)
	if len(ledgers) > 1 {
		over = "slow for its service"
	}
	return &Missing{"no slow requests", fmt.Sprintf("none of %d took longer than %s; set --slo", requests, over)}
}

// sampleKey identifies a sample: samples with equal keys are merged.
type sampleKey struct {
	subject   evidence.SubjectID
	stack     evidence.StackID
	class     evidence.NameID
	route     evidence.NameID
	detail    evidence.NameID
	state     evidence.Kind
	mechanism ledger.Mechanism
	charged   bool
	object    bool // class is the type of what was allocated: the innermost frame
}

// profiler builds a profile.
type profiler struct {
	s         *Source
	p         *profile.Profile
	several   bool // several processes: each sample names its own
	samples   map[sampleKey]*profile.Sample
	order     []sampleKey // as they came, so that the same evidence gives the same bytes
	functions map[function]*profile.Function
	locations map[evidence.Frame]*profile.Location
	roots     map[string]*profile.Location
}

type function struct{ name, file string }

func newProfiler(s *Source, several bool) *profiler {
	return &profiler{s: s, several: several, samples: make(map[sampleKey]*profile.Sample), functions: make(map[function]*profile.Function),
		locations: make(map[evidence.Frame]*profile.Location), roots: make(map[string]*profile.Location),
		// Without a mapping that has all symbols, go tool pprof looks for binaries.
		p: &profile.Profile{Mapping: []*profile.Mapping{{ID: 1, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}}}}
}

// addColumn adds a type of value and returns its index.
func (p *profiler) addColumn(typ, unit string) int {
	p.p.SampleType = append(p.p.SampleType, &profile.ValueType{Type: typ, Unit: unit})
	return len(p.p.SampleType) - 1
}

// addSpan widens the profile's time by that of a profile it is made of.
func (p *profiler) addSpan(t taken) {
	if p.p.Mapping[0].File == "" {
		p.p.Mapping[0].File = p.s.Bundle.Subjects[t.subject].Name
	}
	p.p.Comments = append(p.p.Comments, "from "+p.s.Bundle.Artifacts[t.artifact].Name)
	if t.to == 0 {
		return
	}
	if t.hasWindow() {
		p.p.DurationNanos += t.to - t.from
	} else {
		t.from = t.to
	}
	if p.p.TimeNanos == 0 || t.from < p.p.TimeNanos {
		p.p.TimeNanos = t.from
	}
}

func (p *profiler) addSample(k sampleKey, column int, v int64) {
	x := p.samples[k]
	if x == nil {
		x = &profile.Sample{Value: make([]int64, len(p.p.SampleType))}
		p.samples[k] = x
		p.order = append(p.order, k)
	}
	x.Value[column] += v
}

// buildProfile gives the samples their stacks and labels, and returns the checked profile.
func (p *profiler) buildProfile() (*profile.Profile, error) {
	names := p.s.Bundle.Names
	for _, k := range p.order {
		x := p.samples[k]
		x.Label = make(map[string][]string)
		label := func(key, value string) {
			if value != "" {
				x.Label[key] = []string{value}
			}
		}
		if k.object {
			x.Location = append(x.Location, p.rootLocation(names.Text(k.class)))
		}
		info := p.s.Bundle.Stacks.Info(k.stack)
		if call := info.SystemCall(); call != "" {
			x.Location = append(x.Location, p.rootLocation(call))
		}
		for _, f := range p.s.Bundle.Stacks.Frames(k.stack) {
			x.Location = append(x.Location, p.locationOf(f))
		}
		if !k.object {
			label("class", names.Text(k.class))
		}
		label("thread", info.Name)
		if p.several {
			label("process", p.s.subjectTitle(k.subject))
		}
		if k.charged {
			label("mechanism", k.mechanism.String())
			label("state", k.state.String())
			label("route", names.Text(k.route))
			label("detail", names.Text(k.detail))
			if len(x.Location) == 0 {
				x.Location = append(x.Location, p.rootLocation("("+k.state.String()+")"))
			}
			x.Location = append(x.Location, p.rootLocation("["+k.mechanism.Title()+"]"))
		}
		if len(x.Location) == 0 {
			x.Location = append(x.Location, p.rootLocation("(no stack)"))
		}
		p.p.Sample = append(p.p.Sample, x)
	}
	if err := p.p.CheckValid(); err != nil {
		return nil, fmt.Errorf("pprof: %w", err)
	}
	return p.p, nil
}

func (p *profiler) locationOf(f evidence.Frame) *profile.Location {
	l := p.locations[f]
	if l == nil {
		l = p.newLocation(p.s.Bundle.Names.Text(f.Func), p.s.Bundle.Names.Text(f.File), int64(f.Line))
		p.locations[f] = l
	}
	return l
}

// rootLocation returns the location of a frame that is no function of the program.
func (p *profiler) rootLocation(name string) *profile.Location {
	l := p.roots[name]
	if l == nil {
		l = p.newLocation(name, "", 0)
		p.roots[name] = l
	}
	return l
}

func (p *profiler) newLocation(name, file string, line int64) *profile.Location {
	fn := p.functions[function{name, file}]
	if fn == nil {
		fn = &profile.Function{ID: uint64(len(p.p.Function) + 1), Name: name, SystemName: name, Filename: file}
		p.functions[function{name, file}] = fn
		p.p.Function = append(p.p.Function, fn)
	}
	l := &profile.Location{ID: uint64(len(p.p.Location) + 1), Mapping: p.p.Mapping[0], Line: []profile.Line{{Function: fn, Line: line}}}
	p.p.Location = append(p.p.Location, l)
	return l
}
