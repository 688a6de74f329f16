package evidence

import "slices"

// Bundle is all evidence about one incident.
type Bundle struct {
	Artifacts  []Artifact
	Clocks     []Clock
	Subjects   []Subject
	Requests   Requests
	Intervals  Intervals
	Processors []Occupancy // what each processor did, one element per artifact that tells
	Samples    Samples
	Series     []Series
	Facts      []Fact
	Coverage   []Coverage
	Loads      []LoadResult
	Tables     []Table
	Warnings   []Warning
	Unseen     []Unseen
	Code       []Code // resolvers of functions made at run time
	Names      *Names
	Stacks     *Stacks
	Handlings  *Handlings

	ExpectedRate float64 // requests/s that were agreed on at the time of recording, 0 unknown

	// Launchers are programs that run others, such as java: a process with such a name in the kernel may be named after its
	// program elsewhere.
	Launchers []string

	parts     []*Builder
	stretches []Stretch
	aligned   bool
}

// NewBundle returns an empty bundle without launchers; package incident makes the bundles that files are read into.
func NewBundle() *Bundle {
	return &Bundle{Names: new(Names), Stacks: new(Stacks), Handlings: new(Handlings)}
}

// Bare reports whether nothing usable was read into the bundle.
func (b *Bundle) Bare() bool {
	return b.Requests.Len() == 0 && b.Intervals.Len() == 0 && b.Samples.Len() == 0 && len(b.Processors)+len(b.Series)+len(b.Facts)+len(b.Loads)+len(b.Tables)+len(b.Unseen) == 0
}

// AddArtifact registers an artifact, so that rows can name it.
func (b *Bundle) AddArtifact(a Artifact) ArtifactID {
	b.Artifacts = append(b.Artifacts, a)
	return ArtifactID(len(b.Artifacts) - 1)
}

// Fact returns the newest fact of a name about a subject, or about any subject if subject < 0.
func (b *Bundle) Fact(subject SubjectID, key string) (Fact, bool) {
	for i := len(b.Facts) - 1; i >= 0; i-- {
		if f := b.Facts[i]; f.Key == key && (subject < 0 || f.Subject == subject) {
			return f, true
		}
	}
	return Fact{}, false
}

// FactFrom returns a subject's fact from an artifact, else the newest fact from any artifact: several traces of one process each
// count their own calls.
func (b *Bundle) FactFrom(a ArtifactID, subject SubjectID, key string) (Fact, bool) {
	for i := len(b.Facts) - 1; i >= 0; i-- {
		if f := b.Facts[i]; f.Key == key && f.Subject == subject {
			if o, ok := f.Origin.Artifact(); ok && o == a {
				return f, true
			}
		}
	}
	return b.Fact(subject, key)
}

// Covered returns the coverage of a kind for a subject (any if < 0).
func (b *Bundle) Covered(subject SubjectID, kind string) []Coverage {
	var out []Coverage
	for _, c := range b.Coverage {
		if c.Kind == kind && (subject < 0 || c.Subject == subject) {
			out = append(out, c)
		}
	}
	return out
}

// SeriesOf returns a series of a subject (any if < 0) by name, nil if none.
func (b *Bundle) SeriesOf(subject SubjectID, name string) *Series {
	for i := range b.Series {
		if s := &b.Series[i]; s.Name == name && (subject < 0 || s.Subject == subject) {
			return s
		}
	}
	return nil
}

// Window returns the span of all anchored evidence, in ns; 0, 0 if there is none.
func (b *Bundle) Window() (from, until int64) {
	return b.coverageSpan(func(c Coverage) bool { return b.Clocks[c.Clock].Anchored() && c.From != 0 })
}

// Undated returns the span of evidence without a time of day, in ns since its clocks started; 0, 0 if there is none.
func (b *Bundle) Undated() (from, until int64) {
	return b.coverageSpan(func(c Coverage) bool { return !b.Clocks[c.Clock].Anchored() })
}

func (b *Bundle) coverageSpan(of func(Coverage) bool) (from, until int64) {
	some := false
	for _, c := range b.Coverage {
		if c.Until == 0 || !of(c) {
			continue
		}
		if !some || c.From < from {
			from, some = c.From, true
		}
		until = max(until, c.Until)
	}
	return from, until
}

// SeriesFrom returns a subject's series by name, preferring an artifact's own; nil if there is none.
func (b *Bundle) SeriesFrom(a ArtifactID, subject SubjectID, name string) *Series {
	for i := range b.Series {
		if s := &b.Series[i]; s.Name == name && s.Subject == subject {
			if o, ok := s.Origin.Artifact(); ok && o == a {
				return s
			}
		}
	}
	return b.SeriesOf(subject, name)
}

// mark holds the length of each table, so that a builder knows its rows.
type mark struct {
	requests, intervals, samples int
}

func (b *Bundle) currentMark() mark {
	return mark{b.Requests.Len(), b.Intervals.Len(), b.Samples.Len()}
}

// renameSubject points every row of subject from at subject to.
func (b *Bundle) renameSubject(from, to SubjectID) {
	replace := func(s []SubjectID) {
		for i := range s {
			if s[i] == from {
				s[i] = to
			}
		}
	}
	b.Requests.Subject.Replace(from, to)
	b.Intervals.Subject.Replace(from, to)
	replace(b.Samples.Subject)
	for i := range b.Series {
		if b.Series[i].Subject == from {
			b.Series[i].Subject = to
		}
	}
	for i := range b.Facts {
		if b.Facts[i].Subject == from {
			b.Facts[i].Subject = to
		}
	}
	for i := range b.Coverage {
		if b.Coverage[i].Subject == from {
			b.Coverage[i].Subject = to
		}
	}
	for i := range b.Processors {
		if b.Processors[i].Subject == from {
			b.Processors[i].Subject = to
		}
	}
	for i := range b.Code {
		if b.Code[i].Subject == from {
			b.Code[i].Subject = to
		}
	}
	for i := range b.stretches {
		if b.stretches[i].Subject == from {
			b.stretches[i].Subject = to
		}
	}
}

// Unify merges subjects that are the same process. Files identify their process badly: a gctrace log has no pid, a trace only a
// minor version, an access log nothing at all. A description that agrees with exactly one other is the same process; one that
// agrees with several stays separate, with a warning. Two artifacts of the same format are two processes, because one process is
// not recorded twice at a time, unless they say that they are one, or one begins where the other ends (see [Stretch]). Artifacts
// of single moments are an exception: they are taken again and again.
//
// An artifact about a host lists processes by pid. The artifact is about the listed process whose name is otherwise known, else
// the first; the others are its neighbours, and only descriptions with the same pid apply to them. The processes' environments,
// else their names, tell which service's spans belong to which process (see shareServices).
func (b *Bundle) Unify() {
	partsOf := make(map[SubjectID][]*Builder)
	listOf := make(map[SubjectID]*Builder)
	for _, p := range b.parts {
		host := slices.ContainsFunc(p.subjects, func(s SubjectID) bool { return b.Subjects[s].Kind == Host })
		for _, s := range p.subjects {
			partsOf[s] = append(partsOf[s], p)
			if x := b.Subjects[s]; host && x.Kind == Process && x.PID != 0 {
				listOf[s] = p
			}
		}
	}
	b.shareServices(listOf)
	gone := b.joinStretches()
	var order, listed, seen []SubjectID
	for s := range b.Subjects {
		if id := SubjectID(s); gone[id] {
			continue
		} else if listOf[id] != nil {
			listed = append(listed, id)
		} else {
			order = append(order, id)
		}
	}
	order = b.outsideLast(order, partsOf)
	lead := make(map[*Builder]SubjectID)
	for n, from := range append(order, listed...) {
		list := listOf[from]
		if n == len(order) {
			b.findLeads(listed, listOf, seen, lead)
		}
		var candidates, surely []SubjectID // surely: with the same pid or virtual machine
		for _, to := range seen {
			if !b.Agree(b.Subjects[to], b.Subjects[from]) {
				continue
			}
			x, y := &b.Subjects[to], &b.Subjects[from]
			if x.PID != 0 && x.PID == y.PID || x.Instance != "" && x.Instance == y.Instance {
				surely = append(surely, to)
				continue
			}
			named := x.Name != "" && sameName(x.Name, y.Name) || x.Service != "" && x.Service == y.Service || x.Address != "" && x.Address == y.Address
			if !named && b.hasRivals(from, to) {
				b.Warnf(0, "the spans are of several services, and it is unclear whether the other files are about %s: give the spans of one service", b.Subjects[from].Title())
				continue
			}
			if named || (list == nil || lead[list] == from) &&
				!slices.ContainsFunc(partsOf[to], func(x *Builder) bool {
					return !x.Moments && slices.ContainsFunc(partsOf[from], func(y *Builder) bool { return x.format == y.format })
				}) {
				candidates = append(candidates, to)
			}
		}
		if len(surely) > 0 {
			candidates = surely
		}
		if len(candidates) > 1 && b.byClients(partsOf[from]) { // clients send to the proxy, where there is one
			if i := slices.IndexFunc(candidates, func(to SubjectID) bool { return b.byProxy(partsOf[to]) }); i >= 0 {
				candidates = candidates[i : i+1]
			}
		}
		switch len(candidates) {
		case 0:
			seen = append(seen, from)
		case 1:
			to := candidates[0]
			b.mergeSubject(&b.Subjects[to], b.Subjects[from])
			partsOf[to] = append(partsOf[to], partsOf[from]...)
			b.renameSubject(from, to)
		default:
			seen = append(seen, from)
			if b.byProxy(partsOf[from]) { // by its requests
				continue
			}
			b.Warnf(0, "it is unclear which of %d processes %s is about: give the files of one process at a time", len(candidates), describeParts(partsOf[from]))
		}
	}
	b.dateStretches()
}

// Absorb merges one subject into another, with all its rows.
func (b *Bundle) Absorb(from, to SubjectID) {
	b.mergeSubject(&b.Subjects[to], b.Subjects[from])
	b.renameSubject(from, to)
}

// byProxy reports whether only logs of a proxy describe a subject; byClients, only load generators.
func (b *Bundle) byProxy(parts []*Builder) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p *Builder) bool { return b.Artifacts[p.Artifact].Vantage != FromProxy })
}

func (b *Bundle) byClients(parts []*Builder) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p *Builder) bool {
		return !slices.ContainsFunc(b.Loads, func(l LoadResult) bool { a, ok := l.Origin.Artifact(); return ok && a == p.Artifact })
	})
}

// outsideLast moves proxies, and clients after these, behind the services whose requests they may have, where there are several: a
// service's log beside a proxy's, or spans of several services.
func (b *Bundle) outsideLast(order []SubjectID, partsOf map[SubjectID][]*Builder) []SubjectID {
	var proxied, own []string
	services := 0
	for _, s := range order {
		parts := partsOf[s]
		if b.Subjects[s].Service != "" {
			services++
		}
		for _, p := range parts {
			if b.byProxy(parts) {
				proxied = append(proxied, p.format)
			} else {
				own = append(own, p.format)
			}
		}
	}
	if len(proxied) == 0 || services < 2 && !slices.ContainsFunc(own, func(format string) bool { return slices.Contains(proxied, format) }) {
		return order
	}
	rank := func(s SubjectID) int {
		switch parts := partsOf[s]; {
		case b.byClients(parts):
			return 2
		case b.byProxy(parts):
			return 1
		}
		return 0
	}
	order = slices.Clone(order)
	slices.SortStableFunc(order, func(x, y SubjectID) int { return rank(x) - rank(y) })
	return order
}

// shareServices assigns the services of spans to processes that are listed by pid: a process gets the service that its environment
// names, else the only one with its name. A service that an environment names but no span has is ignored, because code may name
// its service otherwise; a single service needs no assignment.
func (b *Bundle) shareServices(listOf map[SubjectID]*Builder) {
	told := make(map[string]int) // 0: not assigned, else the number of processes
	for id, s := range b.Subjects {
		if s.Service != "" && listOf[SubjectID(id)] == nil {
			told[s.Service] = 0
		}
	}
	for id := range listOf {
		s := &b.Subjects[id]
		if _, known := told[s.Service]; !known || len(told) < 2 {
			s.Service = ""
		} else {
			told[s.Service]++
		}
	}
	for service, owners := range told {
		if owners > 0 || len(told) < 2 {
			continue
		}
		var named []SubjectID
		for id := range listOf {
			if s := &b.Subjects[id]; s.Service == "" && s.Name == service {
				named = append(named, id)
			}
		}
		if len(named) == 1 {
			b.Subjects[named[0]].Service = service
		}
	}
	for id := range listOf {
		for i := range b.Subjects {
			if o, s := &b.Subjects[i], b.Subjects[id]; o.Service == "" && s.Service != "" && o.PID == s.PID && b.Agree(s, *o) {
				o.Service = s.Service
			}
		}
	}
}

// hasRivals reports whether another service of the same file matches as well as from: traces have several services, a log has one.
func (b *Bundle) hasRivals(from, to SubjectID) bool {
	if b.Subjects[from].Service == "" {
		return false
	}
	for _, p := range b.parts {
		if !slices.Contains(p.subjects, from) {
			continue
		}
		for _, s := range p.subjects {
			if s != from && b.Subjects[s].Service != "" && b.Subjects[s].Service != b.Subjects[from].Service && b.Agree(b.Subjects[to], b.Subjects[s]) {
				return true
			}
		}
	}
	return false
}

// findLeads finds the process that each list of processes is about: the first one with a known name, else the first.
func (b *Bundle) findLeads(listed []SubjectID, listOf map[SubjectID]*Builder, seen []SubjectID, lead map[*Builder]SubjectID) {
	named := make(map[*Builder]bool)
	for _, s := range listed {
		p, y := listOf[s], b.Subjects[s]
		known := slices.ContainsFunc(seen, func(o SubjectID) bool {
			x := b.Subjects[o]
			return x.Name != "" && sameName(x.Name, y.Name) && b.Agree(x, y)
		})
		if _, ok := lead[p]; !ok || known && !named[p] {
			lead[p], named[p] = s, known
		}
	}
}

func describeParts(parts []*Builder) string {
	if len(parts) == 0 {
		return "a file"
	}
	return "the " + parts[0].format + " evidence"
}
